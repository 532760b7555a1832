//! How much a score moves when the search looks deeper: what a good evaluation says at once, a deep search confirms.

use serde::Serialize;
use xiangqi::{Game, Position};

use super::{HASH_MIB, Plan, Progress, Static, mean};
use crate::eval::EvalSource;
use crate::search::{Limits, ScoreBound, Searcher};

/// Every so manieth position is searched.
const EVERY: usize = 8;
/// Scores count up to here, in centipawns.
const MOST: i32 = 1000;
/// A search ends here, whatever depth it is at.
const NODES: u64 = 1_000_000;

/// Scores by depth against those of the deepest search.
#[derive(Clone, Debug, Serialize)]
pub struct Stability {
    /// Positions searched to the end.
    pub positions: usize,
    /// The deepest search, in plies.
    pub depth: i32,
    /// The spread of its scores (standard deviation, centipawns): what distances are to be compared with.
    pub spread: f64,
    /// Without search.
    pub static_evaluation: AtDepth,
    /// At depths 1, 2, … below the deepest.
    pub depths: Vec<AtDepth>,
}

/// Scores of one depth.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct AtDepth {
    /// Mean distance from the deepest search's score, in centipawns.
    pub distance: f64,
    /// Correlation with it.
    pub correlation: f64,
}

impl Stability {
    pub(super) fn of(
        source: &EvalSource,
        positions: &[Position],
        plan: &Plan,
        progress: Progress<'_>,
    ) -> Stability {
        let mut judge = Static::new(source);
        let mut searcher = Searcher::new(HASH_MIB, source.clone());
        let depth = plan.depth.max(2);
        // Of each position: the static score, then those of depths 1 to the last.
        let mut scores: Vec<Vec<f64>> = Vec::new();
        let chosen: Vec<&Position> = positions.iter().step_by(EVERY).collect();
        for (number, pos) in chosen.iter().enumerate() {
            progress("stability", number, chosen.len());
            let clamped = |score: i32| f64::from(score.clamp(-MOST, MOST));
            let mut seen = vec![f64::NAN; depth as usize + 1];
            seen[0] = clamped(judge.score(pos));
            searcher.new_game();
            let limits = Limits { depth: Some(depth), nodes: Some(NODES), ..Limits::default() };
            searcher.search(&Game::new((*pos).clone()), &limits, &mut |info| {
                if info.bound == ScoreBound::Exact {
                    seen[info.depth.clamp(1, depth) as usize] = clamped(info.line.score.0);
                }
            });
            // A search may skip a depth: its score is that of the depth before.
            for at in 1..seen.len() - 1 {
                if seen[at].is_nan() {
                    seen[at] = seen[at - 1];
                }
            }
            if seen.last().is_some_and(|score| !score.is_nan()) {
                scores.push(seen);
            }
        }
        let column = |at: usize| scores.iter().map(move |seen| seen[at]).collect::<Vec<f64>>();
        let last = column(depth as usize);
        let at_depth = |at: usize| {
            let own = column(at);
            AtDepth {
                distance: mean(own.iter().zip(&last).map(|(own, last)| (own - last).abs())),
                correlation: correlation(&own, &last),
            }
        };
        Stability {
            positions: scores.len(),
            depth,
            spread: deviation(&last),
            static_evaluation: at_depth(0),
            depths: (1..depth as usize).map(at_depth).collect(),
        }
    }
}

fn deviation(numbers: &[f64]) -> f64 {
    let middle = mean(numbers.iter().copied());
    mean(numbers.iter().map(|number| (number - middle).powi(2))).sqrt()
}

/// Pearson's; 0 where either side does not vary.
pub(super) fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let (middle_a, middle_b) = (mean(a.iter().copied()), mean(b.iter().copied()));
    let together = mean(a.iter().zip(b).map(|(a, b)| (a - middle_a) * (b - middle_b)));
    let spread = deviation(a) * deviation(b);
    if spread > 0.0 { together / spread } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlations_of_known_rows() {
        let (up, down) = ([1.0, 2.0, 3.0], [6.0, 4.0, 2.0]);
        assert!((correlation(&up, &up) - 1.0).abs() < 1e-12);
        assert!((correlation(&up, &down) + 1.0).abs() < 1e-12);
        assert_eq!(correlation(&up, &[5.0; 3]), 0.0);
    }
}
