//! Everything that decides the batches of a run.

use super::decode::BlockDecoder;
use super::error::DataError;
use super::filter::Filter;
use super::samples::Encoder;
use super::share::Share;
use super::source::{Role, Source};
use super::split::Split;
use crate::chance::{Purpose, generator, shuffle};
use crate::config::Config;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// A lane has at least so many blocks, so that the lanes of a set hold about as much as each other.
const LEAST_LANE_BLOCKS: usize = 8;
/// A lane gives at least so many positions to a batch.
const LEAST_LANE_SLICE: usize = 16;
/// The most lanes of a set, unless asked for.
const MOST_LANES: usize = 64;
/// Stands for a block that was not counted yet.
const UNCOUNTED: u32 = u32::MAX;

/// Files that are mixed with each other alone, and their place in every batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSet {
    /// Its blocks, as numbers in [`Source::blocks`].
    pub blocks: Vec<u32>,
    /// Its positions of a batch.
    pub slice: Range<usize>,
    /// How many lanes its blocks are dealt to.
    pub lanes: usize,
    /// Positions in a lane's window.
    pub window: usize,
}

/// One lane: a part of a set's blocks, with a window of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanePlace {
    /// The set's number.
    pub set: usize,
    /// Its number among the set's lanes.
    pub lane: usize,
    /// Its positions of a batch.
    pub slice: Range<usize>,
}

/// Everything that decides the batches of a run, and how many threads make them.
#[derive(Clone)]
pub struct Plan {
    /// The files.
    pub source: Arc<Source>,
    /// The sets to train on.
    pub sets: Arc<[DataSet]>,
    /// Which games are trained on.
    pub split: Split,
    /// Which positions are.
    pub filter: Filter,
    /// How they become samples.
    pub encoder: Encoder,
    /// Seed of all chance.
    pub seed: u64,
    /// Positions in a batch.
    pub batch_size: usize,
    /// The part of each batch that this process trains on.
    pub share: Share,
    /// Leave damaged blocks out.
    pub skip_damage: bool,
    /// This share of the positions is skipped, another one in each pass.
    pub random_skip: f64,
    /// Show half of the positions in a mirror, the other half in the next pass.
    pub mirror: bool,
    /// Decoding threads.
    pub threads: usize,
    /// Batches kept ready.
    pub queue: usize,
    /// How many positions of each block pass the filters, where that is known.
    passed: Arc<[AtomicU32]>,
}

impl Plan {
    /// The plan of a configuration.
    ///
    /// # Errors
    /// [`DataError::Sets`] when a set would have no place in a batch; errors of reading the validation files.
    pub fn new(config: &Config, source: Source, encoder: Encoder) -> Result<Plan, DataError> {
        let seed = config.training.seed;
        let batch_size = config.training.batch_size;
        let passed = source.blocks().iter().map(|_| AtomicU32::new(UNCOUNTED)).collect();
        let mut plan = Plan {
            sets: sets(config, &source)?.into(),
            source: Arc::new(source),
            split: Split::new(seed, config.validation.fraction),
            filter: Filter::new(&config.filters, seed),
            encoder,
            seed,
            batch_size,
            share: Share::WHOLE,
            skip_damage: config.loader.skip_damage,
            random_skip: config.filters.random_skip,
            mirror: config.loader.mirror,
            threads: config.loader.threads,
            queue: config.loader.queue,
            passed,
        };
        if plan.has_validation_files() {
            plan.split = Split::by_files(plan.validation_games()?);
        }
        Ok(plan)
    }

    /// Are there files that are for validation alone?
    pub fn has_validation_files(&self) -> bool {
        self.source.files().iter().any(|file| file.role == Role::Validation)
    }

    fn validation_games(&self) -> Result<HashSet<u64>, DataError> {
        let mut games = HashSet::new();
        let mut decoder = self.decoder();
        let blocks = self.source.blocks_of(Role::Validation);
        for (i, &block) in blocks.iter().enumerate() {
            decoder.will_read(&blocks[i..]);
            decoder.game_ids(block as usize, &mut games)?;
        }
        Ok(games)
    }

    /// A decoder of single blocks.
    pub fn decoder(&self) -> BlockDecoder {
        BlockDecoder::new(self, Arc::new(AtomicBool::new(false)))
    }

    /// The order of a set's blocks in one pass.
    pub fn block_order(&self, set: usize, pass: u64) -> Vec<u32> {
        let mut order = self.sets[set].blocks.clone();
        shuffle(&mut generator(self.seed, Purpose::Blocks, pass, set as u64), &mut order);
        order
    }

    /// All lanes, in the order of their places in a batch.
    pub fn lanes(&self) -> Vec<LanePlace> {
        let mut places = Vec::new();
        for (number, set) in self.sets.iter().enumerate() {
            let at = |lane: usize| set.slice.start + set.slice.len() * lane / set.lanes;
            places.extend((0..set.lanes).map(|lane| LanePlace {
                set: number,
                lane,
                slice: at(lane)..at(lane + 1),
            }));
        }
        places
    }

    /// How many positions of a block pass the filters, if that is known.
    pub(super) fn passed(&self, block: u32) -> Option<u32> {
        let passed = self.passed[block as usize].load(Ordering::Relaxed);
        (passed != UNCOUNTED).then_some(passed)
    }

    /// Notes how many positions of a block pass the filters: the same in every pass.
    pub(super) fn note_passed(&self, block: u32, passed: u32) {
        self.passed[block as usize].store(passed, Ordering::Relaxed);
    }
}

/// The sets with their places in a batch: by their weights, or by their positions where no weights are given.
fn sets(config: &Config, source: &Source) -> Result<Vec<DataSet>, DataError> {
    let batch_size = config.training.batch_size;
    let count = source.sets();
    let mut found: Vec<(Vec<u32>, u64, f64)> = Vec::new();
    for set in 0..count {
        let blocks = source.blocks_of(Role::Training(set));
        let positions: u64 =
            blocks.iter().map(|&block| u64::from(source.blocks()[block as usize].positions)).sum();
        if positions == 0 {
            return Err(DataError::Sets(format!("data set {} of {count} holds no scored position", set + 1)));
        }
        let weight = config.data.get(set).and_then(|data| data.weight);
        found.push((blocks, positions, weight.unwrap_or(positions as f64)));
    }
    let total: f64 = found.iter().map(|(.., weight)| weight).sum();
    let (mut sets, mut sum) = (Vec::new(), 0.0);
    for (set, (blocks, positions, weight)) in found.into_iter().enumerate() {
        let start = (batch_size as f64 * sum / total).round() as usize;
        sum += weight;
        let slice = start..(batch_size as f64 * sum / total).round() as usize;
        if slice.is_empty() {
            return Err(DataError::Sets(format!(
                "data set {} of {count} has {:.2e} of the weight, which is no position of a batch of {batch_size}; \
                 give it a greater weight or take a greater batch",
                set + 1,
                weight / total
            )));
        }
        let window = (config.loader.window as u64 * slice.len() as u64).div_ceil(batch_size as u64);
        let mean = positions.div_ceil(blocks.len() as u64).max(1);
        let lanes = match config.loader.lanes {
            0 => lanes(blocks.len(), window / mean, slice.len()),
            asked => asked.min(blocks.len()).min(slice.len()),
        };
        sets.push(DataSet { blocks, slice, lanes, window: (window as usize).div_ceil(lanes) });
    }
    Ok(sets)
}

/// How many lanes a set of so many blocks gets, if its window holds so many blocks and its part of a batch so many
/// positions: a power of two, as numbers of ranks mostly are.
fn lanes(blocks: usize, window_blocks: u64, slice: usize) -> usize {
    let most = (blocks / LEAST_LANE_BLOCKS).min(slice / LEAST_LANE_SLICE).min(MOST_LANES);
    let most = (most as u64).min(window_blocks).max(1);
    1 << most.ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_data_have_few_lanes() {
        for (blocks, window_blocks, slice, expected) in [
            (1, 50, 16384, 1),
            (15, 50, 16384, 1),
            (33, 50, 16384, 4),
            (300_000, 38, 16384, 32),
            (300_000, 1000, 16384, 64),
            (300_000, 1000, 100, 4),
            (300_000, 0, 16384, 1),
        ] {
            assert_eq!(lanes(blocks, window_blocks, slice), expected, "{blocks} {window_blocks} {slice}");
        }
    }
}
