//! A sequential test looked at in batches steps over its bounds; correcting for that keeps the error
//! rates (Siegmund, *Sequential Analysis*, Cor. 8.33; fishtest's "dynamic overshoot correction").
//!
//! `δ` are the steps by which the ratio beats its lowest value so far (for the lower bound), or its
//! highest (for the upper one), from 0. The mean overshoot is `½ Σ δ² / Σ |δ|`.

use super::State;

/// The record steps of one test. Feed it the ratio after each batch, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Overshoot {
    lowest: Records,
    highest: Records,
}

/// Sums over the steps to new records on one side, distances from 0 upwards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Records {
    best: f64,
    sum: f64,
    squares: f64,
}

impl Records {
    fn push(&mut self, value: f64) {
        let step = value - self.best;
        if step > 0.0 {
            self.best = value;
            self.sum += step;
            self.squares += step * step;
        }
    }

    fn mean_overshoot(&self) -> f64 {
        if self.sum > 0.0 { 0.5 * self.squares / self.sum } else { 0.0 }
    }
}

/// Bounds drawn in by the expected overshoot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorrectedBounds {
    /// H0 is accepted below.
    pub lower: f64,
    /// H1 is accepted above.
    pub upper: f64,
}

impl CorrectedBounds {
    /// The state for a log-likelihood ratio.
    pub fn state(&self, llr: f64) -> State {
        match llr {
            llr if llr < self.lower => State::H0,
            llr if llr > self.upper => State::H1,
            _ => State::Continue,
        }
    }
}

impl Overshoot {
    /// Takes in the ratio after one more batch.
    pub fn push(&mut self, llr: f64) {
        self.lowest.push(-llr);
        self.highest.push(llr);
    }

    /// Wald's bounds, each drawn in by what was learnt on its side.
    pub fn correct(&self, (lower, upper): (f64, f64)) -> CorrectedBounds {
        CorrectedBounds {
            lower: lower + self.lowest.mean_overshoot(),
            upper: upper - self.highest.mean_overshoot(),
        }
    }
}
