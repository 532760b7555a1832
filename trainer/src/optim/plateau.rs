//! The best validation so far, and when a run should end for want of a better one.

use bincode::{Decode, Encode};

/// What a run remembers of its validations. Part of a checkpoint's state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub struct Plateau {
    /// Step and loss of the best validation.
    pub best: Option<(u64, f64)>,
    /// The loss that the next ones are held against: the last that was better by more than `delta`.
    mark: Option<f64>,
    /// Validations in a row that were not.
    pub stale: u64,
}

impl Plateau {
    /// Takes in a validation; is it the best so far? Losses that are no better by more than `delta` are counted.
    pub fn see(&mut self, step: u64, loss: f64, delta: f64) -> bool {
        if self.mark.is_none_or(|mark| loss < mark - delta) {
            (self.mark, self.stale) = (Some(loss), 0);
        } else {
            self.stale += 1;
        }
        let best = self.best.is_none_or(|(_, best)| loss < best);
        if best {
            self.best = Some((step, loss));
        }
        best
    }

    /// Should the run end? `patience` validations in a row brought nothing; 0 waits for ever.
    pub fn is_over(&self, patience: u64) -> bool {
        patience > 0 && self.stale >= patience
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_gains_are_kept_and_counted() {
        let mut plateau = Plateau::default();
        let losses = [1.0, 0.5, 0.495, 0.491, 0.496, 0.3, 0.4, 0.3];
        let seen: Vec<(bool, u64)> = losses
            .iter()
            .enumerate()
            .map(|(step, &loss)| (plateau.see(step as u64, loss, 0.01), plateau.stale))
            .collect();
        let expected =
            [(true, 0), (true, 0), (true, 1), (true, 2), (false, 3), (true, 0), (false, 1), (false, 2)];
        assert_eq!(seen, expected);
        assert_eq!(plateau.best, Some((5, 0.3)));
        assert!(plateau.is_over(2) && !plateau.is_over(3) && !plateau.is_over(0));
    }
}
