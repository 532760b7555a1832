//! The files of a run: what they are called, what is found in them, how they are begun anew.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use nnue_format::record::{GameRecord, Header, Reader, Totals, WriteError, Writer};

use super::error::{SinkError, io_error};

/// The names beside the output file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// The finished file.
    pub out: PathBuf,
    /// The unfinished one.
    pub partial: PathBuf,
    /// Games in no block yet.
    pub journal: PathBuf,
    /// How the file was made.
    pub manifest: PathBuf,
}

impl Paths {
    /// The names for an output file.
    pub fn new(out: &Path) -> Paths {
        let beside = |end: &str| {
            let mut name = out.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        };
        Paths {
            out: out.to_owned(),
            partial: beside(".partial"),
            journal: beside(".journal.partial"),
            manifest: beside(".manifest.json"),
        }
    }
}

/// Counts a game.
pub(crate) fn add(totals: &mut Totals, game: &GameRecord) {
    totals.games += 1;
    totals.plies += game.len() as u64;
    totals.positions += game.plies.len() as u64;
}

/// Opens the unfinished file, making it if it is not there, and locks it for this process.
pub(crate) fn open_locked(path: &Path) -> Result<File, SinkError> {
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(false).open(path);
    let file = file.map_err(io_error(path, "open for writing"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(SinkError::Locked { path: path.to_owned() }),
        Err(TryLockError::Error(source)) => Err(io_error(path, "lock")(source)),
    }
}

/// All whole games of the journal by number; what is damaged or of another run is played again.
pub(crate) fn read_journal(path: &Path, header: &Header) -> Result<BTreeMap<u64, GameRecord>, SinkError> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        other => other.map_err(io_error(path, "open"))?,
    };
    let error = |source| SinkError::Write { path: path.to_owned(), source: WriteError::Continue(source) };
    let reader = Reader::new(file).map_err(error)?;
    if reader.header().is_none_or(|found| found.run_id != header.run_id) {
        return Ok(BTreeMap::new());
    }
    Ok(reader.games().filter_map(Result::ok).map(|game| (game.number, game)).collect())
}

/// A new journal with these games, put in place of the old one.
pub(crate) fn new_journal(
    path: &Path,
    header: &Header,
    plan: &[u8],
    games: &mut dyn Iterator<Item = &GameRecord>,
) -> Result<Writer<File>, SinkError> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".tmp");
    let temporary = PathBuf::from(temporary);
    let write = |source| SinkError::Write { path: temporary.clone(), source };
    let file = File::create(&temporary).map_err(io_error(&temporary, "create"))?;
    let mut writer = Writer::create(file, header.clone(), plan).map_err(write)?;
    for game in games {
        push_alone(&mut writer, game).map_err(write)?;
    }
    writer.get_ref().sync_data().map_err(io_error(&temporary, "sync"))?;
    std::fs::rename(&temporary, path).map_err(io_error(path, "replace"))?;
    Ok(writer)
}

/// Adds a game as a block of its own.
pub(crate) fn push_alone(writer: &mut Writer<File>, game: &GameRecord) -> Result<(), WriteError> {
    writer.push(game)?;
    writer.end_block()
}

/// Syncs the folder a file lies in, so that its name is safe too.
pub fn sync_folder_of(path: &Path) -> Result<(), SinkError> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    #[cfg(unix)]
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(io_error(folder, "sync"))?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}
