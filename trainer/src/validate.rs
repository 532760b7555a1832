//! The positions kept apart, and the loss on them.

use crate::chance::{Purpose, below, generator, shuffle};
use crate::data::decode::Part;
use crate::data::error::DataError;
use crate::data::packed::Packed;
use crate::data::source::Role;
use crate::data::{Batch, FilterCounts, Plan, Samples};
use crate::loss::Loss;
use crate::model::ModelError;
use crate::model::net::Net;
use rand_xoshiro::Xoshiro256PlusPlus;
use xiangqi::Position;

/// Positions an export is proved on.
pub const PARITY_POSITIONS: usize = 4096;

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
    /// Reads the validation files of `plan`, or, where it has none, the games of its data sets that are kept apart; at most
    /// `max_positions` positions (or to the end of the block), blocks in a seeded order. The random skip does not apply.
    ///
    /// # Errors
    /// [`DataError`].
    pub fn read(plan: &Plan, max_positions: usize) -> Result<ValidationSet, DataError> {
        let mut packed = Packed::new();
        let mut counts = FilterCounts::default();
        let mut choice = Choice::new(plan.seed);
        let training = || plan.sets.iter().flat_map(|set| set.blocks.iter().copied()).collect();
        let (blocks, part) = if plan.has_validation_files() {
            (plan.source.blocks_of(Role::Validation), Part::Everything)
        } else {
            (training(), Part::Validation)
        };
        read_part(plan, blocks, part, max_positions, &mut packed, &mut counts, &mut choice)?;
        if choice.fens.is_empty() {
            let (mut unused, few) = (FilterCounts::default(), 16 * PARITY_POSITIONS);
            let part = Part::Training;
            read_part(plan, training(), part, few, &mut Packed::new(), &mut unused, &mut choice)?;
        }
        let mut samples = Samples::new();
        packed.append_to(&mut samples);
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
        Ok(Some(sum(&self.batch, net, loss)? / self.batch.len() as f64))
    }
}

/// The summed loss of a net on a batch.
///
/// # Errors
/// [`ModelError`].
pub fn sum(batch: &Batch, net: &mut dyn Net, loss: &Loss) -> Result<f64, ModelError> {
    let outputs = net.outputs(batch)?;
    let samples = &batch.samples;
    let losses = outputs.iter().zip(samples.scores.iter().zip(&samples.outcomes)).map(
        |(&output, (&score, &outcome))| loss.of(loss.prediction(output.into()), loss.target(score, outcome)),
    );
    Ok(losses.sum())
}

fn read_part(
    plan: &Plan,
    mut blocks: Vec<u32>,
    part: Part,
    max_positions: usize,
    packed: &mut Packed,
    counts: &mut FilterCounts,
    choice: &mut Choice,
) -> Result<(), DataError> {
    if part == Part::Validation && plan.split.is_trivial() {
        return Ok(());
    }
    shuffle(&mut generator(plan.seed, Purpose::Blocks, u64::MAX, 0), &mut blocks);
    let mut decoder = plan.decoder();
    for (i, &block) in blocks.iter().enumerate() {
        decoder.will_read(&blocks[i..]);
        if packed.len() >= max_positions {
            break;
        }
        decoder.sample(block as usize, part, packed, counts, |position| choice.see(position))?;
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
