//! All chance of the trainer: a seed, a purpose, a number, and nothing else.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What a random sequence is for; two purposes never share one.
#[derive(Clone, Copy, Debug)]
pub enum Purpose {
    /// First values of the weights.
    Weights = 1,
    /// Order of the blocks in an epoch.
    Blocks = 2,
    /// Order of the positions in a window.
    Window = 3,
    /// Which positions are skipped by chance.
    Skip = 4,
    /// Which games are for validation.
    Split = 5,
    /// Synthetic batches of benchmarks and tests.
    Synthetic = 6,
    /// Which validation positions an export is proved on.
    Parity = 7,
    /// Which positions are seen in a mirror.
    Mirror = 8,
    /// Which positions a filter takes by chance.
    Filter = 9,
    /// Which blocks are counted before a run.
    Survey = 10,
}

/// The output function of SplitMix64 (Steele, Lea, Flood 2014): a bijection that mixes well.
pub fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// One number from a seed, a purpose and two more numbers.
pub fn hash(seed: u64, purpose: Purpose, a: u64, b: u64) -> u64 {
    mix(mix(mix(mix(seed) ^ purpose as u64) ^ a) ^ b)
}

/// A generator from a seed, a purpose and two more numbers (epoch and window, say).
pub fn generator(seed: u64, purpose: Purpose, a: u64, b: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(hash(seed, purpose, a, b))
}

/// A number in `0..bound` (multiply and shift; `bound` at most 2^32, its bias is below 2^-32).
pub fn below(rng: &mut impl Rng, bound: u64) -> u64 {
    ((rng.next_u64() >> 32) * bound) >> 32
}

/// A number in `-1.0..1.0`.
pub fn symmetric(rng: &mut impl Rng) -> f32 {
    ((rng.next_u64() >> 40) as f32) / (1u64 << 23) as f32 - 1.0
}

/// Fisher and Yates.
pub fn shuffle<T>(rng: &mut impl Rng, items: &mut [T]) {
    for i in (1..items.len()).rev() {
        items.swap(i, below(rng, i as u64 + 1) as usize);
    }
}
