//! How long a move may take. Integer milliseconds; never consulted where only nodes or depth limit.

use std::time::Instant;

use super::limits::{Clock, Limits};

/// Moves that a sudden-death clock is thought to have to last for.
const EXPECTED_MOVES: u64 = 32;
/// The share of the increment that is spent at once, in percent.
const INCREMENT_SHARE: u64 = 75;
/// A move may take so many times its ordinary share when it is hard …
const HARD_FACTOR: u64 = 4;
/// … but never more than this part of the time left, in percent.
const HARD_SHARE: u64 = 60;
/// Scales are in percent.
const WHOLE: u64 = 100;

/// The time of one search.
#[derive(Clone, Debug)]
pub(crate) struct Timer {
    start: Instant,
    /// No further iteration is begun after this, scaled by how settled the best move is.
    soft_ms: Option<u64>,
    /// The search is broken off at this.
    hard_ms: Option<u64>,
}

impl Timer {
    pub(crate) fn new(limits: &Limits) -> Timer {
        let start = Instant::now();
        let (soft_ms, hard_ms) = match (limits.movetime_ms, limits.clock) {
            (Some(ms), _) => (None, Some(ms.saturating_sub(limits.overhead_ms).max(1))),
            (None, Some(clock)) => {
                let (soft, hard) = budget(clock, limits.overhead_ms);
                (Some(soft), Some(hard))
            }
            (None, None) => (None, None),
        };
        Timer { start, soft_ms, hard_ms }
    }

    /// For display.
    pub(crate) fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Does a clock run, so that time may be saved for later moves?
    pub(crate) fn has_clock(&self) -> bool {
        self.soft_ms.is_some()
    }

    pub(crate) fn hard_reached(&self) -> bool {
        self.hard_ms.is_some_and(|hard| self.elapsed_ms() >= hard)
    }

    /// Should no further iteration be begun? `scale` in percent of the ordinary share.
    pub(crate) fn soft_reached(&self, scale: u64) -> bool {
        self.soft_ms.is_some_and(|soft| self.elapsed_ms().saturating_mul(WHOLE) >= soft.saturating_mul(scale))
    }
}

/// Ordinary and greatest time for a move, in ms.
fn budget(clock: Clock, overhead_ms: u64) -> (u64, u64) {
    let left = clock.time_ms.saturating_sub(overhead_ms).max(1);
    let moves = clock.moves_to_go.map_or(EXPECTED_MOVES, |n| u64::from(n.clamp(1, 50)));
    let share = left / moves + clock.increment_ms * INCREMENT_SHARE / WHOLE;
    // The last move before a time control may use nearly all that is left.
    let most = if moves == 1 { left * 9 / 10 } else { left * HARD_SHARE / WHOLE };
    let hard = (share * HARD_FACTOR).min(most).max(1);
    (share.min(hard), hard)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_budget_passes_the_clock() {
        for time_ms in [0, 1, 5, 50, 1000, 60_000, 3_600_000] {
            for increment_ms in [0, 10, 1000] {
                for moves_to_go in [None, Some(0), Some(1), Some(2), Some(40), Some(1000)] {
                    for overhead in [0, 30, 5000] {
                        let clock = Clock { time_ms, increment_ms, moves_to_go };
                        let (soft, hard) = budget(clock, overhead);
                        assert!(soft <= hard && hard <= time_ms.max(1), "{clock:?} {overhead}");
                    }
                }
            }
        }
    }
}
