//! Maximum-likelihood laws under a hypothesis, and the log-likelihood ratio of two of them.
//!
//! With `p̂` the observed law on scores `a`, the generalised ratio is `N Σ p̂ᵢ ln(p¹ᵢ / p⁰ᵢ)`, `pʰ`
//! being the law of greatest likelihood that satisfies hypothesis `h`. For a linear constraint
//! `Σ pᵢ φᵢ = 0` it is `pᵢ = p̂ᵢ / (1 + θ φᵢ)` with `θ` the root of the *secular equation*
//! `Σ p̂ᵢ φᵢ / (1 + θ φᵢ) = 0` (Van den Bergh, "MLE for multinomial distributions", Prop. 1.1).

use super::{Law, moments, profile};

/// Halvings of the bracket of the secular equation: it starts below 2^14 wide, so that its end is
/// far below the last bit of any root that matters.
const HALVINGS: u32 = 140;

/// Rounds of the fixed point of the normalized model; it converges linearly and fast (below ten
/// rounds in every published match).
const ROUNDS: u32 = 200;

/// The fixed point has converged when no probability moves by more.
const ROUND_TOLERANCE: f64 = 1e-14;

/// How far `(mean - 1/2) / deviation` of the law found may be from the hypothesis.
const CONSTRAINT_TOLERANCE: f64 = 1e-9;

/// The root of `Σ pᵢ xᵢ / (1 + θ xᵢ)` for which all `1 + θ xᵢ` are positive. `None` unless some `x`
/// are above and some below zero: the sum falls from +∞ to -∞ between its two poles.
fn secular_root(points: impl Iterator<Item = (f64, f64)> + Clone) -> Option<f64> {
    let (least, greatest) =
        points.clone().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), (x, _)| (lo.min(x), hi.max(x)));
    if !(least < 0.0 && greatest > 0.0) {
        return None;
    }
    let (mut low, mut high) = (-1.0 / greatest, -1.0 / least);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        let sum: f64 = points.clone().map(|(x, p)| p * x / (1.0 + middle * x)).sum();
        if sum > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(0.5 * (low + high))
}

/// The likeliest law with `Σ pᵢ φᵢ = 0`, as probabilities in the order of the scores.
fn constrained(law: &Law, phi: impl Fn(f64) -> f64) -> Option<Vec<f64>> {
    let theta = secular_root(law.points.iter().map(|&(a, p)| (phi(a), p)))?;
    let probabilities: Vec<f64> = law.points.iter().map(|&(a, p)| p / (1.0 + theta * phi(a))).collect();
    probabilities.iter().all(|p| p.is_finite() && *p > 0.0).then_some(probabilities)
}

/// The likeliest law with mean `score`.
fn with_mean(law: &Law, score: f64) -> Option<Vec<f64>> {
    constrained(law, |a| a - score)
}

/// The likeliest law with `(mean - 1/2) / deviation = t`: a fixed point of linear constraints, from
/// the uniform law. `None` where it does not lead to a law that keeps the constraint.
fn with_t_value_by_rounds(law: &Law, t: f64) -> Option<Vec<f64>> {
    let mut current = vec![1.0 / law.points.len() as f64; law.points.len()];
    for _ in 0..ROUNDS {
        let (mean, variance) = moments_of(law, &current);
        let deviation = variance.sqrt();
        let next = constrained(law, |a| {
            let z = (mean - a) / deviation;
            a - 0.5 - 0.5 * t * deviation * (1.0 + z * z)
        })?;
        let moved = current.iter().zip(&next).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        current = next;
        if moved < ROUND_TOLERANCE {
            break;
        }
    }
    let (mean, variance) = moments_of(law, &current);
    let missed = ((mean - 0.5) / variance.sqrt() - t).abs();
    (missed <= CONSTRAINT_TOLERANCE * t.abs().max(1.0)).then_some(current)
}

fn moments_of(law: &Law, probabilities: &[f64]) -> (f64, f64) {
    let points: Vec<(f64, f64)> = law.points.iter().zip(probabilities).map(|(&(a, _), &p)| (a, p)).collect();
    moments(&points)
}

fn with_t_value(law: &Law, t: f64) -> Option<Vec<f64>> {
    with_t_value_by_rounds(law, t).or_else(|| profile::with_t_value(law, t))
}

/// `N Σ p̂ᵢ ln(p¹ᵢ / p⁰ᵢ)`; 0, no evidence, where one of the laws does not exist (hypotheses within
/// `ELO_LIMIT` always have one).
fn ratio(law: &Law, h0: Option<Vec<f64>>, h1: Option<Vec<f64>>) -> f64 {
    let (Some(h0), Some(h1)) = (h0, h1) else { return 0.0 };
    let terms = law.points.iter().zip(h0.iter().zip(&h1));
    law.size * terms.map(|(&(_, p), (p0, p1))| p * (p1 / p0).ln()).sum::<f64>()
}

/// Log-likelihood ratio of mean score `score1` to mean score `score0`.
pub(super) fn logistic(law: &Law, score0: f64, score1: f64) -> f64 {
    ratio(law, with_mean(law, score0), with_mean(law, score1))
}

/// Log-likelihood ratio of `(mean - 1/2) / deviation = t1` to `t0`, deviation per sample.
pub(super) fn normalized(law: &Law, t0: f64, t1: f64) -> f64 {
    ratio(law, with_t_value(law, t0), with_t_value(law, t1))
}

#[cfg(test)]
mod tests {
    use super::super::Counts;
    use super::*;

    fn log_likelihood(law: &Law, p: &[f64]) -> f64 {
        law.points.iter().zip(p).map(|(&(_, observed), p)| observed * p.ln()).sum()
    }

    #[test]
    fn the_fixed_point_is_the_greatest_likelihood() {
        for counts in [[13, 37, 50, 25, 3], [3, 20, 55, 28, 6], [1, 41, 900, 58, 0], [60, 0, 180, 0, 80]] {
            let law = Counts::Pentanomial(counts).law();
            for t in [-0.2, -0.02, 0.01, 0.05, 0.3] {
                let fast = with_t_value_by_rounds(&law, t).expect("converges");
                let slow = profile::with_t_value(&law, t).expect("a law exists");
                let (fast, slow) = (log_likelihood(&law, &fast), log_likelihood(&law, &slow));
                assert!((fast - slow).abs() < 1e-10, "{counts:?} at {t}: {fast} {slow}");
            }
        }
    }

    #[test]
    fn a_secular_equation_needs_both_signs() {
        assert_eq!(secular_root([(0.25, 0.5), (0.5, 0.5)].into_iter()), None);
        let root = secular_root([(-0.25, 0.5), (0.5, 0.5)].into_iter()).expect("a root");
        let sum = 0.5 * -0.25 / (1.0 - 0.25 * root) + 0.5 * 0.5 / (1.0 + 0.5 * root);
        assert!(sum.abs() < 1e-12, "{sum}");
    }
}
