//! Data as programs exchange it, into records: JSON lines of whole games, `.plain` text, CSV, and the `.bin` of
//! variant-nnue-tools.
//!
//! ```text
//! file → exchange reader → Sample → Joiner → run → games by the rules → Writer
//!                        └ GameRecord (JSON lines) ────────────────────┘
//! ```
//!
//! Memory: one line, one run of positions (2 MB) and the block that is being written, whatever the files hold.

mod chain;
mod source;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use nnue_format::record::{GameRecord, WriteError, Writer};
use serde_json::{Value, json};
use xiangqi::judge::RuleSet;

use super::ImportError;
use crate::exchange::{Conventions, ExchangeError, FirstRank, Sample, jsonl};

pub use chain::{Joiner, games};
pub use source::{DataKind, first_rank, open, samples};

/// Faults that are kept as text; the rest is counted.
pub const FAULTS_KEPT: usize = 20;

/// From here on a score should agree with the result.
const CLEAR_SCORE: i32 = 600;

/// So many clear scores must speak for another view before that is said.
const VIEW_EVIDENCE: u64 = 50;

/// Why an import of data stopped.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// A file cannot be used.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// The records cannot be written.
    #[error("cannot write: {0}")]
    Write(#[from] WriteError),
    /// There are faults, and they are not to be left out.
    #[error(
        "{found} faults in {path}; nothing is written. --skip-damaged leaves such lines out and writes the rest"
    )]
    Faulty {
        /// The file.
        path: PathBuf,
        /// Faults found before it was given up.
        found: u64,
    },
    /// Ctrl-C.
    #[error("interrupted: nothing is published, and nothing is left behind; the same command begins anew")]
    Interrupted,
}

/// How data become records.
#[derive(Clone, Copy, Debug)]
pub struct DataSettings {
    /// The rules that say whether a game of positions is over.
    pub rules: RuleSet,
    /// Views and ranks of positions; the ranks are looked for where `find_ranks` says so.
    pub conventions: Conventions,
    /// Find out for each file how its moves number the ranks.
    pub find_ranks: bool,
    /// Leave out faulty lines.
    pub skip_damaged: bool,
    /// Keep the numbers of JSON lines; else games are numbered from 0.
    pub keep_numbers: bool,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataTally {
    /// Games written.
    pub games: u64,
    /// Their scored positions.
    pub positions: u64,
    /// Games of one position that nothing follows.
    pub single: u64,
    /// Faulty lines or positions, by kind.
    pub faults: BTreeMap<&'static str, u64>,
    /// The first of them, with their files.
    pub shown: Vec<String>,
    /// Clear scores whose sign is the result's, and those whose sign is the other.
    pub clear_scores: (u64, u64),
}

impl DataTally {
    /// Faults in all.
    pub fn fault_count(&self) -> u64 {
        self.faults.values().sum()
    }

    /// A warning, if scores contradict the results more often than not.
    pub fn view_warning(&self) -> Option<String> {
        let (with, against) = self.clear_scores;
        (against > with && against >= VIEW_EVIDENCE).then(|| {
            format!(
                "of the scores beyond ±{CLEAR_SCORE}, {against} contradict their game's result and {with} agree: is their view \
                 another? See --scores and --results"
            )
        })
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        json!({
            "written": self.games,
            "positions": self.positions,
            "single_positions": self.single,
            "faults": self.faults,
            "first_faults": self.shown,
            "scores_with_result": self.clear_scores.0,
            "scores_against_result": self.clear_scores.1,
            "warning": self.view_warning(),
        })
    }

    /// For people.
    pub fn text(&self) -> String {
        let DataTally { games, positions, single, .. } = self;
        let mut text = format!("{games} games, {positions} positions, {single} of them alone\n");
        if !self.faults.is_empty() {
            let faults: Vec<_> = self.faults.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
            text += &format!("left out as faulty: {}\n", faults.join(", "));
        }
        if let Some(warning) = self.view_warning() {
            text += &format!("warning: {warning}\n");
        }
        text
    }
}

/// Makes the writer for games of these rules; hears the first line of JSON lines that has one.
pub type Opener<'a, W> =
    &'a mut dyn FnMut(RuleSet, Option<&jsonl::FileLine>) -> Result<Writer<W>, WriteError>;

/// Reads files of data into a writer that the first game opens.
pub struct DataImport<'a, W> {
    settings: DataSettings,
    /// Opens the writer for games of these rules; none in a dry run.
    open: Option<Opener<'a, W>>,
    writer: Option<Writer<W>>,
    rules: Option<RuleSet>,
    file_line: Option<jsonl::FileLine>,
    stop: &'a AtomicBool,
    tally: DataTally,
    /// Bytes read.
    read: Arc<AtomicU64>,
}

/// Hears how many bytes are read, now and then.
pub type Hear<'a> = &'a mut dyn FnMut(u64);

impl<'a, W: Write> DataImport<'a, W> {
    /// An import; `open` makes the writer, `None` only reads and reports.
    pub fn new(
        settings: DataSettings,
        open: Option<Opener<'a, W>>,
        stop: &'a AtomicBool,
    ) -> DataImport<'a, W> {
        DataImport {
            settings,
            open,
            writer: None,
            rules: None,
            file_line: None,
            stop,
            tally: DataTally::default(),
            read: Arc::default(),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// A file that cannot be read on, faults that are not to be left out, a full disk, an interruption.
    pub fn file(&mut self, path: &Path, kind: DataKind, hear: Hear<'_>) -> Result<(), DataError> {
        match kind {
            DataKind::Jsonl => self.lines(path, hear)?,
            _ => self.positions(path, kind, hear)?,
        }
        match self.tally.fault_count() {
            found if found > 0 && !self.settings.skip_damaged => {
                Err(DataError::Faulty { path: path.to_owned(), found })
            }
            _ => Ok(()),
        }
    }

    /// The writer with everything written, if there was a game; what was found; the line of the file the games are of.
    pub fn finish(self) -> (Option<Writer<W>>, DataTally, Option<jsonl::FileLine>) {
        (self.writer, self.tally, self.file_line)
    }

    fn lines(&mut self, path: &Path, hear: Hear<'_>) -> Result<(), DataError> {
        for (i, item) in jsonl::Reader::new(open(path, &self.read)?).enumerate() {
            match item {
                Ok(jsonl::Item::File(line)) if i == 0 => self.file_line = Some(*line),
                Ok(jsonl::Item::File(_)) => {}
                Ok(jsonl::Item::Game(game, place)) => {
                    let rules = *self.rules.get_or_insert(game.rules);
                    if game.rules == rules {
                        self.write(*game, self.settings.keep_numbers)?;
                    } else {
                        let why = format!(
                            "the games before it are judged by {rules}; a record file has one rule set"
                        );
                        let found = game.rules.to_string();
                        let kind = crate::exchange::SampleFault::Inconsistent;
                        self.fault(path, &ExchangeError::new(kind, place, &found, why))?;
                    }
                }
                Err(error) => self.fault(path, &error)?,
            }
            self.pause(hear)?;
        }
        Ok(())
    }

    fn positions(&mut self, path: &Path, kind: DataKind, hear: Hear<'_>) -> Result<(), DataError> {
        let mut conventions = self.settings.conventions;
        if matches!(kind, DataKind::Packed(_)) {
            conventions.first_rank = FirstRank::Zero;
        } else if self.settings.find_ranks {
            conventions.first_rank = first_rank(path, kind, &conventions)?;
        }
        let mut joiner = Joiner::default();
        for raw in samples(path, kind, &self.read)? {
            match raw.and_then(|raw| raw.check(&conventions)) {
                Ok(sample) => {
                    self.compare(&sample);
                    let (run, fault) = joiner.push(sample);
                    if let Some(fault) = fault {
                        self.fault(path, &fault)?;
                    }
                    self.run(path, &run)?;
                }
                Err(error) => self.fault(path, &error)?,
            }
            self.pause(hear)?;
        }
        self.run(path, &joiner.finish())
    }

    /// Does a clear score agree with the result?
    fn compare(&mut self, sample: &Sample) {
        if sample.result != 0 && sample.score.0.abs() >= CLEAR_SCORE {
            let agrees = (sample.score.0 > 0) == (sample.result > 0);
            let count = if agrees { &mut self.tally.clear_scores.0 } else { &mut self.tally.clear_scores.1 };
            *count += 1;
        }
    }

    fn run(&mut self, path: &Path, run: &[Sample]) -> Result<(), DataError> {
        let (games, faults) = games(run, self.settings.rules);
        for fault in faults {
            self.fault(path, &fault)?;
        }
        for game in games {
            self.tally.single += u64::from(game.plies.len() == 1);
            self.write(game, false)?;
        }
        Ok(())
    }

    fn write(&mut self, mut game: GameRecord, keep_number: bool) -> Result<(), DataError> {
        if !keep_number {
            game.number = self.tally.games;
        }
        if self.writer.is_none()
            && let Some(open) = &mut self.open
        {
            self.writer = Some(open(game.rules, self.file_line.as_ref())?);
        }
        if let Some(writer) = &mut self.writer {
            writer.push(&game)?;
        }
        self.tally.games += 1;
        self.tally.positions += game.plies.len() as u64;
        Ok(())
    }

    fn fault(&mut self, path: &Path, error: &ExchangeError) -> Result<(), DataError> {
        *self.tally.faults.entry(error.word()).or_default() += 1;
        if self.tally.shown.len() < FAULTS_KEPT {
            self.tally.shown.push(format!("{}: {error}", path.display()));
        }
        let found = self.tally.fault_count();
        let enough = !self.settings.skip_damaged && found >= FAULTS_KEPT as u64;
        if enough || matches!(error, ExchangeError::Io { .. }) {
            return Err(DataError::Faulty { path: path.to_owned(), found });
        }
        Ok(())
    }

    fn pause(&self, hear: &mut dyn FnMut(u64)) -> Result<(), DataError> {
        hear(self.read.load(Ordering::Relaxed));
        if self.stop.load(Ordering::Relaxed) { Err(DataError::Interrupted) } else { Ok(()) }
    }

    /// What was found so far.
    pub const fn tally(&self) -> &DataTally {
        &self.tally
    }
}
