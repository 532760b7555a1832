//! What can be wrong with a game file, and where.

use std::fmt;

use crate::tree::{GameTree, Outcome};

/// Where in a file something is: what a person needs to find it with an editor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// Line of a text, from 1.
    Line(usize),
    /// Byte of a binary file, from 0.
    Byte(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(f, "line {line}"),
            Place::Byte(byte) => write!(f, "byte {byte}"),
        }
    }
}

/// What kind of fault it is: what summaries count by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultKind {
    /// The start is no position that can stand in a game.
    Start,
    /// A text or bytes that name no move.
    Unreadable,
    /// A move that is not legal.
    Illegal,
    /// The file ends inside the game.
    Cut,
    /// The moves were read, but not how they hang together: a variation that branches off nowhere, or too deep.
    Structure,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [FaultKind; 5] =
        [FaultKind::Start, FaultKind::Unreadable, FaultKind::Illegal, FaultKind::Cut, FaultKind::Structure];

    /// The word for it in summaries and JSON.
    pub const fn word(self) -> &'static str {
        match self {
            FaultKind::Start => "start",
            FaultKind::Unreadable => "unreadable",
            FaultKind::Illegal => "illegal",
            FaultKind::Cut => "cut",
            FaultKind::Structure => "structure",
        }
    }
}

/// A fault in one game. Everything before it was read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("game {game}, {line_name} ply {ply}, {place}: {found:?}: {why}", line_name = line_name(*.variation))]
pub struct GameFault {
    /// What kind of fault.
    pub kind: FaultKind,
    /// Number of the game in its file, from 1.
    pub game: usize,
    /// 0 for the main line, else the variation's number in the file, from 1.
    pub variation: usize,
    /// The ply that could not be read, from 1; 0 where the game has no start.
    pub ply: usize,
    /// Where it is.
    pub place: Place,
    /// What stands there, cut to 40 characters.
    pub found: String,
    /// What is wrong with it and what was expected.
    pub why: String,
}

fn line_name(variation: usize) -> String {
    if variation == 0 { "main line".to_owned() } else { format!("variation {variation}") }
}

/// A file that is no game file of the format it was read as.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: expected {expected}, found {found:?}")]
pub struct FileError {
    /// Where.
    pub place: Place,
    /// What should stand there.
    pub expected: String,
    /// What stands there, cut to 40 characters.
    pub found: String,
}

/// A text cut to what an error shows of it: 40 characters.
pub(crate) fn shown(text: &str) -> String {
    text.chars().take(40).collect()
}

impl FileError {
    /// What was found is cut to 40 characters.
    pub fn new(place: Place, expected: impl Into<String>, found: &str) -> FileError {
        FileError { place, expected: expected.into(), found: shown(found) }
    }
}

/// A game as it was read, whole or up to its first fault.
#[derive(Clone, Debug)]
pub struct ReadGame {
    /// What was read.
    pub tree: GameTree,
    /// What was wrong: at most one fault of the main line, and one for each broken variation, of which
    /// [`MAX_FAULTS`](ReadGame::MAX_FAULTS) are kept.
    pub faults: Vec<GameFault>,
    /// How many faults more there were.
    pub more_faults: usize,
    /// Two results that contradict each other: the tag's (or header's) and the one behind the moves.
    pub contradiction: Option<(Outcome, Outcome)>,
    /// What is odd and costs nothing: results that contradict each other, text after the moves.
    pub warnings: Vec<String>,
}

impl ReadGame {
    /// So many faults of one game are kept; the rest is counted.
    pub const MAX_FAULTS: usize = 1000;

    /// A game without faults.
    pub fn new(tree: GameTree) -> ReadGame {
        ReadGame { tree, faults: Vec::new(), more_faults: 0, contradiction: None, warnings: Vec::new() }
    }

    /// Adds a fault. A main line's first is always kept, a second one is dropped: what follows a break is not read.
    pub fn add_fault(&mut self, fault: GameFault) {
        let is_main = fault.variation == 0;
        if is_main && self.main_fault().is_some() {
            return;
        }
        if is_main || self.faults.len() < ReadGame::MAX_FAULTS {
            self.faults.push(fault);
        } else {
            self.more_faults += 1;
        }
    }

    /// The main line's fault, if it has one.
    pub fn main_fault(&self) -> Option<&GameFault> {
        self.faults.iter().find(|fault| fault.variation == 0)
    }

    /// What makes the game as a whole incomplete: its main line's fault, else that the file is cut, wherever.
    pub fn error(&self) -> Option<&GameFault> {
        self.main_fault().or_else(|| self.faults.iter().find(|fault| fault.kind == FaultKind::Cut))
    }
}
