//! The benchmark: a fixed search of fixed positions. Its node count is the engine's signature: it changes exactly
//! when the search or the evaluation does.

pub mod compare;

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;
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

/// What a bench position is an example of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A quiet board with nearly all pieces on it.
    Opening,
    /// More than [`Class::ENDGAME_PIECES`] pieces, in play.
    Middlegame,
    /// At most [`Class::ENDGAME_PIECES`] pieces.
    Endgame,
    /// The side to move is in check, whatever the number of pieces.
    Check,
}

impl Class {
    /// All, in the order of tables.
    pub const ALL: [Class; 4] = [Class::Opening, Class::Middlegame, Class::Endgame, Class::Check];
    /// An endgame has so many pieces at most, kings included.
    pub const ENDGAME_PIECES: usize = 16;

    /// The word in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Class::Opening => "opening",
            Class::Middlegame => "middlegame",
            Class::Endgame => "endgame",
            Class::Check => "check",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The positions in the order in which they are searched, with one table: the order belongs to the signature.
pub const LABELLED: &[(Class, &str)] = &{
    use Class::*;
    include!("bench_positions.in")
};

/// The same positions without their classes.
pub const POSITIONS: &[&str] = &{
    let mut fens = [""; LABELLED.len()];
    let mut i = 0;
    while i < fens.len() {
        fens[i] = LABELLED[i].1;
        i += 1;
    }
    fens
};

/// Searches of some of the positions together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// How many positions.
    pub positions: usize,
    /// Nodes of their searches.
    pub nodes: u64,
    /// How long these took.
    pub time: Duration,
}

impl Share {
    /// Nodes a second.
    pub fn nps(&self) -> u64 {
        let nanos = self.time.as_nanos().max(1);
        u64::try_from(u128::from(self.nodes) * 1_000_000_000 / nanos).unwrap_or(u64::MAX)
    }

    fn add(&mut self, nodes: u64, time: Duration) {
        self.positions += 1;
        self.nodes += nodes;
        self.time += time;
    }
}

/// What a bench measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BenchResult {
    /// All searches; their nodes are the signature, when one thread searched.
    pub all: Share,
    /// By class, in the order of [`Class::ALL`].
    pub classes: [Share; Class::ALL.len()],
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

/// Searches every bench position. `progress` hears the number of each position (from 0) and the nodes it took. Where
/// the limits' flag `stop` is set meanwhile, the positions searched wholly before are all there is in the result.
pub fn run(source: EvalSource, plan: &Plan, progress: &mut dyn FnMut(usize, u64)) -> BenchResult {
    let mut searcher = Searcher::new(HASH_MIB, source);
    searcher.set_threads(plan.threads);
    searcher.set_rules(plan.rules);
    let mut result = BenchResult::default();
    for (i, &(class, fen)) in LABELLED.iter().enumerate() {
        // A test holds that each is a position.
        let Ok(pos) = Position::from_fen(fen) else { continue };
        let game = Game::new(pos);
        let start = Instant::now();
        let nodes = searcher.search(&game, &plan.limits, &mut |_| {}).nodes;
        let time = start.elapsed();
        if plan.limits.stop.as_ref().is_some_and(|stop| stop.load(Relaxed)) {
            break;
        }
        result.all.add(nodes, time);
        result.classes[class as usize].add(nodes, time);
        progress(i, nodes);
    }
    result
}

/// The signature of this build: nodes of a default bench by the hand-crafted evaluation on one thread.
/// Computed at the first call (about a second), then remembered.
pub fn signature() -> u64 {
    static SIGNATURE: OnceLock<u64> = OnceLock::new();
    *SIGNATURE.get_or_init(|| run(EvalSource::Hce, &Plan::default(), &mut |_, _| {}).all.nodes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An opening has so many pieces at least.
    const OPENING_PIECES: usize = 28;

    #[test]
    fn every_bench_position_is_of_its_class() {
        for &(class, fen) in LABELLED {
            let pos = Position::from_fen(fen).unwrap_or_else(|error| panic!("{fen}: {error}"));
            let placement = fen.split(' ').next().unwrap_or_default();
            let pieces = placement.chars().filter(char::is_ascii_alphabetic).count();
            let fits = match class {
                Class::Opening => pieces >= OPENING_PIECES,
                Class::Middlegame => pieces > Class::ENDGAME_PIECES,
                Class::Endgame => pieces <= Class::ENDGAME_PIECES,
                Class::Check => true,
            };
            assert!(fits, "{fen}: {class} with {pieces} pieces");
            assert_eq!(pos.in_check(), class == Class::Check, "{fen}: {class}");
        }
    }

    #[test]
    fn every_class_is_well_represented() {
        for (i, class) in Class::ALL.into_iter().enumerate() {
            assert_eq!(class as usize, i);
            let count = LABELLED.iter().filter(|(found, _)| *found == class).count();
            assert!(count * 6 >= POSITIONS.len(), "{class}: {count} of {}", POSITIONS.len());
        }
    }

    #[test]
    fn the_signature_is_stable_within_a_run() {
        let again = run(EvalSource::Hce, &Plan::default(), &mut |_, _| {});
        assert_eq!(signature(), again.all.nodes);
        assert_eq!(again.all.nodes, again.classes.iter().map(|share| share.nodes).sum::<u64>());
        assert_eq!(again.all.positions, POSITIONS.len());
    }
}
