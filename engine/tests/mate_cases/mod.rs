//! Mate problems as `tests/data/vectors/mates.json` states them: one reader and one measure for the test and for
//! `examples/mates.rs`.

use serde_json::Value;
use xiangqi::{Game, Move, Position, Score};

/// The project's own problems.
pub(crate) const MATES: &str = include_str!("../../../tests/data/vectors/mates.json");

/// A position, and what is known of its mates.
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) game: Game,
    /// Moves to the mate; `None` where there is none that short.
    pub(crate) moves: Option<i32>,
    /// The length is that of a mate by checks alone: a shorter one may be found.
    pub(crate) at_most: bool,
    /// Nothing shorter than this many moves may be claimed.
    pub(crate) none_below: i32,
}

impl Case {
    /// Are so many moves, or no mate at all, the right answer?
    pub(crate) fn is_solved_by(&self, claimed: Option<i32>) -> bool {
        match (self.moves, claimed) {
            (Some(stated), Some(moves)) => moves == stated || self.at_most && moves < stated,
            (Some(_), None) => false,
            (None, _) => true,
        }
    }
}

/// The cases of a file's text.
///
/// # Errors
/// Where it is no JSON, or a FEN is none.
pub(crate) fn cases(text: &str) -> Result<Vec<Case>, String> {
    let values: Vec<Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    values.iter().map(case).collect()
}

fn case(value: &Value) -> Result<Case, String> {
    let number = |key: &str| value[key].as_i64().map(|n| n as i32);
    let text = |key: &str| value[key].as_str().unwrap_or_default();
    let id = text("id").to_owned();
    let position = Position::from_fen(text("fen")).map_err(|error| format!("{id}: {error}"))?;
    Ok(Case {
        id,
        game: Game::new(position),
        moves: number("mate_in"),
        at_most: text("proof") == "exhaustive_checks_only",
        none_below: number("no_mate_in_fewer_than").unwrap_or(1),
    })
}

/// Moves to a mate by the side to move, if a score is one.
pub(crate) fn moves_to_mate(score: Score) -> Option<i32> {
    score.mate_plies().filter(|&plies| plies > 0).map(|plies| (plies + 1) / 2)
}

/// Is the line of legal moves as long as the score says, and is there no legal move at its end?
pub(crate) fn ends_in_mate(game: &Game, pv: &[Move], score: Score) -> bool {
    let mut along = game.clone();
    let legal = pv.iter().all(|&mv| along.try_play(mv).is_ok());
    let plies = score.mate_plies().map_or(0, i32::abs);
    legal && pv.len() as i32 == plies && !along.position().has_legal_move()
}
