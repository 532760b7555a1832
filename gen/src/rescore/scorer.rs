//! Who gives scores: our own search, or another program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arena::external::{EngineSpec, ExternalPlayer, Waits};
use arena::limit::Limit;
use arena::player::{Answer, NoThought, Player as ArenaPlayer, Turn};
use engine::eval::EvalSource;
use xiangqi::judge::RuleSet;
use xiangqi::{Game, Move, Score};

use crate::plan::SearchLimit;
use crate::player::{EnginePlayer, Player};

/// A game is tried so often with an engine that fails in it; each time the engine is started anew.
const TRIES: u32 = 2;

/// What a search says of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scored {
    /// The score, side to move's view.
    pub score: Score,
    /// The best move; `None` where an engine names a score and resigns.
    pub best: Option<Move>,
    /// Nodes searched.
    pub nodes: u64,
}

/// Why there is no score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoScore {
    /// The run is being stopped.
    Stopped,
    /// The engine failed: what it did.
    Failed(String),
    /// The engine cannot be brought to work at all.
    Start(String),
}

/// Gives scores to the positions of games. What it says may depend only on what it was asked since `begin_game`.
pub trait Scorer {
    /// Forgets everything; starts an engine that is not there.
    ///
    /// # Errors
    /// An engine that does not start.
    fn begin_game(&mut self) -> Result<(), NoScore>;

    /// Searches the game's current position. The game is not over.
    ///
    /// # Errors
    /// [`NoScore`].
    fn score(&mut self, game: &Game) -> Result<Scored, NoScore>;

    /// How often a game is tried where the scorer fails in it.
    fn tries(&self) -> u32 {
        1
    }
}

/// Our own search. Its table is kept through a game, as in self-play: with a plan's settings it gives the scores of its
/// games again.
pub struct OwnScorer {
    player: EnginePlayer,
    limit: SearchLimit,
    stop: Arc<AtomicBool>,
}

impl OwnScorer {
    /// A searcher with a table of `hash_mib` MiB.
    pub fn new(
        hash_mib: u32,
        source: EvalSource,
        rules: RuleSet,
        limit: SearchLimit,
        stop: Arc<AtomicBool>,
    ) -> OwnScorer {
        let player = EnginePlayer::new(hash_mib, source, rules, Arc::clone(&stop));
        OwnScorer { player, limit, stop }
    }
}

impl Scorer for OwnScorer {
    fn begin_game(&mut self) -> Result<(), NoScore> {
        self.player.new_game();
        Ok(())
    }

    fn score(&mut self, game: &Game) -> Result<Scored, NoScore> {
        let choice = self.player.search(game, self.limit);
        match choice.best {
            _ if self.stop.load(Ordering::Relaxed) => Err(NoScore::Stopped),
            None => Err(NoScore::Failed("our search names no move; please report this".to_owned())),
            best => Ok(Scored { score: choice.score, best, nodes: choice.nodes }),
        }
    }
}

/// A UCI or UCCI engine. It is told of each new game, and of all moves of a game with each position.
pub struct EngineScorer {
    player: ExternalPlayer,
    limit: Limit,
}

impl EngineScorer {
    /// An engine, not started yet.
    pub fn new(spec: EngineSpec, limit: Limit, waits: Waits, stop: Arc<AtomicBool>) -> EngineScorer {
        EngineScorer { player: ExternalPlayer::new(spec, waits, stop), limit }
    }

    /// What the operator should know, once it runs.
    pub fn warnings(&self) -> &[String] {
        &self.player.info().warnings
    }
}

impl Scorer for EngineScorer {
    fn begin_game(&mut self) -> Result<(), NoScore> {
        self.player.begin_game().map_err(|error| NoScore::Start(error.to_string()))
    }

    fn score(&mut self, game: &Game) -> Result<Scored, NoScore> {
        let turn = Turn { game, limit: self.limit, clocks: None, margin_ms: 0 };
        let thought = self.player.think(&turn).map_err(|why| match why {
            NoThought::Interrupted => NoScore::Stopped,
            NoThought::Failure(failure) => {
                NoScore::Failed(format!("{}: {}", failure.kind.name(), failure.detail))
            }
        })?;
        let best = match thought.answer {
            Answer::Move(mv) => Some(mv),
            Answer::Resign => None,
        };
        if let Some(mv) = best
            && let Err(error) = game.clone().try_play(mv)
        {
            return Err(NoScore::Failed(format!("illegal_move: its best move is {mv} ({error})")));
        }
        let score =
            thought.score.ok_or_else(|| NoScore::Failed("it names a move and no score".to_owned()))?;
        Ok(Scored { score: Score(score), best, nodes: thought.nodes })
    }

    fn tries(&self) -> u32 {
        TRIES
    }
}
