//! Who plays: something that searches a position within a limit.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::eval::EvalSource;
use engine::search::{Limits, SearchResult, Searcher};
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
    /// Searches its best `count` lines. Their first moves and scores go to `lines`, best first; they are fewer where there
    /// are fewer moves, or where the search found no more within its limit.
    fn search_lines(
        &mut self,
        game: &Game,
        limit: SearchLimit,
        count: usize,
        lines: &mut Vec<(Move, Score)>,
    ) -> Choice;
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

    fn ask(&mut self, game: &Game, limit: SearchLimit, lines: usize) -> SearchResult {
        let SearchLimit { nodes, soft_nodes, depth, movetime_ms } = limit;
        let limits = Limits {
            nodes,
            soft_nodes,
            depth,
            movetime_ms,
            multi_pv: lines,
            stop: Some(Arc::clone(&self.stop)),
            stop_at_mate: true,
            ..Limits::default()
        };
        self.searcher.search(game, &limits, &mut |_| {})
    }
}

fn choice(result: &SearchResult) -> Choice {
    Choice { best: result.best, score: result.score, nodes: result.nodes }
}

impl Player for EnginePlayer {
    fn new_game(&mut self) {
        self.searcher.new_game();
    }

    fn search(&mut self, game: &Game, limit: SearchLimit) -> Choice {
        choice(&self.ask(game, limit, 1))
    }

    fn search_lines(
        &mut self,
        game: &Game,
        limit: SearchLimit,
        count: usize,
        lines: &mut Vec<(Move, Score)>,
    ) -> Choice {
        let result = self.ask(game, limit, count);
        lines.clear();
        lines.extend(result.lines.iter().filter_map(|line| Some((*line.pv.first()?, line.score))));
        choice(&result)
    }
}
