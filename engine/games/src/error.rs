//! What can be wrong with a game file, and where.

use std::fmt;

use crate::tree::GameTree;

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

/// A fault in one game. Everything before it was read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("game {game}, {line_name} ply {ply}, {place}: {found:?}: {why}", line_name = line_name(*.variation))]
pub struct GameFault {
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

/// A game as it was read, whole or up to its first fault.
#[derive(Clone, Debug)]
pub struct ReadGame {
    /// What was read.
    pub tree: GameTree,
    /// What was wrong: at most one fault of the main line, and one for each broken variation.
    pub faults: Vec<GameFault>,
}

impl ReadGame {
    /// The main line's fault, if it has one.
    pub fn main_fault(&self) -> Option<&GameFault> {
        self.faults.iter().find(|fault| fault.variation == 0)
    }
}
