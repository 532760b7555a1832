//! The files of a run: what they are called, what is found in them, how they are begun anew.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use nnue_format::record::{self, GameRecord, Header, ReadError, Reader, Totals, WriteError, Writer};

use super::error::{SinkError, io_error};
use crate::plan::Plan;
use crate::workers::Known;

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

/// What the whole blocks of an unfinished file hold.
#[derive(Debug, Default)]
pub(super) struct Whole {
    pub(super) totals: Totals,
    /// The number after the last game's.
    pub(super) next: u64,
    /// Keys of the positions where the games begin.
    pub(super) known: Known,
}

impl Whole {
    fn read(path: &Path, file: &File, end: u64) -> Result<Whole, SinkError> {
        let mut whole = Whole::default();
        let error = |source| SinkError::Write { path: path.to_owned(), source: WriteError::Continue(source) };
        let mut reader = Reader::new(file).map_err(error)?;
        while reader.offset() < end {
            let Some(block) = reader.next_block() else { break };
            for game in block.and_then(|block| block.games()).map_err(error)? {
                add(&mut whole.totals, &game);
                whole.known.insert(opening_key(&game)?);
                whole.next = game.number + 1;
            }
        }
        Ok(whole)
    }
}

pub(crate) fn add(totals: &mut Totals, game: &GameRecord) {
    totals.games += 1;
    totals.plies += game.len() as u64;
    totals.positions += game.plies.len() as u64;
}

/// The key of the position after the opening.
pub(super) fn opening_key(game: &GameRecord) -> Result<u64, SinkError> {
    let error = |source| SinkError::Game { number: game.number, source };
    let mut position = game.start.position().map_err(error)?;
    let mut walk = game.positions().map_err(error)?;
    for _ in 0..game.opening.len() {
        if let Some(step) = walk.next() {
            let (_, ply) = step.map_err(error)?;
            position.make(ply.mv);
        }
    }
    Ok(position.key())
}

/// The totals of a finished file of this plan; `None` if there is no such file.
pub(super) fn finished(path: &Path, plan: &Plan) -> Result<Option<Totals>, SinkError> {
    let not_a_record = |why: String| SinkError::NotARecord { path: path.to_owned(), why };
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(io_error(path, "open"))?,
    };
    let mut reader = Reader::new(file).map_err(|error| not_a_record(error.to_string()))?;
    let footer = reader.footer_at_end().map_err(|error| not_a_record(error.to_string()))?;
    if reader.header_damaged() || reader.plan().is_empty() {
        return Err(not_a_record("its header or plan is damaged".to_owned()));
    }
    same_plan(path, reader.plan(), plan)?;
    Ok(Some(footer.totals))
}

/// Refuses another plan's file.
fn same_plan(path: &Path, found: &[u8], plan: &Plan) -> Result<(), SinkError> {
    let other = |differences: String| SinkError::OtherPlan { path: path.to_owned(), differences };
    let found = Plan::from_bytes(found).map_err(|error| other(error.to_string()))?;
    let differences = plan.differences(&found);
    if differences.is_empty() && found == *plan { Ok(()) } else { Err(other(differences.join("; "))) }
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

/// A writer behind what is whole in the unfinished file.
pub(super) fn open_partial(
    path: &Path,
    mut file: File,
    header: &Header,
    plan: &Plan,
    plan_bytes: &[u8],
) -> Result<(Writer<File>, Whole), SinkError> {
    let write = |source| SinkError::Write { path: path.to_owned(), source };
    match record::recover(&mut file) {
        Ok(recovered) => {
            same_plan(path, &recovered.plan, plan)?;
            if recovered.header.run_id != header.run_id {
                let differences = "another run id".to_owned();
                return Err(SinkError::OtherPlan { path: path.to_owned(), differences });
            }
            let whole = Whole::read(path, &file, recovered.end)?;
            let (writer, _) = Writer::reopen(file).map_err(write)?;
            Ok((writer, whole))
        }
        // New, or killed before its header was whole: nothing is lost by beginning anew.
        Err(ReadError::Cut { .. }) => {
            file.set_len(0).map_err(io_error(path, "empty"))?;
            io::Seek::rewind(&mut file).map_err(io_error(path, "rewind"))?;
            let writer = Writer::create(file, header.clone(), plan_bytes).map_err(write)?;
            writer.get_ref().sync_all().map_err(io_error(path, "sync"))?;
            Ok((writer, Whole::default()))
        }
        Err(error) => Err(SinkError::NotARecord { path: path.to_owned(), why: error.to_string() }),
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

/// Ends a record file, calls `before` with its totals, gives it its name and removes the journal.
///
/// # Errors
/// When the system or `before` refuses; everything is still there under the unfinished names.
pub(crate) fn put_in_place<E: From<SinkError>>(
    writer: Writer<File>,
    paths: &Paths,
    before: impl FnOnce(Totals, &Paths) -> Result<(), E>,
) -> Result<Totals, E> {
    let Paths { out, partial, journal, .. } = paths;
    let (file, totals) =
        writer.finish().map_err(|source| SinkError::Write { path: partial.clone(), source })?;
    file.sync_all().map_err(io_error(partial, "sync"))?;
    before(totals, paths)?;
    std::fs::rename(partial, out).map_err(io_error(out, "rename the unfinished file to"))?;
    sync_folder_of(out)?;
    _ = std::fs::remove_file(journal);
    Ok(totals)
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
