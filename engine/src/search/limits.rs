//! When a search ends, and what it reports.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use xiangqi::{Move, Score};

use super::skill::Skill;

/// A side's clock as protocols give it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Time left for the side to move, in ms.
    pub time_ms: u64,
    /// Time added after each move, in ms.
    pub increment_ms: u64,
    /// Moves to the next time control; `None` for sudden death.
    pub moves_to_go: Option<u32>,
}

/// The limits of one search. The default is none at all: search until stopped (or to the greatest depth).
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Plies of the last iteration.
    pub depth: Option<i32>,
    /// Nodes. With one thread the search ends exactly at this count.
    pub nodes: Option<u64>,
    /// The search ends after the iteration in which it reaches so many nodes. [`Limits::nodes`] beside it bounds
    /// that iteration.
    pub soft_nodes: Option<u64>,
    /// Time for this move, in ms.
    pub movetime_ms: Option<u64>,
    /// A clock to manage.
    pub clock: Option<Clock>,
    /// Kept back of every move's time for the way to the GUI, in ms.
    pub overhead_ms: u64,
    /// End when a mate in so many moves, or fewer, is found for either side. Wins by rule are no mates.
    pub mate: Option<i32>,
    /// How many lines to search; 0 counts as 1, more than there are legal moves as all of them.
    pub multi_pv: usize,
    /// Only these moves at the root; empty for all.
    pub search_moves: Vec<Move>,
    /// Not these moves at the root (`banmoves`).
    pub banned_moves: Vec<Move>,
    /// Playing strength; `None` for all of it. With it at least [`Skill::LINES`] lines are searched and
    /// reported, and only [`SearchResult::best`] is weakened.
    pub skill: Option<Skill>,
    /// Nodes that count as a millisecond (`nodestime`), so that time limits become reproducible; `None` for
    /// the wall clock. A clock's time is then kept in nodes by the searcher, from its first such search in a
    /// game on: what GUIs say of the time left is not asked again, only the increments are added.
    pub nodes_per_ms: Option<u64>,
    /// Set to end the search.
    pub stop: Option<Arc<AtomicBool>>,
    /// While true, time limits do not run out (pondering, and "infinite" in some dialects).
    pub pondering: Option<Arc<AtomicBool>>,
    /// End early once a mate cannot become shorter. Data generation wants it; analysis does not.
    pub stop_at_mate: bool,
}

impl Limits {
    /// A search of exactly so many nodes.
    pub fn nodes(nodes: u64) -> Limits {
        Limits { nodes: Some(nodes), ..Limits::default() }
    }

    /// A search to a depth in plies.
    pub fn depth(depth: i32) -> Limits {
        Limits { depth: Some(depth), ..Limits::default() }
    }

    /// The weakening that is asked for, if it weakens anything.
    pub(crate) fn weakening(&self) -> Option<&Skill> {
        self.skill.as_ref().filter(|skill| skill.weakens())
    }

    /// May a search with several threads end with a helper's line? Where the depth is given, or one line is weighed
    /// against others, it is the first thread's search that is asked for.
    pub(crate) fn trusts_helpers(&self) -> bool {
        self.depth.is_none() && self.mate.is_none() && self.lines() == 1
    }

    /// How many lines are searched, where there are so many legal moves.
    pub(crate) fn lines(&self) -> usize {
        let least = if self.weakening().is_some() { Skill::LINES } else { 1 };
        self.multi_pv.max(least)
    }
}

/// What the score of a reported line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoreBound {
    /// The score.
    Exact,
    /// At least the score.
    Lower,
    /// At most the score.
    Upper,
}

/// One line of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its score, side to move at the root.
    pub score: Score,
    /// The moves; never empty.
    pub pv: Vec<Move>,
}

/// A report during a search.
#[derive(Clone, Debug)]
pub struct Info {
    /// Depth of the iteration, in plies.
    pub depth: i32,
    /// Deepest ply reached.
    pub seldepth: i32,
    /// Number of the line, from 1.
    pub multi_pv: usize,
    /// The line.
    pub line: Line,
    /// What the line's score says.
    pub bound: ScoreBound,
    /// Nodes of all threads so far.
    pub nodes: u64,
    /// Time since the search began, in ms. Nothing but display may depend on it.
    pub time_ms: u64,
    /// Use of the table by this search, in thousandths.
    pub hashfull: usize,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchResult {
    /// The move to play; `None` if there is no legal one (or none of those asked for). The best one found, but
    /// for [`Limits::skill`].
    pub best: Option<Move>,
    /// Its score, side to move.
    pub score: Score,
    /// What the score of the best line says: a bound, where the search was broken off before it was exact.
    pub bound: ScoreBound,
    /// Depth of the last whole iteration.
    pub depth: i32,
    /// Nodes of all threads.
    pub nodes: u64,
    /// The line that begins with `best`; empty only where `best` is `None`.
    pub pv: Vec<Move>,
    /// All lines of a multi-PV search, best first. Without [`Limits::skill`] the first is `pv`.
    pub lines: Vec<Line>,
}
