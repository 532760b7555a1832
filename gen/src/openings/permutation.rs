//! A shuffled order that is computed, not kept: which opening of a book comes at which place.

use crate::seed;

/// Rounds of the Feistel network: four make a random permutation of random functions; ours are only well mixed.
const ROUNDS: usize = 6;

/// A permutation of the numbers below a length, by a run's seed.
///
/// A Feistel network permutes the numbers of the next even count of bits; what falls beyond the length is put through it
/// again until it falls inside ("cycle walking": on average less than four times). It needs no memory.
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    length: u64,
    /// Half the bits of the network's numbers, 1 to 32.
    half: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// The order of a book with so many openings in the run with this seed.
    pub fn new(length: u64, run_seed: u64) -> Permutation {
        let bits = u64::BITS - length.saturating_sub(1).leading_zeros();
        Permutation { length, half: bits.div_ceil(2).clamp(1, 32), keys: seed::order_keys(run_seed) }
    }

    /// What stands at a place below the length.
    pub fn at(&self, place: u64) -> u64 {
        if place >= self.length {
            return place;
        }
        let mut number = self.network(place);
        while number >= self.length {
            number = self.network(number);
        }
        number
    }

    fn network(&self, number: u64) -> u64 {
        let mask = (1 << self.half) - 1;
        let (mut left, mut right) = (number >> self.half, number & mask);
        for key in self.keys {
            (left, right) = (right, left ^ seed::mixed(right ^ key) & mask);
        }
        left << self.half | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_one_place() {
        for length in (1..=130).chain([1000, 4095, 4096, 4097, 70_000]) {
            let order = Permutation::new(length, 3);
            let mut found: Vec<u64> = (0..length).map(|place| order.at(place)).collect();
            assert!(
                length < 40 || found.iter().enumerate().any(|(i, &n)| i as u64 != n),
                "{length} unshuffled"
            );
            found.sort_unstable();
            assert!(found.iter().enumerate().all(|(i, &n)| i as u64 == n), "no permutation of {length}");
        }
        let huge = Permutation::new(u64::MAX, 3);
        assert!(huge.at(5) < u64::MAX && huge.at(5) != huge.at(6));
    }

    #[test]
    fn seeds_and_neighbours_differ() {
        let at = |seed, place| Permutation::new(1 << 20, seed).at(place);
        assert_ne!(at(1, 0), at(2, 0));
        // Neighbours land far apart: half of the steps are longer than a fifth of the length.
        let far = (0..1000u64).filter(|&place| at(1, place).abs_diff(at(1, place + 1)) > 1 << 18).count();
        assert!((450..700).contains(&far), "{far} of 1000 far steps, 562 expected");
    }
}
