//! Elo, normalized Elo, their errors, likelihood of superiority: estimates from one sample.

use statrs::function::erf::{erfc, erfc_inv};

use super::{Counts, NELO_PER_SIGMA};

/// Half the probability outside the intervals: 95 % are inside.
const TAIL: f64 = 0.025;

/// Scores are kept this far from 0 and 1 before they become Elo, as fishtest does: ±1199.83.
const SCORE_MARGIN: f64 = 1e-3;

/// Estimates of strength from one sample. Seen from the new engine; all finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Mean score, 0..1.
    pub score: f64,
    /// Elo difference, logistic.
    pub elo: f64,
    /// Half width of its 95 % interval: `(Elo(μ + 1.96 s) - Elo(μ - 1.96 s)) / 2`.
    pub elo_error: f64,
    /// Normalized Elo: `800/ln 10 · (μ - 1/2) / σ`, σ per game.
    pub nelo: f64,
    /// Half width of its 95 % interval, by the delta method with skewness and kurtosis.
    pub nelo_error: f64,
    /// Likelihood of superiority, 0..1.
    pub los: f64,
}

impl Estimate {
    /// The estimates for a sample. An empty one gives Elo 0 ± 1199.83 and even odds.
    pub fn of(counts: &Counts) -> Estimate {
        let law = counts.law();
        let (score, variance) = law.moments();
        let deviation = variance.sqrt();
        let standard_error = deviation / law.size.sqrt();
        let z = normal_quantile(1.0 - TAIL);
        let t = (score - 0.5) / deviation;
        let central = |power: i32| law.points.iter().map(|(a, p)| p * (a - score).powi(power)).sum::<f64>();
        let skewness = central(3) / (deviation * variance);
        let excess_kurtosis = central(4) / (variance * variance) - 3.0;
        let t_variance = (1.0 - t * skewness + 0.25 * t * t * (excess_kurtosis + 2.0)).max(0.0);
        let per_game = NELO_PER_SIGMA / counts.games_per_sample().sqrt();
        // `+ 0.0` turns -0 into 0.
        Estimate {
            score,
            elo: elo_of_score(score) + 0.0,
            elo_error: 0.5
                * (elo_of_score(score + z * standard_error) - elo_of_score(score - z * standard_error)),
            nelo: per_game * t + 0.0,
            nelo_error: z * per_game * (t_variance / law.size).sqrt(),
            los: normal_cdf((score - 0.5) / standard_error),
        }
    }
}

/// Elo difference of an expected score, kept within ±1199.83.
pub fn elo_of_score(score: f64) -> f64 {
    let score = score.clamp(SCORE_MARGIN, 1.0 - SCORE_MARGIN);
    -400.0 * (1.0 / score - 1.0).log10()
}

/// Expected score of an Elo difference.
pub fn score_of_elo(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// The normal law's distribution function.
pub(super) fn normal_cdf(x: f64) -> f64 {
    0.5 * erfc(-x / std::f64::consts::SQRT_2)
}

/// The point above which the normal law has this probability; exact far out, where `1 - p` is 1.
pub(super) fn normal_quantile_above(p: f64) -> f64 {
    std::f64::consts::SQRT_2 * erfc_inv(2.0 * p)
}

/// The normal law's quantile of a probability in 0..1.
pub(super) fn normal_quantile(p: f64) -> f64 {
    -std::f64::consts::SQRT_2 * erfc_inv(2.0 * p)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// statrs is right to about 1e-11 here (its erf has a 1.4e-11 error at 1/√2), which is ample for
    /// the 1e-6 asked of us.
    #[test]
    fn the_normal_law_is_exact_enough() {
        for (x, p) in [
            (0.0, 0.5),
            (1.0, 0.841_344_746_068_542_9),
            (-1.0, 0.158_655_253_931_457_05),
            (1.959_963_984_540_054, 0.975),
            (-3.0, 1.349_898_031_630_094_5e-3),
            (-6.0, 9.865_876_450_376_98e-10),
        ] {
            let found = normal_cdf(x);
            assert!((found / p - 1.0).abs() < 1e-9, "cdf({x}) = {found}, expected {p}");
            let found = normal_quantile(p);
            assert!((found - x).abs() < 1e-9, "quantile({p}) = {found}, expected {x}");
        }
    }
}
