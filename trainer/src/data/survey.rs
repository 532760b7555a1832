//! How many positions a run has to train on, before it trains.

use super::error::DataError;
use super::filter::FilterCounts;
use super::plan::Plan;
use crate::chance::{Purpose, generator, shuffle};
use std::thread;

/// Up to so many blocks of a set (some 60 million positions) are all counted; more are estimated from so many.
pub const COUNTED_BLOCKS: usize = 2048;

/// So many blocks of a set give an estimate that is good enough to show.
pub const FEW_BLOCKS: usize = 32;

/// What a survey found.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    /// Positions left to train on in one epoch: what the filters leave of all sets together.
    pub epoch_positions: u64,
    /// Is that counted, and not estimated?
    pub exact: bool,
    /// What the filters did to the blocks that were looked at.
    pub counts: FilterCounts,
}

/// Counts what is left to train on in the first epoch, or estimates it where a set has more than `most` blocks, by a
/// seeded choice of so many. Decoding on the plan's threads, no features.
///
/// # Errors
/// [`DataError`] of reading, and [`DataError::Empty`] when nothing is left of a set.
pub fn survey(plan: &Plan, most: usize) -> Result<Survey, DataError> {
    let mut survey = Survey { epoch_positions: 0, exact: true, counts: FilterCounts::default() };
    for (number, set) in plan.sets.iter().enumerate() {
        let mut blocks = set.blocks.clone();
        if blocks.len() > most {
            shuffle(&mut generator(plan.seed, Purpose::Survey, number as u64, 0), &mut blocks);
            blocks.truncate(most.max(1));
            survey.exact = false;
        }
        let counts = count(plan, &blocks)?;
        survey.counts.add(&counts);
        if counts.kept == 0 {
            let (files, counts) = (plan.source.files().len(), counts.to_string());
            return Err(DataError::Empty { files, counts });
        }
        let positions = |blocks: &[u32]| -> u64 {
            blocks.iter().map(|&block| u64::from(plan.source.blocks()[block as usize].positions)).sum()
        };
        let (all, seen) = (positions(&set.blocks), positions(&blocks));
        survey.epoch_positions +=
            (u128::from(counts.kept) * u128::from(all) / u128::from(seen.max(1))) as u64;
    }
    Ok(survey)
}

fn count(plan: &Plan, blocks: &[u32]) -> Result<FilterCounts, DataError> {
    let threads = plan.threads.max(1);
    let work = |first: usize| -> Result<FilterCounts, DataError> {
        let (mut decoder, mut counts) = (plan.decoder(), FilterCounts::default());
        let mine: Vec<u32> = blocks.iter().copied().skip(first).step_by(threads).collect();
        for (i, &block) in mine.iter().enumerate() {
            decoder.will_read(&mine[i..]);
            let passed = decoder.count(block as usize, 0, &mut counts)?;
            plan.note_passed(block, passed);
        }
        Ok(counts)
    };
    let work = &work;
    let results: Vec<Result<FilterCounts, DataError>> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|first| scope.spawn(move || work(first))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or(Err(DataError::Stopped))).collect()
    });
    let mut counts = FilterCounts::default();
    for result in results {
        counts.add(&result?);
    }
    Ok(counts)
}
