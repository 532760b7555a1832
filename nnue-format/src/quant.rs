//! The one table of scales, ranges and rounding, with proofs that no sum overflows.
//!
//! ```text
//! value              type  1.0 is    range            then
//! FT weight, bias    i16   256       sum in i16 (proved per neuron when a net is quantised)
//! FT sum             i16   256       clipped 0..=255  crelu: >> 1     pairwise: a * b >> 9
//! dense input        u8    128       0..=127
//! dense 1 weight     i8    128       ±127             bias i32, 1.0 is 16384; sum >> 7
//! dense 2 weight     i8    64        ±127             bias i32, 1.0 is  8192; sum >> 6
//! hidden activation  u8    128       clipped 0..=127
//! output weight      i8    128       ±127             bias i32, 1.0 is 16384
//! PSQT weight        i32   16384     ±2^20
//! raw                i32   16384                      cp = raw * 600 / 16384, toward zero
//! ```
//!
//! Shifts round towards minus infinity. The quantiser adds half a unit to the hidden biases, so
//! that these shifts round to nearest; readers of a file need not know. All scales are powers of two, so
//! that float and integer nets clip at the same values ([`FT_CLIP`], [`HIDDEN_CLIP`]).
//!
//! What enters a dense layer is at most 127 and weights are within ±127, so that a pair of
//! products (2·127·127 = 32,258) fits an i16 and every instruction set gives the same bits
//! (`pmaddubsw` saturates at 32,767). Powers of two with a clip of 255 are Stockfish's choice of 2026.

use crate::arch::{DENSE_RANGE, L1_RANGE};
use crate::features::FeatureSet;

/// 1.0 in the feature transformer.
pub const FT_ONE: i32 = 256;
/// Feature-transformer sums are clipped to 0..= this.
pub const FT_MAX: i32 = 255;
/// 1.0 in dense inputs and hidden activations.
pub const HIDDEN_ONE: i32 = 128;
/// Dense inputs and hidden activations are at most this.
pub const HIDDEN_MAX: i32 = 127;
/// 1.0 in weights of the first dense layer.
pub const DENSE1_ONE: i32 = 128;
/// 1.0 in weights of the second dense layer.
pub const DENSE2_ONE: i32 = 64;
/// 1.0 in weights of the output layer.
pub const OUT_ONE: i32 = 128;
/// 1.0 at the output.
pub const RAW_ONE: i32 = HIDDEN_ONE * OUT_ONE;
/// Centipawn-like units of 1.0 at the output.
pub const OUTPUT_CP: i32 = 600;

/// Dense weights are within ± this.
pub const DENSE_WEIGHT_MAX: i32 = 127;
/// Dense biases are within ± this.
pub const DENSE_BIAS_MAX: i32 = 1 << 24;
/// PSQT weights are within ± this.
pub const PSQT_MAX: i32 = 1 << 20;

/// `sum >> CRELU_SHIFT` takes a clipped sum to a dense input.
pub const CRELU_SHIFT: u32 = (FT_ONE / HIDDEN_ONE).trailing_zeros();
/// `a * b >> PAIRWISE_SHIFT` takes two clipped sums to a dense input.
pub const PAIRWISE_SHIFT: u32 = (FT_ONE * FT_ONE / HIDDEN_ONE).trailing_zeros();
/// `sum >> DENSE1_SHIFT` takes a sum of the first dense layer to an activation.
pub const DENSE1_SHIFT: u32 = DENSE1_ONE.trailing_zeros();
/// `sum >> DENSE2_SHIFT` takes a sum of the second dense layer to an activation.
pub const DENSE2_SHIFT: u32 = DENSE2_ONE.trailing_zeros();

/// Every number above that gives a file its meaning, in the order of the file's header.
pub const SCALES: [i32; 8] =
    [FT_ONE, FT_MAX, HIDDEN_ONE, HIDDEN_MAX, DENSE1_ONE, DENSE2_ONE, OUT_ONE, OUTPUT_CP];

/// Where float nets clip feature-transformer sums: 255/256.
pub const FT_CLIP: f32 = FT_MAX as f32 / FT_ONE as f32;
/// Where float nets clip hidden activations: 127/128.
pub const HIDDEN_CLIP: f32 = HIDDEN_MAX as f32 / HIDDEN_ONE as f32;

/// Limits for training: merged weights (feature + factor) clipped to ± these always quantise.
/// Wider feature transformers are allowed where the proof per neuron holds.
pub mod clip {
    use super::*;

    /// Feature-transformer weights.
    pub const FT_WEIGHT: f32 = super::FT_WEIGHT_SAFE as f32 / FT_ONE as f32;
    /// Feature-transformer biases.
    pub const FT_BIAS: f32 = super::FT_BIAS_SAFE as f32 / FT_ONE as f32;
    /// Weights of the first dense layer.
    pub const DENSE1_WEIGHT: f32 = DENSE_WEIGHT_MAX as f32 / DENSE1_ONE as f32;
    /// Weights of the second dense layer.
    pub const DENSE2_WEIGHT: f32 = DENSE_WEIGHT_MAX as f32 / DENSE2_ONE as f32;
    /// Weights of the output layer.
    pub const OUT_WEIGHT: f32 = DENSE_WEIGHT_MAX as f32 / OUT_ONE as f32;
    /// Biases of dense and output layers.
    pub const DENSE_BIAS: f32 = (DENSE_BIAS_MAX - HIDDEN_ONE) as f32 / RAW_ONE as f32;
    /// PSQT weights.
    pub const PSQT: f32 = PSQT_MAX as f32 / RAW_ONE as f32;
}

/// Sums of [`FeatureSet::MAX_ACTIVE`] weights within ± this and a bias within ±[`FT_BIAS_SAFE`]
/// fit an i16 whatever the board.
const FT_WEIGHT_SAFE: i32 = 960;
const FT_BIAS_SAFE: i32 = 2047;

/// A raw output in centipawn-like units, rounded toward zero and clamped to
/// ±[`xiangqi::Score::EVAL_LIMIT`].
#[inline]
pub const fn raw_to_cp(raw: i32) -> i32 {
    let cp = raw as i64 * OUTPUT_CP as i64 / RAW_ONE as i64;
    let limit = xiangqi::Score::EVAL_LIMIT as i64;
    (if cp > limit {
        limit
    } else if cp < -limit {
        -limit
    } else {
        cp
    }) as i32
}

// The proofs. `x as i64` because the point is that nothing is lost in i16 or i32.
const _: () = {
    let powers = [FT_ONE, HIDDEN_ONE, DENSE1_ONE, DENSE2_ONE, OUT_ONE];
    let mut i = 0;
    while i < powers.len() {
        assert!((powers[i] as u32).is_power_of_two());
        i += 1;
    }
    // Clipped sums become dense inputs of at most HIDDEN_MAX.
    assert!(FT_MAX >> CRELU_SHIFT == HIDDEN_MAX);
    assert!((FT_MAX * FT_MAX) >> PAIRWISE_SHIFT == HIDDEN_MAX);
    // The vector form of the pairwise product is the high half of (a << 7) * b.
    assert!(PAIRWISE_SHIFT == 16 - 7 && FT_MAX << 7 <= i16::MAX as i32);
    // A pair of products of u8 and i8 fits an i16.
    assert!(2 * HIDDEN_MAX * DENSE_WEIGHT_MAX <= i16::MAX as i32);
    // Dense sums fit an i32: inputs of the widest first layer and of the widest hidden layers.
    let product = (HIDDEN_MAX * DENSE_WEIGHT_MAX) as i64;
    let widest = 2 * L1_RANGE.1 as i64;
    assert!(DENSE_RANGE.1 as i64 <= widest);
    assert!(widest * product + DENSE_BIAS_MAX as i64 <= i32::MAX as i64);
    // The raw output: output layer and PSQT sums of both sides.
    let psqt = 2 * FeatureSet::MAX_ACTIVE as i64 * PSQT_MAX as i64;
    assert!(DENSE_RANGE.1 as i64 * product + DENSE_BIAS_MAX as i64 + psqt <= i32::MAX as i64);
    // The limits given to the trainer are safe.
    assert!(FeatureSet::MAX_ACTIVE as i32 * FT_WEIGHT_SAFE + FT_BIAS_SAFE <= i16::MAX as i32);
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn centipawns() {
        for (raw, cp) in [(0, 0), (27, 0), (28, 1), (-27, 0), (-28, -1), (RAW_ONE, 600), (-RAW_ONE, -600)] {
            assert_eq!(raw_to_cp(raw), cp, "{raw}");
        }
        assert_eq!(raw_to_cp(i32::MAX), xiangqi::Score::EVAL_LIMIT);
        assert_eq!(raw_to_cp(i32::MIN), -xiangqi::Score::EVAL_LIMIT);
    }
}
