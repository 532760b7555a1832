//! The benchmark: a fixed search of fixed positions. Its node count is the engine's signature: it changes exactly
//! when the search or the evaluation does.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use xiangqi::judge::Rules;
use xiangqi::{Game, Position};

use crate::eval::EvalSource;
use crate::search::{Limits, Searcher};

/// Depth of a bench unless another is asked for, in plies. With the scalar backend and a net of
/// the default architecture this ends within 10 s.
pub const DEFAULT_DEPTH: i32 = 7;
/// Size of the table, in MiB.
pub const HASH_MIB: usize = 16;

/// Openings, middlegames, endgames, checks and evasions.
pub const POSITIONS: &[&str] = &include!("bench_positions.in");

/// What a bench measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BenchResult {
    /// Nodes of all searches: the signature, when one thread searched.
    pub nodes: u64,
    /// How long the searches took.
    pub time: Duration,
}

impl BenchResult {
    /// Nodes a second.
    pub fn nps(&self) -> u64 {
        let nanos = self.time.as_nanos().max(1);
        u64::try_from(u128::from(self.nodes) * 1_000_000_000 / nanos).unwrap_or(u64::MAX)
    }
}

/// How a bench searches.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Search threads; only one gives the signature.
    pub threads: usize,
    /// By which rules positions are searched.
    pub rules: Rules,
    /// The limits of each position's search.
    pub limits: Limits,
}

impl Plan {
    /// One thread, the competition rules, a depth in plies.
    pub fn depth(depth: i32) -> Plan {
        Plan { threads: 1, rules: Rules::default(), limits: Limits::depth(depth) }
    }
}

impl Default for Plan {
    /// The bench whose node count is the signature.
    fn default() -> Plan {
        Plan::depth(DEFAULT_DEPTH)
    }
}

/// Searches every bench position. `progress` hears the number of each position (from 0) and the nodes it took.
pub fn run(source: EvalSource, plan: &Plan, progress: &mut dyn FnMut(usize, u64)) -> BenchResult {
    let mut searcher = Searcher::new(HASH_MIB, source);
    searcher.set_threads(plan.threads);
    searcher.set_rules(plan.rules);
    let games: Vec<Game> =
        POSITIONS.iter().filter_map(|fen| Position::from_fen(fen).ok()).map(Game::new).collect();
    let start = Instant::now();
    let mut nodes = 0;
    for (i, game) in games.iter().enumerate() {
        let found = searcher.search(game, &plan.limits, &mut |_| {});
        progress(i, found.nodes);
        nodes += found.nodes;
    }
    BenchResult { nodes, time: start.elapsed() }
}

/// The signature of this build: nodes of a default bench by the hand-crafted evaluation on one thread.
/// Computed at the first call (about a second), then remembered.
pub fn signature() -> u64 {
    static SIGNATURE: OnceLock<u64> = OnceLock::new();
    *SIGNATURE.get_or_init(|| run(EvalSource::Hce, &Plan::default(), &mut |_, _| {}).nodes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bench_position_is_one() {
        for fen in POSITIONS {
            let pos = Position::from_fen(fen);
            assert!(pos.is_ok(), "{fen}: {pos:?}");
        }
    }

    #[test]
    fn the_signature_is_stable_within_a_run() {
        assert_eq!(signature(), run(EvalSource::Hce, &Plan::default(), &mut |_, _| {}).nodes);
    }
}
