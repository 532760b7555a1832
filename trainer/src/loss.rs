//! What is minimised: the distance of winning chances.
//!
//! ```text
//! prediction = sigmoid(output * 600 / score_scale)                      output of the net, 1.0 is 600 cp
//! target     = λ sigmoid(score / score_scale) + (1 - λ) outcome          outcome 0, ½ or 1
//! loss       = mean |prediction - target| ^ power
//! ```

use crate::config::LossConfig;
use crate::data::Samples;
use nnue_format::quant::OUTPUT_CP;
use tch::{Kind, TchError, Tensor};

/// A loss with a settled λ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// Weight of the score against the outcome.
    pub lambda: f64,
    /// Centipawns per unit of the sigmoid.
    pub score_scale: f64,
    /// The exponent.
    pub power: f64,
}

impl Loss {
    /// The loss of a configuration at a λ.
    pub fn new(config: &LossConfig, lambda: f64) -> Loss {
        Loss { lambda, score_scale: config.score_scale, power: config.power }
    }

    /// What a net's output is multiplied with before the sigmoid.
    pub fn output_scale(&self) -> f64 {
        f64::from(OUTPUT_CP) / self.score_scale
    }

    /// The target for one position: score in centipawns, outcome in half points.
    pub fn target(&self, score: i16, outcome: u8) -> f64 {
        let chance = sigmoid(f64::from(score) / self.score_scale);
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
        let error = (outputs * self.output_scale()).f_sigmoid()?.f_sub(targets)?;
        let powers = if self.power == 2.0 {
            error.f_square()?
        } else {
            error.f_abs()?.f_pow_tensor_scalar(self.power)?
        };
        powers.f_sum(Kind::Float)
    }

    /// The loss of one prediction (a winning chance), in f64.
    pub fn of(&self, prediction: f64, target: f64) -> f64 {
        (prediction - target).abs().powf(self.power)
    }
}

/// `1 / (1 + e^-x)`.
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_computed_by_hand() {
        let config = LossConfig { score_scale: 400.0, ..LossConfig::default() };
        let loss = Loss::new(&config, 0.75);
        // sigmoid(1) = 0.731059; 0.75 of it and a quarter of a lost game.
        assert!((loss.target(400, 0) - 0.548_294).abs() < 1e-6);
        assert!((loss.target(400, 2) - 0.798_294).abs() < 1e-6);
        assert!((Loss::new(&config, 0.0).target(400, 1) - 0.5).abs() < 1e-12);
        assert!((loss.output_scale() - 1.5).abs() < 1e-12);
        // Output 2/3 is 400 cp: prediction 0.731059 against 0.548294 and 0.798294.
        let outputs = Tensor::from_slice(&[2.0f32 / 3.0, 2.0 / 3.0]).view([2, 1]);
        let targets = Tensor::from_slice(&[0.548_294f32, 0.798_294]).view([2, 1]);
        let sum = |loss: Loss| f64::try_from(loss.sum(&outputs, &targets).unwrap()).unwrap();
        assert!((sum(loss) - (0.182_765f64.powi(2) + 0.067_235f64.powi(2))).abs() < 1e-5);
        let cubed = Loss { power: 3.0, ..loss };
        assert!((sum(cubed) - (0.182_765f64.powi(3) + 0.067_235f64.powi(3))).abs() < 1e-5);
    }
}
