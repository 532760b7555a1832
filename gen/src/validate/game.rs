//! A game against the rules: every move legal, and the end as the judge says.

use nnue_format::record::{GameError, GameRecord, Outcome, Reason};
use xiangqi::Game;
use xiangqi::judge::{self, GameResult};

/// Why a game is not as recorded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GameFault {
    /// The start is no position.
    #[error("{0}")]
    Start(GameError),
    /// A move is illegal.
    #[error("ply {ply}: {why}")]
    Illegal {
        /// The ply, from 0.
        ply: usize,
        /// What is wrong with the move.
        why: String,
    },
    /// The game was over before its last move.
    #[error("ply {ply}: {result} by {reason} already, and the game goes on")]
    Over {
        /// Plies played when it was over.
        ply: usize,
        /// The judge's result.
        result: GameResult,
        /// The judge's reason.
        reason: String,
    },
    /// The end is another than recorded.
    #[error("recorded as {outcome} by {reason}, the judge says {found}")]
    End {
        /// The recorded outcome.
        outcome: Outcome,
        /// The recorded reason.
        reason: Reason,
        /// The judge's verdict.
        found: String,
    },
}

impl GameFault {
    /// The ply, from 0, if it is one ply's fault.
    pub const fn ply(&self) -> Option<usize> {
        match self {
            GameFault::Illegal { ply, .. } | GameFault::Over { ply, .. } => Some(*ply),
            GameFault::Start(_) | GameFault::End { .. } => None,
        }
    }
}

/// Checks a game: every move legal, none after the end, and the end as recorded. Where somebody ended the game, the
/// judge must let it go on.
///
/// # Errors
/// The first thing that is not so.
pub fn check_game(record: &GameRecord) -> Result<(), GameFault> {
    let mut game = Game::new(record.start.position().map_err(GameFault::Start)?);
    let mut status = judge::status(&game, record.rules);
    for (ply, mv) in record.moves().enumerate() {
        if let Some(reason) = status.reason {
            return Err(GameFault::Over { ply, result: status.result, reason: reason.to_string() });
        }
        game.try_play(mv).map_err(|error| GameFault::Illegal { ply, why: error.to_string() })?;
        status = judge::status(&game, record.rules);
    }
    let found = Outcome::from_result(status.result).zip(status.reason.map(Reason::from));
    let expected = (!record.reason.is_adjudicated()).then_some((record.outcome, record.reason));
    if found == expected {
        return Ok(());
    }
    let found = match found {
        None => "the game goes on".to_owned(),
        Some((outcome, reason)) => format!("{outcome} by {reason}"),
    };
    Err(GameFault::End { outcome: record.outcome, reason: record.reason, found })
}
