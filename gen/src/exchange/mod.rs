//! Games and positions in the formats that programs exchange; docs/exchange.md has each one's grammar.
//!
//! ```text
//! bytes → Lines → plain, csv │ packed → RawSample → check → Sample        (a position with its move, on its own)
//! bytes → Lines → jsonl                          → GameRecord             (a whole game, exactly)
//! ```
//!
//! Every reader is an iterator that holds one line or one position at a time, says of each faulty one where it is and
//! what is wrong, and goes on behind it.

pub mod csv;
pub mod jsonl;
mod lines;
mod moves;
pub mod packed;
pub mod plain;

use std::io;

use game_files::Place;
use xiangqi::{Color, Move, Position, Score};

pub use lines::{LineError, Lines};
pub use moves::{FirstRank, move_text, parse_move};

/// From whose view scores and results are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The side to move's.
    SideToMove,
    /// Red's.
    Red,
}

impl View {
    /// The view of this name: `side` or `red`.
    pub fn named(name: &str) -> Option<View> {
        match name {
            "side" => Some(View::SideToMove),
            "red" => Some(View::Red),
            _ => None,
        }
    }

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            View::SideToMove => "side",
            View::Red => "red",
        }
    }

    /// A value of this view as the side to move sees it, and the other way round.
    pub const fn turned(self, value: i32, side_to_move: Color) -> i32 {
        match (self, side_to_move) {
            (View::Red, Color::Black) => -value,
            _ => value,
        }
    }
}

/// What is wrong with a line or position: what summaries count by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SampleFault {
    /// It does not follow the grammar.
    Unreadable,
    /// Its position can stand in no game.
    Position,
    /// Its move is not legal.
    Illegal,
    /// Its score is no score.
    Score,
    /// It contradicts the lines before it, or the rules.
    Inconsistent,
    /// The file ends inside it.
    Cut,
}

impl SampleFault {
    /// The word for it in summaries and JSON.
    pub const fn word(self) -> &'static str {
        match self {
            SampleFault::Unreadable => "unreadable",
            SampleFault::Position => "position",
            SampleFault::Illegal => "illegal",
            SampleFault::Score => "score",
            SampleFault::Inconsistent => "inconsistent",
            SampleFault::Cut => "cut",
        }
    }
}

/// A fault of an exchange file.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// One line or position is wrong; the reader goes on behind it.
    #[error("{place}: {found:?}: {why}")]
    Sample {
        /// What kind of fault.
        kind: SampleFault,
        /// Where it is.
        place: Place,
        /// What stands there, cut to 40 characters.
        found: String,
        /// What is wrong with it and what was expected.
        why: String,
    },
    /// The file cannot be read on.
    #[error("{place}: cannot read on: {source}")]
    Io {
        /// Where.
        place: Place,
        /// What the system said.
        source: io::Error,
    },
}

impl ExchangeError {
    /// A fault of one line or position.
    pub fn new(kind: SampleFault, place: Place, found: &str, why: impl Into<String>) -> ExchangeError {
        ExchangeError::Sample { kind, place, found: found.chars().take(40).collect(), why: why.into() }
    }

    /// The word for it in summaries and JSON.
    pub const fn word(&self) -> &'static str {
        match self {
            ExchangeError::Sample { kind, .. } => kind.word(),
            ExchangeError::Io { .. } => "io",
        }
    }
}

/// A position with its move as a file has it, before anything is believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawSample {
    /// Where it begins in the file.
    pub place: Place,
    /// The position.
    pub fen: String,
    /// The move played in it.
    pub mv: String,
    /// The search's score, centipawn-like, in the file's view.
    pub score: i32,
    /// Plies of the game before it, if the file says so.
    pub ply: Option<u32>,
    /// What came of the game in the file's view: 1 won, 0 drawn, -1 lost.
    pub result: i32,
}

/// A position with its move, legal, from the side to move's view.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Where it begins in the file.
    pub place: Place,
    /// The position.
    pub position: Position,
    /// The legal move played in it.
    pub mv: Move,
    /// The search's score, side to move.
    pub score: Score,
    /// Plies of the game before it, if the file says so.
    pub ply: Option<u32>,
    /// What came of the game for the side to move: 1 won, 0 drawn, -1 lost.
    pub result: i32,
}

/// How the samples of a file are to be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conventions {
    /// The number of Red's first rank in moves.
    pub first_rank: FirstRank,
    /// From whose view scores are.
    pub scores: View,
    /// From whose view results are.
    pub results: View,
}

impl RawSample {
    /// Checks the sample: the position can stand in a game, the move is legal, the score is one.
    ///
    /// # Errors
    /// Says what is wrong, at the sample's place.
    pub fn check(&self, conventions: &Conventions) -> Result<Sample, ExchangeError> {
        let fault = |kind, found: &str, why: String| ExchangeError::new(kind, self.place, found, why);
        let position = Position::from_fen(&self.fen)
            .map_err(|error| fault(SampleFault::Position, &self.fen, error.to_string()))?;
        let mv = parse_move(&self.mv, conventions.first_rank)
            .map_err(|why| fault(SampleFault::Illegal, &self.mv, why))?;
        if let Some(rule) = position.why_illegal(mv) {
            let why = format!("{rule} (read as {mv}, ranks from 0, in {})", position.fen());
            return Err(fault(SampleFault::Illegal, &self.mv, why));
        }
        if self.score.unsigned_abs() > Score::MATE as u32 {
            let why = format!("beyond ±{}; unknown scores (Stockfish's 32002) are none", Score::MATE);
            return Err(fault(SampleFault::Score, &self.score.to_string(), why));
        }
        let side = position.side_to_move();
        Ok(Sample {
            place: self.place,
            mv,
            score: Score(conventions.scores.turned(self.score, side)),
            ply: self.ply,
            result: conventions.results.turned(self.result, side),
            position,
        })
    }
}

/// A scored position on its way out.
#[derive(Clone, Copy, Debug)]
pub struct OutSample<'a> {
    /// The position.
    pub position: &'a Position,
    /// The move played in it.
    pub mv: Move,
    /// The search's score, side to move.
    pub score: Score,
    /// Plies of the game before it.
    pub ply: usize,
    /// What came of the game for the side to move: 1 won, 0 drawn, -1 lost.
    pub result: i32,
}
