//! The journal of a loop: what is written before and after every step, one JSON object a line, each with its
//! check and synced before the loop goes on (`arena::journal`). Its lock keeps a second loop out of the folder.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use arena::journal::{Entry, Journal, JournalError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::JOURNAL;
use super::recipe::{DataSettings, ExportSettings, MatchSettings, PlaySettings, Recipe, TrainSettings};

/// A line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Its number, from 0.
    pub seq: u64,
    /// When, in seconds since 1970. Nothing depends on it.
    pub at: u64,
    /// What happened.
    pub event: Event,
}

impl Entry for Line {
    const FORMAT: &'static str = "chuhe-loop/1";

    fn number(&self) -> u64 {
        self.seq
    }
}

/// The settings that a generation is made with: those of the recipe when it was begun.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Self-play.
    pub play: PlaySettings,
    /// What is trained on.
    pub data: DataSettings,
    /// Training.
    pub train: TrainSettings,
    /// The trainer's configuration with this generation's seed.
    pub train_config: String,
    /// Export.
    pub export: ExportSettings,
    /// The match.
    pub contest: MatchSettings,
}

impl Settings {
    /// Those that a recipe has for a generation.
    pub fn of(recipe: &Recipe, generation: u32, train_config: String) -> Settings {
        Settings {
            play: recipe.play.of(generation),
            data: recipe.data.clone(),
            train: recipe.train.clone(),
            train_config,
            export: recipe.export.clone(),
            contest: recipe.contest.clone(),
        }
    }

    /// What differs between two generations' settings: names of tables.
    pub fn differences(&self, other: &Settings) -> Vec<&'static str> {
        let pairs = [
            ("play", json!(self.play) == json!(other.play)),
            ("data", json!(self.data) == json!(other.data)),
            ("train", self.train.args == other.train.args && self.train_config == other.train_config),
            ("export", json!(self.export) == json!(other.export)),
            ("match", json!(self.contest) == json!(other.contest)),
        ];
        pairs.into_iter().filter(|(_, same)| !same).map(|(name, _)| name).collect()
    }
}

/// Who plays the games of a generation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Player {
    /// The generation that made its net; `None`: the start net or the hand-crafted evaluation.
    pub generation: Option<u32>,
    /// Its net, relative to the loop's folder; `None`: the hand-crafted evaluation.
    pub net: Option<String>,
    /// The net's SHA-256, or "none".
    pub id: String,
}

/// A file as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    /// Its path, relative to the loop's folder.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: String,
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// It did all it had to.
    Done,
    /// It was asked to stop and can go on.
    Interrupted,
    /// It failed.
    Failed,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A generation begins.
    Generation {
        /// Its number, from 1.
        number: u32,
        /// What it is made with.
        settings: Box<Settings>,
        /// Who plays.
        player: Player,
    },
    /// The steps from `step` on are done again, with these settings.
    Redo {
        /// The generation.
        generation: u32,
        /// The first step.
        step: String,
        /// What it is made with now.
        settings: Box<Settings>,
    },
    /// A step begins, or goes on.
    Begin {
        /// The generation.
        generation: u32,
        /// The step.
        step: String,
        /// The program's name and its words.
        command: Vec<String>,
        /// The files that it reads.
        inputs: Vec<FileState>,
    },
    /// The step's child runs.
    Child {
        /// Its process.
        pid: u32,
    },
    /// The step's child ended.
    End {
        /// The generation.
        generation: u32,
        /// The step.
        step: String,
        /// How.
        state: Ended,
        /// Time that it took since it was begun or went on.
        seconds: f64,
        /// What it made.
        outputs: Vec<FileState>,
        /// What it said.
        result: Value,
        /// Why it failed.
        message: Option<String>,
    },
    /// The new net was judged.
    Verdict {
        /// The generation.
        generation: u32,
        /// Does it play the next generation?
        accepted: bool,
        /// Did it pass its test?
        passed: bool,
        /// Why, in words.
        why: String,
    },
    /// Files that are not needed any more go away.
    Removed {
        /// Their paths, relative to the loop's folder.
        paths: Vec<String>,
    },
}

/// The open journal.
pub struct LoopJournal {
    journal: Journal<Line>,
    lines: BTreeMap<u64, Line>,
}

impl LoopJournal {
    /// Opens or begins the journal of a loop, and locks its folder.
    ///
    /// # Errors
    /// Another loop runs there, the journal is damaged, or the loop has another seed.
    pub fn open(folder: &Path, seed: u64) -> Result<LoopJournal, JournalError> {
        let (journal, lines) = Journal::open(&folder.join(JOURNAL), &json!({ "seed": seed }))?;
        Ok(LoopJournal { journal, lines })
    }

    /// The lines of a loop that may be running.
    ///
    /// # Errors
    /// No journal is there, or it is damaged.
    pub fn peek(folder: &Path) -> Result<Vec<Line>, JournalError> {
        let lines = Journal::<Line>::peek(&folder.join(JOURNAL))?;
        Ok(lines.into_values().collect())
    }

    /// All lines in order.
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        self.lines.values()
    }

    /// Writes a line and waits until it is on the disk.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn write(&mut self, event: Event) -> Result<(), JournalError> {
        let seq = self.lines.last_key_value().map_or(0, |(last, _)| last + 1);
        let at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let line = Line { seq, at, event };
        self.journal.write(&line)?;
        self.lines.insert(seq, line);
        Ok(())
    }
}
