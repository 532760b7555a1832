//! How a score is coded: as the difference from a prediction, in a column chosen by how far the
//! predictions before were off.
//!
//! A game's scores are from the side to move's view, so they change sign from ply to ply. The scores of
//! the two plies before promise one each: `-s[t-1]` (the other side's view, turned round) and `s[t-2]` (the
//! same side's view). The prediction lies between them. Where the last residuals were small the next
//! is likely small too; giving each degree of unrest its own column lets an order-0 entropy coder
//! see that, at the cost of one table look-up.

use xiangqi::Score;

use super::bytes::{unzigzag, zigzag};

/// How many columns of residuals there are, one per degree of unrest.
pub(crate) const CONTEXTS: usize = 8;

/// A residual's zigzag below this is its byte; from here up the byte is this and the rest is an escape.
pub(crate) const ESCAPE: u8 = 255;

/// Upper ends of the degrees of unrest (sums of the sizes of the last two residuals), but for the last.
const UNREST_ENDS: [u32; CONTEXTS - 1] = [3, 8, 16, 30, 60, 120, 400];

/// What the scores of a game seen so far say of the next one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScoreModel {
    /// Scores one and two plies back, as that ply's side to move saw them.
    last: [i32; 2],
    /// Scores seen, up to two.
    seen: u8,
    /// Sizes of the residuals one and two plies back.
    residual: [u32; 2],
}

impl ScoreModel {
    /// Before the first scored ply of a game.
    pub(crate) const fn new() -> ScoreModel {
        ScoreModel { last: [0; 2], seen: 0, residual: [16; 2] }
    }

    /// The predicted score of the next ply.
    #[inline]
    pub(crate) const fn predict(&self) -> i32 {
        match self.seen {
            0 => 0,
            1 => -self.last[0],
            _ => (self.last[1] - self.last[0]) >> 1,
        }
    }

    /// The column of the next residual, below [`CONTEXTS`].
    #[inline]
    pub(crate) fn context(&self) -> usize {
        let unrest = self.residual[0] + self.residual[1];
        UNREST_ENDS.iter().filter(|&&end| unrest >= end).count()
    }

    /// The zigzag of the residual of `score`.
    #[inline]
    pub(crate) const fn residual(&self, score: Score) -> u64 {
        zigzag(score.0 as i64 - self.predict() as i64)
    }

    /// The score with this residual; an error value beyond what a score can be is given as `Err`.
    #[inline]
    pub(crate) fn score(&self, zigzagged: u64) -> Result<Score, i64> {
        let found = unzigzag(zigzagged).saturating_add(i64::from(self.predict()));
        if found.unsigned_abs() <= Score::MATE as u64 { Ok(Score(found as i32)) } else { Err(found) }
    }

    /// Takes the ply's score into account.
    #[inline]
    pub(crate) const fn update(&mut self, score: Score) {
        let residual = (score.0 - self.predict()).unsigned_abs();
        self.residual = [residual, self.residual[0]];
        self.last = [score.0, self.last[0]];
        if self.seen < 2 {
            self.seen += 1;
        }
    }
}
