//! The positions kept apart, and the loss on them.

use crate::chance::{Purpose, below, generator};
use crate::data::error::DataError;
use crate::data::loader::Plan;
use crate::data::source::Part;
use crate::data::{Batch, Filter, FilterCounts, Samples};
use crate::loss::{Loss, sigmoid};
use crate::model::ModelError;
use crate::model::net::Net;
use rand_xoshiro::Xoshiro256PlusPlus;
use xiangqi::Position;

/// Positions an export is proved on.
pub const PARITY_POSITIONS: usize = 4096;

/// Stands for an epoch in seeds that are not of one.
const NO_EPOCH: u64 = u64::MAX;

/// The validation set.
pub struct ValidationSet {
    /// Its positions; empty when no share was set aside.
    pub batch: Batch,
    /// What the filters did.
    pub counts: FilterCounts,
    /// A seeded choice of its positions as FEN, of training positions when it has none.
    pub fens: Vec<String>,
}

impl ValidationSet {
    /// Reads the validation games of `plan`, at most `max_positions` positions, blocks in a seeded order. The random
    /// skip does not apply.
    ///
    /// # Errors
    /// [`DataError`].
    pub fn read(plan: &Plan, filter: Filter, max_positions: usize) -> Result<ValidationSet, DataError> {
        let plan = Plan { filter, ..plan.clone() };
        let mut samples = Samples::new();
        let mut counts = FilterCounts::default();
        let mut choice = Choice::new(plan.seed);
        read_part(&plan, Part::Validation, max_positions, &mut samples, &mut counts, &mut choice)?;
        if choice.fens.is_empty() {
            let mut unused = FilterCounts::default();
            let few = 16 * PARITY_POSITIONS;
            read_part(&plan, Part::Training, few, &mut Samples::new(), &mut unused, &mut choice)?;
        }
        Ok(ValidationSet { batch: Batch::all(&samples), counts, fens: choice.fens })
    }

    /// The mean loss of a net on the set; `None` when it is empty.
    ///
    /// # Errors
    /// [`ModelError`].
    pub fn loss(&self, net: &mut dyn Net, loss: &Loss) -> Result<Option<f64>, ModelError> {
        if self.batch.is_empty() {
            return Ok(None);
        }
        let outputs = net.outputs(&self.batch)?;
        let samples = &self.batch.samples;
        let sum: f64 = outputs
            .iter()
            .zip(samples.scores.iter().zip(&samples.outcomes))
            .map(|(&output, (&score, &outcome))| {
                let prediction = sigmoid(f64::from(output) * loss.output_scale());
                loss.of(prediction, loss.target(score, outcome))
            })
            .sum();
        Ok(Some(sum / self.batch.len() as f64))
    }
}

fn read_part(
    plan: &Plan,
    part: Part,
    max_positions: usize,
    samples: &mut Samples,
    counts: &mut FilterCounts,
    choice: &mut Choice,
) -> Result<(), DataError> {
    let mut decoder = plan.decoder();
    for block in plan.block_order(NO_EPOCH) {
        if samples.len() >= max_positions {
            break;
        }
        decoder.decode(block, part, NO_EPOCH, samples, counts, |position| choice.see(position))?;
    }
    Ok(())
}

/// A seeded sample of positions: every one seen so far is in it with the same chance (Vitter's algorithm R).
struct Choice {
    rng: Xoshiro256PlusPlus,
    seen: u64,
    fens: Vec<String>,
}

impl Choice {
    fn new(seed: u64) -> Choice {
        Choice { rng: generator(seed, Purpose::Parity, 0, 0), seen: 0, fens: Vec::new() }
    }

    fn see(&mut self, position: &Position) {
        self.seen += 1;
        if self.fens.len() < PARITY_POSITIONS {
            self.fens.push(position.fen());
            return;
        }
        let place = below(&mut self.rng, self.seen.min(1 << 32)) as usize;
        if place < PARITY_POSITIONS {
            self.fens[place] = position.fen();
        }
    }
}
