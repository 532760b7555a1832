//! A record file that grows in the order of its games' numbers, and the journal of games that wait for earlier ones.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Seek};
use std::path::Path;
use std::time::{Duration, Instant};

use nnue_format::record::{self, GameRecord, Header, ReadError, Reader, Totals, Writer};

use super::error::{SinkError, io_error};
use super::files::{Paths, add, new_journal, open_locked, push_alone, read_journal, sync_folder_of};

/// The journal is synced to disk at most this often; blocks always are. A killed process loses nothing
/// by that, a failing machine the games of that time.
const JOURNAL_SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// How a run knows its files.
pub(crate) trait Run {
    /// Refuses a file of another run, by its header and its plan (empty where either is damaged).
    fn check(&self, path: &Path, header: &Header, plan: &[u8]) -> Result<(), SinkError>;

    /// The number behind the games of an unfinished file, whose whole blocks hold `written` and end at byte `end`. Here: of
    /// games numbered without a gap.
    fn next(&mut self, _path: &Path, _file: &File, _end: u64, written: Totals) -> Result<u64, SinkError> {
        Ok(written.games)
    }
}

/// What an output file turned out to be.
pub(crate) enum Found {
    /// Finished before, by the same run.
    Complete(Totals),
    /// New, or to be continued: with the number that is written next, and the games of the journal from there on.
    Open(Box<Ordered>, u64, BTreeMap<u64, GameRecord>),
}

/// The file being written.
#[derive(Debug)]
pub(crate) struct Ordered {
    paths: Paths,
    header: Header,
    plan: Vec<u8>,
    writer: Writer<File>,
    journal: Writer<File>,
    journal_synced: Instant,
    written: Totals,
}

impl Ordered {
    /// Opens the output of a run: refuses what is not its own, continues what is unfinished. With `force` what is not its own
    /// is replaced: an unfinished file now, a finished one when this is published.
    pub(crate) fn open(
        out: &Path,
        header: &Header,
        plan: Vec<u8>,
        run: &mut dyn Run,
        force: bool,
    ) -> Result<Found, SinkError> {
        let paths = Paths::new(out);
        let complete = |run: &dyn Run| if force { Ok(None) } else { finished(&paths.out, run) };
        if let Some(totals) = complete(&*run)? {
            return Ok(Found::Complete(totals));
        }
        let file = open_locked(&paths.partial)?;
        // Another process may have finished while we opened the file.
        if let Some(totals) = complete(&*run)? {
            if file.metadata().is_ok_and(|data| data.len() == 0) {
                _ = std::fs::remove_file(&paths.partial);
            }
            return Ok(Found::Complete(totals));
        }
        let (writer, written, next) = open_partial(&paths.partial, file, header, &plan, run, force)?;
        let mut journalled = read_journal(&paths.journal, header)?;
        journalled.retain(|&number, _| number >= next);
        let journal = new_journal(&paths.journal, header, &plan, &mut journalled.values())?;
        let (header, journal_synced) = (header.clone(), Instant::now());
        let ordered = Ordered { paths, header, plan, writer, journal, journal_synced, written };
        Ok(Found::Open(Box::new(ordered), next, journalled))
    }

    /// Keeps a game in the journal until it is written.
    pub(crate) fn keep(&mut self, game: &GameRecord) -> Result<(), SinkError> {
        let path = &self.paths.journal;
        push_alone(&mut self.journal, game)
            .map_err(|source| SinkError::Write { path: path.clone(), source })?;
        if self.journal_synced.elapsed() >= JOURNAL_SYNC_INTERVAL {
            self.suspend()?;
            self.journal_synced = Instant::now();
        }
        Ok(())
    }

    /// Writes the next game. Where a block ends with it, the journal begins anew with the games that wait still.
    pub(crate) fn write<'a>(
        &mut self,
        game: &GameRecord,
        mut waiting: impl Iterator<Item = &'a GameRecord>,
    ) -> Result<(), SinkError> {
        let path = &self.paths.partial;
        let ended_block =
            self.writer.push(game).map_err(|source| SinkError::Write { path: path.clone(), source })?;
        add(&mut self.written, game);
        if ended_block {
            self.writer.get_ref().sync_data().map_err(io_error(path, "sync"))?;
            self.journal = new_journal(&self.paths.journal, &self.header, &self.plan, &mut waiting)?;
        }
        Ok(())
    }

    /// Syncs what is there, for a run that stops before it is complete.
    pub(crate) fn suspend(&mut self) -> Result<(), SinkError> {
        self.journal.get_ref().sync_data().map_err(io_error(&self.paths.journal, "sync"))
    }

    /// Ends the file, calls `before` with its totals, gives it its name and removes the journal.
    ///
    /// # Errors
    /// When the system or `before` refuses; everything is still there under the unfinished names.
    pub(crate) fn publish<E: From<SinkError>>(
        self,
        before: impl FnOnce(Totals, &Paths) -> Result<(), E>,
    ) -> Result<Totals, E> {
        let Paths { out, partial, journal, .. } = &self.paths;
        let (file, totals) =
            self.writer.finish().map_err(|source| SinkError::Write { path: partial.clone(), source })?;
        file.sync_all().map_err(io_error(partial, "sync"))?;
        before(totals, &self.paths)?;
        std::fs::rename(partial, out).map_err(io_error(out, "rename the unfinished file to"))?;
        sync_folder_of(out)?;
        _ = std::fs::remove_file(journal);
        Ok(totals)
    }

    /// What is written, blocks unfinished included.
    pub(crate) const fn written(&self) -> Totals {
        self.written
    }

    /// The files.
    pub(crate) const fn paths(&self) -> &Paths {
        &self.paths
    }
}

/// The totals of a finished file of this run; `None` if there is no such file.
fn finished(path: &Path, run: &dyn Run) -> Result<Option<Totals>, SinkError> {
    let not_a_record =
        |error: ReadError| SinkError::NotARecord { path: path.to_owned(), why: error.to_string() };
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        other => other.map_err(io_error(path, "open"))?,
    };
    let mut reader = Reader::new(file).map_err(not_a_record)?;
    let footer = reader.footer_at_end().map_err(not_a_record)?;
    let plan = if reader.header_damaged() { &[] } else { reader.plan() };
    run.check(path, &footer.header, plan)?;
    Ok(Some(footer.totals))
}

/// A writer behind what is whole in the unfinished file, what that is, and the number that comes next.
fn open_partial(
    path: &Path,
    mut file: File,
    header: &Header,
    plan: &[u8],
    run: &mut dyn Run,
    force: bool,
) -> Result<(Writer<File>, Totals, u64), SinkError> {
    let write = |source| SinkError::Write { path: path.to_owned(), source };
    let found = match record::recover(&mut file) {
        Ok(found) => run.check(path, &found.header, &found.plan).map(|()| Some(found)),
        // New, or killed before its header was whole: nothing is lost by beginning anew.
        Err(ReadError::Cut { .. }) => Ok(None),
        Err(error) => Err(SinkError::NotARecord { path: path.to_owned(), why: error.to_string() }),
    };
    let found = if force { found.unwrap_or(None) } else { found? };
    if let Some(found) = found {
        let next = run.next(path, &file, found.end, found.totals)?;
        let (writer, found) = Writer::reopen(file).map_err(write)?;
        return Ok((writer, found.totals, next));
    }
    file.set_len(0).map_err(io_error(path, "empty"))?;
    file.rewind().map_err(io_error(path, "rewind"))?;
    let writer = Writer::create(file, header.clone(), plan).map_err(write)?;
    writer.get_ref().sync_all().map_err(io_error(path, "sync"))?;
    Ok((writer, Totals::default(), 0))
}
