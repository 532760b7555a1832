//! One update of a whole net, in numbers: what every device does with its weights.

use crate::backend::cpu::AdamStep;
use crate::config::{Group, OptimiserConfig, OptimiserKind};

/// Settings of one update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UpdateStep {
    /// For weight rows of the feature transformer, factors and piece-square values.
    pub feature_transformer: AdamStep,
    /// For weights of the dense layers.
    pub dense: AdamStep,
    /// For all biases.
    pub biases: AdamStep,
    /// The longest that the gradient of the whole net may be; a longer one is scaled down to it. The norm is that of the
    /// merged net, whose rows are those that are exported: factors add nothing to it.
    pub max_norm: Option<f64>,
    /// Slow weights, if the optimiser has them.
    pub lookahead: Option<Lookahead>,
}

/// Lookahead: `slow += part * (fast - slow); fast = slow`, on some steps. Slow weights begin as the weights before the
/// first update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lookahead {
    /// How far the slow weights go towards the fast ones.
    pub part: f32,
    /// Do they go after this update?
    pub now: bool,
}

impl From<AdamStep> for UpdateStep {
    /// The same for all groups, with nothing around it.
    fn from(step: AdamStep) -> UpdateStep {
        UpdateStep { feature_transformer: step, dense: step, biases: step, max_norm: None, lookahead: None }
    }
}

impl UpdateStep {
    /// The update of step number `step`, counted from 1, at learning rate `rate`.
    pub fn at(config: &OptimiserConfig, step: u64, rate: f64) -> UpdateStep {
        let of = |group: Group| {
            let betas = (config.beta1.of(group), config.beta2.of(group));
            let (epsilon, decay) = (config.epsilon.of(group), config.weight_decay.of(group));
            let adam = AdamStep::at(step, rate * config.rate.of(group), betas, epsilon, decay, f32::INFINITY);
            match config.kind {
                OptimiserKind::AdamW => adam,
                OptimiserKind::Ranger => rectified(adam, step, betas.1),
            }
        };
        let lookahead = (config.kind == OptimiserKind::Ranger).then(|| Lookahead {
            part: config.lookahead_part as f32,
            now: step.is_multiple_of(config.lookahead_steps),
        });
        UpdateStep {
            feature_transformer: of(Group::FeatureTransformer),
            dense: of(Group::Dense),
            biases: of(Group::Biases),
            max_norm: (config.clip_norm > 0.0).then_some(config.clip_norm),
            lookahead,
        }
    }

    /// The update with gradients multiplied by `scale`.
    #[must_use]
    pub fn scaled(self, scale: f32) -> UpdateStep {
        let of = |step: AdamStep| AdamStep { scale, ..step };
        UpdateStep {
            feature_transformer: of(self.feature_transformer),
            dense: of(self.dense),
            biases: of(self.biases),
            ..self
        }
    }
}

/// What a gradient of this norm is multiplied with so that it is no longer than `max_norm`. One that is not a number is
/// left as it is.
pub fn norm_scale(norm: f64, max_norm: f64) -> f32 {
    if norm > max_norm { (max_norm / norm) as f32 } else { 1.0 }
}

/// The least length of the approximated moving average at which RAdam trusts the second moment.
const TRUSTED: f64 = 5.0;

/// RAdam's step. The variance of the second moment's estimate is known in advance; a step is multiplied with what makes up
/// for it. While it is too large (the first five steps at 0.999), steps follow the mean gradient alone: with
/// `correction2` 0 and `epsilon` 1 the same arithmetic divides by one.
fn rectified(adam: AdamStep, step: u64, beta2: f64) -> AdamStep {
    let longest = 2.0 / (1.0 - beta2) - 1.0;
    let power = beta2.powf(step as f64);
    let length = longest - 2.0 * step as f64 * power / (1.0 - power);
    if length <= TRUSTED {
        return AdamStep { correction2: 0.0, epsilon: 1.0, ..adam };
    }
    let square = (length - 4.0) * (length - 2.0) * longest / ((longest - 4.0) * (longest - 2.0) * length);
    AdamStep { rate: (f64::from(adam.rate) * square.sqrt()) as f32, ..adam }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Groups, PerGroup};

    #[test]
    fn groups_have_their_own_settings() {
        let each =
            |a: f64, b: f64, c: f64| PerGroup::Each(Groups { feature_transformer: a, dense: b, biases: c });
        let config = OptimiserConfig {
            weight_decay: each(0.5, 0.25, 0.0),
            rate: each(1.0, 2.0, 4.0),
            beta1: each(0.9, 0.8, 0.7),
            clip_norm: 2.0,
            ..OptimiserConfig::default()
        };
        let step = UpdateStep::at(&config, 1, 0.01);
        let of = |s: AdamStep| (s.rate, s.beta1, s.shrink, s.scale);
        assert_eq!(of(step.feature_transformer), (0.01, 0.9, 0.005, 1.0));
        assert_eq!(of(step.dense), (0.02, 0.8, 0.005, 1.0));
        assert_eq!(of(step.biases), (0.04, 0.7, 0.0, 1.0));
        assert_eq!((step.max_norm, step.lookahead), (Some(2.0), None));
        assert_eq!(step.scaled(0.5).dense.scale, 0.5);
        assert_eq!((norm_scale(4.0, 2.0), norm_scale(1.0, 2.0), norm_scale(f64::NAN, 2.0)), (0.5, 1.0, 1.0));
    }

    /// Numbers of the paper's formulas, computed apart with 30 digits.
    #[test]
    fn rectification_is_that_of_the_paper() {
        let config = OptimiserConfig { kind: OptimiserKind::Ranger, ..OptimiserConfig::default() };
        let at = |step| UpdateStep::at(&config, step, 1.0).dense;
        let plain = |step| UpdateStep::at(&OptimiserConfig::default(), step, 1.0).dense;
        for step in 1..=5 {
            assert_eq!((at(step).correction2, at(step).epsilon, at(step).rate), (0.0, 1.0, 1.0), "{step}");
        }
        for (step, factor) in RECTIFIED {
            assert!((f64::from(at(step).rate) - factor).abs() < 1e-6, "{step}: {}", at(step).rate);
            assert_eq!(AdamStep { rate: 1.0, ..at(step) }, plain(step), "nothing else changes");
        }
        let drawn: Vec<u64> =
            (1..20).filter(|&step| UpdateStep::at(&config, step, 1.0).lookahead.unwrap().now).collect();
        assert_eq!(drawn, [6, 12, 18]);
    }

    const RECTIFIED: [(u64, f64); 4] =
        [(6, 0.025821113), (10, 0.048998013), (100, 0.215335437), (5000, 0.982877588)];
}
