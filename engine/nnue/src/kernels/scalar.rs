//! Plain Rust: the slow twin of every other backend.

use nnue_format::Activation;
use nnue_format::quant::{CRELU_SHIFT, DENSE1_SHIFT, DENSE2_SHIFT, FT_MAX, HIDDEN_MAX, PAIRWISE_SHIFT};

use super::{Kernels, Scratch};
use crate::net::{Dense, FeatureRows, Stack};

static KERNELS: Kernels = Kernels { pack_order: &[0], update, activate, propagate };

/// Every CPU has it.
pub(super) fn detect() -> Option<&'static Kernels> {
    Some(&KERNELS)
}

fn update(rows: &FeatureRows, source: Option<&[i16]>, add: &[u32], sub: &[u32], target: &mut [i16]) {
    if let Some(source) = source {
        target.copy_from_slice(source);
    }
    for &feature in add {
        for (sum, weight) in target.iter_mut().zip(rows.row(feature)) {
            *sum = sum.wrapping_add(*weight);
        }
    }
    for &feature in sub {
        for (sum, weight) in target.iter_mut().zip(rows.row(feature)) {
            *sum = sum.wrapping_sub(*weight);
        }
    }
}

fn activate(sums: &[i16], activation: Activation, out: &mut [u8]) {
    let clip = |sum: &i16| i32::from(*sum).clamp(0, FT_MAX);
    match activation {
        Activation::CRelu => {
            for (out, sum) in out.iter_mut().zip(sums) {
                *out = (clip(sum) >> CRELU_SHIFT) as u8;
            }
        }
        Activation::Pairwise => {
            let (first, second) = sums.split_at(sums.len() / 2);
            for (out, (a, b)) in out.iter_mut().zip(first.iter().zip(second)) {
                *out = ((clip(a) * clip(b)) >> PAIRWISE_SHIFT) as u8;
            }
        }
    }
}

fn propagate(stack: &Stack, input: &[u8], scratch: &mut Scratch) -> i32 {
    let Scratch { sums, hidden1, hidden2, .. } = scratch;
    let (hidden1, hidden2) = (&mut hidden1[..stack.dense1.outputs], &mut hidden2[..stack.dense2.outputs]);
    dense(&stack.dense1, input, sums, hidden1, DENSE1_SHIFT);
    dense(&stack.dense2, hidden1, sums, hidden2, DENSE2_SHIFT);
    let products = hidden2.iter().zip(stack.out_weights.iter());
    stack.out_bias + products.map(|(x, w)| i32::from(*x) * i32::from(*w)).sum::<i32>()
}

fn dense(layer: &Dense, input: &[u8], sums: &mut [i32], out: &mut [u8], shift: u32) {
    let sums = &mut sums[..layer.outputs];
    sums.copy_from_slice(&layer.biases);
    for (block, x) in input.as_chunks::<4>().0.iter().enumerate() {
        if *x == [0; 4] {
            continue;
        }
        for (sum, w) in sums.iter_mut().zip(layer.block(block).as_chunks::<4>().0) {
            *sum += (0..4).map(|i| i32::from(x[i]) * i32::from(w[i])).sum::<i32>();
        }
    }
    for (out, sum) in out.iter_mut().zip(sums) {
        *out = (*sum >> shift).clamp(0, HIDDEN_MAX) as u8;
    }
}
