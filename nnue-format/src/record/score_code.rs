//! How a score is coded: as the difference from a prediction, in a column chosen by how far the
//! predictions before were off.
//!
//! A game's scores are from the side to move's view, so the prediction is the last ply's score turned
//! round. (Measured on 30,000 positions of self-play at 5,000 nodes: 6.11 bits a score by order-0 entropy; the
//! same side's last score 6.65, the mean of both 6.38.) Where the last residuals were small the next is
//! likely small too: giving each degree of unrest its own column lets an order-0 entropy coder see that (5.79
//! bits), at the cost of one table look-up.

use xiangqi::Score;

use super::bytes::{unzigzag, zigzag};

/// How many columns of residuals there are, one per degree of unrest.
pub(crate) const CONTEXTS: usize = 8;

/// A residual's zigzag below this is its byte; from here up the byte is this and the rest is an escape.
pub(crate) const ESCAPE: u8 = 255;

/// Upper ends of the degrees of unrest, but for the last; unrest is the sum of the sizes of the last
/// [`WINDOW`] residuals.
const UNREST_ENDS: [u32; CONTEXTS - 1] = [6, 16, 32, 60, 120, 240, 800];

/// How many residuals make the unrest.
const WINDOW: usize = 4;

/// What a residual counts as before the game's first ones.
const FIRST_RESIDUAL: u32 = 16;

/// What the scores of a game seen so far say of the next one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScoreModel {
    /// The prediction: the last ply's score turned round, 0 at first.
    predicted: i32,
    /// Sizes of the last residuals, the last first.
    residuals: [u32; WINDOW],
}

impl ScoreModel {
    /// Before the first scored ply of a game.
    pub(crate) const fn new() -> ScoreModel {
        ScoreModel { predicted: 0, residuals: [FIRST_RESIDUAL; WINDOW] }
    }

    /// The column of the next residual, below [`CONTEXTS`].
    #[inline]
    pub(crate) fn context(&self) -> usize {
        let unrest = self.residuals.iter().sum::<u32>();
        UNREST_ENDS.iter().filter(|&&end| unrest >= end).count()
    }

    /// The zigzag of the residual of `score`.
    #[inline]
    pub(crate) const fn residual(&self, score: Score) -> u64 {
        zigzag(score.0 as i64 - self.predicted as i64)
    }

    /// The score with this residual; an error value beyond what a score can be is given as `Err`.
    #[inline]
    pub(crate) fn score(&self, zigzagged: u64) -> Result<Score, i64> {
        let found = unzigzag(zigzagged).saturating_add(i64::from(self.predicted));
        if found.unsigned_abs() <= Score::MATE as u64 { Ok(Score(found as i32)) } else { Err(found) }
    }

    /// Takes the ply's score into account.
    #[inline]
    pub(crate) const fn update(&mut self, score: Score) {
        let residual = (score.0 - self.predicted).unsigned_abs();
        let [a, b, c, _] = self.residuals;
        self.residuals = [residual, a, b, c];
        self.predicted = -score.0;
    }
}
