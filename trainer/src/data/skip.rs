//! The random skip: another part of the positions each time through the data, in numbers known beforehand.
//!
//! Of every `GROUP` positions in a row that passed the filters a fixed number is kept, or one more, so that the parts
//! come out at the share asked for; which of them is drawn anew for each block and pass. How many of a block are kept
//! follows from how many passed its filters, without looking at one: a resumed run counts where it goes on.

use crate::chance::{Purpose, hash, mix};

/// Positions that are drawn from together. Fewer would leave less to chance.
const GROUP: u64 = 16;

/// The random skip of one block in one pass.
#[derive(Clone, Copy, Debug)]
pub struct RandomSkip {
    /// Kept of 2^32.
    rate: u64,
    /// Where the rounding begins, below 2^32.
    phase: u64,
    seed: u64,
    /// Positions seen.
    seen: u64,
    /// Which of the group in progress are kept, the first at bit 0.
    mask: u32,
}

impl RandomSkip {
    /// Skips the share `share` (0 up to below 1) in block number `block` of the run's files in pass `pass`.
    pub fn new(share: f64, seed: u64, block: usize, pass: u64) -> RandomSkip {
        let rate = ((1.0 - share.clamp(0.0, 1.0)) * 2f64.powi(32)).round() as u64;
        let seed = hash(seed, Purpose::Skip, block as u64, pass);
        RandomSkip { rate, phase: seed >> 32, seed, seen: 0, mask: 0 }
    }

    /// Is the next position skipped?
    #[inline]
    pub fn takes_next(&mut self) -> bool {
        if self.rate == 1 << 32 {
            return false;
        }
        if self.seen.is_multiple_of(GROUP) {
            self.mask = self.mask_of(self.seen / GROUP);
        }
        let kept = self.mask >> (self.seen % GROUP) & 1;
        self.seen += 1;
        kept == 0
    }

    /// How many of the block's first `passed` positions are kept.
    pub fn kept_of(&self, passed: u64) -> u64 {
        if self.rate == 1 << 32 {
            return passed;
        }
        let (groups, rest) = (passed / GROUP, passed % GROUP);
        let of_rest = self.mask_of(groups) & ((1 << rest) - 1);
        self.kept_of_groups(groups) + u64::from(of_rest.count_ones())
    }

    fn kept_of_groups(&self, groups: u64) -> u64 {
        (groups * GROUP * self.rate + self.phase) >> 32
    }

    /// Which positions of a group are kept.
    fn mask_of(&self, group: u64) -> u32 {
        let count = self.kept_of_groups(group + 1) - self.kept_of_groups(group);
        let mut random = mix(self.seed ^ mix(group));
        let mut places: [u8; GROUP as usize] = std::array::from_fn(|place| place as u8);
        let mut mask = 0;
        for drawn in 0..count.min(GROUP) {
            let left = GROUP - drawn;
            let place = drawn + (((random >> 32) * left) >> 32);
            random = mix(random);
            places.swap(drawn as usize, place as usize);
            mask |= 1 << places[drawn as usize];
        }
        mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_counted_beforehand() {
        for share in [0.0, 0.1, 0.5, 0.77, 0.999] {
            let mut kept_in_all = 0;
            for block in 0..50 {
                let fresh = RandomSkip::new(share, 9, block, 3);
                let (mut skip, mut kept) = (fresh, 0);
                for passed in 0..1000 {
                    assert_eq!(fresh.kept_of(passed), kept, "share {share}, {passed} of block {block}");
                    kept += u64::from(!skip.takes_next());
                }
                kept_in_all += kept;
            }
            let found = 1.0 - kept_in_all as f64 / 50_000.0;
            assert!((found - share).abs() < 0.001, "{found} skipped, asked for {share}");
        }
    }

    #[test]
    fn every_position_has_its_turn_and_neighbours_are_not_tied() {
        const PASSES: u64 = 4000;
        let mut kept = [0u32; 64];
        let mut pairs = 0u32;
        for pass in 0..PASSES {
            let mut skip = RandomSkip::new(0.75, 1, 5, pass);
            let mut last = false;
            for count in &mut kept {
                let is_kept = !skip.takes_next();
                *count += u32::from(is_kept);
                pairs += u32::from(is_kept && last);
                last = is_kept;
            }
        }
        // A quarter of 4000, give or take four standard deviations (27 each).
        assert!(kept.iter().all(|count| (890..1110).contains(count)), "{kept:?}");
        // Neighbours are kept together nearly as often as chance has it: 1/16, less by the groups (4/16 * 3/15 = 1/20).
        let together = f64::from(pairs) / (63.0 * PASSES as f64);
        assert!((0.045..0.066).contains(&together), "{together}");
    }
}
