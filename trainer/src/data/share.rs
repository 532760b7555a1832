//! Which part of every batch a rank trains on.

use std::ops::Range;

/// Rank `rank` of `world`: positions `[B * rank / world, B * (rank + 1) / world)` of every batch of `B`. The ranks' parts
/// are disjoint and together the whole batch, so the numbers of a run do not depend on how many ranks there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The rank, below `world`.
    pub rank: usize,
    /// How many ranks there are, 1 or more.
    pub world: usize,
}

impl Share {
    /// One process trains on everything.
    pub const WHOLE: Share = Share { rank: 0, world: 1 };

    /// The positions of a batch of `batch_size` that this rank trains on; empty where there are more ranks than
    /// positions.
    pub fn slice(self, batch_size: usize) -> Range<usize> {
        let at = |rank: usize| (batch_size as u128 * rank as u128 / self.world.max(1) as u128) as usize;
        at(self.rank)..at(self.rank + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_disjoint_and_the_whole() {
        for (world, batch_size) in [(1, 7), (2, 7), (3, 16384), (8, 16384), (5, 3)] {
            let mut end = 0;
            for rank in 0..world {
                let slice = Share { rank, world }.slice(batch_size);
                assert_eq!(slice.start, end, "rank {rank} of {world}");
                end = slice.end;
                let even = batch_size / world..=batch_size.div_ceil(world);
                assert!(even.contains(&slice.len()), "rank {rank} of {world}: {slice:?}");
            }
            assert_eq!(end, batch_size);
        }
        assert_eq!(Share::WHOLE.slice(9), 0..9);
    }
}
