#![expect(unsafe_code, reason = "calls of functions for detected instructions")]
//! 512-bit vectors: sixteen floats each, two to a tile.

use super::super::dense::{self, Hidden, Inputs, Scattered, Stack, StackGradients};
use super::super::kernel::{AdamSlices, AdamStep, Kernel, Stripe, TILE};
use super::super::rows::{ByFeature, Grouped};
use super::super::{scalar, sparse};
use std::arch::x86_64::*;

/// Vectors in a tile.
const N: usize = TILE / 16;

/// The kernel; a value of it exists only where the CPU has the instructions.
pub struct Avx512(());

impl Avx512 {
    /// The kernel, if this CPU has AVX-512 F, BW, DQ and VL.
    pub fn detect() -> Option<Avx512> {
        (is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl"))
        .then_some(Avx512(()))
    }
}

impl Kernel for Avx512 {
    fn name(&self) -> &'static str {
        "avx512"
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

#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
fn forward(weights: &[f32], bias: &[f32; TILE], rows: &Grouped, out: &mut Stripe<'_>, clip: Option<f32>) {
    // SAFETY: this function is compiled for the instructions of its vectors.
    unsafe { sparse::forward::<__m512, N>(weights, bias, rows, out, clip) }
}

#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
fn gather(by_feature: &ByFeature, rows: &Grouped, packed: &[f32], gradient: &mut [f32]) {
    // SAFETY: as above.
    unsafe { sparse::gather::<__m512, N>(by_feature, rows, packed, gradient) }
}

#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
fn adam(state: AdamSlices<'_>, step: &AdamStep) {
    scalar::adam(state, step);
}

#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
fn dense_forward(stack: &Stack, inputs: &Inputs<'_>, hidden: &mut Hidden) {
    // SAFETY: as above.
    unsafe { dense::forward::forward::<__m512, 1, __m256>(stack, inputs, hidden) }
}

#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
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
        dense::backward::backward::<__m512, N>(stack, inputs, hidden, outputs, gradients, ft_bias, sums);
    }
}
