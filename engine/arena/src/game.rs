//! One game between two players, judged by our rules.

use xiangqi::judge::{self, RuleSet};
use xiangqi::{Color, Game, Move};

use crate::adjudicate::{Adjudication, Scores};
use crate::limit::{Clocks, Limit};
use crate::openings::Opening;
use crate::outcome::{FailureKind, Outcome, Reason};
use crate::player::{Answer, Failure, NoThought, Player, StartError, Thought, Turn};

/// No game goes on for longer. The rules end every game, but checks may carry one far.
const MOST_PLIES: usize = 4000;

/// By what a game is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameSettings {
    /// The rule set that decides.
    pub rules: RuleSet,
    /// The limit of every move.
    pub limit: Limit,
    /// How much a side may be late, in ms.
    pub margin_ms: u64,
    /// Early ends.
    pub adjudication: Adjudication,
}

/// A game that was played to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played {
    /// Who lost, if anyone.
    pub outcome: Outcome,
    /// Why.
    pub reason: Reason,
    /// What a failing player did.
    pub detail: Option<String>,
    /// All moves, the opening's first.
    pub moves: Vec<Move>,
    /// Time used by Red and Black, in ms.
    pub time_ms: [u64; 2],
    /// Nodes searched by Red and Black, as they say.
    pub nodes: [u64; 2],
}

/// Why a game was not played to its end; it does not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoGame {
    /// A player does not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The match is being ended.
    #[error("interrupted")]
    Interrupted,
    /// The opening cannot be played.
    #[error("the opening {0:?} cannot be played")]
    Opening(Opening),
}

/// Plays a game; `players` are Red and Black.
///
/// # Errors
/// When no game can be charged to anyone: a player does not start, or the match is being ended.
pub fn play(
    mut players: [&mut dyn Player; 2],
    opening: &Opening,
    settings: &GameSettings,
) -> Result<Played, NoGame> {
    for player in &mut players {
        player.begin_game()?;
    }
    let game = opening.game().ok_or_else(|| NoGame::Opening(opening.clone()))?;
    let clocks = match settings.limit {
        Limit::Clock(control) => Some(Clocks::new(control)),
        _ => None,
    };
    let mut table = Table { game, clocks, scores: Scores::default(), time_ms: [0; 2], nodes: [0; 2] };
    loop {
        if let Some((outcome, reason)) = table.verdict(settings) {
            return Ok(table.finish(outcome, reason, None));
        }
        let mover = table.game.position().side_to_move();
        let turn = Turn {
            game: &table.game,
            limit: settings.limit,
            clocks: table.clocks,
            margin_ms: settings.margin_ms,
        };
        match players[mover.index()].think(&turn) {
            Ok(thought) => {
                if let Err((reason, detail)) = table.make(mover, thought) {
                    return Ok(table.finish(Outcome::loss_of(mover), reason, detail));
                }
            }
            Err(NoThought::Interrupted) => return Err(NoGame::Interrupted),
            Err(NoThought::Failure(Failure { kind, detail })) => {
                return Ok(table.finish(Outcome::loss_of(mover), Reason::Failure(kind), Some(detail)));
            }
        }
    }
}

struct Table {
    game: Game,
    clocks: Option<Clocks>,
    scores: Scores,
    time_ms: [u64; 2],
    nodes: [u64; 2],
}

impl Table {
    /// Is the game over, by rule or by agreement of the scores?
    fn verdict(&self, settings: &GameSettings) -> Option<(Outcome, Reason)> {
        let status = judge::status(&self.game, settings.rules);
        if let (Some(outcome), Some(reason)) = (Outcome::from_result(status.result), status.reason) {
            return Some((outcome, reason.into()));
        }
        if self.game.len() >= MOST_PLIES {
            return Some((Outcome::Draw, Reason::PlyLimit));
        }
        self.scores.verdict(&settings.adjudication, self.game.len())
    }

    /// Carries out a player's answer; an error is a reason for its loss.
    fn make(&mut self, mover: Color, thought: Thought) -> Result<(), (Reason, Option<String>)> {
        self.time_ms[mover.index()] += thought.elapsed_ms;
        self.nodes[mover.index()] = self.nodes[mover.index()].saturating_add(thought.nodes);
        let Answer::Move(mv) = thought.answer else { return Err((Reason::Resignation, None)) };
        if let Err(error) = self.game.try_play(mv) {
            return Err((Reason::Failure(FailureKind::IllegalMove), Some(error.to_string())));
        }
        if let Some(clocks) = &mut self.clocks {
            clocks.press(mover, thought.elapsed_ms);
        }
        self.scores.push(mover, thought.score);
        Ok(())
    }

    fn finish(self, outcome: Outcome, reason: Reason, detail: Option<String>) -> Played {
        let moves = self.game.moves().collect();
        Played { outcome, reason, detail, moves, time_ms: self.time_ms, nodes: self.nodes }
    }
}
