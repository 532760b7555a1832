//! Plain Rust: the slow twin of every other backend.

use nnue_format::Activation;
use nnue_format::quant::{CRELU_SHIFT, DENSE1_SHIFT, DENSE2_SHIFT, FT_MAX, HIDDEN_MAX, PAIRWISE_SHIFT};

use super::{Kernels, Scratch};
use crate::aligned::{Bytes, Ints, Words};
use crate::net::{Dense, FeatureRows, Stack};

static KERNELS: Kernels = Kernels { pack_lanes: 1, update, forward };

/// Every CPU has it.
pub(super) fn detect() -> Option<&'static Kernels> {
    Some(&KERNELS)
}

fn update(rows: &FeatureRows, source: Option<&[Words]>, add: &[u32], sub: &[u32], target: &mut [Words]) {
    if let Some(source) = source {
        target.copy_from_slice(source);
    }
    let (sums, psqt) = target.split_at_mut(rows.sums());
    for (features, sign) in [(add, 1_i16), (sub, -1)] {
        for &feature in features {
            let (weights, values) = rows.row(feature).split_at(rows.sums());
            for (sums, weights) in sums.iter_mut().zip(weights) {
                sums.0
                    .iter_mut()
                    .zip(weights.0)
                    .for_each(|(sum, w)| *sum = sum.wrapping_add(w.wrapping_mul(sign)));
            }
            for (sums, values) in psqt.iter_mut().zip(values) {
                let sign = i32::from(sign);
                *sums = Words::from_ints(std::array::from_fn(|i| sums.int(i) + sign * values.int(i)));
            }
        }
    }
}

fn forward(stack: &Stack, sides: [&[Words]; 2], activation: Activation, scratch: &mut Scratch) -> i32 {
    let Scratch { input, sums, hidden, .. } = scratch;
    let mut at = 0;
    for side in sides {
        at += activate(side, activation, &mut input[at..]);
    }
    let sums1 = &mut sums[..stack.dense1.biases.len()];
    dense(&stack.dense1, &input[..at], sums1);
    activate_hidden(sums1, DENSE1_SHIFT, hidden);
    let sums2 = &mut sums[..stack.dense2.biases.len()];
    dense(&stack.dense2, hidden, sums2);
    activate_hidden(sums2, DENSE2_SHIFT, hidden);
    let mut sum = stack.out_bias;
    for (line, weights) in hidden.iter().zip(&stack.out_weights) {
        sum += line.0.iter().zip(weights.0).map(|(x, w)| i32::from(*x) * i32::from(w)).sum::<i32>();
    }
    sum
}

/// One side's dense inputs from its sums; how many lines they are.
fn activate(sums: &[Words], activation: Activation, out: &mut [Bytes]) -> usize {
    let clip = |sum: i16| i32::from(sum).clamp(0, FT_MAX);
    // Half a line of bytes for each line of words.
    let out = out.iter_mut().flat_map(|line| line.0.as_chunks_mut::<32>().0);
    match activation {
        Activation::CRelu => {
            for (out, sums) in out.zip(sums) {
                *out = sums.0.map(|sum| (clip(sum) >> CRELU_SHIFT) as u8);
            }
            sums.len() / 2
        }
        Activation::Pairwise => {
            let (first, second) = sums.split_at(sums.len() / 2);
            for (out, (a, b)) in out.zip(first.iter().zip(second)) {
                *out = std::array::from_fn(|i| ((clip(a.0[i]) * clip(b.0[i])) >> PAIRWISE_SHIFT) as u8);
            }
            sums.len() / 4
        }
    }
}

/// The activations of a hidden layer's sums, in place of those before.
fn activate_hidden(sums: &[Ints], shift: u32, hidden: &mut [Bytes]) {
    let bytes = hidden.iter_mut().flat_map(|line| line.0.as_chunks_mut::<16>().0);
    for (to, from) in bytes.zip(sums) {
        *to = from.0.map(|sum| (sum >> shift).clamp(0, HIDDEN_MAX) as u8);
    }
}

fn dense(layer: &Dense, input: &[Bytes], sums: &mut [Ints]) {
    sums.copy_from_slice(&layer.biases);
    let inputs = input.iter().flat_map(|line| line.0.as_chunks::<4>().0);
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
