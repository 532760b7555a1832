//! The parameters of the layers behind the feature transformer; a set for each output stack.

use crate::backend::cpu::AlignedVec;
use crate::backend::cpu::dense::{Shape, Stack, StackGradients};
use crate::backend::cpu::kernel::{AdamStep, Kernel};
use crate::chance::symmetric;
use crate::optim::{Param, UpdateStep};
use nnue_format::arch::Architecture;
use nnue_format::quant::clip;
use rand_core::Rng;

/// The six parameters of a stack, in this order everywhere.
pub const LAYERS: [&str; 6] =
    ["dense1.weight", "dense1.bias", "dense2.weight", "dense2.bias", "out.weight", "out.bias"];

/// Limits after each update, in the order of [`LAYERS`], where every other one is a bias: what an exported net can hold.
pub const LIMITS: [f32; 6] = [
    clip::DENSE1_WEIGHT,
    clip::DENSE_BIAS,
    clip::DENSE2_WEIGHT,
    clip::DENSE_BIAS,
    clip::OUT_WEIGHT,
    clip::DENSE_BIAS,
];

/// First dense weights are within ± this / √inputs. With half of the usual 1 the sums of narrow layers differ so little
/// between positions that a unit is active for all or for none, and the first steps, which move all weights of a layer
/// alike, end them all; then the net is a constant for ever. Chosen among 0.5 to 2 by the loss on validation games and by
/// how well a random net was found again.
const FIRST_SIZE: f32 = 1.25;

/// The dense layers of all stacks.
pub struct Dense {
    /// `[stack][layer]`, layers as in [`LAYERS`].
    pub stacks: Vec<Vec<Param>>,
}

/// Shapes of the six parameters of one stack, in the order of [`LAYERS`].
pub fn shapes(arch: &Architecture) -> [Vec<usize>; 6] {
    let (inputs, l2, l3) = (arch.dense_inputs(), arch.l2(), arch.l3());
    [vec![l2, inputs], vec![l2], vec![l3, l2], vec![l3], vec![1, l3], vec![1]]
}

impl Dense {
    /// Weights drawn evenly from ±1.25/√inputs, all stacks alike; biases zero.
    pub fn new(arch: &Architecture, rng: &mut impl Rng) -> Dense {
        let shapes = shapes(arch);
        let first: Vec<Vec<f32>> = shapes
            .iter()
            .map(|shape| match shape[..] {
                [outputs, inputs] => {
                    let size = FIRST_SIZE / (inputs as f32).sqrt();
                    (0..outputs * inputs).map(|_| symmetric(rng) * size).collect()
                }
                _ => vec![0.0; shape.iter().product()],
            })
            .collect();
        let stack = || first.iter().map(|w| Param::new(AlignedVec::from_slice(w))).collect();
        Dense { stacks: (0..arch.stack_count()).map(|_| stack()).collect() }
    }

    /// The weights of every stack in the orders in which kernels read them.
    pub fn packed(&self, shape: Shape) -> Vec<Stack> {
        let packed =
            |stack: &Vec<Param>| Stack::new(shape, std::array::from_fn(|layer| &stack[layer].weights[..]));
        self.stacks.iter().map(packed).collect()
    }

    /// Adds gradients of one stack.
    pub fn gather(&mut self, stack: usize, gradients: &StackGradients) {
        for (param, part) in self.stacks[stack].iter_mut().zip(&gradients.layers) {
            for (sum, part) in param.gradient.iter_mut().zip(part) {
                *sum += part;
            }
        }
    }

    /// One Adam update of every parameter, clipped to what an exported net can hold.
    pub fn update(&mut self, kernel: &dyn Kernel, step: &UpdateStep) {
        for (place, param) in self.stacks.iter_mut().flatten().enumerate() {
            let layer = place % LAYERS.len();
            let step = if layer.is_multiple_of(2) { &step.dense } else { &step.biases };
            param.update(kernel, &AdamStep { limit: LIMITS[layer], ..*step });
        }
    }
}
