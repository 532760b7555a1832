//! `[optimiser]`

use super::groups::PerGroup;
use super::{ConfigError, range};
use serde::{Deserialize, Serialize};

/// Which rule moves the weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OptimiserKind {
    /// Adam with decoupled weight decay (Loshchilov and Hutter, 2019).
    AdamW,
    /// RAdam (Liu et al., 2020) with lookahead (Zhang et al., 2019) around it: steps wait for the second moment to be
    /// known, and every few steps the weights are drawn back towards slow ones.
    Ranger,
}

/// `[optimiser]`: what moves the weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OptimiserConfig {
    /// The rule.
    pub kind: OptimiserKind,
    /// Decay of the mean of gradients.
    pub beta1: PerGroup,
    /// Decay of the mean of squared gradients.
    pub beta2: PerGroup,
    /// Added to the root of the latter.
    pub epsilon: PerGroup,
    /// Share of each weight taken off per step and unit of learning rate.
    pub weight_decay: PerGroup,
    /// What the learning rate is multiplied with.
    pub rate: PerGroup,
    /// The gradient of the whole net is scaled down to this norm where it is longer; 0 leaves it alone.
    pub clip_norm: f64,
    /// Ranger: steps between two drawings.
    pub lookahead_steps: u64,
    /// Ranger: how far the slow weights go towards the fast ones then.
    pub lookahead_part: f64,
}

impl Default for OptimiserConfig {
    fn default() -> Self {
        OptimiserConfig {
            kind: OptimiserKind::AdamW,
            beta1: PerGroup::All(0.9),
            beta2: PerGroup::All(0.999),
            epsilon: PerGroup::All(1e-8),
            weight_decay: PerGroup::All(0.0),
            rate: PerGroup::All(1.0),
            clip_norm: 0.0,
            lookahead_steps: 6,
            lookahead_part: 0.5,
        }
    }
}

impl OptimiserConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let share = |x: f64| (0.0..1.0).contains(&x);
        let positive = |x: f64| x.is_finite() && x > 0.0;
        range("optimiser.beta1", self.beta1, self.beta1.all(share), "0 up to below 1")?;
        range("optimiser.beta2", self.beta2, self.beta2.all(share), "0 up to below 1")?;
        range("optimiser.epsilon", self.epsilon, self.epsilon.all(positive), "a number above 0")?;
        range("optimiser.weight_decay", self.weight_decay, self.weight_decay.all(share), "0 up to below 1")?;
        let factor = |x: f64| (0.0..=1000.0).contains(&x);
        range("optimiser.rate", self.rate, self.rate.all(factor), "0 (frozen) to 1000")?;
        let norm = self.clip_norm;
        range("optimiser.clip_norm", norm, norm.is_finite() && norm >= 0.0, "0 (off) or more")?;
        let steps = self.lookahead_steps;
        range("optimiser.lookahead_steps", steps, steps > 0, "1 or more")?;
        let part = self.lookahead_part;
        range("optimiser.lookahead_part", part, part > 0.0 && part <= 1.0, "above 0, up to 1")?;
        // Below, RAdam would never trust its second moment.
        let known = self.kind != OptimiserKind::Ranger || self.beta2.all(|beta| beta >= 0.75);
        range("optimiser.beta2", self.beta2, known, "0.75 or more for ranger")
    }
}
