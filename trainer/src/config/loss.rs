//! `[loss]`

use super::{ConfigError, range};
use serde::{Deserialize, Serialize};

/// `[loss]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LossConfig {
    /// A score of this many centipawns is a winning chance of 1 / (1 + 1/e) = 0.731, if `offset` is 0.
    pub score_scale: ScoreScale,
    /// The same for the net's output; 0 takes the score's.
    pub output_scale: f64,
    /// Centipawns at which every second game is won, others being drawn: the two-sided win model. 0 is a plain sigmoid.
    pub offset: f64,
    /// Weight of the score against the game's outcome at the first step.
    pub lambda_start: f64,
    /// The same at the last step; validation uses this one.
    pub lambda_end: f64,
    /// The way between.
    pub lambda_shape: Way,
    /// The error's exponent; 2 is the squared error.
    pub power: f64,
    /// How much more a prediction above its target costs than one below: 0.2 is a fifth more.
    pub asymmetry: f64,
}

/// A number, or `"fit"`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number of centipawns, or \"fit\"")]
pub enum ScoreScale {
    /// This many centipawns.
    Fixed(f64),
    /// As the run's own data say.
    Word(Fit),
}

impl ScoreScale {
    /// The number, where it is one.
    pub fn fixed(self) -> Option<f64> {
        match self {
            ScoreScale::Fixed(scale) => Some(scale),
            ScoreScale::Word(Fit::Fit) => None,
        }
    }
}

/// The word `fit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fit {
    /// `"fit"`
    Fit,
}

/// How λ goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// In a straight line.
    Linear,
    /// In half a cosine wave.
    Cosine,
}

impl Default for LossConfig {
    fn default() -> Self {
        LossConfig {
            score_scale: ScoreScale::Fixed(400.0),
            output_scale: 0.0,
            offset: 0.0,
            lambda_start: 1.0,
            lambda_end: 0.75,
            lambda_shape: Way::Linear,
            power: 2.0,
            asymmetry: 0.0,
        }
    }
}

impl LossConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let unit = |x: f64| (0.0..=1.0).contains(&x);
        let at_least = |x: f64, least: f64| x.is_finite() && x >= least;
        if let ScoreScale::Fixed(scale) = self.score_scale {
            range("loss.score_scale", scale, at_least(scale, 1.0), "1 or more, or \"fit\"")?;
        }
        let output = self.output_scale;
        range("loss.output_scale", output, output == 0.0 || at_least(output, 1.0), "0 or 1 or more")?;
        range("loss.offset", self.offset, at_least(self.offset, 0.0), "0 or more")?;
        range("loss.lambda_start", self.lambda_start, unit(self.lambda_start), "0 to 1")?;
        range("loss.lambda_end", self.lambda_end, unit(self.lambda_end), "0 to 1")?;
        range("loss.power", self.power, (1.0..=8.0).contains(&self.power), "1 to 8")?;
        let asymmetry = self.asymmetry;
        range("loss.asymmetry", asymmetry, asymmetry > -1.0 && asymmetry <= 10.0, "above -1, up to 10")
    }
}
