#![expect(unsafe_code, reason = "calls of functions for detected instructions")]
//! 256-bit vectors: eight floats each, four to a tile.

use super::super::dense::{self, Hidden, Inputs, Scattered, Stack, StackGradients};
use super::super::kernel::{AdamSlices, AdamStep, Kernel, Stripe, TILE};
use super::super::rows::{ByFeature, Grouped};
use super::super::{scalar, sparse};
use std::arch::x86_64::*;

/// Vectors in a tile.
const N: usize = TILE / 8;

/// The kernel; a value of it exists only where the CPU has the instructions.
pub struct Avx2(());

impl Avx2 {
    /// The kernel, if this CPU has AVX2 and FMA.
    pub fn detect() -> Option<Avx2> {
        (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(Avx2(()))
    }
}

impl Kernel for Avx2 {
    fn name(&self) -> &'static str {
        "avx2"
    }

    fn forward(
        &self,
        weights: &[f32],
        bias: &[f32; TILE],
        rows: &Grouped,
        out: &mut Stripe<'_>,
        clip: Option<f32>,
    ) {
        // SAFETY: self exists, so the CPU has the instructions.
        unsafe { forward(weights, bias, rows, out, clip) }
    }

    fn gather(&self, by_feature: &ByFeature, rows: &Grouped, packed: &[f32], gradient: &mut [f32]) {
        // SAFETY: self exists, so the CPU has the instructions.
        unsafe { gather(by_feature, rows, packed, gradient) }
    }

    fn dense_forward(&self, stack: &Stack, inputs: &Inputs<'_>, hidden: &mut Hidden) {
        // SAFETY: self exists, so the CPU has the instructions.
        unsafe { dense_forward(stack, inputs, hidden) }
    }

    fn dense_backward(
        &self,
        stack: &Stack,
        inputs: &Inputs<'_>,
        hidden: &Hidden,
        outputs: &[f32],
        gradients: &mut StackGradients,
        ft_bias: &mut [f32],
        sums: &mut Scattered<'_>,
    ) {
        // SAFETY: self exists, so the CPU has the instructions.
        unsafe { dense_backward(stack, inputs, hidden, outputs, gradients, ft_bias, sums) }
    }

    fn adam(&self, state: AdamSlices<'_>, step: &AdamStep) {
        // SAFETY: self exists, so the CPU has the instructions.
        unsafe { adam(state, step) }
    }
}

#[target_feature(enable = "avx2,fma")]
fn forward(weights: &[f32], bias: &[f32; TILE], rows: &Grouped, out: &mut Stripe<'_>, clip: Option<f32>) {
    // SAFETY: this function is compiled for the instructions of its vectors.
    unsafe { sparse::forward::<__m256, N>(weights, bias, rows, out, clip) }
}

#[target_feature(enable = "avx2,fma")]
fn gather(by_feature: &ByFeature, rows: &Grouped, packed: &[f32], gradient: &mut [f32]) {
    // SAFETY: as above.
    unsafe { sparse::gather::<__m256, N>(by_feature, rows, packed, gradient) }
}

#[target_feature(enable = "avx2,fma")]
fn adam(state: AdamSlices<'_>, step: &AdamStep) {
    scalar::adam(state, step);
}

#[target_feature(enable = "avx2,fma")]
fn dense_forward(stack: &Stack, inputs: &Inputs<'_>, hidden: &mut Hidden) {
    // SAFETY: as above.
    unsafe { dense::forward::forward::<__m256, 2, __m256>(stack, inputs, hidden) }
}

#[target_feature(enable = "avx2,fma")]
fn dense_backward(
    stack: &Stack,
    inputs: &Inputs<'_>,
    hidden: &Hidden,
    outputs: &[f32],
    gradients: &mut StackGradients,
    ft_bias: &mut [f32],
    sums: &mut Scattered<'_>,
) {
    // SAFETY: as above.
    unsafe {
        dense::backward::backward::<__m256, N>(stack, inputs, hidden, outputs, gradients, ft_bias, sums);
    }
}
