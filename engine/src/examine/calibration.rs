//! What centipawns are worth: scores of positions against the results of the games they are from.
//!
//! ```text
//! expected result = 1 / (1 + exp(-score / scale))          win 1, draw ½, loss 0; scale by maximum likelihood
//! ```

use nnue_format::record::{Outcome, PositionFilter};
use serde::Serialize;
use xiangqi::{Color, Position};

use super::stability::correlation;
use super::{DataError, Plan, Progress, Static, mean, open};

/// Bins of the expected result.
const BINS: usize = 10;
/// The scale is sought here, in centipawns.
const SCALES: (f64, f64) = (1.0, 20_000.0);
/// Halvings of the range: to a millionth of a centipawn.
const HALVINGS: u32 = 60;

/// Scores against results.
#[derive(Clone, Debug, Serialize)]
pub struct Calibration {
    /// Quiet positions looked at.
    pub positions: usize,
    /// Centipawns per unit of the sigmoid that fits results best.
    pub scale: f64,
    /// Mean distance of the expected result from the real one, bin by bin, weighted by positions.
    pub error: f64,
    /// Mean squared distance of the expected result from the real one, position by position: 0.25 for a coin.
    pub brier: f64,
    /// Correlation with the scores in the records, which come from a search.
    pub correlation: f64,
    /// From sure losses to sure wins.
    pub bins: Vec<Bin>,
}

/// Positions of about the same expected result.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Bin {
    /// How many.
    pub positions: usize,
    /// Mean score, in centipawns.
    pub score: f64,
    /// Mean expected result.
    pub expected: f64,
    /// Mean result.
    pub result: f64,
}

/// One position: the evaluation's score, the records' and the result, all for the side to move.
#[derive(Clone, Copy)]
struct Seen {
    score: f64,
    recorded: f64,
    result: f64,
}

impl Calibration {
    pub(super) fn of(
        judge: &mut Static,
        plan: &Plan,
        progress: Progress<'_>,
    ) -> Result<Calibration, DataError> {
        let mut seen = Vec::new();
        // As many of each file.
        let share = plan.data_positions.div_ceil(plan.data.len());
        for (number, path) in plan.data.iter().enumerate() {
            let enough = share * (number + 1);
            let mut reader = open(path)?;
            let damaged = |source| DataError { path: path.clone(), source };
            while let Some(block) = reader.next_block() {
                if seen.len() >= enough {
                    break;
                }
                progress("calibration", seen.len(), plan.data_positions);
                let block = block.map_err(damaged)?;
                let walked = block.walk(|head, pos, ply| {
                    let Some((recorded, flags)) = ply.scored else { return };
                    if seen.len() < enough && QUIET.left_out(pos, ply, (recorded, flags)).is_none() {
                        seen.push(Seen {
                            score: f64::from(judge.score(pos)),
                            recorded: f64::from(recorded.0),
                            result: result_for(head.outcome, pos),
                        });
                    }
                });
                walked.map_err(damaged)?;
            }
        }
        Ok(Calibration::fitted(&seen))
    }

    fn fitted(seen: &[Seen]) -> Calibration {
        let scale = scale_of(seen);
        let mut bins = [Bin::default(); BINS];
        for seen in seen {
            let expected = expected(seen.score, scale);
            let bin = &mut bins[((expected * BINS as f64) as usize).min(BINS - 1)];
            bin.positions += 1;
            bin.score += seen.score;
            bin.expected += expected;
            bin.result += seen.result;
        }
        for bin in &mut bins {
            let count = bin.positions.max(1) as f64;
            (bin.score, bin.expected, bin.result) =
                (bin.score / count, bin.expected / count, bin.result / count);
        }
        let off = bins.iter().map(|bin| (bin.expected - bin.result).abs() * bin.positions as f64);
        let column = |field: fn(&Seen) -> f64| seen.iter().map(field).collect::<Vec<f64>>();
        Calibration {
            positions: seen.len(),
            scale,
            error: off.sum::<f64>() / seen.len().max(1) as f64,
            brier: mean(seen.iter().map(|seen| (expected(seen.score, scale) - seen.result).powi(2))),
            correlation: correlation(&column(|seen| seen.score), &column(|seen| seen.recorded)),
            bins: bins.into_iter().filter(|bin| bin.positions > 0).collect(),
        }
    }
}

/// Which positions are looked at: those that a static evaluation is for.
const QUIET: PositionFilter = PositionFilter {
    marked: true,
    early_plies: 0,
    mates: true,
    max_score: 0,
    not_best: false,
    captures: true,
    in_check: true,
};

fn result_for(outcome: Outcome, pos: &Position) -> f64 {
    match (outcome, pos.side_to_move()) {
        (Outcome::Draw, _) => 0.5,
        (Outcome::BlackLoses, Color::Red) | (Outcome::RedLoses, Color::Black) => 1.0,
        (Outcome::BlackLoses, Color::Black) | (Outcome::RedLoses, Color::Red) => 0.0,
    }
}

fn expected(score: f64, scale: f64) -> f64 {
    1.0 / (1.0 + (-score / scale).exp())
}

/// The scale of greatest likelihood, where its derivative by 1/scale, `Σ (result - expected) · score`, is 0: it falls
/// as 1/scale grows.
fn scale_of(seen: &[Seen]) -> f64 {
    let slope = |steepness: f64| -> f64 {
        seen.iter().map(|seen| (seen.result - expected(seen.score, 1.0 / steepness)) * seen.score).sum()
    };
    let (mut low, mut high) = (1.0 / SCALES.1, 1.0 / SCALES.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if slope(middle) > 0.0 { low = middle } else { high = middle }
    }
    2.0 / (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Results drawn up to follow a scale are fitted by it, and scores that say nothing are found out.
    #[test]
    fn the_scale_behind_results_is_found() {
        let mut seen = Vec::new();
        for score in (-1000..=1000).step_by(10) {
            let score = f64::from(score);
            // A hundred games of each score, as many won as expected.
            let won = (100.0 * expected(score, 300.0)).round();
            for game in 0..100 {
                let result = f64::from(u8::from(f64::from(game) < won));
                seen.push(Seen { score, recorded: 2.0 * score, result });
            }
        }
        let fitted = Calibration::fitted(&seen);
        assert!((fitted.scale - 300.0).abs() < 5.0, "{}", fitted.scale);
        assert!(fitted.error < 0.005, "{}", fitted.error);
        assert!((fitted.correlation - 1.0).abs() < 1e-9);
        let turned: Vec<Seen> = seen.iter().map(|seen| Seen { score: -seen.score, ..*seen }).collect();
        assert!(Calibration::fitted(&turned).brier > fitted.brier + 0.05);
    }

    #[test]
    fn no_positions_are_no_panic() {
        assert_eq!(Calibration::fitted(&[]).positions, 0);
    }
}
