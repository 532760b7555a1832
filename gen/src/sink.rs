//! Where games go: `FILE.partial` block by block, then `FILE` by rename. Nothing whole is ever lost.
//!
//! ```text
//! FILE.partial          blocks of games in the order of their numbers; locked by the process that writes
//! FILE.journal.partial  games that are in no whole block yet, each as it was finished
//! FILE                  complete, with its footer
//! ```
//!
//! The journal is a record file too, of blocks of one game. After each block of `FILE.partial` it is written
//! anew with the games still waiting. A killed run is continued from both: blocks up to the first damage, then
//! the journal's games, then new ones. Which games share a block depends on their order alone, so the
//! finished file has the same bytes however often the run was interrupted.

use std::collections::{BTreeMap, HashSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nnue_format::record::{
    self, GameError, GameRecord, Header, ReadError, Reader, Totals, WriteError, Writer,
};

use crate::plan::{Count, Plan, PlanError};
use crate::play::{Finished, Played};

/// The journal is synced to disk at most this often; blocks always are. A killed process loses nothing
/// by that, a failing machine the games of that time.
const JOURNAL_SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// So many numbers in a row that only repeat openings: there are no more openings to be had.
const MAX_REPEATED: u64 = 1000;

/// Why games cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// The system refused.
    #[error("{path}: cannot {verb}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        verb: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A record file refused.
    #[error("{path}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: WriteError,
    },
    /// The file is there and is no finished record file.
    #[error("{path} is there, and it is no finished record file ({why}); move it away or give another --out")]
    NotARecord {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The file is of another plan.
    #[error("{path} is of another plan ({differences}); give the same settings again, or another --out")]
    OtherPlan {
        /// The file.
        path: PathBuf,
        /// Where the plans differ.
        differences: String,
    },
    /// Another process writes the file.
    #[error("{path} is being written by another process; wait for it, or give another --out")]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// No more openings.
    #[error(
        "the last {MAX_REPEATED} random openings all repeat earlier ones: after {games} games there are no more to be had; allow more --random-plies (whole games are kept in {path})"
    )]
    NoMoreOpenings {
        /// Games so far.
        games: u64,
        /// The unfinished file.
        path: PathBuf,
    },
    /// A recorded game cannot be walked.
    #[error("game {number} of the unfinished file: {source}")]
    Game {
        /// Its number.
        number: u64,
        /// Why.
        source: GameError,
    },
    /// The plan cannot be coded.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

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

/// What an output file turned out to be.
#[derive(Debug)]
pub enum Opened {
    /// Finished before, by the same plan.
    Complete(Totals),
    /// New, or to be continued.
    Run(Box<Sink>),
}

/// Takes games in any order and writes them in the order of their numbers.
#[derive(Debug)]
pub struct Sink {
    paths: Paths,
    header: Header,
    plan_bytes: Vec<u8>,
    count: Count,
    writer: Writer<File>,
    journal: Writer<File>,
    journal_synced: Instant,
    /// Games that wait for earlier ones.
    waiting: BTreeMap<u64, Option<Box<Played>>>,
    /// The number that is written next.
    next: u64,
    written: Totals,
    /// Keys of the positions where the games written begin.
    known: HashSet<u64>,
    /// Those not yet fetched by [`Sink::take_new_keys`].
    new_keys: Vec<u64>,
    repeated: u64,
    repeated_in_a_row: u64,
    /// Nodes of the games taken.
    nodes: u64,
    /// What an interrupted run left.
    found: Totals,
}

impl Sink {
    /// Opens the output of a plan: refuses what is not its own, continues what is unfinished.
    pub fn open(out: &Path, header: &Header, plan: &Plan) -> Result<Opened, SinkError> {
        let paths = Paths::new(out);
        let plan_bytes = plan.to_bytes()?;
        if let Some(totals) = finished(&paths.out, plan)? {
            return Ok(Opened::Complete(totals));
        }
        let file = open_locked(&paths.partial)?;
        // Another process may have finished while we opened the file.
        if let Some(totals) = finished(&paths.out, plan)? {
            if file.metadata().is_ok_and(|data| data.len() == 0) {
                _ = std::fs::remove_file(&paths.partial);
            }
            return Ok(Opened::Complete(totals));
        }
        let (writer, whole) = open_partial(&paths.partial, file, header, plan, &plan_bytes)?;
        let mut journalled = read_journal(&paths.journal, header)?;
        journalled.retain(|&number, _| number >= whole.next);
        let journal = new_journal(&paths.journal, header, &plan_bytes, &mut journalled.values())?;
        let mut sink = Sink {
            header: header.clone(),
            plan_bytes,
            count: plan.count,
            journal,
            journal_synced: Instant::now(),
            waiting: BTreeMap::new(),
            next: whole.next,
            written: whole.totals,
            known: whole.known,
            new_keys: Vec::new(),
            repeated: whole.next - whole.totals.games,
            repeated_in_a_row: 0,
            nodes: 0,
            found: Totals::default(),
            writer,
            paths,
        };
        for (number, record) in journalled {
            let opening_key = opening_key(&record)?;
            sink.waiting.insert(number, Some(Box::new(Played { record, opening_key, nodes: 0 })));
        }
        sink.drain()?;
        sink.found = sink.written;
        Ok(Opened::Run(Box::new(sink)))
    }

    /// Takes what became of a number.
    pub fn accept(&mut self, number: u64, finished: Finished) -> Result<(), SinkError> {
        if number < self.next || self.waiting.contains_key(&number) || self.is_complete() {
            return Ok(());
        }
        let played = match finished {
            Finished::Stopped => return Ok(()),
            Finished::Repeated => None,
            Finished::Game(played) => {
                self.nodes += played.nodes;
                self.journal_game(&played.record)?;
                Some(played)
            }
        };
        self.waiting.insert(number, played);
        self.drain()
    }

    /// Writes the waiting games whose turn it is.
    fn drain(&mut self) -> Result<(), SinkError> {
        while !self.is_complete() {
            let Some(played) = self.waiting.remove(&self.next) else { break };
            self.next += 1;
            let Some(played) = played.filter(|played| self.known.insert(played.opening_key)) else {
                self.repeated += 1;
                self.repeated_in_a_row += 1;
                if self.repeated_in_a_row >= MAX_REPEATED {
                    let (games, path) = (self.written.games, self.paths.partial.clone());
                    return Err(SinkError::NoMoreOpenings { games, path });
                }
                continue;
            };
            self.repeated_in_a_row = 0;
            self.new_keys.push(played.opening_key);
            self.write(played.record)?;
        }
        Ok(())
    }

    fn write(&mut self, mut game: GameRecord) -> Result<(), SinkError> {
        if let Count::Positions(wanted) = self.count {
            let wanted = wanted - self.written.positions;
            let surplus = game.plies.len().saturating_sub(usize::try_from(wanted).unwrap_or(usize::MAX));
            game.opening.extend(game.plies.drain(..surplus).map(|ply| ply.mv));
        }
        let path = &self.paths.partial;
        let ended_block =
            self.writer.push(&game).map_err(|source| SinkError::Write { path: path.clone(), source })?;
        add(&mut self.written, &game);
        if ended_block {
            self.writer.get_ref().sync_data().map_err(io_error(path, "sync"))?;
            let mut waiting = self.waiting.values().flatten().map(|played| &played.record);
            self.journal = new_journal(&self.paths.journal, &self.header, &self.plan_bytes, &mut waiting)?;
        }
        Ok(())
    }

    fn journal_game(&mut self, game: &GameRecord) -> Result<(), SinkError> {
        let path = &self.paths.journal;
        push_alone(&mut self.journal, game)
            .map_err(|source| SinkError::Write { path: path.clone(), source })?;
        if self.journal_synced.elapsed() >= JOURNAL_SYNC_INTERVAL {
            self.journal.get_ref().sync_data().map_err(io_error(path, "sync"))?;
            self.journal_synced = Instant::now();
        }
        Ok(())
    }

    /// Is everything there that the plan asks for?
    pub const fn is_complete(&self) -> bool {
        match self.count {
            Count::Games(wanted) => self.written.games >= wanted,
            Count::Positions(wanted) => self.written.positions >= wanted,
        }
    }

    /// Syncs what is there, for a run that stops before it is complete.
    pub fn suspend(&mut self) -> Result<(), SinkError> {
        self.journal.get_ref().sync_data().map_err(io_error(&self.paths.journal, "sync"))
    }

    /// Ends the file, calls `before_publishing` with the totals, and puts the file in its place.
    pub fn publish<E: From<SinkError>>(
        self,
        before_publishing: impl FnOnce(Totals, &Paths) -> Result<(), E>,
    ) -> Result<Totals, E> {
        let Paths { out, partial, journal, .. } = &self.paths;
        let (file, totals) =
            self.writer.finish().map_err(|source| SinkError::Write { path: partial.clone(), source })?;
        file.sync_all().map_err(io_error(partial, "sync"))?;
        before_publishing(totals, &self.paths)?;
        std::fs::rename(partial, out).map_err(io_error(out, "rename the unfinished file to"))?;
        sync_folder_of(out)?;
        _ = std::fs::remove_file(journal);
        Ok(totals)
    }

    /// The number written next.
    pub const fn next_number(&self) -> u64 {
        self.next
    }

    /// Numbers from here up are not needed, as far as is known.
    pub const fn limit(&self) -> u64 {
        match self.count {
            Count::Games(wanted) => wanted.saturating_add(self.repeated),
            Count::Positions(_) => u64::MAX,
        }
    }

    /// What is written, blocks unfinished included.
    pub const fn written(&self) -> Totals {
        self.written
    }

    /// What an interrupted run had left.
    pub const fn found(&self) -> Totals {
        self.found
    }

    /// How many numbers were left unused because their opening repeats another game's.
    pub const fn repeated(&self) -> u64 {
        self.repeated
    }

    /// Nodes searched for the games taken since the sink was opened.
    pub const fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Numbers whose games wait for earlier ones.
    pub fn waiting(&self) -> HashSet<u64> {
        self.waiting.keys().copied().collect()
    }

    /// Keys of the positions where the games written begin.
    pub const fn known(&self) -> &HashSet<u64> {
        &self.known
    }

    /// The keys added to [`Sink::known`] since this was last called.
    pub fn take_new_keys(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.new_keys)
    }

    /// The files.
    pub const fn paths(&self) -> &Paths {
        &self.paths
    }
}

/// What the whole blocks of an unfinished file hold.
#[derive(Debug, Default)]
struct Whole {
    totals: Totals,
    /// The number after the last game's.
    next: u64,
    /// Keys of the positions where the games begin.
    known: HashSet<u64>,
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

fn add(totals: &mut Totals, game: &GameRecord) {
    totals.games += 1;
    totals.plies += game.len() as u64;
    totals.positions += game.plies.len() as u64;
}

fn io_error(path: &Path, verb: &'static str) -> impl FnOnce(io::Error) -> SinkError {
    let path = path.to_owned();
    move |source| SinkError::Io { path, verb, source }
}

/// The key of the position after the opening.
fn opening_key(game: &GameRecord) -> Result<u64, SinkError> {
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
fn finished(path: &Path, plan: &Plan) -> Result<Option<Totals>, SinkError> {
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
fn open_locked(path: &Path) -> Result<File, SinkError> {
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
fn open_partial(
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
fn read_journal(path: &Path, header: &Header) -> Result<BTreeMap<u64, GameRecord>, SinkError> {
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
fn new_journal(
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
fn push_alone(writer: &mut Writer<File>, game: &GameRecord) -> Result<(), WriteError> {
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
