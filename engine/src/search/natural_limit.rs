//! The natural limit as the search feels it: how near it is, in the measure of the usual 120 plies.
//!
//! Evaluations shrink towards a draw as the count rises, and the table tells positions apart by it near its end.
//! Margins are tuned for 120 plies; another limit is scaled to it, and without a limit nothing is felt.

use xiangqi::judge::{NATURAL_LIMIT_PLIES, Rules};
use xiangqi::{Position, Score};

/// Counts from here on are all felt alike: the greatest limit that can be set.
const COUNTS: usize = 150;
/// From this scaled count on, the table distinguishes it, in steps of so many scaled plies.
const IN_KEY: u16 = 64;
const KEY_STEP: u16 = 8;
/// Limits below this are told apart by every single count: whole searches reach past them.
const EVERY_COUNT: u16 = 60;
/// No cut-off by the table from this scaled count on: it may have counted otherwise.
const NO_CUTOFF: u8 = 110;
/// Evaluations shrink towards a draw by `scaled count / DAMPING` of themselves.
const DAMPING: i32 = 256;

/// What the counts of a rule's natural limit mean to the search.
#[derive(Clone, Debug)]
pub(crate) struct NaturalLimit {
    /// Plies at which the game is drawn; `i32::MAX` for never.
    plies: i32,
    /// Each count scaled to a limit of 120.
    scaled: [u8; COUNTS + 1],
    /// Which step of the key each count belongs to; 0 for none.
    key_step: [u8; COUNTS + 1],
}

impl NaturalLimit {
    /// A limit of so many plies; [`Rules::NO_LIMIT`] for none.
    pub(crate) fn of(plies: u16) -> NaturalLimit {
        let mut limit =
            NaturalLimit { plies: i32::from(plies), scaled: [0; COUNTS + 1], key_step: [0; COUNTS + 1] };
        if plies == Rules::NO_LIMIT {
            limit.plies = i32::MAX;
            return limit;
        }
        let usual = u32::from(NATURAL_LIMIT_PLIES);
        for count in 0..=COUNTS {
            let scaled = (count as u32 * usual / u32::from(plies.max(1))).min(usual) as u16;
            limit.scaled[count] = scaled as u8;
            limit.key_step[count] = if plies < EVERY_COUNT {
                count as u8
            } else if scaled < IN_KEY {
                0
            } else {
                ((scaled - IN_KEY) / KEY_STEP + 1) as u8
            };
        }
        limit
    }

    #[inline]
    fn index(pos: &Position) -> usize {
        usize::from(pos.no_capture_plies()).min(COUNTS)
    }

    /// The key under which the table knows a position. Near the natural limit positions differ by it.
    #[inline]
    pub(crate) fn key(&self, pos: &Position) -> u64 {
        let step = u64::from(self.key_step[NaturalLimit::index(pos)]);
        pos.key() ^ step.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// Plies without a capture until the limit; many where there is none.
    pub(crate) fn plies_left(&self, pos: &Position) -> i32 {
        self.plies - i32::from(pos.no_capture_plies())
    }

    /// A raw evaluation as the search uses it: nearer to a draw as the natural limit draws near.
    #[inline]
    pub(crate) fn damped(&self, raw: i32, pos: &Position) -> i32 {
        let count = i32::from(self.scaled[NaturalLimit::index(pos)]);
        (raw - raw * count / DAMPING).clamp(-Score::EVAL_LIMIT, Score::EVAL_LIMIT)
    }

    /// May a score of the table at `ply` decide a node, or may the limit come before what it tells of?
    #[inline]
    pub(crate) fn trusts(&self, score: i32, ply: i32, pos: &Position) -> bool {
        if self.scaled[NaturalLimit::index(pos)] >= NO_CUTOFF {
            return false;
        }
        match Score(score).mate_plies() {
            // Captures on the way would set the count back, but the table does not tell of them.
            Some(plies) => i32::from(pos.no_capture_plies()) + plies.abs() - ply <= self.plies,
            None => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(count: u16) -> Position {
        Position::from_fen(&format!("4k4/9/9/9/9/9/9/9/4R4/3K5 b - - {count} 1")).expect("a position")
    }

    #[test]
    fn the_usual_limit_is_not_scaled() {
        let usual = NaturalLimit::of(120);
        for count in 0..120 {
            let pos = at(count);
            assert_eq!(usual.damped(1000, &pos), 1000 - 1000 * i32::from(count) / 256);
            assert_eq!(usual.key(&pos) == pos.key(), count < 64, "{count}");
        }
    }

    #[test]
    fn other_limits_are_felt_as_near() {
        for plies in [60, 100, 150] {
            let near = NaturalLimit::of(plies).damped(1000, &at(plies / 2));
            assert_eq!(near, NaturalLimit::of(120).damped(1000, &at(60)), "{plies}");
        }
        let none = NaturalLimit::of(Rules::NO_LIMIT);
        for count in [0, 100, 119, 200, u16::MAX] {
            let pos = at(count);
            assert_eq!((none.damped(777, &pos), none.key(&pos)), (777, pos.key()), "{count}");
            assert!(none.trusts(Score::MATE - 200, 0, &pos));
        }
    }

    #[test]
    fn small_limits_tell_every_count_apart() {
        for plies in [1, 10, 59] {
            let mut keys: Vec<u64> =
                (0..=plies).map(|count| NaturalLimit::of(plies).key(&at(count))).collect();
            keys.dedup();
            assert_eq!(keys.len(), usize::from(plies) + 1);
        }
    }

    #[test]
    fn mates_past_the_limit_are_not_believed() {
        let usual = NaturalLimit::of(120);
        // 30 plies to the mate from this node, which is 4 plies from the root.
        let mate = Score::MATE - 34;
        assert!(usual.trusts(mate, 4, &at(90)) && usual.trusts(-mate, 4, &at(90)));
        assert!(!usual.trusts(mate, 4, &at(91)) && !usual.trusts(-mate, 4, &at(91)));
        assert!(usual.trusts(500, 4, &at(91)) && !usual.trusts(500, 4, &at(110)));
    }
}
