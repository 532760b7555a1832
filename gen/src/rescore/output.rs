//! Where rescored games go: `FILE.partial` in the order of the input, games that wait for an earlier one in
//! `FILE.journal.partial`, as in self-play (`crate::sink`). The games are numbered anew, from 0.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{ErrorKind, Seek};
use std::path::Path;

use nnue_format::record::{self, GameRecord, Header, ReadError, Reader, Totals, Writer};

use crate::sink::{
    Paths, SinkError, add, io_error, new_journal, open_locked, push_alone, put_in_place, read_journal,
};

/// What an output file turned out to be.
pub enum Opened {
    /// Finished before, by the same plan.
    Complete(Totals),
    /// New, or to be continued.
    Run(Box<Output>),
}

/// The file being written.
pub struct Output {
    paths: Paths,
    header: Header,
    plan: Vec<u8>,
    writer: Writer<File>,
    journal: Writer<File>,
    waiting: BTreeMap<u64, GameRecord>,
    next: u64,
    written: Totals,
    found: Totals,
}

impl Output {
    /// Opens the output of a plan: refuses what is not its own, continues what is unfinished.
    ///
    /// # Errors
    /// [`SinkError`].
    pub fn open(out: &Path, header: &Header, plan: &[u8]) -> Result<Opened, SinkError> {
        let paths = Paths::new(out);
        if let Some(totals) = finished(&paths.out, header)? {
            return Ok(Opened::Complete(totals));
        }
        let file = open_locked(&paths.partial)?;
        // Another process may have finished while we opened the file.
        if let Some(totals) = finished(&paths.out, header)? {
            if file.metadata().is_ok_and(|data| data.len() == 0) {
                _ = std::fs::remove_file(&paths.partial);
            }
            return Ok(Opened::Complete(totals));
        }
        let (writer, written) = open_partial(&paths.partial, file, header, plan)?;
        let mut waiting = read_journal(&paths.journal, header)?;
        waiting.retain(|&number, _| number >= written.games);
        let journal = new_journal(&paths.journal, header, plan, &mut waiting.values())?;
        let (header, plan, next) = (header.clone(), plan.to_vec(), written.games);
        let found = Totals::default();
        let mut output = Output { paths, header, plan, writer, journal, waiting, next, written, found };
        output.drain()?;
        output.found = output.written;
        for game in output.waiting.values() {
            add(&mut output.found, game);
        }
        Ok(Opened::Run(Box::new(output)))
    }

    /// Takes a game that has its number in the output.
    ///
    /// # Errors
    /// [`SinkError`].
    pub fn accept(&mut self, game: GameRecord) -> Result<(), SinkError> {
        let path = &self.paths.journal;
        push_alone(&mut self.journal, &game)
            .map_err(|source| SinkError::Write { path: path.clone(), source })?;
        self.waiting.insert(game.number, game);
        self.drain()
    }

    fn drain(&mut self) -> Result<(), SinkError> {
        while let Some(game) = self.waiting.remove(&self.next) {
            let path = &self.paths.partial;
            let ended_block =
                self.writer.push(&game).map_err(|source| SinkError::Write { path: path.clone(), source })?;
            self.next += 1;
            add(&mut self.written, &game);
            if ended_block {
                self.writer.get_ref().sync_data().map_err(io_error(path, "sync"))?;
                let mut waiting = self.waiting.values();
                self.journal = new_journal(&self.paths.journal, &self.header, &self.plan, &mut waiting)?;
            }
        }
        Ok(())
    }

    /// Syncs what is there, for a run that stops before it is complete.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn suspend(&mut self) -> Result<(), SinkError> {
        self.journal.get_ref().sync_data().map_err(io_error(&self.paths.journal, "sync"))
    }

    /// Ends the file, calls `before_publishing`, and puts the file in its place.
    ///
    /// # Errors
    /// When the system or `before_publishing` refuses.
    pub fn publish<E: From<SinkError>>(
        self,
        before_publishing: impl FnOnce(Totals, &Paths) -> Result<(), E>,
    ) -> Result<Totals, E> {
        put_in_place(self.writer, &self.paths, before_publishing)
    }

    /// The number written next: all before it are in the file.
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// Numbers beyond [`Output::next`] whose games are there.
    pub fn have(&self) -> BTreeSet<u64> {
        self.waiting.keys().copied().collect()
    }

    /// What an interrupted run had left.
    pub const fn found(&self) -> Totals {
        self.found
    }

    /// The files.
    pub const fn paths(&self) -> &Paths {
        &self.paths
    }
}

/// The totals of a finished file of this plan; `None` if there is no such file.
fn finished(path: &Path, header: &Header) -> Result<Option<Totals>, SinkError> {
    let not_a_record = |why: String| SinkError::NotARecord { path: path.to_owned(), why };
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        other => other.map_err(io_error(path, "open"))?,
    };
    let mut reader = Reader::new(file).map_err(|error| not_a_record(error.to_string()))?;
    let footer = reader.footer_at_end().map_err(|error| not_a_record(error.to_string()))?;
    same_run(path, &footer.header, header)?;
    Ok(Some(footer.totals))
}

/// Refuses another plan's file: the run id is a digest of the plan.
fn same_run(path: &Path, found: &Header, expected: &Header) -> Result<(), SinkError> {
    if found.run_id == expected.run_id {
        return Ok(());
    }
    let differences = "other inputs, another engine or net, or another limit".to_owned();
    Err(SinkError::OtherPlan { path: path.to_owned(), differences })
}

/// A writer behind what is whole in the unfinished file, and what that is.
fn open_partial(
    path: &Path,
    mut file: File,
    header: &Header,
    plan: &[u8],
) -> Result<(Writer<File>, Totals), SinkError> {
    let write = |source| SinkError::Write { path: path.to_owned(), source };
    match record::recover(&mut file) {
        Ok(recovered) => {
            same_run(path, &recovered.header, header)?;
            let (writer, recovered) = Writer::reopen(file).map_err(write)?;
            Ok((writer, recovered.totals))
        }
        // New, or killed before its header was whole: nothing is lost by beginning anew.
        Err(ReadError::Cut { .. }) => {
            file.set_len(0).map_err(io_error(path, "empty"))?;
            file.rewind().map_err(io_error(path, "rewind"))?;
            let writer = Writer::create(file, header.clone(), plan).map_err(write)?;
            writer.get_ref().sync_all().map_err(io_error(path, "sync"))?;
            Ok((writer, Totals::default()))
        }
        Err(error) => Err(SinkError::NotARecord { path: path.to_owned(), why: error.to_string() }),
    }
}
