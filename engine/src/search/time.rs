//! How long a move may take. Integer milliseconds, or nodes that stand for them; never consulted where only nodes or
//! depth limit.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use xiangqi::Color;

use super::limits::Limits;

/// Moves that a sudden-death clock is thought to have to last for.
const EXPECTED_MOVES: u64 = 32;
/// The share of the increment that is spent at once, in percent.
const INCREMENT_SHARE: u64 = 75;
/// A move may take so many times its ordinary share when it is hard …
const HARD_FACTOR: u64 = 4;
/// … but never more than this part of the time left, in percent.
const HARD_SHARE: u64 = 60;
/// … or than this part of it at the last move before a time control, in percent.
const LAST_SHARE: u64 = 90;
/// Scales are in percent.
const WHOLE: u64 = 100;

/// The time of one search: on the wall clock, or in nodes that stand for it.
#[derive(Debug)]
pub(crate) struct Timer {
    start: Instant,
    /// Milliseconds from the start at which the clock last stood: on the opponent's time it does.
    stood_ms: AtomicU64,
    unit: Unit,
    /// No further iteration is begun after this, scaled by how settled the best move is.
    soft: Option<u64>,
    /// The search is broken off at this.
    hard: Option<u64>,
}

/// What time is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Milliseconds,
    Nodes,
}

impl Timer {
    /// The time that limits give. `node_clock` is what is left on a clock that is kept in nodes.
    pub(crate) fn new(limits: &Limits, node_clock: Option<u64>) -> Timer {
        let (unit, rate) = match limits.nodes_per_ms {
            Some(rate) => (Unit::Nodes, rate.max(1)),
            None => (Unit::Milliseconds, 1),
        };
        let units = |ms: u64| ms.saturating_mul(rate);
        let overhead = units(limits.overhead_ms);
        let (soft, hard) = match (limits.movetime_ms, limits.clock) {
            (Some(ms), _) => (None, Some(units(ms).saturating_sub(overhead).max(1))),
            (None, Some(clock)) => {
                let left = node_clock.unwrap_or(units(clock.time_ms));
                let increment = units(clock.increment_ms);
                let (soft, hard) = budget(left, increment, clock.moves_to_go, overhead);
                (Some(soft), Some(hard))
            }
            (None, None) => (None, None),
        };
        Timer { start: Instant::now(), stood_ms: AtomicU64::new(0), unit, soft, hard }
    }

    /// For display.
    pub(crate) fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// The clock stands: what passed until now is not counted.
    pub(crate) fn stand(&self) {
        self.stood_ms.store(self.elapsed_ms(), Relaxed);
    }

    /// On our own time: what a clock loses by it.
    fn spent(&self, nodes: u64) -> u64 {
        match self.unit {
            Unit::Milliseconds => self.elapsed_ms().saturating_sub(self.stood_ms.load(Relaxed)),
            Unit::Nodes => nodes,
        }
    }

    /// On our own time and the opponent's: what the move has got out of it.
    fn thought(&self, nodes: u64) -> u64 {
        match self.unit {
            Unit::Milliseconds => self.elapsed_ms(),
            Unit::Nodes => nodes,
        }
    }

    /// The nodes at which the search is broken off, where time is counted in them.
    pub(crate) fn hard_nodes(&self) -> Option<u64> {
        self.hard.filter(|_| self.unit == Unit::Nodes)
    }

    /// Does a clock run, so that time may be saved for later moves?
    pub(crate) fn has_clock(&self) -> bool {
        self.soft.is_some()
    }

    /// Must the search be broken off, after so many nodes?
    pub(crate) fn hard_reached(&self, nodes: u64) -> bool {
        self.hard.is_some_and(|hard| self.spent(nodes) >= hard)
    }

    /// Should no further iteration be begun, after so many nodes? `scale` in percent of the ordinary share. What was thought on
    /// the opponent's time counts: it is saved from our own.
    pub(crate) fn soft_reached(&self, scale: u64, nodes: u64) -> bool {
        self.soft.is_some_and(|soft| self.thought(nodes).saturating_mul(WHOLE) >= soft.saturating_mul(scale))
    }
}

/// So many percent of a number that may be as great as there are.
fn percent(number: u64, share: u64) -> u64 {
    number / WHOLE * share + number % WHOLE * share / WHOLE
}

/// Ordinary and greatest time for a move, in the unit of `left`, `increment` and `overhead`.
fn budget(left: u64, increment: u64, moves_to_go: Option<u32>, overhead: u64) -> (u64, u64) {
    let left = left.saturating_sub(overhead).max(1);
    let moves = moves_to_go.map_or(EXPECTED_MOVES, |n| u64::from(n.clamp(1, 50)));
    let share = (left / moves).saturating_add(percent(increment, INCREMENT_SHARE));
    let most = percent(left, if moves == 1 { LAST_SHARE } else { HARD_SHARE });
    let hard = share.saturating_mul(HARD_FACTOR).min(most).max(1);
    (share.min(hard), hard)
}

/// The clocks of a game whose time is counted in nodes (`nodestime`): what each side has left is kept here from
/// move to move, because a GUI counts in milliseconds what is spent.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeClocks {
    rate: u64,
    left: [Option<u64>; 2],
}

impl NodeClocks {
    /// What a side has left; the first time in a game (or at another rate), what its clock shows.
    pub(crate) fn left(&mut self, limits: &Limits, side: Color) -> Option<u64> {
        let (rate, clock) = (limits.nodes_per_ms?.max(1), limits.clock?);
        if rate != self.rate {
            *self = NodeClocks { rate, left: [None; 2] };
        }
        Some(*self.left[side.index()].get_or_insert(clock.time_ms.saturating_mul(rate)))
    }

    /// A side has moved after so many nodes.
    pub(crate) fn spend(&mut self, limits: &Limits, side: Color, nodes: u64) {
        let (Some(left), Some(clock)) = (&mut self.left[side.index()], limits.clock) else { return };
        if limits.nodes_per_ms.is_some() {
            let increment = clock.increment_ms.saturating_mul(self.rate);
            *left = left.saturating_add(increment).saturating_sub(nodes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Clock;

    #[test]
    fn no_budget_passes_the_clock() {
        for time_ms in [0, 1, 5, 50, 1000, 60_000, 3_600_000, u64::MAX] {
            for increment_ms in [0, 10, 1000, u64::MAX] {
                for moves_to_go in [None, Some(0), Some(1), Some(2), Some(40), Some(1000)] {
                    for overhead in [0, 30, 5000] {
                        let (soft, hard) = budget(time_ms, increment_ms, moves_to_go, overhead);
                        let case = (time_ms, increment_ms, moves_to_go, overhead);
                        assert!(soft <= hard && hard <= time_ms.max(1), "{case:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn short_increments_count_too() {
        assert_eq!(budget(32_000, 50, None, 0), (1037, 4148));
        assert_eq!(budget(64, 0, Some(1), 0), (57, 57));
    }

    #[test]
    fn the_opponents_time_is_not_counted() {
        let limits = Limits { movetime_ms: Some(1), ..Limits::default() };
        let timer = Timer::new(&limits, None);
        while timer.elapsed_ms() < 2 {
            timer.stand();
        }
        timer.stand();
        assert!(timer.spent(0) + 2 <= timer.elapsed_ms());
    }

    #[test]
    fn what_was_pondered_counts_for_the_move() {
        let clock = Clock { time_ms: 64, increment_ms: 0, moves_to_go: None };
        let timer = Timer::new(&Limits { clock: Some(clock), ..Limits::default() }, None);
        // The move's share is 2 ms.
        while timer.elapsed_ms() < 2 {
            timer.stand();
        }
        timer.stand();
        assert!(timer.soft_reached(100, 0));
        assert!(timer.spent(0) + 2 <= timer.thought(0));
    }

    #[test]
    fn short_clocks_and_increments_count() {
        // (left, increment, moves to go) → (ordinary, greatest)
        let cases = [
            ((50, 0, Some(1)), (45, 45)),
            ((50, 0, None), (1, 4)),
            ((1000, 0, None), (31, 124)),
            ((1000, 50, None), (68, 272)),
            ((90, 10, Some(2)), (52, 54)),
            ((60_000, 600, None), (2325, 9300)),
        ];
        for ((left, increment, moves_to_go), expected) in cases {
            assert_eq!(
                budget(left, increment, moves_to_go, 0),
                expected,
                "{left} {increment} {moves_to_go:?}"
            );
        }
    }

    #[test]
    fn clocks_in_nodes_are_carried() {
        let clock = Clock { time_ms: 1000, increment_ms: 10, moves_to_go: None };
        let limits = Limits { clock: Some(clock), nodes_per_ms: Some(3), ..Limits::default() };
        let mut clocks = NodeClocks::default();
        assert_eq!(clocks.left(&limits, Color::Red), Some(3000));
        clocks.spend(&limits, Color::Red, 530);
        // What the GUI says of the time left is not asked again.
        let later = Limits { clock: Some(Clock { time_ms: 7, ..clock }), ..limits.clone() };
        assert_eq!(clocks.left(&later, Color::Red), Some(2500));
        assert_eq!(clocks.left(&limits, Color::Black), Some(3000), "the other side has its own");
        clocks.spend(&limits, Color::Red, 1_000_000);
        assert_eq!(clocks.left(&limits, Color::Red), Some(0));
        let faster = Limits { nodes_per_ms: Some(4), ..limits.clone() };
        assert_eq!(clocks.left(&faster, Color::Red), Some(4000), "another rate is another clock");
        let wall = Limits { nodes_per_ms: None, ..limits };
        assert_eq!(clocks.left(&wall, Color::Red), None);
    }
}
