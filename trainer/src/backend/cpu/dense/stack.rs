//! The weights of one output stack in the orders in which the kernels read them.

use super::super::AlignedVec;
use super::super::kernel::TILE;
use nnue_format::Architecture;

/// Outputs of the first layer that are computed together: 16, or 8 where 16 does not divide them.
pub fn block_of(outputs: usize) -> usize {
    if outputs.is_multiple_of(16) { 16 } else { 8 }
}

/// Widths of the dense layers and how their inputs come from the clipped sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Width of a perspective's sums; a position has two of them, one after the other.
    pub l1: usize,
    /// Are the two halves of each perspective multiplied?
    pub pairwise: bool,
    /// Inputs of the first layer.
    pub inputs: usize,
    /// Its outputs.
    pub l2: usize,
    /// Outputs of the second layer.
    pub l3: usize,
}

impl Shape {
    /// That of an architecture.
    pub fn of(arch: &Architecture) -> Shape {
        let pairwise = arch.activation() == nnue_format::arch::Activation::Pairwise;
        Shape { l1: arch.l1(), pairwise, inputs: arch.dense_inputs(), l2: arch.l2(), l3: arch.l3() }
    }
}

/// One stack's weights, made anew after each update.
pub struct Stack {
    /// Its shape.
    pub shape: Shape,
    /// First layer, `[l2 / block][inputs][block]`: for the outputs.
    pub by_output: AlignedVec,
    /// First layer, `[inputs / TILE][l2][TILE]`: for the gradient of the inputs.
    pub by_input: AlignedVec,
    /// `[l2]`.
    pub bias1: Vec<f32>,
    /// Second layer, `[l3][l2]`.
    pub weight2: Vec<f32>,
    /// The same, `[l3 / block][l2][block]`.
    pub weight2_by_output: AlignedVec,
    /// `[l3]`.
    pub bias2: Vec<f32>,
    /// `[l3]`.
    pub weight3: Vec<f32>,
    /// The last bias.
    pub bias3: f32,
}

impl Stack {
    /// Of the six parameters in the order of `model::dense::LAYERS`, row-major.
    ///
    /// # Panics
    /// When a length is not that of `shape`.
    pub fn new(shape: Shape, layers: [&[f32]; 6]) -> Stack {
        let Shape { inputs, l2, l3, .. } = shape;
        let lengths = [l2 * inputs, l2, l3 * l2, l3, l3, 1];
        assert_eq!(layers.map(<[f32]>::len), lengths, "a stack of {shape:?}");
        let [weight1, bias1, weight2, bias2, weight3, bias3] = layers;
        let mut by_input = AlignedVec::zeros(l2 * inputs);
        for (output, row) in weight1.chunks_exact(inputs).enumerate() {
            for (tile, part) in row.chunks_exact(TILE).enumerate() {
                by_input[(tile * l2 + output) * TILE..][..TILE].copy_from_slice(part);
            }
        }
        Stack {
            shape,
            by_output: by_output(weight1, inputs),
            by_input,
            bias1: bias1.to_vec(),
            weight2: weight2.to_vec(),
            weight2_by_output: by_output(weight2, l2),
            bias2: bias2.to_vec(),
            weight3: weight3.to_vec(),
            bias3: bias3[0],
        }
    }
}

/// `[outputs / block][inputs][block]` of a row-major `[outputs][inputs]`.
fn by_output(weights: &[f32], inputs: usize) -> AlignedVec {
    let block = block_of(weights.len() / inputs);
    let mut packed = AlignedVec::zeros(weights.len());
    for (output, row) in weights.chunks_exact(inputs).enumerate() {
        let first = output / block * block * inputs + output % block;
        for (input, &weight) in row.iter().enumerate() {
            packed[first + input * block] = weight;
        }
    }
    packed
}
