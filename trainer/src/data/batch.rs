//! The positions of one step.

use super::samples::Samples;
use crate::backend::cpu::SparseRows;
use crate::backend::cpu::rows::RowsError;

/// Positions of one step, ordered by output stack so that each stack's are next to each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// The positions.
    pub samples: Samples,
}

impl Batch {
    /// The positions `chosen` of `from`, ordered by stack; positions of one stack keep their order.
    pub fn gather(from: &Samples, chosen: &[u32]) -> Batch {
        let mut order: Vec<u32> = chosen.to_vec();
        order.sort_by_key(|&i| from.stacks[i as usize]);
        let mut samples = Samples::new();
        samples.offsets.reserve(2 * order.len());
        for i in order {
            samples.push_from(from, i as usize);
        }
        Batch { samples }
    }

    /// All positions of `from`, ordered by stack.
    pub fn all(from: &Samples) -> Batch {
        let chosen: Vec<u32> = (0..from.len() as u32).collect();
        Batch::gather(from, &chosen)
    }

    /// The number of positions.
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// True when there is no position.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// The feature rows, two a position, checked against the number of features.
    ///
    /// # Errors
    /// [`RowsError`] when an index is out of range.
    pub fn rows(&self, features: usize) -> Result<SparseRows<'_>, RowsError> {
        SparseRows::new(&self.samples.indices, &self.samples.offsets, features)
    }

    /// The runs of one stack among positions `start..end`: (stack, first position, end).
    pub fn stack_runs(&self, start: usize, end: usize) -> Vec<(usize, usize, usize)> {
        let mut runs: Vec<(usize, usize, usize)> = Vec::new();
        for i in start..end {
            let stack = usize::from(self.samples.stacks[i]);
            match runs.last_mut() {
                Some(run) if run.0 == stack => run.2 = i + 1,
                _ => runs.push((stack, i, i + 1)),
            }
        }
        runs
    }
}
