//! Everything that can be checked of a record file.
//!
//! ```text
//! bytes, counts, index   the reader: checksums, footer against blocks      every byte
//! numbers                no game twice                                     every game
//! game                   moves legal, end as the judge says                every ply
//! scores                 ranges, mates against the game's own end          every ply
//! ends                   adjudications as the plan's limits say            every ply
//! paper                  header and manifest against plan and content      every file
//! replay                 games played again from the plan's seed           a sample
//! research               positions searched again                          a sample
//! ```
//!
//! `chuhe-gen verify` does the first three. Memory: some blocks at a time (a megabyte each), 16 bytes for every gap in
//! the games' numbers, 50 bytes for every block's place in the index, and the samples.

pub mod ends;
pub mod game;
pub mod numbers;
pub mod paper;
pub mod replay;
pub mod report;
pub mod research;
pub mod sample;
pub mod scores;

use std::fs::File;
use std::path::{Path, PathBuf};

use nnue_format::record::{GameRecord, RawBlock, ReadError, Reader};
use rayon::prelude::*;

use crate::plan::{Count, Plan};
use game::check_game;
use numbers::Numbers;
use replay::Replays;
use research::{Engine, Searches, Target};
use sample::Sample;

/// Blocks in memory at a time, for each thread.
const BLOCKS_PER_THREAD: usize = 4;
/// Faults that are kept of a file; all are counted.
const MAX_FAULTS: usize = 1000;

/// What kind of thing is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Bytes: checksums, markers, lengths, columns; a file that is cut.
    Bytes,
    /// Counts in a block's head, the footer or its index.
    Counts,
    /// A game's number is there twice.
    Number,
    /// A move is illegal, or the end is not what the judge says.
    Game,
    /// A score is out of range, or contradicts the game's end.
    Score,
    /// The plan's limits for resigning and draws do not give the recorded end.
    Adjudication,
    /// The header is not the plan's.
    Plan,
    /// The manifest is not the file's.
    Manifest,
    /// A game played again is another one.
    Replay,
}

impl Kind {
    /// The word for it in text and JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Kind::Bytes => "bytes",
            Kind::Counts => "counts",
            Kind::Number => "number",
            Kind::Game => "game",
            Kind::Score => "score",
            Kind::Adjudication => "adjudication",
            Kind::Plan => "plan",
            Kind::Manifest => "manifest",
            Kind::Replay => "replay",
        }
    }
}

/// Something wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The byte of the file where the damaged part (for a game: its block) begins.
    pub offset: u64,
    /// The game's number.
    pub game: Option<u64>,
    /// The ply of the game, from 0.
    pub ply: Option<usize>,
    /// What kind of thing.
    pub kind: Kind,
    /// What it is.
    pub what: String,
}

impl Fault {
    /// Of a part of the file that is no game.
    pub const fn of_part(kind: Kind, offset: u64, what: String) -> Fault {
        Fault { offset, game: None, ply: None, kind, what }
    }

    /// Damage that the reader met.
    pub fn of_error(error: &ReadError) -> Fault {
        let (kind, game) = match error {
            ReadError::Totals { .. } => (Kind::Counts, None),
            ReadError::Game { number, .. } => (Kind::Bytes, Some(*number)),
            _ => (Kind::Bytes, None),
        };
        Fault { offset: error.offset(), game, ply: None, kind, what: error.to_string() }
    }
}

/// What to check besides every byte and ply.
#[derive(Default)]
pub struct Options {
    /// Play so many games of the file again.
    pub replay: usize,
    /// Search so many positions of the file again …
    pub search: usize,
    /// … with so many nodes, or those of the plan.
    pub nodes: Option<u64>,
    /// Which games and positions are taken.
    pub seed: u64,
    /// Who plays and searches them.
    pub engine: Option<Engine>,
}

/// What was found in one file.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The file.
    pub path: PathBuf,
    /// Whole games.
    pub games: u64,
    /// Plies of them, openings included.
    pub plies: u64,
    /// Their scored plies.
    pub positions: u64,
    /// The first faults found.
    pub faults: Vec<Fault>,
    /// How many there are in all.
    pub fault_count: u64,
    /// What could not be checked, and why.
    pub notes: Vec<String>,
    /// Games played again.
    pub replays: Option<Replays>,
    /// Positions searched again.
    pub searches: Option<Searches>,
}

/// Why a check cannot be made at all.
#[derive(Debug, thiserror::Error)]
pub enum ValidateError {
    /// The file cannot be opened.
    #[error("{path}: {source}")]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: ReadError,
    },
    /// Games of the file cannot be played again, or positions searched.
    #[error("{path}: {option} is not possible: {why}")]
    Cannot {
        /// The file.
        path: PathBuf,
        /// The option that asked for it.
        option: &'static str,
        /// Why.
        why: String,
    },
}

/// Checks a file. `progress` is told how many bytes are done.
///
/// # Errors
/// A file that cannot be opened; a replay or search that its plan, this engine or this net do not allow. All that is
/// wrong inside the file is in the report.
pub fn validate(
    path: &Path,
    options: &Options,
    progress: &mut dyn FnMut(u64),
) -> Result<Report, ValidateError> {
    let open = |source| ValidateError::Open { path: path.to_owned(), source };
    let mut reader = Reader::open(path).map_err(open)?;
    let plan = Plan::from_bytes(reader.plan()).ok();
    let cannot = |option, why| ValidateError::Cannot { path: path.to_owned(), option, why };
    let again = Again::new(options, plan.as_ref(), &reader).map_err(|(option, why)| cannot(option, why))?;
    let mut check = Check {
        report: Report { path: path.to_owned(), ..Report::default() },
        numbers: Numbers::default(),
        games: Sample::new(options.replay, options.seed),
        positions: Sample::new(options.search, options.seed),
        last_end: None,
        last: None,
        plan,
    };
    check.read(&mut reader, progress);
    check.end(&mut reader);
    let Check { mut report, games, positions, plan, last, .. } = check;
    if let Some(replaying) = again.replay {
        let (replays, faults) = replaying.run(games, plan.as_ref(), last);
        faults.into_iter().for_each(|fault| report.fault(fault));
        report.replays = Some(replays);
    }
    if let Some(searching) = again.search {
        report.searches = Some(searching.run(positions));
    }
    Ok(report)
}

/// What is to be done again, once its conditions are known to hold.
struct Again<'a> {
    replay: Option<replay::Replaying<'a>>,
    search: Option<research::Searching<'a>>,
}

impl<'a> Again<'a> {
    fn new(
        options: &'a Options,
        plan: Option<&Plan>,
        reader: &Reader<File>,
    ) -> Result<Again<'a>, (&'static str, String)> {
        let Some(engine) = &options.engine else { return Ok(Again { replay: None, search: None }) };
        let replay = (options.replay > 0)
            .then(|| replay::Replaying::new(engine, plan).map_err(|why| ("--replay", why)))
            .transpose()?;
        let search = (options.search > 0)
            .then(|| {
                let searching = research::Searching::new(engine, plan, reader.header(), options.nodes);
                searching.map_err(|why| ("--search", why))
            })
            .transpose()?;
        Ok(Again { replay, search })
    }
}

/// A check under way.
struct Check {
    report: Report,
    numbers: Numbers,
    games: Sample<(u64, GameRecord)>,
    positions: Sample<Target>,
    /// What is wrong with the end of the last game so far: of a file with an exact number of positions the last
    /// game lacks its first scores, and its end cannot be told from the rest.
    last_end: Option<Fault>,
    /// The number of that game.
    last: Option<u64>,
    plan: Option<Plan>,
}

/// What the check of one block found.
struct BlockReport {
    offset: u64,
    numbers: Vec<u64>,
    plies: u64,
    positions: u64,
    faults: Vec<Fault>,
    last_end: Option<Fault>,
    games: Sample<(u64, GameRecord)>,
    targets: Sample<Target>,
}

impl Check {
    fn read(&mut self, reader: &mut Reader<File>, progress: &mut dyn FnMut(u64)) {
        let at_a_time = BLOCKS_PER_THREAD * rayon::current_num_threads();
        loop {
            let batch: Vec<_> = std::iter::from_fn(|| reader.next_block()).take(at_a_time).collect();
            if batch.is_empty() {
                return;
            }
            let this = &*self;
            let checked: Vec<_> =
                batch.into_par_iter().map(|block| block.and_then(|block| this.block(&block))).collect();
            for block in checked {
                match block {
                    Ok(block) => self.add(block),
                    Err(error) => self.report.fault(Fault::of_error(&error)),
                }
            }
            progress(reader.offset());
        }
    }

    /// Checks a block alone.
    fn block(&self, block: &RawBlock) -> Result<BlockReport, ReadError> {
        let offset = block.offset;
        let records = block.games()?;
        let mut found = BlockReport {
            offset,
            numbers: records.iter().map(|game| game.number).collect(),
            plies: records.iter().map(|game| game.len() as u64).sum(),
            positions: records.iter().map(|game| game.plies.len() as u64).sum(),
            faults: Vec::new(),
            last_end: None,
            games: self.games.like(),
            targets: self.positions.like(),
        };
        let stored = (u64::from(block.head.plies), u64::from(block.head.positions));
        let counted = (found.plies, found.positions);
        if counted != stored {
            let what = format!("the block's head says {stored:?} plies and positions, counted {counted:?}");
            found.faults.push(Fault::of_part(Kind::Counts, offset, what));
        }
        let last = records.len().saturating_sub(1);
        for (i, game) in records.into_iter().enumerate() {
            self.game(&mut found, &game, i == last);
            found.targets.offer_each(&game);
            found.games.offer(game.number, || (offset, game));
        }
        Ok(found)
    }

    fn game(&self, found: &mut BlockReport, game: &GameRecord, is_last: bool) {
        let (offset, number) = (found.offset, Some(game.number));
        let fault = |kind, ply, what| Fault { offset, game: number, ply, kind, what };
        if let Err(error) = check_game(game) {
            // Scores of a game that did not happen mean nothing.
            found.faults.push(fault(Kind::Game, error.ply(), error.to_string()));
            return;
        }
        let scores = scores::check_scores(game);
        found.faults.extend(scores.into_iter().map(|(ply, what)| fault(Kind::Score, Some(ply), what)));
        let Some(plan) = &self.plan else { return };
        if let Some((ply, what)) = ends::check_end(game, &plan.adjudication) {
            let fault = fault(Kind::Adjudication, Some(ply), what);
            if is_last {
                found.last_end = Some(fault);
            } else {
                found.faults.push(fault);
            }
        }
    }

    fn add(&mut self, block: BlockReport) {
        let earlier = self.last_end.take();
        let report = &mut self.report;
        report.games += block.numbers.len() as u64;
        report.plies += block.plies;
        report.positions += block.positions;
        earlier.into_iter().chain(block.faults).for_each(|fault| report.fault(fault));
        self.last = block.numbers.last().copied().or(self.last);
        for number in block.numbers {
            if !self.numbers.insert(number) {
                let what = format!("game number {number} is in the file a second time");
                let fault = Fault { game: Some(number), ..Fault::of_part(Kind::Number, block.offset, what) };
                report.fault(fault);
            }
        }
        self.last_end = block.last_end;
        self.games.merge(block.games);
        self.positions.merge(block.targets);
    }

    /// What can be said when all blocks are read.
    fn end(&mut self, reader: &mut Reader<File>) {
        let is_cut_to_count =
            self.plan.as_ref().is_some_and(|plan| matches!(plan.count, Count::Positions(_)));
        match self.last_end.take() {
            Some(fault) if !is_cut_to_count => self.report.fault(fault),
            _ => {}
        }
        match &self.plan {
            Some(plan) => paper::check_plan(&mut self.report, reader, plan),
            None => {
                let note =
                    "adjudications not checked: the plan in the file is not one of self-play by this version";
                self.report.notes.push(note.to_owned());
            }
        }
        paper::check_manifest(&mut self.report, reader);
    }
}

impl Report {
    /// Adds a fault.
    pub fn fault(&mut self, fault: Fault) {
        self.fault_count += 1;
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(fault);
        }
    }
}
