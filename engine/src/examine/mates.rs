//! Mate problems as `tests/data/vectors/mates.json` states them: one reader and one measure for the examination of nets,
//! for tests and for `examples/mates.rs`.

use serde::Serialize;
use serde_json::Value;
use xiangqi::{Game, Move, Position, Score};

use super::{HASH_MIB, Plan, Progress};
use crate::eval::EvalSource;
use crate::search::{Limits, Searcher};

/// The project's own problems.
pub const MATES: &str = include_str!("../../../tests/data/vectors/mates.json");

/// A position, and what is known of its mates.
pub struct Case {
    /// Its name.
    pub id: String,
    /// A game that begins with it.
    pub game: Game,
    /// Moves to the mate; `None` where there is none that short.
    pub moves: Option<i32>,
    /// The length is that of a mate by checks alone: a shorter one may be found.
    pub at_most: bool,
    /// Nothing shorter than this many moves may be claimed.
    pub none_below: i32,
}

impl Case {
    /// Are so many moves, or no mate at all, the right answer?
    pub fn is_solved_by(&self, claimed: Option<i32>) -> bool {
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
pub fn cases(text: &str) -> Result<Vec<Case>, String> {
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
pub fn moves_to_mate(score: Score) -> Option<i32> {
    score.mate_plies().filter(|&plies| plies > 0).map(|plies| (plies + 1) / 2)
}

/// Is the line of legal moves as long as the score says, and is there no legal move at its end?
pub fn ends_in_mate(game: &Game, pv: &[Move], score: Score) -> bool {
    let mut along = game.clone();
    let legal = pv.iter().all(|&mv| along.try_play(mv).is_ok());
    let plies = score.mate_plies().map_or(0, i32::abs);
    legal && pv.len() as i32 == plies && !along.position().has_legal_move()
}

/// What a search by an evaluation makes of the problems.
#[derive(Clone, Debug, Serialize)]
pub struct Mates {
    /// Problems with a mate of a stated length.
    pub problems: usize,
    /// Those solved within the nodes, with that length.
    pub solved: usize,
    /// Nodes a problem, those not solved with all they had.
    pub nodes: u64,
    /// Mates claimed that are shorter than there is: no evaluation may do that.
    pub false_claims: usize,
}

impl Mates {
    pub(super) fn of(source: &EvalSource, plan: &Plan, progress: Progress<'_>) -> Mates {
        // A test reads them.
        let cases = cases(MATES).unwrap_or_default();
        let mut searcher = Searcher::new(HASH_MIB, source.clone());
        let mut found = Mates { problems: 0, solved: 0, nodes: 0, false_claims: 0 };
        let mut nodes = 0;
        for (number, case) in cases.iter().enumerate() {
            progress("mates", number, cases.len());
            searcher.new_game();
            // The nodes after which the stated length stood.
            let mut first = None;
            let score = searcher
                .search(&case.game, &Limits::nodes(plan.mate_nodes), &mut |info| {
                    if first.is_none() && case.is_solved_by(moves_to_mate(info.line.score)) {
                        first = Some(info.nodes);
                    }
                })
                .score;
            let claimed = moves_to_mate(score);
            found.false_claims += usize::from(claimed.is_some_and(|moves| moves < case.none_below));
            if case.moves.is_some() {
                found.problems += 1;
                let solved = case.is_solved_by(claimed);
                found.solved += usize::from(solved);
                nodes += first.filter(|_| solved).unwrap_or(plan.mate_nodes);
            }
        }
        found.nodes = nodes / (found.problems.max(1) as u64);
        found
    }
}
