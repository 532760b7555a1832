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

/// A position in one of several parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The part.
    pub part: u32,
    /// Its number there.
    pub position: u32,
}

impl Place {
    /// Every position of some parts, in order.
    pub fn all(parts: &[Samples]) -> Vec<Place> {
        let within = |(part, samples): (usize, &Samples)| {
            let part = part as u32;
            (0..samples.len() as u32).map(move |position| Place { part, position })
        };
        parts.iter().enumerate().flat_map(within).collect()
    }
}

impl Batch {
    /// The positions `chosen` of `parts`, ordered by stack; positions of one stack keep their order.
    pub fn gather(parts: &[Samples], chosen: &[Place]) -> Batch {
        let stack_of = |place: &Place| parts[place.part as usize].stacks[place.position as usize];
        // Each stack is looked up once: the places are spread over more memory than the caches hold.
        let mut order: Vec<(u8, Place)> = chosen.iter().map(|place| (stack_of(place), *place)).collect();
        order.sort_by_key(|&(stack, _)| stack);
        let mut samples = Samples::new();
        samples.reserve(order.len());
        for (_, place) in order {
            samples.push_from(&parts[place.part as usize], place.position as usize);
        }
        Batch { samples }
    }

    /// All positions of `from`, ordered by stack.
    pub fn all(from: &Samples) -> Batch {
        let parts = std::slice::from_ref(from);
        Batch::gather(parts, &Place::all(parts))
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
