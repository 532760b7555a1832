//! The layers behind the feature transformer, as leaf tensors under torch's autograd; a set for each output stack.

use super::shared::{slice, slice_mut};
use crate::backend::cpu::AlignedVec;
use crate::backend::cpu::kernel::{AdamSlices, AdamStep, Kernel};
use crate::chance::symmetric;
use crate::optim::History;
use nnue_format::arch::Architecture;
use nnue_format::quant::{HIDDEN_CLIP, clip};
use rand_core::Rng;
use tch::{TchError, Tensor};

/// The six parameters of a stack, in this order everywhere.
pub const LAYERS: [&str; 6] =
    ["dense1.weight", "dense1.bias", "dense2.weight", "dense2.bias", "out.weight", "out.bias"];

/// Limits after each update, in the order of [`LAYERS`]: what an exported net can hold.
const LIMITS: [f32; 6] = [
    clip::DENSE1_WEIGHT,
    clip::DENSE_BIAS,
    clip::DENSE2_WEIGHT,
    clip::DENSE_BIAS,
    clip::OUT_WEIGHT,
    clip::DENSE_BIAS,
];

/// First dense weights are within ± this / √inputs: half the usual, since all inputs are positive.
const FIRST_SIZE: f32 = 0.5;

/// A parameter that autograd reads: a leaf tensor, and the optimiser's state beside it.
pub struct Leaf {
    /// The weights.
    pub tensor: Tensor,
    /// The gradient gathered for the next update.
    pub gradient: AlignedVec,
    /// The optimiser's state.
    pub history: History,
}

impl Leaf {
    fn new(weights: &[f32], shape: &[i64]) -> Leaf {
        let tensor = Tensor::from_slice(weights).view(shape).set_requires_grad(true);
        Leaf { tensor, gradient: AlignedVec::zeros(weights.len()), history: History::new(weights.len()) }
    }

    /// Adds to the gathered gradient.
    fn gather(&mut self, gradient: &Tensor) -> Result<(), TchError> {
        let contiguous = gradient.f_contiguous()?;
        for (sum, part) in self.gradient.iter_mut().zip(slice(&contiguous)?) {
            *sum += part;
        }
        Ok(())
    }
}

/// The dense layers of all stacks.
pub struct Dense {
    /// `[stack][layer]`, layers as in [`LAYERS`].
    pub stacks: Vec<Vec<Leaf>>,
}

/// Shapes of the six parameters of one stack, in the order of [`LAYERS`].
pub fn shapes(arch: &Architecture) -> [Vec<usize>; 6] {
    let (inputs, l2, l3) = (arch.dense_inputs(), arch.l2(), arch.l3());
    [vec![l2, inputs], vec![l2], vec![l3, l2], vec![l3], vec![1, l3], vec![1]]
}

impl Dense {
    /// Weights drawn evenly from ±½/√inputs, all stacks alike; biases zero.
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
        let stack = || {
            let pairs = first.iter().zip(&shapes);
            pairs.map(|(w, s)| Leaf::new(w, &s.iter().map(|&n| n as i64).collect::<Vec<_>>())).collect()
        };
        Dense { stacks: (0..arch.stack_count()).map(|_| stack()).collect() }
    }

    /// The output `[n, 1]` of one stack for inputs `[n, dense inputs]`.
    ///
    /// # Errors
    /// What torch reports.
    pub fn forward(&self, stack: usize, inputs: &Tensor) -> Result<Tensor, TchError> {
        let layers = &self.stacks[stack];
        let layer = |x: &Tensor, i: usize| x.f_linear(&layers[i].tensor, Some(&layers[i + 1].tensor));
        let limit = f64::from(HIDDEN_CLIP);
        let hidden = layer(inputs, 0)?.f_clamp(0.0, limit)?;
        let hidden = layer(&hidden, 2)?.f_clamp(0.0, limit)?;
        layer(&hidden, 4)
    }

    /// Adds gradients of one stack, in the order of [`LAYERS`].
    ///
    /// # Errors
    /// What torch reports.
    pub fn gather(&mut self, stack: usize, gradients: &[Tensor]) -> Result<(), TchError> {
        self.stacks[stack].iter_mut().zip(gradients).try_for_each(|(leaf, g)| leaf.gather(g))
    }

    /// One Adam update of every parameter, clipped to what an exported net can hold.
    ///
    /// # Errors
    /// What torch reports.
    pub fn update(&mut self, kernel: &dyn Kernel, step: &AdamStep) -> Result<(), TchError> {
        for leaf in self.stacks.iter_mut().flatten().enumerate() {
            let (place, Leaf { tensor, gradient, history: History { first, second, .. } }) = leaf;
            let step = AdamStep { limit: LIMITS[place % LIMITS.len()], ..*step };
            let weights = slice_mut(tensor)?;
            kernel.adam(AdamSlices { weights, gradient, first, second }, &step);
        }
        Ok(())
    }
}
