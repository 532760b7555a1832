//! Who plays: something that searches a position within a limit.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::eval::EvalSource;
use engine::search::{Limits, Searcher};
use xiangqi::judge::RuleSet;
use xiangqi::{Game, Move, Score};

use crate::plan::SearchLimit;

/// What a search says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The best move; `None` if there is none.
    pub best: Option<Move>,
    /// Its score, side to move's view.
    pub score: Score,
    /// Nodes searched.
    pub nodes: u64,
}

/// Something that can play. What it answers may depend only on what it was asked since `new_game`.
pub trait Player {
    /// Forgets everything.
    fn new_game(&mut self);
    /// Searches the game's current position.
    fn search(&mut self, game: &Game, limit: SearchLimit) -> Choice;
}

/// The engine, one thread of it.
pub struct EnginePlayer {
    searcher: Searcher,
    stop: Arc<AtomicBool>,
}

impl EnginePlayer {
    /// A searcher with its own table. A search ends early once `stop` is set, and its answer is then worth
    /// nothing.
    pub fn new(hash_mib: u32, source: EvalSource, rules: RuleSet, stop: Arc<AtomicBool>) -> EnginePlayer {
        let mut searcher = Searcher::new(hash_mib as usize, source);
        searcher.set_rules(rules);
        EnginePlayer { searcher, stop }
    }
}

impl Player for EnginePlayer {
    fn new_game(&mut self) {
        self.searcher.new_game();
    }

    fn search(&mut self, game: &Game, limit: SearchLimit) -> Choice {
        let limits = Limits {
            nodes: limit.nodes,
            depth: limit.depth,
            stop: Some(Arc::clone(&self.stop)),
            stop_at_mate: true,
            ..Limits::default()
        };
        let result = self.searcher.search(game, &limits, &mut |_| {});
        Choice { best: result.best, score: result.score, nodes: result.nodes }
    }
}
