//! One trained parameter with the state of its optimiser. libtorch's own optimisers cannot be saved; this can.

use crate::backend::cpu::AlignedVec;
use crate::backend::cpu::kernel::{AdamSlices, AdamStep, Kernel};
use rayon::prelude::*;

/// Floats a task updates at a time: four such slices fit an L2.
const SLICE: usize = 16 * 1024;

/// Weights, gradient, and the two moments of Adam, all of one length.
pub struct Param {
    /// The weights.
    pub weights: AlignedVec,
    /// The gradient gathered for the next update; zero after one.
    pub gradient: AlignedVec,
    /// Mean of gradients.
    pub first: AlignedVec,
    /// Mean of squared gradients.
    pub second: AlignedVec,
}

impl Param {
    /// A parameter with these weights, no gradient and no history.
    pub fn new(weights: AlignedVec) -> Param {
        let zeros = || AlignedVec::zeros(weights.len());
        let (gradient, first, second) = (zeros(), zeros(), zeros());
        Param { weights, gradient, first, second }
    }

    /// One Adam update with the gathered gradient, which is zeroed.
    pub fn update(&mut self, kernel: &dyn Kernel, step: &AdamStep) {
        let Param { weights, gradient, first, second } = self;
        weights
            .par_chunks_mut(SLICE)
            .zip(gradient.par_chunks_mut(SLICE))
            .zip(first.par_chunks_mut(SLICE).zip(second.par_chunks_mut(SLICE)))
            .for_each(|((weights, gradient), (first, second))| {
                kernel.adam(AdamSlices { weights, gradient, first, second }, step);
            });
    }
}
