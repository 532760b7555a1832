//! Learning rate and λ, as pure functions of the global step, so that a resumed run goes on where it was.

use crate::config::{LossConfig, PieceConfig, RateConfig, Shape, Way};
use std::f64::consts::PI;

/// How long a run is. Fixed when it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Steps in all.
    pub steps: u64,
    /// Steps of an epoch; 0 where nothing counts in epochs.
    pub epoch: u64,
}

/// How far `step` is on the way through `total` steps, 0 at the first and 1 at the last.
fn progress(step: u64, total: u64) -> f64 {
    if total <= 1 { 0.0 } else { (step as f64 / (total - 1) as f64).min(1.0) }
}

/// From `start` to `end` in half a cosine wave.
fn cosine(start: f64, end: f64, part: f64) -> f64 {
    end + (start - end) * 0.5 * (1.0 + (PI * part).cos())
}

/// The learning rate of step number `step` (from 0).
pub fn learning_rate(config: &RateConfig, step: u64, extent: Extent) -> f64 {
    let pieces = config.all_pieces();
    let warmup = config.warmup_steps;
    if step < warmup {
        let first = pieces.first().map_or(0.0, |piece| piece_rate(piece, 0, extent.steps, extent.epoch));
        return first * (step + 1) as f64 / warmup as f64;
    }
    let mut start = warmup;
    let last = pieces.len() - 1;
    for (number, piece) in pieces.iter().enumerate() {
        let length = match piece.steps + piece.epochs * extent.epoch {
            0 => extent.steps.saturating_sub(start),
            length => length,
        };
        if step < start + length || number == last {
            // A last piece that is over stays where it ended.
            let within = (step - start).min(length.saturating_sub(1));
            return piece_rate(piece, within, length, extent.epoch);
        }
        start += length;
    }
    0.0
}

/// The rate at step `step` of a piece of `length` steps.
fn piece_rate(piece: &PieceConfig, step: u64, length: u64, epoch: u64) -> f64 {
    let (start, end) = (piece.start, piece.end);
    let part = progress(step, length);
    match piece.shape {
        Shape::Constant => start,
        Shape::Linear => start + (end - start) * part,
        Shape::Cosine => cosine(start, end, part),
        Shape::Exponential => start * (end / start).powf(part),
        Shape::Step => {
            let every = if piece.every_steps > 0 { piece.every_steps } else { piece.every_epochs * epoch };
            start * piece.gamma.powf((step / every.max(1)) as f64)
        }
        Shape::OneCycle if part < piece.rise => cosine(start * piece.rise_from, start, part / piece.rise),
        Shape::OneCycle => {
            cosine(start, end, (part - piece.rise) / (1.0 - piece.rise).max(f64::MIN_POSITIVE))
        }
    }
}

/// λ of step number `step` (from 0) of `total`: the weight of the score against the outcome.
pub fn lambda(config: &LossConfig, step: u64, total: u64) -> f64 {
    let (start, end, part) = (config.lambda_start, config.lambda_end, progress(step, total));
    match config.lambda_shape {
        Way::Linear => start + (end - start) * part,
        Way::Cosine => cosine(start, end, part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: Extent = Extent { steps: 110, epoch: 20 };

    fn near(found: f64, expected: f64, what: &str) {
        assert!((found - expected).abs() < 1e-9, "{what}: {found} for {expected}");
    }

    #[test]
    fn rates_start_and_end_where_they_should() {
        for shape in [Shape::Linear, Shape::Cosine, Shape::Exponential] {
            let config =
                RateConfig { start: 1e-2, end: 1e-4, shape, warmup_steps: 10, ..RateConfig::default() };
            let at = |step| learning_rate(&config, step, RUN);
            let name = format!("{shape:?}");
            near(at(4), 0.5e-2, &name);
            near(at(10), 1e-2, &name);
            near(at(109), 1e-4, &name);
            assert!((10..109).all(|step| at(step + 1) < at(step)), "{shape:?} falls");
        }
        let line = RateConfig { start: 1e-2, end: 1e-4, shape: Shape::Linear, ..RateConfig::default() };
        near(learning_rate(&line, 5, Extent { steps: 11, epoch: 0 }), 0.505e-2, "half way of a line");
    }

    #[test]
    fn steps_count_in_steps_or_epochs() {
        let by_steps = RateConfig {
            start: 1.0,
            shape: Shape::Step,
            gamma: 0.5,
            every_steps: 7,
            warmup_steps: 2,
            ..RateConfig::default()
        };
        let by_epochs = RateConfig { every_steps: 0, every_epochs: 2, warmup_steps: 0, ..by_steps.clone() };
        assert!(!by_steps.counts_epochs() && by_epochs.counts_epochs());
        for (step, of_steps, of_epochs) in [
            (0, 0.5, 1.0),
            (2, 1.0, 1.0),
            (8, 1.0, 1.0),
            (9, 0.5, 1.0),
            (39, 0.03125, 1.0),
            (40, 0.03125, 0.5),
        ] {
            near(learning_rate(&by_steps, step, RUN), of_steps, &format!("{step}, by steps"));
            near(learning_rate(&by_epochs, step, RUN), of_epochs, &format!("{step}, by epochs"));
        }
    }

    #[test]
    fn one_cycle_rises_and_falls() {
        let config = RateConfig {
            start: 1.0,
            end: 0.001,
            shape: Shape::OneCycle,
            rise: 0.25,
            rise_from: 0.1,
            ..RateConfig::default()
        };
        let at = |step| learning_rate(&config, step, Extent { steps: 101, epoch: 0 });
        near(at(0), 0.1, "begins");
        near(at(25), 1.0, "is highest after a quarter");
        near(at(100), 0.001, "ends");
        assert!((0..25).all(|step| at(step + 1) > at(step)) && (25..100).all(|step| at(step + 1) < at(step)));
        let falls = RateConfig { rise: 0.0, ..config.clone() };
        near(learning_rate(&falls, 0, RUN), 1.0, "no rise");
        let rises = RateConfig { rise: 1.0, ..config };
        near(learning_rate(&rises, 109, RUN), 1.0, "no fall");
    }

    #[test]
    fn pieces_follow_each_other() {
        let constant =
            PieceConfig { steps: 10, shape: Shape::Constant, start: 1.0, ..PieceConfig::default() };
        let line =
            PieceConfig { epochs: 1, shape: Shape::Linear, start: 0.8, end: 0.4, ..PieceConfig::default() };
        let rest = PieceConfig { start: 0.2, end: 0.1, ..PieceConfig::default() };
        let pieces = vec![constant, line.clone(), rest];
        let config = RateConfig { warmup_steps: 5, pieces, ..RateConfig::default() };
        let at = |step| learning_rate(&config, step, RUN);
        for (step, rate) in
            [(0, 0.2), (4, 1.0), (5, 1.0), (14, 1.0), (15, 0.8), (34, 0.4), (35, 0.2), (109, 0.1)]
        {
            near(at(step), rate, &format!("step {step}"));
        }
        let ended = RateConfig { pieces: vec![line], ..RateConfig::default() };
        near(learning_rate(&ended, 80, RUN), 0.4, "a last piece that is over");
    }

    #[test]
    fn lambda_goes_as_it_should() {
        let config = LossConfig { lambda_start: 1.0, lambda_end: 0.5, ..LossConfig::default() };
        for (step, expected) in [(0, 1.0), (5, 0.75), (10, 0.5), (99, 0.5)] {
            near(lambda(&config, step, 11), expected, "a line");
        }
        let wave = LossConfig { lambda_shape: Way::Cosine, ..config };
        // 0.5 + 0.25 (1 + cos(π / 4)) a quarter of the way.
        for (step, expected) in [(0, 1.0), (2, 0.926_776_695), (4, 0.75), (8, 0.5)] {
            near(lambda(&wave, step, 9), expected, "a wave");
        }
    }
}
