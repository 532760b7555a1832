//! What a search evaluates positions with: the hand-crafted evaluation or a net.

pub mod hce;
mod source;

use xiangqi::{PieceChange, Position};

use hce::Hce;
pub use source::{SourceError, net_source, source_on};

/// What a searcher evaluates with. Cheap to clone; shared between threads.
#[derive(Clone, Debug, Default)]
pub enum EvalSource {
    /// The hand-crafted evaluation ("none" on command lines: no net).
    #[default]
    Hce,
}

/// The evaluation of one search thread, kept up to date along the line being searched.
pub struct Evaluation {
    hce: Hce,
}

impl Evaluation {
    /// An evaluation by `source`; call [`Evaluation::reset`] before anything else.
    pub fn new(source: &EvalSource) -> Evaluation {
        match source {
            EvalSource::Hce => Evaluation { hce: Hce::default() },
        }
    }

    /// Starts from a position.
    pub fn reset(&mut self, pos: &Position) {
        self.hce.reset(pos);
    }

    /// A move was made that changed this.
    #[inline]
    pub fn push(&mut self, change: &PieceChange) {
        self.hce.push(change);
    }

    /// The last move was taken back.
    #[inline]
    pub fn pop(&mut self) {
        self.hce.pop();
    }

    /// The score of the position the moves led to, side to move, in centipawns within ±20000.
    #[inline]
    pub fn evaluate(&mut self, pos: &Position) -> i32 {
        self.hce.evaluate(pos)
    }
}
