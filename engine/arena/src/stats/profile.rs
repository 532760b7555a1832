//! The normalized model's law by a search over its mean, for samples on which the fixed point fails
//! (far-off hypotheses such as 144 LL, 3 LD, 1 DD under -1500; reported as an endless `-nan` by
//! other tools).
//!
//! For a given mean the deviation follows from the constraint, and "mean and second moment are
//! these" is linear: its likelihood is the minimum of a convex function of two multipliers. The best
//! mean is looked for on a grid (there may be two local maxima), then by golden section.

use super::Law;

/// Points of the first grid over the mean.
const GRID: u32 = 4000;

/// Golden sections: 0.618^90 is below 1e-18.
const SECTIONS: u32 = 90;

/// Newton steps for two multipliers.
const NEWTON_STEPS: u32 = 200;

/// The likeliest law with `(mean - 1/2) / deviation = t`, as probabilities in order of the scores.
pub(super) fn with_t_value(law: &Law, t: f64) -> Option<Vec<f64>> {
    if t == 0.0 {
        return None; // the mean is then 1/2 and the fixed point exact
    }
    // From deviation² <= mean (1 - mean): |mean - 1/2| <= |t| / 2√(1 + t²).
    let reach = 0.5 * t / (1.0 + t * t).sqrt();
    let loss = |part: f64| fit(law, reach * part, t).map_or(f64::INFINITY, |fit| fit.loss);
    let step = 1.0 / f64::from(GRID);
    let best = (1..GRID)
        .map(|i| f64::from(i) * step)
        .map(|part| (part, loss(part)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|(_, loss)| loss.is_finite())?
        .0;
    let part = golden_section(loss, best - step, best + step);
    let found = fit(law, reach * part, t).or_else(|| fit(law, reach * best, t))?;
    Some(found.probabilities)
}

fn golden_section(loss: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let ratio = 0.5 * (5f64.sqrt() - 1.0);
    for _ in 0..SECTIONS {
        let (left, right) = (high - ratio * (high - low), low + ratio * (high - low));
        if loss(left) <= loss(right) {
            high = right;
        } else {
            low = left;
        }
    }
    0.5 * (low + high)
}

struct Fit {
    /// `Σ p̂ᵢ ln(p̂ᵢ / pᵢ)`: what is lost in likelihood against the sample itself.
    loss: f64,
    probabilities: Vec<f64>,
}

/// The likeliest law with mean `1/2 + offset` and deviation `offset / t`.
fn fit(law: &Law, offset: f64, t: f64) -> Option<Fit> {
    let mean = 0.5 + offset;
    let variance = (offset / t) * (offset / t);
    if !feasible(law, mean, variance) {
        return None;
    }
    let gaps: Vec<[f64; 2]> =
        law.points.iter().map(|&(a, _)| [a - mean, (a - mean) * (a - mean) - variance]).collect();
    let mut at = [0.0, 0.0];
    let mut value = gain(law, &gaps, at)?;
    for _ in 0..NEWTON_STEPS {
        let Some(step) = newton_step(law, &gaps, at) else { break };
        let Some((next, next_value)) = damped(law, &gaps, at, step, value) else { break };
        (at, value) = (next, next_value);
    }
    let probabilities: Vec<f64> =
        law.points.iter().zip(&gaps).map(|(&(_, p), g)| p / (1.0 + at[0] * g[0] + at[1] * g[1])).collect();
    Some(Fit { loss: value, probabilities })
}

/// Is there a law on these scores with this mean and variance, all probabilities above zero? The
/// points `(a, a²)` lie on a parabola: the second moment must be above the polygon through them and
/// below the chord from the first to the last.
fn feasible(law: &Law, mean: f64, variance: f64) -> bool {
    let second = mean * mean + variance;
    law.points.windows(2).any(|pair| {
        let (a, b) = (pair[0].0, pair[1].0);
        a <= mean && mean <= b && second > mean * (a + b) - a * b
    }) && second < mean
}

/// `Σ p̂ᵢ ln(1 + λ·gᵢ)`, concave in the multipliers; `None` outside its domain.
fn gain(law: &Law, gaps: &[[f64; 2]], at: [f64; 2]) -> Option<f64> {
    law.points.iter().zip(gaps).try_fold(0.0, |sum, (&(_, p), g)| {
        let d = 1.0 + at[0] * g[0] + at[1] * g[1];
        (d > 0.0).then(|| sum + p * d.ln())
    })
}

/// The Newton step towards the maximum of [`gain`]; `None` where the matrix is singular.
fn newton_step(law: &Law, gaps: &[[f64; 2]], at: [f64; 2]) -> Option<[f64; 2]> {
    let (mut slope, mut bend) = ([0.0; 2], [0.0; 3]);
    for (&(_, p), g) in law.points.iter().zip(gaps) {
        let d = 1.0 + at[0] * g[0] + at[1] * g[1];
        let (x, y) = (g[0] / d, g[1] / d);
        slope = [slope[0] + p * x, slope[1] + p * y];
        bend = [bend[0] + p * x * x, bend[1] + p * x * y, bend[2] + p * y * y];
    }
    let determinant = bend[0] * bend[2] - bend[1] * bend[1];
    let step = [
        (bend[2] * slope[0] - bend[1] * slope[1]) / determinant,
        (bend[0] * slope[1] - bend[1] * slope[0]) / determinant,
    ];
    (step[0].is_finite() && step[1].is_finite()).then_some(step)
}

/// The longest of step, step/2, step/4, … that stays in the domain and gains.
fn damped(law: &Law, gaps: &[[f64; 2]], at: [f64; 2], step: [f64; 2], value: f64) -> Option<([f64; 2], f64)> {
    let mut scale = 1.0;
    for _ in 0..60 {
        let next = [at[0] + scale * step[0], at[1] + scale * step[1]];
        match gain(law, gaps, next) {
            Some(next_value) if next_value > value => return Some((next, next_value)),
            _ => scale *= 0.5,
        }
    }
    None
}
