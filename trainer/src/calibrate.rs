//! Takes the steady part of the rounding errors out of the biases of a quantised net.
//!
//! Rounding a weight by `e` shifts the sum it belongs to by `e` times its input. Inputs are never negative, so over
//! all positions these shifts have a mean, which a bias can take back; the same holds for activations that are
//! rounded down. Layer by layer, each bias gets the mean difference of its float sum and its integer sum over
//! the positions in which the neuron is neither dead nor full. Biases are 64 to 128 times finer than weights.
//! (Known as bias correction: Nagel et al., Data-Free Quantization, 2019.)

use ndarray::{Array2, ArrayView1};
use nnue_format::arch::Activation;
use nnue_format::quant::{
    CRELU_SHIFT, DENSE_BIAS_MAX, DENSE1_ONE, DENSE1_SHIFT, DENSE2_ONE, DENSE2_SHIFT, FT_CLIP, FT_MAX,
    HIDDEN_CLIP, HIDDEN_MAX, HIDDEN_ONE, PAIRWISE_SHIFT, RAW_ONE,
};
use nnue_format::{MergedNet, QuantisedNet};
use rayon::prelude::*;
use xiangqi::Position;

/// Fewer positions than this say too little about a neuron.
const FEWEST: u32 = 32;

/// Dense inputs of one position, as floats and as integers.
struct Inputs {
    stack: usize,
    float: Vec<f32>,
    integer: Vec<i32>,
}

/// Corrects the dense biases of `net`, which was quantised from `merged`, by these positions.
pub fn correct_biases(merged: &MergedNet, net: &mut QuantisedNet, positions: &[Position]) {
    let mut layer: Vec<Inputs> = positions.par_iter().map(|position| inputs(merged, net, position)).collect();
    for depth in 0..3 {
        let sums: Vec<Sums> = layer.par_iter().map(|inputs| Sums::of(merged, net, inputs, depth)).collect();
        let (one, rounding, limit) = match depth {
            0 => (HIDDEN_ONE * DENSE1_ONE, 1 << (DENSE1_SHIFT - 1), HIDDEN_CLIP),
            1 => (HIDDEN_ONE * DENSE2_ONE, 1 << (DENSE2_SHIFT - 1), HIDDEN_CLIP),
            _ => (RAW_ONE, 0, f32::INFINITY),
        };
        let from = if depth == 2 { f32::NEG_INFINITY } else { 0.0 };
        let outputs = sums.first().map_or(0, |sums| sums.float.len());
        let stacks = net.arch.stack_count();
        let mut total = Array2::<f64>::zeros((stacks, outputs));
        let mut count = Array2::<u32>::zeros((stacks, outputs));
        for (inputs, sums) in layer.iter().zip(&sums) {
            for (output, (&float, &integer)) in sums.float.iter().zip(&sums.integer).enumerate() {
                if float > from && float < limit {
                    let wanted = f64::from(float) * f64::from(one);
                    total[[inputs.stack, output]] += wanted - f64::from(integer - rounding);
                    count[[inputs.stack, output]] += 1;
                }
            }
        }
        let layers = &mut net.layers;
        for ((stack, output), &count) in count.indexed_iter() {
            if count < FEWEST {
                continue;
            }
            let shift = (total[[stack, output]] / f64::from(count)).round() as i32;
            let bias = match depth {
                0 => &mut layers.dense1_biases[[stack, output]],
                1 => &mut layers.dense2_biases[[stack, output]],
                _ => &mut layers.out_biases[stack],
            };
            *bias = bias.saturating_add(shift).clamp(-DENSE_BIAS_MAX, DENSE_BIAS_MAX);
        }
        // The next layer sees what this one gives with its new biases.
        layer = layer
            .into_par_iter()
            .map(|inputs| {
                let sums = Sums::of(merged, net, &inputs, depth);
                let shift = if depth == 0 { DENSE1_SHIFT } else { DENSE2_SHIFT };
                Inputs {
                    stack: inputs.stack,
                    float: sums.float.iter().map(|x| x.clamp(0.0, HIDDEN_CLIP)).collect(),
                    integer: sums.integer.iter().map(|x| (x >> shift).clamp(0, HIDDEN_MAX)).collect(),
                }
            })
            .collect();
    }
}

/// Sums of one layer with their biases.
struct Sums {
    float: Vec<f32>,
    integer: Vec<i32>,
}

impl Sums {
    fn of(merged: &MergedNet, net: &QuantisedNet, inputs: &Inputs, depth: usize) -> Sums {
        let (f, q, stack) = (&merged.layers, &net.layers, inputs.stack);
        let dot = |w: ArrayView1<'_, f32>| w.iter().zip(&inputs.float).map(|(w, x)| w * x).sum::<f32>();
        let dot_q = |w: ArrayView1<'_, i8>| -> i32 {
            w.iter().zip(&inputs.integer).map(|(&w, &x)| i32::from(w) * x).sum()
        };
        let (outputs, row) = match depth {
            0 => (net.arch.l2(), 0),
            1 => (net.arch.l3(), 1),
            _ => (1, 2),
        };
        let mut sums = Sums { float: Vec::with_capacity(outputs), integer: Vec::with_capacity(outputs) };
        for o in 0..outputs {
            let (float, integer) = match row {
                0 => (
                    f.dense1_biases[[stack, o]] + dot(f.dense1_weights.slice(ndarray::s![stack, o, ..])),
                    q.dense1_biases[[stack, o]] + dot_q(q.dense1_weights.slice(ndarray::s![stack, o, ..])),
                ),
                1 => (
                    f.dense2_biases[[stack, o]] + dot(f.dense2_weights.slice(ndarray::s![stack, o, ..])),
                    q.dense2_biases[[stack, o]] + dot_q(q.dense2_weights.slice(ndarray::s![stack, o, ..])),
                ),
                _ => (
                    f.out_biases[stack] + dot(f.out_weights.row(stack)),
                    q.out_biases[stack] + dot_q(q.out_weights.row(stack)),
                ),
            };
            sums.float.push(float);
            sums.integer.push(integer);
        }
        sums
    }
}

fn inputs(merged: &MergedNet, net: &QuantisedNet, position: &Position) -> Inputs {
    let arch = &net.arch;
    let side = position.side_to_move();
    let (mut float, mut integer) = (Vec::new(), Vec::new());
    let mut active = Vec::new();
    for perspective in [side, side.flip()] {
        arch.features().active(position, perspective, &mut active);
        let mut sums = merged.layers.ft_biases.clone();
        let mut sums_q = net.layers.ft_biases.mapv(i32::from);
        for &feature in &active {
            sums += &merged.layers.ft_weights.row(feature);
            sums_q.zip_mut_with(&net.layers.ft_weights.row(feature), |sum, &w| *sum += i32::from(w));
        }
        let x: Vec<f32> = sums.iter().map(|x| x.clamp(0.0, FT_CLIP)).collect();
        let q: Vec<i32> = sums_q.iter().map(|&x| x.clamp(0, FT_MAX)).collect();
        let half = arch.l1() / 2;
        match arch.activation() {
            Activation::CRelu => {
                float.extend(x);
                integer.extend(q.iter().map(|x| x >> CRELU_SHIFT));
            }
            Activation::Pairwise => {
                float.extend((0..half).map(|i| x[i] * x[i + half]));
                integer.extend((0..half).map(|i| (q[i] * q[i + half]) >> PAIRWISE_SHIFT));
            }
        }
    }
    Inputs { stack: arch.stacks().choose(position), float, integer }
}
