//! The meaning of a net file: evaluation of a [`QuantisedNet`], slow and obvious. Trainer and
//! engine are both measured against it, exactly.

use xiangqi::{Color, Position};

use crate::arch::Activation;
use crate::net::QuantisedNet;
use crate::quant::{CRELU_SHIFT, DENSE1_SHIFT, DENSE2_SHIFT, FT_MAX, HIDDEN_MAX, PAIRWISE_SHIFT, raw_to_cp};

/// What a net says of a position, from the side to move's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eval {
    /// The output as it is: 1.0 is [`crate::quant::RAW_ONE`].
    pub raw: i32,
    /// In centipawn-like units ([`raw_to_cp`]).
    pub cp: i32,
}

/// Evaluates a position. The net must have passed [`QuantisedNet::check`] (nets from files and
/// from quantising have); otherwise sums may overflow or an index fail.
pub fn evaluate(net: &QuantisedNet, position: &Position) -> Eval {
    let layers = &net.layers;
    let side = position.side_to_move();
    let stack = net.arch.stacks().choose(position);

    // 1. Both sides' activations, side to move first.
    let mut input = activations(net, position, side);
    input.extend(activations(net, position, side.flip()));

    // 2. Two hidden layers and the output.
    let mut hidden1 = Vec::new();
    for output in 0..net.arch.l2() {
        let mut sum = layers.dense1_biases[[stack, output]];
        for (i, x) in input.iter().enumerate() {
            sum += i32::from(layers.dense1_weights[[stack, output, i]]) * x;
        }
        hidden1.push((sum >> DENSE1_SHIFT).clamp(0, HIDDEN_MAX));
    }
    let mut hidden2 = Vec::new();
    for output in 0..net.arch.l3() {
        let mut sum = layers.dense2_biases[[stack, output]];
        for (i, x) in hidden1.iter().enumerate() {
            sum += i32::from(layers.dense2_weights[[stack, output, i]]) * x;
        }
        hidden2.push((sum >> DENSE2_SHIFT).clamp(0, HIDDEN_MAX));
    }
    let mut raw = layers.out_biases[stack];
    for (i, x) in hidden2.iter().enumerate() {
        raw += i32::from(layers.out_weights[[stack, i]]) * x;
    }

    // 3. Piece-square values.
    if net.arch.psqt() {
        raw += psqt_sum(net, position, side, stack) - psqt_sum(net, position, side.flip(), stack);
    }
    Eval { raw, cp: raw_to_cp(raw) }
}

/// The dense inputs of one perspective, each 0..=127.
fn activations(net: &QuantisedNet, position: &Position, perspective: Color) -> Vec<i32> {
    let mut features = Vec::new();
    net.arch.features().active(position, perspective, &mut features);
    let clipped: Vec<i32> = (0..net.arch.l1())
        .map(|neuron| {
            let bias = i32::from(net.layers.ft_biases[neuron]);
            let weights = features.iter().map(|&f| i32::from(net.layers.ft_weights[[f, neuron]]));
            (bias + weights.sum::<i32>()).clamp(0, FT_MAX)
        })
        .collect();
    match net.arch.activation() {
        Activation::CRelu => clipped.iter().map(|x| x >> CRELU_SHIFT).collect(),
        Activation::Pairwise => {
            let (first, second) = clipped.split_at(clipped.len() / 2);
            first.iter().zip(second).map(|(a, b)| (a * b) >> PAIRWISE_SHIFT).collect()
        }
    }
}

fn psqt_sum(net: &QuantisedNet, position: &Position, perspective: Color, stack: usize) -> i32 {
    let mut features = Vec::new();
    net.arch.features().active(position, perspective, &mut features);
    features.iter().map(|&f| net.layers.psqt[[f, stack]]).sum()
}
