//! The best that counting pieces can do: a yardstick for the net's validation loss.
//!
//! Fits `sigmoid(tempo + Σ value[kind] · difference[kind])` to the targets of the very positions it is judged on,
//! in the same loss, by damped Gauss and Newton steps. Seven numbers on thousands of positions: what it gains
//! by having seen them is nothing against what it lacks.

use crate::data::Samples;
use crate::loss::{Loss, sigmoid};

/// Values of six kinds, and the tempo.
const N: usize = 7;
/// Steps tried; it settles in about ten.
const STEPS: usize = 60;

/// A fit of material alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaterialFit {
    /// Centipawns of rook, cannon, knight, bishop, advisor, pawn, and of having the move.
    pub values: [f64; N],
    /// Mean loss on the positions it was fitted to.
    pub loss: f64,
}

fn inputs(samples: &Samples, i: usize) -> [f64; N] {
    let m = samples.material[i];
    [m[0].into(), m[1].into(), m[2].into(), m[3].into(), m[4].into(), m[5].into(), 1.0]
}

fn mean_loss(samples: &Samples, targets: &[f64], loss: &Loss, weights: &[f64; N]) -> f64 {
    let sum: f64 =
        (0..targets.len()).map(|i| loss.of(sigmoid(dot(weights, &inputs(samples, i))), targets[i])).sum();
    sum / targets.len() as f64
}

fn dot(a: &[f64; N], b: &[f64; N]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Fits material to `samples`; `None` without positions.
pub fn fit(samples: &Samples, loss: &Loss) -> Option<MaterialFit> {
    if samples.is_empty() {
        return None;
    }
    let targets: Vec<f64> =
        (0..samples.len()).map(|i| loss.target(samples.scores[i], samples.outcomes[i])).collect();
    let mut weights = [0.0; N];
    let mut best = mean_loss(samples, &targets, loss, &weights);
    let mut damping = 1e-3;
    for _ in 0..STEPS {
        let Some(step) = step(samples, &targets, loss, &weights, damping) else { break };
        let mut tried = weights;
        tried.iter_mut().zip(step).for_each(|(w, s)| *w += s);
        let value = mean_loss(samples, &targets, loss, &tried);
        if value < best {
            let gain = best - value;
            (weights, best, damping) = (tried, value, (damping * 0.3).max(1e-9));
            if gain < 1e-12 {
                break;
            }
        } else if damping > 1e9 {
            break;
        } else {
            damping *= 10.0;
        }
    }
    Some(MaterialFit { values: weights.map(|w| w * loss.net_scale), loss: best })
}

/// The damped step `(H + damping D) s = -g` of iteratively reweighted least squares: an error `r` of weight
/// `power/2 · |r|^(power-2)` counts as its square.
fn step(
    samples: &Samples,
    targets: &[f64],
    loss: &Loss,
    weights: &[f64; N],
    damping: f64,
) -> Option<[f64; N]> {
    let mut h = [[0.0; N]; N];
    let mut g = [0.0; N];
    for (i, target) in targets.iter().enumerate() {
        let x = inputs(samples, i);
        let p = sigmoid(dot(weights, &x));
        let error = p - target;
        let weight = loss.power / 2.0 * error.abs().max(1e-6).powf(loss.power - 2.0) * loss.side(error);
        let slope = p * (1.0 - p);
        for a in 0..N {
            g[a] += weight * error * slope * x[a];
            for b in 0..N {
                h[a][b] += weight * slope * slope * x[a] * x[b];
            }
        }
    }
    for (a, row) in h.iter_mut().enumerate() {
        row[a] += damping * row[a] + 1e-9;
    }
    solve(h, g.map(|g| -g))
}

/// Gauss's elimination with pivoting.
fn solve(mut a: [[f64; N]; N], mut b: [f64; N]) -> Option<[f64; N]> {
    for column in 0..N {
        let pivot = (column..N).max_by(|&i, &j| a[i][column].abs().total_cmp(&a[j][column].abs()))?;
        if a[pivot][column].abs() < 1e-300 {
            return None;
        }
        a.swap(column, pivot);
        b.swap(column, pivot);
        for row in column + 1..N {
            let factor = a[row][column] / a[column][column];
            let pivot = a[column];
            a[row].iter_mut().zip(pivot).skip(column).for_each(|(x, p)| *x -= factor * p);
            b[row] -= factor * b[column];
        }
    }
    for row in (0..N).rev() {
        let known: f64 = a[row].iter().zip(b).skip(row + 1).map(|(x, b)| x * b).sum();
        b[row] = (b[row] - known) / a[row][row];
    }
    Some(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::{Purpose, below, generator};

    #[test]
    fn finds_the_values_that_made_the_scores() {
        let values = [900.0, 450.0, 400.0, 200.0, 210.0, 100.0];
        let mut rng = generator(3, Purpose::Synthetic, 0, 0);
        let mut samples = Samples::new();
        for _ in 0..4000 {
            let material: [i8; 6] = std::array::from_fn(|_| below(&mut rng, 3) as i8 - 1);
            let score: f64 = 30.0 + material.iter().zip(values).map(|(&m, v)| f64::from(m) * v).sum::<f64>();
            samples.material.push(material);
            samples.scores.push(score as i16);
            samples.outcomes.push(1);
        }
        let loss = Loss::default();
        let fit = fit(&samples, &loss).unwrap();
        for (found, expected) in fit.values.iter().zip(values.into_iter().chain([30.0])) {
            assert!((found - expected).abs() < 2.0, "{found} for {expected}");
        }
        assert!(fit.loss < 1e-8, "{}", fit.loss);
        let cubed = super::fit(&samples, &Loss { power: 3.0, ..loss }).unwrap();
        assert!((cubed.values[0] - 900.0).abs() < 5.0, "{:?}", cubed.values);
    }
}
