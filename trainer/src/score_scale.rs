//! The score scale of a run: a number of the configuration, or what the run's own games say.
//!
//! A score means a result: `win(score / scale)` of [`crate::loss`] is the expected one. The scale that makes the results
//! of the training positions most likely is found once, when a run begins, and kept in its manifest.

use crate::chance::{Purpose, generator, shuffle};
use crate::config::{LossConfig, ScoreScale};
use crate::data::decode::Part;
use crate::data::packed::Packed;
use crate::data::{DataError, FilterCounts, Plan, Samples};
use crate::loss::win;
use std::collections::BTreeMap;
use thiserror::Error;

/// Training positions that the fit looks at; their blocks' order is seeded, and weights of
/// data sets do not count. More change the third digit.
const POSITIONS: usize = 1_000_000;
/// The scales that are tried, in centipawns.
const RANGE: (f64, f64) = (10.0, 20_000.0);
/// Halvings by the golden ratio of the logarithm's range, to a part in 10^9.
const STEPS: usize = 48;

/// Why there is no scale.
#[derive(Debug, Error)]
pub enum ScaleError {
    /// The data cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The results do not tell.
    #[error(
        "loss.score_scale = \"fit\": {positions} training positions do not say what a score is worth (the best scale \
         would be {found:.0} centipawns); set a number, 400 if you have none"
    )]
    Unknown {
        /// Positions looked at.
        positions: u64,
        /// The end of the range that was best.
        found: f64,
    },
}

/// How often a score was seen, and the half points its side made.
pub type Results = BTreeMap<i16, (u64, u64)>;

/// The score scale of a run that begins, in centipawns.
///
/// # Errors
/// [`ScaleError`].
pub fn settle(config: &LossConfig, plan: &Plan) -> Result<f64, ScaleError> {
    if let ScoreScale::Fixed(scale) = config.score_scale {
        return Ok(scale);
    }
    let mut blocks: Vec<u32> = plan.sets.iter().flat_map(|set| set.blocks.iter().copied()).collect();
    shuffle(&mut generator(plan.seed, Purpose::Survey, u64::MAX, 0), &mut blocks);
    let (mut packed, mut counts) = (Packed::new(), FilterCounts::default());
    let mut decoder = plan.decoder();
    for block in blocks {
        if packed.len() >= POSITIONS {
            break;
        }
        decoder.sample(block as usize, Part::Training, &mut packed, &mut counts, |_| {})?;
    }
    let mut samples = Samples::new();
    packed.append_to(&mut samples);
    fit(&results(&samples), config.offset)
}

/// The results of samples by their scores.
pub fn results(samples: &Samples) -> Results {
    let mut results = Results::new();
    for (&score, &outcome) in samples.scores.iter().zip(&samples.outcomes) {
        let entry = results.entry(score).or_insert((0, 0));
        *entry = (entry.0 + 1, entry.1 + u64::from(outcome));
    }
    results
}

/// The scale of greatest likelihood to a hundredth of a centipawn: golden-section search over its logarithm, in which the surprise has one lowest
/// point (for a plain sigmoid it is convex in 1 / scale).
///
/// # Errors
/// [`ScaleError::Unknown`] when the best one is at an end of what is tried.
pub fn fit(results: &Results, offset: f64) -> Result<f64, ScaleError> {
    let golden = (5f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = (RANGE.0.ln(), RANGE.1.ln());
    let surprise = |log: f64| surprise(results, log.exp(), offset);
    let (mut a, mut b) = (high - golden * (high - low), low + golden * (high - low));
    let (mut at_a, mut at_b) = (surprise(a), surprise(b));
    for _ in 0..STEPS {
        if at_a <= at_b {
            (high, b, at_b) = (b, a, at_a);
            a = high - golden * (high - low);
            at_a = surprise(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + golden * (high - low);
            at_b = surprise(b);
        }
    }
    // A number that people can read and that manifests keep exactly.
    let found = (((low + high) / 2.0).exp() * 100.0).round() / 100.0;
    let inside = found > RANGE.0 * 1.01 && found < RANGE.1 / 1.01;
    // A score of 0 says nothing of the scale.
    let positions = results.iter().filter(|(score, _)| **score != 0).map(|(_, (count, _))| count).sum();
    if inside && positions > 0 { Ok(found) } else { Err(ScaleError::Unknown { positions, found }) }
}

/// Minus the logarithm of the likelihood, a draw being half a win and half a loss.
fn surprise(results: &Results, scale: f64, offset: f64) -> f64 {
    let part = |(&score, &(count, half_points)): (&i16, &(u64, u64))| {
        let x = f64::from(score) / scale;
        let (won, lost) = (win(x, offset / scale), win(-x, offset / scale));
        let points = half_points as f64 / 2.0;
        -points * won.max(f64::MIN_POSITIVE).ln() - (count as f64 - points) * lost.max(f64::MIN_POSITIVE).ln()
    };
    results.iter().map(part).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Results that follow `win` exactly, as well as counts can.
    fn made(scale: f64, offset: f64) -> Results {
        let count = 1_000_000u64;
        let half_points = |score: i16| (2e6 * win(f64::from(score) / scale, offset / scale)).round() as u64;
        (-1500..=1500).step_by(50).map(|score| (score, (count, half_points(score)))).collect()
    }

    #[test]
    fn a_scale_is_found_again() {
        for (scale, offset) in [(120.0, 0.0), (400.0, 0.0), (1500.0, 0.0), (300.0, 150.0)] {
            let found = fit(&made(scale, offset), offset).unwrap();
            assert!((found / scale - 1.0).abs() < 1e-3, "{found} for {scale}");
        }
    }

    #[test]
    fn data_that_say_nothing_are_refused() {
        let drawn = Results::from([(-300, (50, 50)), (300, (50, 50))]);
        let sure = Results::from([(-300, (50, 0)), (300, (50, 100))]);
        let even = Results::from([(0, (50, 60))]);
        for (name, results) in [("drawn", drawn), ("sure", sure), ("even", even), ("none", Results::new())] {
            let error = fit(&results, 0.0).unwrap_err().to_string();
            assert!(error.contains("loss.score_scale"), "{name}: {error}");
        }
    }
}
