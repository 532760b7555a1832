//! One trained parameter with the state of its optimiser. libtorch's own optimisers cannot be saved; this can.

use crate::backend::cpu::AlignedVec;
use crate::backend::cpu::kernel::{AdamSlices, AdamStep, Kernel};
use rayon::prelude::*;

/// Floats a task updates at a time: four such slices fit an L2.
const SLICE: usize = 16 * 1024;

/// Names of the tensors of an optimiser's state, as checkpoints have them: `ft.weight.first` and so on.
pub mod state {
    /// Mean of gradients.
    pub const FIRST: &str = "first";
    /// Mean of squared gradients.
    pub const SECOND: &str = "second";
    /// Lookahead's slow weights; there from the first step of an optimiser that has them.
    pub const SLOW: &str = "slow";
}

/// What an optimiser remembers of one parameter from step to step: tensors as long as its weights.
pub struct History {
    /// [`state::FIRST`].
    pub first: AlignedVec,
    /// [`state::SECOND`].
    pub second: AlignedVec,
    /// [`state::SLOW`].
    pub slow: Option<AlignedVec>,
}

impl History {
    /// That of `len` weights at the beginning of a run.
    pub fn new(len: usize) -> History {
        History { first: AlignedVec::zeros(len), second: AlignedVec::zeros(len), slow: None }
    }

    /// What a checkpoint keeps, by name.
    pub fn saved(&self) -> impl Iterator<Item = (&'static str, &[f32])> {
        let slow = self.slow.iter().map(|slow| (state::SLOW, &**slow));
        [(state::FIRST, &*self.first), (state::SECOND, &*self.second)].into_iter().chain(slow)
    }

    /// The history of `len` weights that [`History::saved`] gave: `of` hands out a tensor of that length by its
    /// name. What it does not have is as at the beginning of a run.
    pub fn restored(len: usize, mut of: impl FnMut(&str) -> Option<AlignedVec>) -> History {
        let fresh = History::new(len);
        History {
            first: of(state::FIRST).unwrap_or(fresh.first),
            second: of(state::SECOND).unwrap_or(fresh.second),
            slow: of(state::SLOW),
        }
    }
}

/// The sum of squares in f64. Slices are added in their order, so that neither threads nor ranks change it.
pub fn square_sum(values: &[f32]) -> f64 {
    const LANES: usize = 8;
    let of = |slice: &[f32]| -> f64 {
        let mut sums = [0.0; LANES];
        let (whole, rest) = slice.as_chunks::<LANES>();
        for values in whole {
            for (sum, &value) in sums.iter_mut().zip(values) {
                *sum += f64::from(value) * f64::from(value);
            }
        }
        sums.iter().sum::<f64>() + rest.iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>()
    };
    let sums: Vec<f64> = values.par_chunks(SLICE).map(of).collect();
    sums.iter().sum()
}

/// Weights, gradient and history, all of one length.
pub struct Param {
    /// The weights.
    pub weights: AlignedVec,
    /// The gradient gathered for the next update; zero after one.
    pub gradient: AlignedVec,
    /// The optimiser's state.
    pub history: History,
}

impl Param {
    /// A parameter with these weights, no gradient and no history.
    pub fn new(weights: AlignedVec) -> Param {
        let (gradient, history) = (AlignedVec::zeros(weights.len()), History::new(weights.len()));
        Param { weights, gradient, history }
    }

    /// Makes the weights slow ones, where there are none yet.
    pub fn begin_slow(&mut self) {
        self.history.slow.get_or_insert_with(|| self.weights.clone());
    }

    /// Lookahead: `slow += part * (fast - slow); fast = slow`. Without slow weights nothing happens.
    pub fn look_ahead(&mut self, part: f32) {
        let Some(slow) = &mut self.history.slow else { return };
        self.weights.par_chunks_mut(SLICE).zip(slow.par_chunks_mut(SLICE)).for_each(|(fast, slow)| {
            for (fast, slow) in fast.iter_mut().zip(slow) {
                *slow += part * (*fast - *slow);
                *fast = *slow;
            }
        });
    }

    /// One Adam update with the gathered gradient, which is zeroed.
    pub fn update(&mut self, kernel: &dyn Kernel, step: &AdamStep) {
        let Param { weights, gradient, history: History { first, second, .. } } = self;
        weights
            .par_chunks_mut(SLICE)
            .zip(gradient.par_chunks_mut(SLICE))
            .zip(first.par_chunks_mut(SLICE).zip(second.par_chunks_mut(SLICE)))
            .for_each(|((weights, gradient), (first, second))| {
                kernel.adam(AdamSlices { weights, gradient, first, second }, step);
            });
    }
}
