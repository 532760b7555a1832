//! How a net predicts, by kinds of positions: by pieces on the board, by output stack, by its own prediction, by score.

use crate::data::Samples;
use crate::loss::Loss;
use nnue_format::features::FeatureSet;
use nnue_format::quant::OUTPUT_CP;
use serde::Serialize;

/// Pieces in one bucket.
const PIECES: usize = 4;
/// Buckets of predicted winning chances.
const CHANCES: usize = 20;
/// Centipawns in one bucket of scores, and where scores end.
const SCORE: i32 = 100;
const FARTHEST: i32 = 1500;

/// What was found for the positions of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Bucket {
    /// Which: `29-32`, `stack 3`, `0.45-0.50`, `-200..-100`.
    pub name: String,
    /// The middle of the range, or the number of the stack.
    pub at: f64,
    /// Positions.
    pub positions: u64,
    /// Mean loss.
    pub loss: f64,
    /// Mean winning chance predicted.
    pub prediction: f64,
    /// Mean target.
    pub target: f64,
    /// Mean outcome: 0 lost, 1 won.
    pub outcome: f64,
    /// Mean score in the records, centipawns.
    pub score: f64,
    /// Mean evaluation of the net, centipawns.
    pub evaluation: f64,
}

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Buckets {
    /// By the number of pieces, kings included.
    pub by_pieces: Vec<Bucket>,
    /// By output stack.
    pub by_stack: Vec<Bucket>,
    /// By predicted winning chance.
    pub by_prediction: Vec<Bucket>,
    /// By score in the records.
    pub by_score: Vec<Bucket>,
}

impl Buckets {
    /// Sorts positions by kind; `outputs` are the net's, in the order of `samples`. Kinds without positions are left out.
    pub fn of(samples: &Samples, outputs: &[f32], loss: &Loss, features: FeatureSet) -> Buckets {
        let mut by_pieces = vec![Bucket::default(); FeatureSet::MAX_ACTIVE.div_ceil(PIECES) + 1];
        let mut by_stack = vec![Bucket::default(); 256];
        let mut by_prediction = vec![Bucket::default(); CHANCES];
        let mut by_score = vec![Bucket::default(); (2 * FARTHEST / SCORE) as usize + 1];
        // Sets without kings show all pieces but the two.
        let kings = if features.name().starts_with("half-kp") { 2 } else { 0 };
        for (i, &output) in outputs.iter().enumerate() {
            let (score, outcome) = (samples.scores[i], samples.outcomes[i]);
            let prediction = loss.prediction(output.into());
            let target = loss.target(score, outcome);
            let pieces = samples.row(2 * i).len() + kings;
            let seen = Seen {
                loss: loss.of(prediction, target),
                prediction,
                target,
                outcome: f64::from(outcome) / 2.0,
                score: f64::from(score),
                evaluation: f64::from(output) * f64::from(OUTPUT_CP),
            };
            let within = i32::from(score).clamp(-FARTHEST, FARTHEST);
            by_pieces[(pieces.max(1) - 1) / PIECES].add(&seen);
            by_stack[usize::from(samples.stacks[i])].add(&seen);
            by_prediction[((prediction * CHANCES as f64) as usize).min(CHANCES - 1)].add(&seen);
            by_score[((within + FARTHEST + SCORE / 2) / SCORE) as usize].add(&seen);
        }
        let pieces =
            |i: usize| (format!("{}-{}", i * PIECES + 1, (i + 1) * PIECES), (i * PIECES) as f64 + 2.5);
        let chance = |i: usize| {
            let (from, to) = (i as f64 / CHANCES as f64, (i + 1) as f64 / CHANCES as f64);
            (format!("{from:.2}-{to:.2}"), 0.5 * (from + to))
        };
        let score = |i: usize| {
            let middle = i as i32 * SCORE - FARTHEST;
            (format!("{}..{}", middle - SCORE / 2, middle + SCORE / 2), f64::from(middle))
        };
        Buckets {
            by_pieces: means(by_pieces, pieces),
            by_stack: means(by_stack, |i| (format!("stack {i}"), i as f64)),
            by_prediction: means(by_prediction, chance),
            by_score: means(by_score, score),
        }
    }

    /// The mean loss of all positions; `None` when there are none.
    pub fn loss(&self) -> Option<f64> {
        let positions: u64 = self.by_stack.iter().map(|bucket| bucket.positions).sum();
        let sum: f64 = self.by_stack.iter().map(|bucket| bucket.loss * bucket.positions as f64).sum();
        if positions == 0 { None } else { Some(sum / positions as f64) }
    }

    /// The mean distance of predicted winning chances from outcomes, bucket by bucket, weighted by positions.
    pub fn calibration_error(&self) -> Option<f64> {
        let positions: u64 = self.by_prediction.iter().map(|bucket| bucket.positions).sum();
        let sum: f64 = self
            .by_prediction
            .iter()
            .map(|bucket| (bucket.prediction - bucket.outcome).abs() * bucket.positions as f64)
            .sum();
        if positions == 0 { None } else { Some(sum / positions as f64) }
    }
}

/// What is added up of one position.
struct Seen {
    loss: f64,
    prediction: f64,
    target: f64,
    outcome: f64,
    score: f64,
    evaluation: f64,
}

impl Bucket {
    fn add(&mut self, seen: &Seen) {
        self.positions += 1;
        self.loss += seen.loss;
        self.prediction += seen.prediction;
        self.target += seen.target;
        self.outcome += seen.outcome;
        self.score += seen.score;
        self.evaluation += seen.evaluation;
    }
}

/// Sums to means, with names; empty buckets go away.
fn means(buckets: Vec<Bucket>, name: impl Fn(usize) -> (String, f64)) -> Vec<Bucket> {
    let named = buckets.into_iter().enumerate().filter(|(_, bucket)| bucket.positions > 0);
    named
        .map(|(i, sums)| {
            let n = sums.positions as f64;
            let (name, at) = name(i);
            Bucket {
                name,
                at,
                positions: sums.positions,
                loss: sums.loss / n,
                prediction: sums.prediction / n,
                target: sums.target / n,
                outcome: sums.outcome / n,
                score: sums.score / n,
                evaluation: sums.evaluation / n,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::samples::Encoder;
    use crate::data::synthetic::random_play;

    #[test]
    fn every_position_is_in_one_bucket_of_each_kind() {
        let arch: nnue_format::Architecture = "half-ka-hm 2x128-8-16-1 crelu 8-stacks".parse().unwrap();
        let samples = random_play(&Encoder::new(&arch).unwrap(), 4, 500);
        let loss = Loss::default();
        // A net that says the score has no loss.
        let outputs: Vec<f32> = samples.scores.iter().map(|&score| f32::from(score) / 600.0).collect();
        let buckets = Buckets::of(&samples, &outputs, &loss, arch.features());
        for kind in [&buckets.by_pieces, &buckets.by_stack, &buckets.by_prediction, &buckets.by_score] {
            assert_eq!(kind.iter().map(|bucket| bucket.positions).sum::<u64>(), 500);
            assert!(kind.iter().all(|bucket| bucket.loss < 1e-9), "{kind:?}");
            assert!(kind.windows(2).all(|two| two[0].at < two[1].at));
        }
        assert!(buckets.loss().unwrap() < 1e-9);
        for bucket in &buckets.by_score {
            assert!((bucket.score - bucket.evaluation).abs() < 1e-3, "{bucket:?}");
            let inside = (bucket.score - bucket.at).abs() <= 50.0 || bucket.at.abs() == 1500.0;
            assert!(inside, "{bucket:?}");
        }
        let start = buckets.by_pieces.last().unwrap();
        assert_eq!((start.name.as_str(), start.at), ("29-32", 30.5));
        assert_eq!(Buckets::default().loss(), None);
    }
}
