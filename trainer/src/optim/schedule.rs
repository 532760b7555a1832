//! Learning rate and λ, as pure functions of the global step, so that a resumed run goes on where it was.

use crate::config::{LossConfig, RateConfig, Shape};

/// How far the run is at `step` of `total`, 0 at the first step and 1 at the last.
fn progress(step: u64, total: u64) -> f64 {
    if total <= 1 { 0.0 } else { (step as f64 / (total - 1) as f64).min(1.0) }
}

/// The learning rate of step number `step` (from 0) of `total`.
pub fn learning_rate(config: &RateConfig, step: u64, total: u64) -> f64 {
    let warmup = config.warmup_steps;
    if step < warmup {
        return config.start * (step + 1) as f64 / warmup as f64;
    }
    let part = progress(step - warmup, total.saturating_sub(warmup));
    let (start, end) = (config.start, config.end);
    match config.shape {
        Shape::Constant => start,
        Shape::Linear => start + (end - start) * part,
        Shape::Cosine => end + (start - end) * 0.5 * (1.0 + (std::f64::consts::PI * part).cos()),
        Shape::Exponential => start * (end / start).powf(part),
    }
}

/// λ of step number `step` (from 0) of `total`: the weight of the score against the outcome.
pub fn lambda(config: &LossConfig, step: u64, total: u64) -> f64 {
    config.lambda_start + (config.lambda_end - config.lambda_start) * progress(step, total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_start_and_end_where_they_should() {
        for shape in [Shape::Linear, Shape::Cosine, Shape::Exponential] {
            let config = RateConfig { start: 1e-2, end: 1e-4, shape, warmup_steps: 10 };
            let at = |step| learning_rate(&config, step, 110);
            assert!((at(4) - 0.5e-2).abs() < 1e-9, "{shape:?}");
            assert!((at(10) - 1e-2).abs() < 1e-9, "{shape:?}");
            assert!((at(109) - 1e-4).abs() < 1e-9, "{shape:?}");
            assert!((10..109).all(|step| at(step + 1) < at(step)), "{shape:?} falls");
        }
        let config = RateConfig { start: 1e-2, end: 1e-4, shape: Shape::Linear, warmup_steps: 0 };
        assert!((learning_rate(&config, 5, 11) - 0.505e-2).abs() < 1e-9, "half way of a line");
    }

    #[test]
    fn lambda_is_a_line() {
        let config = LossConfig { lambda_start: 1.0, lambda_end: 0.5, ..LossConfig::default() };
        for (step, expected) in [(0, 1.0), (5, 0.75), (10, 0.5), (99, 0.5)] {
            assert!((lambda(&config, step, 11) - expected).abs() < 1e-12);
        }
    }
}
