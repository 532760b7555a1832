//! Which search score wins how often: fits of the engine's win model, and of the sigmoid that training uses.
//!
//! ```text
//! P(win) = 1 / (1 + exp((a - score) / b))    P(loss) = 1 / (1 + exp((a + score) / b))    the rest are draws
//! expected result = 1 / (1 + exp(-score / scale))          win 1, draw ½; `loss.score_scale` of chuhe-train
//! ```
//! Both by maximum likelihood over the positions within ±2000, mates and wins by rule left out. Standard errors are
//! by leaving out one of sixteen groups of games at a time (jackknife): positions of a game share its result, so
//! their number would promise far too much.

use serde_json::{Value, json};

use super::counts::{Counts, GROUPS, Results, SCORE_BINS, bin_middle};

/// Wins, draws and losses by score bin.
type Table = Vec<[f64; 3]>;

/// The farthest that a fit is sought, in centipawns, and its finest step.
const RANGE: (f64, f64) = (1.0, 20_000.0);
/// Newton steps; some ten are enough.
const STEPS: usize = 100;
/// A step below this part of a parameter ends the search.
const FINE: f64 = 1e-10;

/// A fitted number with its standard error, in centipawns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The most likely value.
    pub value: f64,
    /// Its standard error; `None` with too few games.
    pub error: Option<f64>,
}

/// Both fits.
#[derive(Clone, Debug, PartialEq)]
pub struct WdlFit {
    /// Positions that they rest on.
    pub positions: u64,
    /// The score at which every second game is won, and how fast chances rise about it; `None` where the games do
    /// not say (all drawn, all decided the same way, none).
    pub half_won: Option<Estimate>,
    /// See above.
    pub spread: Option<Estimate>,
    /// Centipawns per unit of the sigmoid that gives the expected result.
    pub scale: Option<Estimate>,
    /// Surprise of the win model, in nats a position.
    pub nats: Option<f64>,
}

/// The win model with two numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// The score at which every second game is won.
    pub half_won: f64,
    /// How fast chances rise about it.
    pub spread: f64,
}

impl Model {
    /// Chances of a win, a draw and a loss.
    pub fn chances(self, score: f64) -> [f64; 3] {
        let win = logistic((score - self.half_won) / self.spread);
        let loss = logistic((-score - self.half_won) / self.spread);
        [win, (1.0 - win - loss).max(1e-12), loss]
    }

    fn nats(self, table: &Table) -> f64 {
        let of = |(bin, counts): (usize, &[f64; 3])| {
            let chances = self.chances(bin_middle(bin).into());
            counts
                .iter()
                .zip(chances)
                .map(|(n, p)| if *n > 0.0 { -n * p.max(1e-300).ln() } else { 0.0 })
                .sum::<f64>()
        };
        table.iter().enumerate().map(of).sum()
    }

    /// Gradient of the logarithm of the likelihood, and Fisher's information.
    fn slopes(self, table: &Table) -> ([f64; 2], [f64; 3]) {
        let (mut gradient, mut information) = ([0.0; 2], [0.0; 3]);
        for (bin, counts) in table.iter().enumerate() {
            let all: f64 = counts.iter().sum();
            if all == 0.0 {
                continue;
            }
            let score = f64::from(bin_middle(bin));
            let chances = self.chances(score);
            let [win, _, loss] = chances;
            let (x, y) = ((score - self.half_won) / self.spread, (-score - self.half_won) / self.spread);
            let (dw, dl) = (win * (1.0 - win) / self.spread, loss * (1.0 - loss) / self.spread);
            let by_a = [-dw, dw + dl, -dl];
            let by_b = [-dw * x, dw * x + dl * y, -dl * y];
            for i in 0..3 {
                let p = chances[i].max(1e-12);
                gradient[0] += counts[i] * by_a[i] / p;
                gradient[1] += counts[i] * by_b[i] / p;
                information[0] += all * by_a[i] * by_a[i] / p;
                information[1] += all * by_a[i] * by_b[i] / p;
                information[2] += all * by_b[i] * by_b[i] / p;
            }
        }
        (gradient, information)
    }

    /// The most likely model: Fisher's scoring from some beginnings, steps halved until they help.
    fn fit(table: &Table) -> Option<Model> {
        let sums = table.iter().fold([0.0; 3], |sum, counts| [0, 1, 2].map(|i| sum[i] + counts[i]));
        // Without draws a and b run into the corner; without wins or losses they run away.
        if sums.contains(&0.0) {
            return None;
        }
        let mut model = Model { half_won: 200.0, spread: 100.0 };
        let mut nats = model.nats(table);
        for _ in 0..STEPS {
            let (gradient, [aa, ab, bb]) = model.slopes(table);
            let determinant = aa * bb - ab * ab;
            if !(determinant.is_finite() && determinant > 0.0) {
                return None;
            }
            let step = [
                (bb * gradient[0] - ab * gradient[1]) / determinant,
                (aa * gradient[1] - ab * gradient[0]) / determinant,
            ];
            let mut part = 1.0;
            let better = loop {
                let next = Model {
                    half_won: (model.half_won + part * step[0]).clamp(0.0, RANGE.1),
                    spread: (model.spread + part * step[1]).clamp(RANGE.0, RANGE.1),
                };
                let found = next.nats(table);
                if found < nats {
                    break Some((next, found));
                }
                part /= 2.0;
                if part < FINE {
                    break None;
                }
            };
            let Some((next, found)) = better else { break };
            (model, nats) = (next, found);
        }
        let inside = model.spread > RANGE.0 && model.spread < RANGE.1 && model.half_won < RANGE.1;
        inside.then_some(model)
    }
}

/// The most likely scale of the sigmoid: Newton's method on its inverse, in which the likelihood is concave.
fn fit_scale(table: &Table) -> Option<f64> {
    let nats = |u: f64| -> f64 {
        let of = |(bin, [win, draw, loss]): (usize, &[f64; 3])| {
            let x = u * f64::from(bin_middle(bin));
            // ln(1 + e^-x) without overflow.
            let soft = |x: f64| if x > 0.0 { (-x).exp().ln_1p() } else { x.exp().ln_1p() - x };
            (win + draw / 2.0) * soft(x) + (loss + draw / 2.0) * soft(-x)
        };
        table.iter().enumerate().map(of).sum()
    };
    let (least, most) = (1.0 / RANGE.1, 1.0 / RANGE.0);
    let mut u = 1.0 / 400.0;
    for _ in 0..STEPS {
        let (mut slope, mut bend) = (0.0, 0.0);
        for (bin, [win, draw, loss]) in table.iter().enumerate() {
            let score = f64::from(bin_middle(bin));
            let (all, chance) = (win + draw + loss, logistic(u * score));
            slope += score * (win + draw / 2.0 - all * chance);
            bend += all * score * score * chance * (1.0 - chance);
        }
        if bend <= 0.0 {
            return None;
        }
        let (before, mut step) = (nats(u), slope / bend);
        while step.abs() > FINE * u && nats((u + step).clamp(least, most)) > before {
            step /= 2.0;
        }
        let next = (u + step).clamp(least, most);
        if (next - u).abs() <= FINE * u {
            break;
        }
        u = next;
    }
    (u > least && u < most).then(|| 1.0 / u)
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl WdlFit {
    /// Fits what was counted.
    pub fn of(counts: &Counts) -> WdlFit {
        let all = table(counts, None);
        let rest: Vec<Table> = (0..GROUPS)
            .filter(|&group| counts.by_score[group].as_flattened().iter().any(|&n| n > 0))
            .map(|group| table(counts, Some(group)))
            .collect();
        let model = Model::fit(&all);
        let without: Option<Vec<Model>> = rest.iter().map(Model::fit).collect();
        let error = |part: fn(&Model) -> f64| {
            without.as_ref().and_then(|models| jackknife(&models.iter().map(part).collect::<Vec<_>>()))
        };
        let estimate = |part: fn(&Model) -> f64| {
            model.as_ref().map(|model| Estimate { value: part(model), error: error(part) })
        };
        let scales: Option<Vec<f64>> = rest.iter().map(fit_scale).collect();
        let scale_error = scales.and_then(|scales| jackknife(&scales));
        let positions = all.iter().flatten().sum::<f64>() as u64;
        WdlFit {
            positions,
            half_won: estimate(|model| model.half_won),
            spread: estimate(|model| model.spread),
            scale: fit_scale(&all).map(|value| Estimate { value, error: scale_error }),
            nats: model.map(|model| model.nats(&all) / positions as f64),
        }
    }

    /// The win model, if there is one.
    pub fn model(&self) -> Option<Model> {
        Some(Model { half_won: self.half_won?.value, spread: self.spread?.value })
    }

    /// For `--json`.
    pub fn json(&self) -> Value {
        let estimate = |found: Option<Estimate>| {
            found.map(|found| json!({ "value": found.value, "standard_error": found.error }))
        };
        json!({
            "positions": self.positions,
            "a": estimate(self.half_won),
            "b": estimate(self.spread),
            "nats_per_position": self.nats,
            "score_scale": estimate(self.scale),
        })
    }
}

/// Counts by score bin of all groups but one.
fn table(counts: &Counts, without: Option<usize>) -> Table {
    let mut table = vec![[0.0; 3]; SCORE_BINS];
    for (group, bins) in counts.by_score.iter().enumerate() {
        if Some(group) != without {
            for (to, from) in table.iter_mut().zip(bins) {
                *to = [0, 1, 2].map(|i| to[i] + from[i] as f64);
            }
        }
    }
    table
}

/// The standard error of a number from its values with one group left out each.
fn jackknife(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    if values.len() < GROUPS / 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares * (n - 1.0) / n).sqrt())
}

/// Results by score in wider bins: from (centipawns), to (not included), results.
pub fn by_score(counts: &Counts, width: i32) -> Vec<(i32, i32, Results)> {
    let mut rows: Vec<(i32, i32, Results)> = Vec::new();
    for bin in 0..SCORE_BINS {
        let from = bin_middle(bin).div_euclid(width) * width;
        let results = counts.by_score.iter().map(|bins| bins[bin]);
        let sum = results.fold([0; 3], |sum, found| [0, 1, 2].map(|i| sum[i] + found[i]));
        match rows.last_mut().filter(|row| row.0 == from) {
            Some(row) => row.2 = [0, 1, 2].map(|i| row.2[i] + sum[i]),
            None => rows.push((from, from + width, sum)),
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts that follow a model as closely as whole numbers can.
    fn counts_of(chances: impl Fn(f64) -> [f64; 3]) -> Counts {
        let mut counts = Counts::default();
        for group in 0..GROUPS {
            for bin in 0..SCORE_BINS {
                let score = f64::from(bin_middle(bin));
                // More positions near 0, and not the same in every group.
                let all = 20_000.0 / (1.0 + (score / 300.0).powi(2)) * (1.0 + 0.01 * group as f64);
                counts.by_score[group][bin] = chances(score).map(|chance| (chance * all).round() as u64);
            }
        }
        counts
    }

    #[test]
    fn a_made_up_model_is_found_again() {
        for (half_won, spread) in [(95.0, 60.0), (503.0, 42.0), (20.0, 200.0)] {
            let model = Model { half_won, spread };
            let found = WdlFit::of(&counts_of(|score| model.chances(score)));
            let near = |estimate: Option<Estimate>, value: f64| {
                let Estimate { value: found, error } = estimate.expect("a fit");
                assert!((found - value).abs() < 0.02 * value + 0.5, "{found}, not {value}");
                assert!(error.expect("groups enough") < 0.02 * value + 0.5);
            };
            near(found.half_won, half_won);
            near(found.spread, spread);
            assert!(found.nats.expect("a fit") > 0.0);
        }
    }

    #[test]
    fn a_made_up_scale_is_found_again() {
        for scale in [120.0, 250.0, 900.0] {
            // Half of what the sigmoid leaves to the worse side is drawn: the expected result stays the sigmoid's.
            let found = WdlFit::of(&counts_of(|score| {
                let (better, worse) = (logistic(score / scale), logistic(-score / scale));
                let draws = better.min(worse);
                [better - draws / 2.0, draws, worse - draws / 2.0]
            }));
            let value = found.scale.expect("a fit").value;
            assert!((value - scale).abs() < 0.01 * scale, "{value}, not {scale}");
        }
        let decided =
            WdlFit::of(&counts_of(|score| [logistic(score / 250.0), 0.0, logistic(-score / 250.0)]));
        assert_eq!(decided.half_won, None, "no draws");
    }

    #[test]
    fn nothing_is_said_of_nothing() {
        let found = WdlFit::of(&Counts::default());
        assert_eq!((found.positions, found.model(), found.scale), (0, None, None));
        let drawn = WdlFit::of(&counts_of(|_| [0.0, 1.0, 0.0]));
        assert_eq!((drawn.model(), drawn.scale), (None, None));
    }

    #[test]
    fn jackknife_of_means_is_the_standard_error() {
        // Leaving out one of n numbers: the jackknife of the mean is s / √n.
        let values: [f64; 16] = std::array::from_fn(|i| (i * i) as f64);
        let sum: f64 = values.iter().sum();
        let without: Vec<f64> = values.iter().map(|value| (sum - value) / 15.0).collect();
        let mean = sum / 16.0;
        let s = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 15.0).sqrt();
        assert!((jackknife(&without).expect("enough") - s / 4.0).abs() < 1e-9);
        assert_eq!(jackknife(&without[..7]), None);
    }
}
