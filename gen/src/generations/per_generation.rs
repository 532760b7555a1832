//! Numbers of a recipe that may differ between generations.

use serde::Deserialize;

/// A number of the recipe that may differ from one generation to the next.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "expected a number, or a list with one number a generation")]
pub enum PerGeneration {
    /// The same for all.
    Same(u64),
    /// The first for generation 1; the last goes on for all that follow.
    Each(Vec<u64>),
}

impl PerGeneration {
    /// That of a generation; `None` of an empty list.
    pub(super) fn of(&self, generation: u32) -> Option<u64> {
        match self {
            PerGeneration::Same(number) => Some(*number),
            PerGeneration::Each(numbers) => {
                let index = generation.saturating_sub(1) as usize;
                numbers.get(index).or(numbers.last()).copied()
            }
        }
    }

    /// To change them.
    pub(super) fn numbers_mut(&mut self) -> &mut [u64] {
        match self {
            PerGeneration::Same(number) => std::slice::from_mut(number),
            PerGeneration::Each(numbers) => numbers,
        }
    }
}
