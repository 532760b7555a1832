//! One game of self-play.

use std::sync::atomic::{AtomicBool, Ordering};

use nnue_format::record::{GameRecord, Outcome, PlyFlags, PlyRecord, Reason, Start};
use xiangqi::judge;
use xiangqi::{Game, Move, Score};

use crate::adjudicate::Adjudicator;
use crate::openings::{self, Drawn, Starts};
use crate::plan::{Plan, PlanError};
use crate::player::{Choice, Player};
use crate::seed;

/// How a game number ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finished {
    /// A game.
    Game(Box<Played>),
    /// Its opening leads to where an earlier game of the run begins: the same searches would play the same
    /// game again. The number stays unused.
    Repeated,
    /// The book's opening is one-sided. The number stays unused.
    OneSided,
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
    #[error(
        "game {number}: no opening with at most {plies} random plies leaves the game going on; take other --random-plies or another book"
    )]
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
    starts: &Starts,
    number: u64,
    player: &mut dyn Player,
    stop: &AtomicBool,
    is_known: &dyn Fn(u64) -> bool,
) -> Result<Finished, PlayError> {
    let rules = plan.rule_set()?;
    let mut rng = seed::game_rng(plan.seed, number);
    let opening = match openings::draw(&plan.opening, starts, number, rules, &mut rng, player) {
        Drawn::Opening(opening) => *opening,
        Drawn::OneSided => return Ok(Finished::OneSided),
        Drawn::Ended => return Err(PlayError::NoOpening { number, plies: plan.opening.max_plies }),
    };
    let opening_key = opening.game.position().key();
    if stop.load(Ordering::Relaxed) {
        return Ok(Finished::Stopped);
    }
    if is_known(opening_key) {
        return Ok(Finished::Repeated);
    }
    let played = play_on(plan, number, opening.start, opening.game, player, stop)?;
    Ok(match played {
        None => Finished::Stopped,
        Some((record, nodes)) => {
            let nodes = nodes + opening.nodes;
            Finished::Game(Box::new(Played { record, opening_key, nodes }))
        }
    })
}

/// Plays game `number` of the plan from the end of its opening; `game` stands there and began at `start`. Gives the
/// game and the nodes searched; `None` if stopped.
///
/// The plan, the number and the opening are all that it depends on (with [`Plan::is_reproducible`]), so that a recorded
/// game can be played again from its record.
pub fn play_on(
    plan: &Plan,
    number: u64,
    start: Start,
    mut game: Game,
    player: &mut dyn Player,
    stop: &AtomicBool,
) -> Result<Option<(GameRecord, u64)>, PlayError> {
    let rules = plan.rule_set()?;
    let opening: Vec<Move> = game.moves().collect();
    let mut searched =
        Searched { plan, number, player, rng: seed::choice_rng(plan.seed, number), lines: Vec::new() };
    let mut adjudicator = Adjudicator::default();
    let mut plies = Vec::new();
    let mut nodes = 0;
    searched.player.new_game();
    let (outcome, reason) = loop {
        let side = game.position().side_to_move();
        let (ply, spent) = searched.ply(&mut game, plies.len(), stop)?;
        let Some(ply) = ply else { return Ok(None) };
        nodes += spent;
        plies.push(ply);
        let status = judge::status(&game, rules);
        if let (Some(outcome), Some(reason)) = (Outcome::from_result(status.result), status.reason) {
            break (outcome, Reason::from(reason));
        }
        let is_best = !ply.flags.is_not_best();
        if let Some(end) = adjudicator.see(&plan.adjudication, side, ply.score, is_best, game.len()) {
            break end;
        }
    };
    Ok(Some((GameRecord { number, start, opening, plies, outcome, reason, rules }, nodes)))
}

/// The searches of one game.
struct Searched<'a> {
    plan: &'a Plan,
    number: u64,
    player: &'a mut dyn Player,
    /// Chooses among moves.
    rng: seed::GameRng,
    lines: Vec<(Move, Score)>,
}

impl Searched<'_> {
    /// Searches and plays the ply that is `number` after the opening; with the nodes that it took. `None` if stopped.
    fn ply(
        &mut self,
        game: &mut Game,
        number: usize,
        stop: &AtomicBool,
    ) -> Result<(Option<PlyRecord>, u64), PlayError> {
        let variety = &self.plan.variety;
        self.lines.clear();
        let Choice { best, score, nodes } = match variety.lines_at(number) {
            1 => self.player.search(game, self.plan.limit),
            count => self.player.search_lines(game, self.plan.limit, count, &mut self.lines),
        };
        if stop.load(Ordering::Relaxed) {
            return Ok((None, nodes));
        }
        let best = best.ok_or_else(|| self.fault(game, "no move".to_owned()))?;
        if score.0.abs() > Score::MATE {
            return Err(self.fault(game, format!("the score {}", score.0)));
        }
        let mv = variety.pick(number, game.position(), best, &self.lines, &mut self.rng);
        if let Err(error) = game.try_play(mv) {
            return Err(self.fault(game, format!("the move {mv} ({error})")));
        }
        let flags = if mv == best { PlyFlags::NONE } else { PlyFlags::NOT_BEST };
        Ok((Some(PlyRecord { mv, score, flags }), nodes))
    }

    fn fault(&self, game: &Game, what: String) -> PlayError {
        PlayError::Engine { number: self.number, ply: game.len(), what, fen: game.position().fen() }
    }
}
