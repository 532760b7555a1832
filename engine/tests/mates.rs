//! Mate problems: each is solved with its stated length by the ordinary search, its line ends in mate, and nothing
//! shorter is claimed. `CHUHE_FULL=1` searches all of them far beyond the solution.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use engine::eval::EvalSource;
use engine::examine::mates::{Case, MATES, ends_in_mate, moves_to_mate};
use engine::search::{Limits, ScoreBound, SearchResult, Searcher};
use xiangqi::{Move, Score};

/// Enough for every stated mate; most take a hundredth of it.
const NODES: u64 = 4_000_000;
/// Nodes for positions without a mate, and what is looked at for claims that are too short.
const NODES_WITHOUT: u64 = 15_000;
const NODES_FULL: u64 = 2_000_000;

fn cases() -> Vec<Case> {
    engine::examine::mates::cases(MATES).expect("mates.json")
}

/// A line is as long as its mate and ends in it.
fn assert_whole(case: &Case, score: Score, pv: &[Move]) {
    assert!(ends_in_mate(&case.game, pv, score), "{}: {score:?}, {pv:?} is no such mate", case.id);
}

/// Searches, looking at every report, until the stated length is found if `until_found`.
fn solve(case: &Case, limits: Limits, until_found: bool) -> SearchResult {
    let stop = Arc::new(AtomicBool::new(false));
    let limits = Limits { stop: Some(Arc::clone(&stop)), ..limits };
    let mut searcher = Searcher::new(16, EvalSource::Hce);
    let found = searcher.search(&case.game, &limits, &mut |info| {
        let Some(moves) = moves_to_mate(info.line.score).filter(|_| info.bound == ScoreBound::Exact) else {
            return;
        };
        assert!(moves >= case.none_below, "{}: mate {moves} is claimed", case.id);
        assert_whole(case, info.line.score, &info.line.pv);
        if until_found && case.moves.is_some_and(|stated| moves <= stated) {
            stop.store(true, Relaxed);
        }
    });
    if let Some(moves) = moves_to_mate(found.score) {
        assert!(moves >= case.none_below, "{}: mate {moves} at the end", case.id);
        assert_whole(case, found.score, &found.pv);
    }
    found
}

fn assert_solved(case: &Case, found: &SearchResult) {
    let right = case.is_solved_by(moves_to_mate(found.score));
    assert!(right, "{}: {:?}, found {:?} in {} nodes", case.id, case.moves, found.score, found.nodes);
}

#[test]
fn mates_are_found_with_their_length() {
    for case in cases() {
        let nodes = if case.moves.is_some() { NODES } else { NODES_WITHOUT };
        assert_solved(&case, &solve(&case, Limits::nodes(nodes), true));
    }
}

#[test]
fn a_mate_that_is_asked_for_is_found_with_its_length() {
    for case in cases().iter().filter(|case| case.moves.is_some()) {
        let limits = Limits { mate: case.moves, ..Limits::nodes(NODES) };
        assert_solved(case, &solve(case, limits, false));
    }
}

#[test]
fn a_mate_in_fewer_moves_is_not_claimed() {
    for case in cases().iter().filter(|case| case.none_below > 1).step_by(5) {
        let limits = Limits { mate: Some(case.none_below - 1), ..Limits::nodes(NODES_WITHOUT) };
        let claimed = moves_to_mate(solve(case, limits, false).score);
        assert!(claimed.is_none_or(|moves| moves >= case.none_below), "{}", case.id);
    }
}

#[test]
fn searches_that_go_on_claim_nothing_shorter() {
    if std::env::var_os("CHUHE_FULL").is_some() {
        for case in cases() {
            assert_solved(&case, &solve(&case, Limits::nodes(NODES_FULL), false));
        }
    }
}
