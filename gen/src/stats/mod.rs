//! What record files hold: counts, distributions, sizes, fits; as text, JSON or a page.
//!
//! ```text
//! files → blocks → (cores) Counts, Columns, keys of each block → Survey → text, JSON, HTML
//! ```
//!
//! One pass, in memory that does not grow with the files: tables of fixed size ([`counts`]), samples of at most a
//! million things ([`distinct`]), some blocks at a time; together under 150 MB, and 50 bytes for every block's place
//! in the index (10 billion positions: 15 MB). Everything is added up block by block in the order of the files, so
//! the number of threads has no influence on any figure.

pub mod columns;
pub mod counts;
pub mod distinct;
pub mod histogram;
pub mod html;
pub mod json;
pub mod openings;
pub mod text;
pub mod wdl;

use std::fs::File;
use std::path::{Path, PathBuf};

use nnue_format::record::{Header, RawBlock, ReadError, Reader};
use rayon::prelude::*;

pub use columns::Columns;
pub use counts::Counts;
pub use openings::Diversity;
pub use wdl::WdlFit;

use openings::{DiversityKeys, game_key};

/// Blocks in memory at a time, for each thread.
const BLOCKS_PER_THREAD: usize = 4;
/// Faults that are kept; all are counted.
const MAX_FAULTS: usize = 1000;

/// Which scored plies are counted as positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Those for training: not marked as left out.
    ForTraining,
    /// All.
    All,
}

/// Something wrong in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which file, from 0.
    pub file: usize,
    /// Where the damaged part begins.
    pub offset: u64,
    /// What is wrong.
    pub what: String,
}

/// What is known of one file.
#[derive(Clone, Debug)]
pub struct FileInfo {
    /// Its path.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// Its header, if there is a whole one.
    pub header: Option<Header>,
    /// The plan's bytes.
    pub plan: Vec<u8>,
    /// Does it have its footer?
    pub finished: bool,
    /// Whole games.
    pub games: u64,
    /// Scored plies, those left out included.
    pub scored: u64,
}

/// What some files hold together.
#[derive(Clone, Debug)]
pub struct Survey {
    /// The files.
    pub files: Vec<FileInfo>,
    /// Which positions were counted.
    pub keep: Keep,
    /// What was counted exactly.
    pub counts: Counts,
    /// Bytes by column.
    pub columns: Columns,
    /// Different games and positions.
    pub diversity: Diversity,
    /// The first faults found.
    pub faults: Vec<Fault>,
    /// How many there are in all.
    pub fault_count: u64,
}

/// A file that cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {source}")]
pub struct OpenError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub source: ReadError,
}

/// Counts what the files hold. `progress` is told how many bytes are done, of how many.
///
/// # Errors
/// A file that cannot be opened. Damage inside is no error but a fault of the survey, and costs a block.
pub fn survey(
    paths: &[PathBuf],
    keep: Keep,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Survey, OpenError> {
    let lengths = paths.iter().map(|path| std::fs::metadata(path).map_or(0, |data| data.len()));
    let all = lengths.sum();
    let mut done = 0;
    let mut survey = Survey {
        files: Vec::new(),
        keep,
        counts: Counts::default(),
        columns: Columns::default(),
        diversity: Diversity::default(),
        faults: Vec::new(),
        fault_count: 0,
    };
    for path in paths {
        let mut reader = open(path)?;
        survey.read(path, &mut reader, &mut |offset| progress(done + offset, all));
        done += reader.file_len();
    }
    Ok(survey)
}

fn open(path: &Path) -> Result<Reader<File>, OpenError> {
    Reader::open(path).map_err(|source| OpenError { path: path.to_owned(), source })
}

/// The figures of one block.
struct BlockFigures {
    counts: Counts,
    columns: Columns,
    keys: DiversityKeys,
}

impl Survey {
    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    fn read(&mut self, path: &Path, reader: &mut Reader<File>, progress: &mut dyn FnMut(u64)) {
        let number = self.files.len();
        let before = (self.counts.games, self.counts.scored);
        let at_a_time = BLOCKS_PER_THREAD * rayon::current_num_threads();
        loop {
            let batch: Vec<_> = std::iter::from_fn(|| reader.next_block()).take(at_a_time).collect();
            if batch.is_empty() {
                break;
            }
            let (keep, diversity) = (self.keep, &self.diversity);
            let figures: Vec<_> = batch
                .into_par_iter()
                .map(|block| block.and_then(|block| figures(&block, keep, diversity.keys())))
                .collect();
            for figures in figures {
                match figures {
                    Ok(figures) => self.add(&figures),
                    Err(error) => self.fault(number, &error),
                }
            }
            progress(reader.offset());
        }
        self.files.push(FileInfo {
            path: path.to_owned(),
            bytes: reader.file_len(),
            header: reader.header().cloned(),
            plan: reader.plan().to_vec(),
            finished: reader.footer().is_some(),
            games: self.counts.games - before.0,
            scored: self.counts.scored - before.1,
        });
    }

    fn add(&mut self, figures: &BlockFigures) {
        self.counts.merge(&figures.counts);
        self.columns.merge(&figures.columns);
        self.diversity.absorb(&figures.keys);
    }

    fn fault(&mut self, file: usize, error: &ReadError) {
        self.fault_count += 1;
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(Fault { file, offset: error.offset(), what: error.to_string() });
        }
    }
}

fn figures(block: &RawBlock, keep: Keep, mut keys: DiversityKeys) -> Result<BlockFigures, ReadError> {
    let mut counts = Counts::default();
    for (index, game) in (0..).zip(block.games()?) {
        let key = game_key(&game);
        keys.game(key);
        let (opening, group) = (game.opening.len(), (key >> 32) as usize % counts::GROUPS);
        let counted = counts.game(&game, group, keep, |position, ply| {
            let kept = ply.scored.is_some_and(|(_, flags)| keep == Keep::All || !flags.is_skipped());
            keys.position(position, ply, opening, kept);
        });
        counted.map_err(|source| ReadError::Game {
            offset: block.offset,
            index,
            number: game.number,
            source,
        })?;
    }
    Ok(BlockFigures { counts, columns: Columns::of(block)?, keys })
}
