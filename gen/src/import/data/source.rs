//! Files of positions and games as programs exchange them: which format, and their readers.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::exchange::{Conventions, ExchangeError, FirstRank, RawSample, csv, jsonl, packed, plain};
use crate::import::ImportError;

/// A format of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataKind {
    /// JSON lines of whole games.
    Jsonl,
    /// `.plain` text.
    Plain,
    /// CSV.
    Csv,
    /// `.bin` of variant-nnue-tools.
    Packed(packed::Layout),
}

/// What is read of a file to tell its format: more than the positions that [`packed::Layout::detect`] looks at.
const BEGIN: u64 = 1 << 16;

/// Positions that are looked at to tell how moves number the ranks.
const RANKS_SEEN: usize = 2000;

impl DataKind {
    /// Its name on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            DataKind::Jsonl => "jsonl",
            DataKind::Plain => "plain",
            DataKind::Csv => "csv",
            DataKind::Packed(_) => "packed",
        }
    }

    /// The kind of a file, by its content or as `format` says; `None` if it is no data of these kinds.
    ///
    /// # Errors
    /// When it cannot be read, or is not what `format` or its `.bin` says.
    pub fn of(path: &Path, format: Option<&str>) -> Result<Option<DataKind>, ImportError> {
        let failed = |source| ImportError::Read { path: path.to_owned(), source };
        let file = File::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let mut begin = Vec::new();
        file.take(BEGIN).read_to_end(&mut begin).map_err(failed)?;
        let is_bin = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("bin"));
        match format {
            Some("plain") => Ok(Some(DataKind::Plain)),
            Some("csv") => Ok(Some(DataKind::Csv)),
            Some("packed") => DataKind::packed(path, &begin, length).map(Some),
            Some("jsonl") | None => match DataKind::of_text(&begin) {
                None if format.is_none() && is_bin => DataKind::packed(path, &begin, length).map(Some),
                kind => Ok(kind.filter(|kind| format.is_none() || *kind == DataKind::Jsonl)),
            },
            Some(_) => Ok(None),
        }
    }

    fn packed(path: &Path, begin: &[u8], length: u64) -> Result<DataKind, ImportError> {
        packed::Layout::detect(begin, length)
            .map(DataKind::Packed)
            .map_err(|why| ImportError::Data { path: path.to_owned(), why })
    }

    fn of_text(begin: &[u8]) -> Option<DataKind> {
        let text = String::from_utf8_lossy(begin);
        if jsonl::looks_like(&text) {
            return Some(DataKind::Jsonl);
        }
        let mut lines =
            text.trim_start_matches('\u{feff}').lines().map(str::trim).filter(|line| !line.is_empty());
        let first = lines.next()?;
        if first.starts_with("fen ") && lines.take(5).any(|line| line.starts_with("move ")) {
            return Some(DataKind::Plain);
        }
        let is_named = |name: &str| first.split(',').any(|field| field.trim().eq_ignore_ascii_case(name));
        (is_named("fen") && is_named("score")).then_some(DataKind::Csv)
    }
}

/// The positions of a file of positions.
///
/// # Errors
/// When it cannot be opened.
pub fn samples(
    path: &Path,
    kind: DataKind,
    read: &Arc<AtomicU64>,
) -> Result<Box<dyn Iterator<Item = Result<RawSample, ExchangeError>>>, ImportError> {
    let source = open(path, read)?;
    Ok(match kind {
        DataKind::Csv => Box::new(csv::Reader::new(source)),
        DataKind::Packed(layout) => Box::new(packed::Reader::new(source, layout)),
        DataKind::Plain | DataKind::Jsonl => Box::new(plain::Reader::new(source)),
    })
}

/// A file that tells how much of it is read.
#[derive(Debug)]
pub struct Counted {
    file: File,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let found = self.file.read(buffer)?;
        self.read.fetch_add(found as u64, Ordering::Relaxed);
        Ok(found)
    }
}

/// Opens a file for reading in order; what is read is added to `read`, in bytes.
///
/// # Errors
/// When the system refuses.
pub fn open(path: &Path, read: &Arc<AtomicU64>) -> Result<BufReader<Counted>, ImportError> {
    let file = File::open(path).map_err(|source| ImportError::Read { path: path.to_owned(), source })?;
    Ok(BufReader::with_capacity(1 << 16, Counted { file, read: Arc::clone(read) }))
}

/// How the moves of a file number the ranks: as more of its first positions' moves are legal.
///
/// # Errors
/// Where neither reading is better.
pub fn first_rank(path: &Path, kind: DataKind, wanted: &Conventions) -> Result<FirstRank, ImportError> {
    let mut legal = [0u32; 2];
    for raw in samples(path, kind, &Arc::default())?.take(RANKS_SEEN).filter_map(Result::ok) {
        for (count, first_rank) in legal.iter_mut().zip(FirstRank::ALL) {
            *count += u32::from(raw.check(&Conventions { first_rank, ..*wanted }).is_ok());
        }
    }
    match legal {
        [zero, one] if zero > one => Ok(FirstRank::Zero),
        [zero, one] if zero < one => Ok(FirstRank::One),
        [0, 0] => Ok(FirstRank::Zero),
        [zero, _] => Err(ImportError::Data {
            path: path.to_owned(),
            why: format!(
                "{zero} of the first moves are legal with ranks from 0 and as many with ranks from 1; give --first-rank 0 or 1"
            ),
        }),
    }
}
