//! One game of self-play.

use std::sync::atomic::{AtomicBool, Ordering};

use nnue_format::record::{GameRecord, Outcome, PlyFlags, PlyRecord, Reason, Start};
use xiangqi::judge::{self, RuleSet};
use xiangqi::{Game, Score};

use crate::adjudicate::Adjudicator;
use crate::openings;
use crate::plan::{Plan, PlanError};
use crate::player::Player;
use crate::seed;

/// How a game number ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finished {
    /// A game.
    Game(Box<Played>),
    /// Its opening leads to where an earlier game of the run begins: the same searches would play the same
    /// game again. The number stays unused.
    Repeated,
    /// The run was stopped while it was played.
    Stopped,
}

/// A game with what the run needs to know about it besides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played {
    /// The game.
    pub record: GameRecord,
    /// The key of the position after the opening.
    pub opening_key: u64,
    /// Nodes searched.
    pub nodes: u64,
}

/// Why a game could not be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlayError {
    /// No opening leaves the game going on.
    #[error("game {number}: no random opening of {plies} plies leaves the game going on")]
    NoOpening {
        /// The game's number.
        number: u64,
        /// The plan's greatest number of random plies.
        plies: u32,
    },
    /// The search gave no move, an illegal one or an impossible score: a fault of the engine.
    #[error(
        "game {number}, ply {ply}: the engine answered {what} in {fen}; this is a fault of the engine, please report it"
    )]
    Engine {
        /// The game's number.
        number: u64,
        /// The ply, from 0.
        ply: usize,
        /// The answer.
        what: String,
        /// The position.
        fen: String,
    },
    /// The plan is not possible.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// Plays game `number` of the plan. `is_known` is asked once, with the key of the position after the opening:
/// whether an earlier game of the run begins there.
pub fn play_game(
    plan: &Plan,
    number: u64,
    player: &mut dyn Player,
    stop: &AtomicBool,
    is_known: &dyn Fn(u64) -> bool,
) -> Result<Finished, PlayError> {
    let rules = plan.rule_set()?;
    let mut rng = seed::game_rng(plan.seed, number);
    let opening = openings::draw(&plan.opening, rules, &mut rng, player)
        .ok_or(PlayError::NoOpening { number, plies: plan.opening.max_plies })?;
    let opening_key = opening.game.position().key();
    if stop.load(Ordering::Relaxed) {
        return Ok(Finished::Stopped);
    }
    if is_known(opening_key) {
        return Ok(Finished::Repeated);
    }
    let mut nodes = opening.nodes;
    let opening_moves = opening.game.moves().collect();
    // From here on the game depends on the opening's moves alone, so that it can be checked from its record.
    player.new_game();
    let game = opening.game;
    let Some((plies, outcome, reason)) = searched_plies(plan, number, player, stop, game, rules, &mut nodes)?
    else {
        return Ok(Finished::Stopped);
    };
    let start = Start::Standard;
    let record = GameRecord { number, start, opening: opening_moves, plies, outcome, reason, rules };
    Ok(Finished::Game(Box::new(Played { record, opening_key, nodes })))
}

/// The plies after the opening, and the end; `None` if stopped.
fn searched_plies(
    plan: &Plan,
    number: u64,
    player: &mut dyn Player,
    stop: &AtomicBool,
    mut game: Game,
    rules: RuleSet,
    nodes: &mut u64,
) -> Result<Option<(Vec<PlyRecord>, Outcome, Reason)>, PlayError> {
    let mut adjudicator = Adjudicator::default();
    let mut plies = Vec::new();
    loop {
        let choice = player.search(&game, plan.limit);
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        *nodes += choice.nodes;
        let fault = |game: &Game, what: String| {
            let (ply, fen) = (game.len(), game.position().fen());
            PlayError::Engine { number, ply, what, fen }
        };
        let side = game.position().side_to_move();
        let score = choice.score;
        let mv = choice.best.ok_or_else(|| fault(&game, "no move".to_owned()))?;
        if score.0.abs() > Score::MATE {
            return Err(fault(&game, format!("the score {}", score.0)));
        }
        if let Err(error) = game.try_play(mv) {
            return Err(fault(&game, format!("the move {mv} ({error})")));
        }
        plies.push(PlyRecord { mv, score, flags: PlyFlags::NONE });
        let status = judge::status(&game, rules);
        if let (Some(outcome), Some(reason)) = (Outcome::from_result(status.result), status.reason) {
            return Ok(Some((plies, outcome, Reason::from(reason))));
        }
        if let Some((outcome, reason)) = adjudicator.see(&plan.adjudication, side, score, game.len()) {
            return Ok(Some((plies, outcome, reason)));
        }
    }
}
