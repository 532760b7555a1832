//! Plain Rust: the slow twin of every other backend.

use nnue_format::Activation;
use nnue_format::quant::{CRELU_SHIFT, DENSE1_SHIFT, DENSE2_SHIFT, FT_MAX, PAIRWISE_SHIFT};

use super::{Kernels, Scratch, clip_hidden, output};
use crate::aligned::{Bytes, Ints, Words};
use crate::net::{Dense, FeatureRows, Stack};

static KERNELS: Kernels = Kernels { pack_order: &[], update, activate, propagate };

/// Every CPU has it.
pub(super) fn detect() -> Option<&'static Kernels> {
    Some(&KERNELS)
}

fn update(rows: &FeatureRows, source: Option<&[Words]>, add: &[u32], sub: &[u32], target: &mut [Words]) {
    if let Some(source) = source {
        target.copy_from_slice(source);
    }
    for &feature in add {
        for (sums, weights) in target.iter_mut().zip(rows.row(feature)) {
            sums.0.iter_mut().zip(weights.0).for_each(|(sum, w)| *sum = sum.wrapping_add(w));
        }
    }
    for &feature in sub {
        for (sums, weights) in target.iter_mut().zip(rows.row(feature)) {
            sums.0.iter_mut().zip(weights.0).for_each(|(sum, w)| *sum = sum.wrapping_sub(w));
        }
    }
}

fn activate(sums: &[Words], activation: Activation, out: &mut [Bytes]) {
    let clip = |sum: i16| i32::from(sum).clamp(0, FT_MAX);
    // Half a lane of bytes for each lane of words.
    let out = out.iter_mut().flat_map(|lane| lane.0.as_chunks_mut::<16>().0);
    match activation {
        Activation::CRelu => {
            for (out, sums) in out.zip(sums) {
                *out = sums.0.map(|sum| (clip(sum) >> CRELU_SHIFT) as u8);
            }
        }
        Activation::Pairwise => {
            let (first, second) = sums.split_at(sums.len() / 2);
            for (out, (a, b)) in out.zip(first.iter().zip(second)) {
                *out = std::array::from_fn(|i| ((clip(a.0[i]) * clip(b.0[i])) >> PAIRWISE_SHIFT) as u8);
            }
        }
    }
}

fn propagate(stack: &Stack, input: &[Bytes], scratch: &mut Scratch) -> i32 {
    let Scratch { sums, hidden, .. } = scratch;
    let sums1 = &mut sums[..stack.dense1.outputs / 8];
    dense(&stack.dense1, input, sums1);
    clip_hidden(sums1, DENSE1_SHIFT, hidden);
    let sums2 = &mut sums[..stack.dense2.outputs / 8];
    dense(&stack.dense2, hidden, sums2);
    clip_hidden(sums2, DENSE2_SHIFT, hidden);
    output(stack, hidden)
}

fn dense(layer: &Dense, input: &[Bytes], sums: &mut [Ints]) {
    sums.copy_from_slice(&layer.biases);
    let inputs = input.iter().flat_map(|lane| lane.0.as_chunks::<4>().0);
    for (x, weights) in inputs.zip(layer.weights.chunks_exact(sums.len())) {
        if *x == [0; 4] {
            continue;
        }
        for (sums, weights) in sums.iter_mut().zip(weights) {
            for (sum, w) in sums.0.iter_mut().zip(weights.0.as_chunks::<4>().0) {
                *sum += (0..4).map(|i| i32::from(x[i]) * i32::from(w[i])).sum::<i32>();
            }
        }
    }
}
