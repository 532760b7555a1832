//! Chance: every game's own generator, from the run's seed and the game's number.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

/// A game's source of chance.
#[derive(Clone, Debug)]
pub struct GameRng(Xoshiro256PlusPlus);

/// The generator of game `number` of the run with seed `run_seed`: SplitMix64 over the seed gives a key, over
/// key and number the state. Nothing else goes in, so any game can be played again alone.
pub fn game_rng(run_seed: u64, number: u64) -> GameRng {
    rng_of(keys(run_seed)[0], number)
}

/// The generator of the choices among moves in game `number`: apart from [`game_rng`], so that they follow from the
/// number whatever the opening took.
pub fn choice_rng(run_seed: u64, number: u64) -> GameRng {
    rng_of(keys(run_seed)[1], number)
}

/// Keys of the order in which a run takes the openings of its book.
pub(crate) fn order_keys<const N: usize>(run_seed: u64) -> [u64; N] {
    let mut mix = SplitMix64::from_seed(keys(run_seed)[2].to_le_bytes());
    std::array::from_fn(|_| mix.next_u64())
}

/// A number that follows from another, every bit from all its bits.
pub(crate) fn mixed(number: u64) -> u64 {
    SplitMix64::from_seed(number.to_le_bytes()).next_u64()
}

/// A run's keys: for the games, for the choices among moves, for the order of a book.
fn keys(run_seed: u64) -> [u64; 3] {
    let mut mix = SplitMix64::from_seed(run_seed.to_le_bytes());
    std::array::from_fn(|_| mix.next_u64())
}

fn rng_of(key: u64, number: u64) -> GameRng {
    let mut mix = SplitMix64::from_seed((key ^ number).to_le_bytes());
    let mut seed = [0; 32];
    for chunk in seed.chunks_exact_mut(8) {
        chunk.copy_from_slice(&mix.next_u64().to_le_bytes());
    }
    GameRng(Xoshiro256PlusPlus::from_seed(seed))
}

impl GameRng {
    /// A number below `n`, every one as likely (Lemire's multiplication with rejection); 0 if `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 {
            return 0;
        }
        let threshold = n.wrapping_neg() % n;
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(n);
            if product as u64 >= threshold {
                return (product >> 64) as u64;
            }
        }
    }

    /// One of the things; `None` if there is none.
    pub fn pick<'a, T>(&mut self, things: &'a [T]) -> Option<&'a T> {
        things.get(self.below(things.len() as u64) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plans already written depend on these numbers: they must never change.
    #[test]
    fn first_numbers_of_a_game() {
        let mut rng = game_rng(1, 0);
        let found: Vec<_> = (0..4).map(|_| rng.below(1 << 32)).collect();
        assert_eq!(found, [1_883_594_958, 1_324_322_819, 3_705_690_866, 3_759_786_017]);
        let mut rng = choice_rng(1, 0);
        assert_eq!([rng.below(1 << 32), rng.below(1 << 32)], [342_411_691, 664_858_637]);
        assert_eq!(order_keys(1), [12_017_601_128_915_079_454, 7_876_820_519_921_869_660]);
    }

    #[test]
    fn games_and_runs_differ() {
        let first = |seed, number| game_rng(seed, number).below(u64::MAX);
        assert_ne!(first(1, 0), first(1, 1));
        assert_ne!(first(1, 0), first(2, 0));
        assert_ne!(first(1, 2), first(2, 1));
        assert_ne!(first(1, 0), choice_rng(1, 0).below(u64::MAX));
    }

    #[test]
    fn below_is_even() {
        let mut rng = game_rng(7, 7);
        let mut counts = [0u32; 7];
        (0..70_000).for_each(|_| counts[rng.below(7) as usize] += 1);
        assert!(counts.iter().all(|&count| (9_500..10_500).contains(&count)), "{counts:?}");
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.below(1), 0);
    }
}
