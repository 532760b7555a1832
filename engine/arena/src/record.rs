//! What is kept of a pair of games: in the journal, and for everything made from it.

use serde::{Deserialize, Serialize};
use xiangqi::{Color, Move};

use crate::game::Played;
use crate::openings::Opening;
use crate::outcome::{FailureKind, Outcome, Reason, Side};

/// One game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameRecord {
    /// Who played Red.
    pub red: Side,
    /// How it ended.
    pub result: Outcome,
    /// Why.
    pub reason: Reason,
    /// What a failing player did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
    /// Time used by Red and Black, in ms.
    pub time_ms: [u64; 2],
    /// Nodes searched by Red and Black.
    pub nodes: [u64; 2],
    /// All moves, the opening's first, with blanks between.
    pub moves: String,
}

/// A finished pair: two games on one opening, A playing Red in the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairRecord {
    /// Its number, from 0.
    pub pair: u64,
    /// Names of A and B, as they give them.
    pub players: [String; 2],
    /// FEN of the first position.
    pub start: String,
    /// How many moves of each game belong to the opening.
    pub opening_plies: usize,
    /// The games.
    pub games: [GameRecord; 2],
}

impl GameRecord {
    /// The record of a game.
    pub fn new(red: Side, played: Played) -> GameRecord {
        let words: Vec<String> = played.moves.iter().map(Move::to_string).collect();
        GameRecord {
            red,
            result: played.outcome,
            reason: played.reason,
            detail: played.detail,
            time_ms: played.time_ms,
            nodes: played.nodes,
            moves: words.join(" "),
        }
    }

    /// Who played this colour.
    pub fn player(&self, color: Color) -> Side {
        match color {
            Color::Red => self.red,
            Color::Black => self.red.other(),
        }
    }

    /// Half points of A: 0, 1 or 2.
    pub fn half_points_of_a(&self) -> u8 {
        match self.red {
            Side::A => self.result.red_half_points(),
            Side::B => 2 - self.result.red_half_points(),
        }
    }

    /// Who failed and how, if the game was lost by a failure.
    pub fn failure(&self) -> Option<(Side, FailureKind)> {
        let loser = match self.result {
            Outcome::Draw => return None,
            Outcome::RedLoses => Color::Red,
            Outcome::BlackLoses => Color::Black,
        };
        match self.reason {
            Reason::Failure(kind) => Some((self.player(loser), kind)),
            _ => None,
        }
    }
}

impl PairRecord {
    /// The record of a pair, from its games in order.
    pub fn new(
        pair: u64,
        players: [String; 2],
        opening: &Opening,
        [first, second]: [Played; 2],
    ) -> PairRecord {
        PairRecord {
            pair,
            players,
            start: opening.start.clone(),
            opening_plies: opening.moves.len(),
            games: [GameRecord::new(Side::A, first), GameRecord::new(Side::B, second)],
        }
    }
}
