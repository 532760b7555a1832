//! `[learning_rate]`

use super::{ConfigError, range};
use serde::{Deserialize, Serialize};

/// How a rate goes over a run, or over a piece of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// Stays at `start`.
    Constant,
    /// A straight line from `start` to `end`.
    Linear,
    /// Half a cosine wave from `start` to `end`.
    Cosine,
    /// Equal factors every step, from `start` to `end`.
    Exponential,
    /// `start`, multiplied by `gamma` every so many steps or epochs.
    Step,
    /// Up to `start` and down to `end`, both in half cosine waves (Smith and Topin, 2018).
    OneCycle,
}

/// `[learning_rate]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RateConfig {
    /// At the first step after the warm-up; for one_cycle the highest.
    pub start: f64,
    /// At the last step.
    pub end: f64,
    /// The way between.
    pub shape: Shape,
    /// Steps of a straight rise from 0 to the first rate, before everything else.
    pub warmup_steps: u64,
    /// Shape step: the factor.
    pub gamma: f64,
    /// Shape step: steps between two factors; 0 counts in epochs.
    pub every_steps: u64,
    /// Shape step: epochs between two factors; 0 counts in steps.
    pub every_epochs: u64,
    /// Shape one_cycle: the share of the steps that rise.
    pub rise: f64,
    /// Shape one_cycle: the first rate, as a share of `start`.
    pub rise_from: f64,
    /// Pieces one after the other, in place of all above but the warm-up.
    pub pieces: Vec<PieceConfig>,
}

/// `[[learning_rate.pieces]]`: a piece of a schedule. What is not said is as in `[learning_rate]` by default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PieceConfig {
    /// Its length in steps.
    pub steps: u64,
    /// Its length in epochs. The last piece may have neither: it takes the rest of the run.
    pub epochs: u64,
    /// See [`RateConfig::start`].
    pub start: f64,
    /// See [`RateConfig::end`].
    pub end: f64,
    /// See [`RateConfig::shape`].
    pub shape: Shape,
    /// See [`RateConfig::gamma`].
    pub gamma: f64,
    /// See [`RateConfig::every_steps`].
    pub every_steps: u64,
    /// See [`RateConfig::every_epochs`].
    pub every_epochs: u64,
    /// See [`RateConfig::rise`].
    pub rise: f64,
    /// See [`RateConfig::rise_from`].
    pub rise_from: f64,
}

impl Default for RateConfig {
    fn default() -> Self {
        let PieceConfig { start, end, shape, gamma, every_steps, every_epochs, rise, rise_from, .. } =
            PieceConfig::default();
        let (warmup_steps, pieces) = (0, Vec::new());
        RateConfig {
            start,
            end,
            shape,
            warmup_steps,
            gamma,
            every_steps,
            every_epochs,
            rise,
            rise_from,
            pieces,
        }
    }
}

impl Default for PieceConfig {
    fn default() -> Self {
        PieceConfig {
            steps: 0,
            epochs: 0,
            start: 1e-3,
            end: 1e-5,
            shape: Shape::Cosine,
            gamma: 0.992,
            every_steps: 0,
            every_epochs: 1,
            rise: 0.3,
            rise_from: 0.04,
        }
    }
}

impl RateConfig {
    /// The schedule without its warm-up, as pieces: one that takes the whole run where there are no others.
    pub fn all_pieces(&self) -> Vec<PieceConfig> {
        if !self.pieces.is_empty() {
            return self.pieces.clone();
        }
        let RateConfig { start, end, shape, gamma, every_steps, every_epochs, rise, rise_from, .. } = *self;
        let (steps, epochs) = (0, 0);
        vec![PieceConfig {
            steps,
            epochs,
            start,
            end,
            shape,
            gamma,
            every_steps,
            every_epochs,
            rise,
            rise_from,
        }]
    }

    /// Is the number of steps in an epoch needed?
    pub fn counts_epochs(&self) -> bool {
        let by_epoch = |piece: &PieceConfig| piece.shape == Shape::Step && piece.every_steps == 0;
        self.all_pieces().iter().any(|piece| piece.epochs > 0 || by_epoch(piece))
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let pieces = self.all_pieces();
        let last = pieces.len() - 1;
        for (number, piece) in pieces.iter().enumerate() {
            piece.check()?;
            let length = (piece.steps > 0) as usize + (piece.epochs > 0) as usize;
            let fits = length == 1 || number == last && length == 0;
            range("learning_rate.pieces", number, fits, "pieces with steps or epochs, but for the last")?;
        }
        // Settings beside pieces would have no effect.
        let bare =
            RateConfig { warmup_steps: self.warmup_steps, pieces: self.pieces.clone(), ..Self::default() };
        let alone = self.pieces.is_empty() || *self == bare;
        range("learning_rate.pieces", "beside other settings", alone, "start, shape and so on in the pieces")
    }
}

impl PieceConfig {
    fn check(&self) -> Result<(), ConfigError> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        range("learning_rate.start", self.start, positive(self.start), "a number above 0")?;
        let end_counts = !matches!(self.shape, Shape::Constant | Shape::Step);
        range("learning_rate.end", self.end, positive(self.end) || !end_counts, "a number above 0")?;
        range(
            "learning_rate.gamma",
            self.gamma,
            self.gamma > 0.0 && self.gamma <= 10.0,
            "above 0, up to 10",
        )?;
        let every = self.every_steps > 0 || self.every_epochs > 0 || self.shape != Shape::Step;
        range("learning_rate.every_epochs", self.every_epochs, every, "every_steps or every_epochs above 0")?;
        range("learning_rate.rise", self.rise, (0.0..=1.0).contains(&self.rise), "0 to 1")?;
        let from = self.rise_from;
        range("learning_rate.rise_from", from, from > 0.0 && from <= 1.0, "above 0, up to 1")
    }
}
