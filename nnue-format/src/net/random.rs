//! Nets of random weights with plausible sizes.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

use super::layers::QuantisedLayers;
use super::quantised::QuantisedNet;
use crate::arch::{Activation, Architecture};
use crate::quant::{DENSE1_ONE, DENSE2_ONE, RAW_ONE};

/// Draws uniform integers; no floating point, so the same net on every machine.
struct Dice<'a>(&'a mut Xoshiro256PlusPlus);

impl Dice<'_> {
    /// Uniform in `-size..=size`.
    fn around_zero(&mut self, size: i32) -> i32 {
        let span = 2 * size as u64 + 1;
        ((u128::from(self.0.next_u64()) * u128::from(span)) >> 64) as i32 - size
    }
}

/// Sizes chosen so that with about 25 pieces on the board
/// - feature-transformer sums spread over about ±150 around 64 (clipped to 0..=255),
/// - dense sums spread over about half the activation's range, around its lower half,
/// - outputs are within some hundred centipawns.
///
/// A uniform ±k has a standard deviation of k/√3, and n terms of it times √n.
pub(super) fn net(arch: &Architecture, rng: &mut Xoshiro256PlusPlus) -> QuantisedNet {
    let mut dice = Dice(rng);
    let mut layers = QuantisedLayers::zeros(arch);
    layers.ft_biases.mapv_inplace(|_| (64 + dice.around_zero(64)) as i16);
    layers.ft_weights.mapv_inplace(|_| dice.around_zero(48) as i16);
    layers.psqt.mapv_inplace(|_| dice.around_zero(RAW_ONE / 16));
    // Products of two clipped sums are smaller than the sums.
    let factor = match arch.activation() {
        Activation::CRelu => 1,
        Activation::Pairwise => 2,
    };
    let size = |inputs: usize, size: usize| (size / inputs.isqrt()).clamp(2, 127) as i32;
    let k1 = size(arch.dense_inputs(), 256 * factor);
    layers.dense1_weights.mapv_inplace(|_| dice.around_zero(k1) as i8);
    layers.dense1_biases.mapv_inplace(|_| (32 + dice.around_zero(32)) * DENSE1_ONE);
    let k2 = size(arch.l2(), 128);
    layers.dense2_weights.mapv_inplace(|_| dice.around_zero(k2) as i8);
    layers.dense2_biases.mapv_inplace(|_| (32 + dice.around_zero(32)) * DENSE2_ONE);
    let k3 = size(arch.l3(), 256);
    layers.out_weights.mapv_inplace(|_| dice.around_zero(k3) as i8);
    layers.out_biases.mapv_inplace(|_| dice.around_zero(RAW_ONE / 16));
    QuantisedNet { arch: *arch, layers }
}
