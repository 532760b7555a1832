//! What is minimised: the distance of winning chances.
//!
//! ```text
//! win(x)     = (1 + sigmoid(x - o) - sigmoid(-x - o)) / 2               o: offset over scale; 0 gives sigmoid(x)
//! prediction = win(output * 600 / output_scale)                         output of the net, 1.0 is 600 cp
//! target     = λ win(score / score_scale) + (1 - λ) outcome             outcome 0, ½ or 1
//! loss       = mean |prediction - target| ^ power * (1 + asymmetry where prediction > target)
//! ```
//!
//! The two-sided form is that of nnue-pytorch: the mean of the chance to win and the chance not to lose.

use crate::config::LossConfig;
use crate::data::Samples;
use nnue_format::quant::OUTPUT_CP;
use tch::{Kind, TchError, Tensor};

/// A loss with a settled λ and score scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// Weight of the score against the outcome.
    pub lambda: f64,
    /// Centipawns of the score per unit of the sigmoid.
    pub score_scale: f64,
    /// Centipawns of the net's output per unit of the sigmoid.
    pub net_scale: f64,
    /// Centipawns at which every second game is won; 0 for a plain sigmoid.
    pub offset: f64,
    /// The exponent.
    pub power: f64,
    /// What predictions above their target cost beyond those below.
    pub asymmetry: f64,
}

impl Default for Loss {
    /// That of [`LossConfig::default`] at λ 1, at the scale that it fixes.
    fn default() -> Loss {
        Loss::new(&LossConfig::default(), 400.0, 1.0)
    }
}

impl Loss {
    /// The loss of a configuration at a score scale (its own, or the fitted one of the run) and a λ.
    pub fn new(config: &LossConfig, score_scale: f64, lambda: f64) -> Loss {
        let net_scale = if config.output_scale > 0.0 { config.output_scale } else { score_scale };
        let LossConfig { offset, power, asymmetry, .. } = *config;
        Loss { lambda, score_scale, net_scale, offset, power, asymmetry }
    }

    /// What a net's output is multiplied with before the sigmoid.
    pub fn output_scale(&self) -> f64 {
        f64::from(OUTPUT_CP) / self.net_scale
    }

    /// The winning chance that an output of the net means.
    pub fn prediction(&self, output: f64) -> f64 {
        win(output * self.output_scale(), self.offset / self.net_scale)
    }

    /// The target for one position: score in centipawns, outcome in half points.
    pub fn target(&self, score: i16, outcome: u8) -> f64 {
        let chance = win(f64::from(score) / self.score_scale, self.offset / self.score_scale);
        self.lambda * chance + (1.0 - self.lambda) * f64::from(outcome) / 2.0
    }

    /// The targets of positions `start..end`.
    pub fn targets(&self, samples: &Samples, start: usize, end: usize) -> Vec<f32> {
        let pairs = samples.scores[start..end].iter().zip(&samples.outcomes[start..end]);
        pairs.map(|(&score, &outcome)| self.target(score, outcome) as f32).collect()
    }

    /// The summed loss of `outputs` (`[n, 1]`) against `targets` (`[n, 1]`), a scalar with a graph.
    ///
    /// # Errors
    /// What torch reports.
    pub fn sum(&self, outputs: &Tensor, targets: &Tensor) -> Result<Tensor, TchError> {
        let x = outputs.f_mul_scalar(self.output_scale())?;
        let prediction = if self.offset == 0.0 {
            x.f_sigmoid()?
        } else {
            let offset = self.offset / self.net_scale;
            let win = x.f_sub_scalar(offset)?.f_sigmoid()?;
            let loss = x.f_neg()?.f_sub_scalar(offset)?.f_sigmoid()?;
            win.f_sub(&loss)?.f_add_scalar(1.0)?.f_mul_scalar(0.5)?
        };
        let error = prediction.f_sub(targets)?;
        let powers = if self.power == 2.0 {
            error.f_square()?
        } else {
            error.f_abs()?.f_pow_tensor_scalar(self.power)?
        };
        let powers = if self.asymmetry == 0.0 {
            powers
        } else {
            let above = error.f_gt(0.0)?.f_to_kind(Kind::Float)?;
            powers.f_mul(&above.f_mul_scalar(self.asymmetry)?.f_add_scalar(1.0)?)?
        };
        powers.f_sum(Kind::Float)
    }

    /// The loss of one prediction (a winning chance), in f64.
    pub fn of(&self, prediction: f64, target: f64) -> f64 {
        let error = prediction - target;
        error.abs().powf(self.power) * self.side(error)
    }

    /// The derivative of one position's loss by the net's output, in f64: what [`Loss::sum`] has under autograd.
    pub fn slope(&self, output: f64, target: f64) -> f64 {
        let (x, offset) = (output * self.output_scale(), self.offset / self.net_scale);
        let (win, loss) = (sigmoid(x - offset), sigmoid(-x - offset));
        let by_output = 0.5 * (win * (1.0 - win) + loss * (1.0 - loss)) * self.output_scale();
        let error = self.prediction(output) - target;
        self.power * error.abs().powf(self.power - 1.0) * error.signum() * self.side(error) * by_output
    }

    /// What the loss of an error of this sign is multiplied with.
    pub fn side(&self, error: f64) -> f64 {
        if error > 0.0 { 1.0 + self.asymmetry } else { 1.0 }
    }
}

/// The expected result at `x`, every second game being won at `offset`, both in units of the sigmoid.
pub fn win(x: f64, offset: f64) -> f64 {
    if offset == 0.0 { sigmoid(x) } else { 0.5 * (1.0 + sigmoid(x - offset) - sigmoid(-x - offset)) }
}

/// `1 / (1 + e^-x)`.
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Outputs of 400 and -200 cp at a scale of 400: predictions 0.731059 and 0.377541 of a plain sigmoid.
    const OUTPUTS: [f64; 2] = [2.0 / 3.0, -1.0 / 3.0];
    const TARGETS: [f64; 2] = [0.548_294, 0.798_294];

    fn base() -> Loss {
        Loss::new(&LossConfig::default(), 400.0, 0.75)
    }

    /// Loss and gradient by torch, held against those in f64, which are returned.
    fn check(loss: Loss) -> (f64, [f64; 2]) {
        let floats = OUTPUTS.map(|x| x as f32);
        let outputs = Tensor::from_slice(&floats).view([2, 1]).set_requires_grad(true);
        let targets = Tensor::from_slice(&TARGETS.map(|x| x as f32)).view([2, 1]);
        let sum = loss.sum(&outputs, &targets).unwrap();
        let gradient = Tensor::run_backward(&[&sum], &[&outputs], false, false).remove(0);
        let gradient = Vec::<f32>::try_from(gradient.view([2])).unwrap();
        let expected: f64 = OUTPUTS.iter().zip(TARGETS).map(|(x, t)| loss.of(loss.prediction(*x), t)).sum();
        assert!((f64::try_from(sum).unwrap() - expected).abs() < 1e-6, "{loss:?}");
        let slopes = [0, 1].map(|i| loss.slope(OUTPUTS[i], TARGETS[i]));
        for (found, slope) in gradient.iter().zip(slopes) {
            assert!((f64::from(*found) - slope).abs() < 1e-6, "{loss:?}: {found} for {slope}");
        }
        (expected, slopes)
    }

    #[test]
    fn as_computed_by_hand() {
        let loss = base();
        // sigmoid(1) = 0.731059; 0.75 of it and a quarter of a lost game.
        assert!((loss.target(400, 0) - 0.548_294).abs() < 1e-6);
        assert!((loss.target(400, 2) - 0.798_294).abs() < 1e-6);
        let drawn = Loss { lambda: 0.0, ..loss };
        assert!((drawn.target(400, 1) - 0.5).abs() < 1e-12);
        assert!((loss.output_scale() - 1.5).abs() < 1e-12);
        let (sum, slopes) = check(loss);
        let errors = [0.182_765f64, -0.420_753];
        assert!((sum - (errors[0].powi(2) + errors[1].powi(2))).abs() < 1e-5);
        // 2 e p (1 - p) 1.5: 0.196612 and 0.235004 are p (1 - p).
        assert!((slopes[0] - 2.0 * errors[0] * 0.196_612 * 1.5).abs() < 1e-5);
        assert!((slopes[1] - 2.0 * errors[1] * 0.235_004 * 1.5).abs() < 1e-5);
        let (cubed, _) = check(Loss { power: 3.0, ..loss });
        assert!((cubed - (errors[0].powi(3) - errors[1].powi(3))).abs() < 1e-5);
        check(Loss { power: 2.5, ..loss });
    }

    #[test]
    fn predictions_above_their_targets_cost_more() {
        let (plain, slopes) = check(base());
        let (dear, dear_slopes) = check(Loss { asymmetry: 0.5, ..base() });
        // Only the first is above.
        assert!((dear - plain - 0.5 * 0.182_765f64.powi(2)).abs() < 1e-5);
        assert!((dear_slopes[0] - 1.5 * slopes[0]).abs() < 1e-9 && dear_slopes[1] == slopes[1]);
    }

    #[test]
    fn two_sides_and_two_scales() {
        let loss = Loss { offset: 200.0, net_scale: 300.0, ..base() };
        // At 400 cp: ½ (1 + sigmoid((400 - 200) / 400) - sigmoid((-400 - 200) / 400)) for the score.
        assert!((win(1.0, 0.5) - 0.720_017).abs() < 1e-6);
        assert!((loss.target(400, 2) - (0.75 * 0.720_017 + 0.25)).abs() < 1e-6);
        assert!((loss.prediction(2.0 / 3.0) - win(400.0 / 300.0, 200.0 / 300.0)).abs() < 1e-12);
        assert!(
            (loss.prediction(0.0) - 0.5).abs() < 1e-12
                && (win(0.7, 0.3) + win(-0.7, 0.3) - 1.0).abs() < 1e-12
        );
        let (_, slopes) = check(loss);
        let (_, plain) = check(base());
        assert!(slopes.iter().zip(plain).all(|(a, b)| (a - b).abs() > 1e-3), "every option counts");
        let config =
            LossConfig { output_scale: 300.0, offset: 200.0, asymmetry: 0.25, ..LossConfig::default() };
        let built = Loss::new(&config, 400.0, 0.75);
        assert_eq!(built, Loss { asymmetry: 0.25, ..loss });
        check(Loss { power: 2.5, ..built });
    }
}
