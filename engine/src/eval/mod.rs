//! What a search evaluates positions with: the hand-crafted evaluation or a net.

pub mod embedded;
pub mod hce;
mod source;

use std::sync::Arc;

use nnue_infer::{EngineNet, Evaluator};
use xiangqi::{PieceChange, Position};

use hce::Hce;
pub use source::{
    LoadedNet, NetBytes, SourceError, backend_named, is_none, load_net, net_source, read_net, source_on,
};

/// What a searcher evaluates with. Cheap to clone; shared between threads.
#[derive(Clone, Default)]
pub enum EvalSource {
    /// The hand-crafted evaluation ("none" on command lines: no net).
    #[default]
    Hce,
    /// A net on a backend.
    Net(Arc<EngineNet>),
}

/// The evaluation of one search thread, kept up to date along the line being searched.
pub struct Evaluation(Kind);

enum Kind {
    Hce(Hce),
    Net(Box<Evaluator>),
}

impl Evaluation {
    /// An evaluation by `source`; call [`Evaluation::reset`] before anything else.
    pub fn new(source: &EvalSource) -> Evaluation {
        Evaluation(match source {
            EvalSource::Hce => Kind::Hce(Hce::default()),
            EvalSource::Net(net) => Kind::Net(Box::new(Evaluator::new(Arc::clone(net)))),
        })
    }

    /// Starts from a position.
    pub fn reset(&mut self, pos: &Position) {
        match &mut self.0 {
            Kind::Hce(hce) => hce.reset(pos),
            Kind::Net(net) => net.reset(pos),
        }
    }

    /// A move was made that changed this.
    #[inline]
    pub fn push(&mut self, change: &PieceChange) {
        match &mut self.0 {
            Kind::Hce(hce) => hce.push(change),
            Kind::Net(net) => net.push(change),
        }
    }

    /// The last move was taken back.
    #[inline]
    pub fn pop(&mut self) {
        match &mut self.0 {
            Kind::Hce(hce) => hce.pop(),
            Kind::Net(net) => net.pop(),
        }
    }

    /// The score of the position the moves led to, side to move, in centipawns within ±20000.
    #[inline]
    pub fn evaluate(&mut self, pos: &Position) -> i32 {
        match &mut self.0 {
            Kind::Hce(hce) => hce.evaluate(pos),
            Kind::Net(net) => net.evaluate(pos),
        }
    }

    /// `(raw, cp)` of the position the moves led to: the net's own output and centipawns. The hand-crafted evaluation
    /// has no other unit than centipawns.
    pub fn evaluate_raw(&mut self, pos: &Position) -> (i32, i32) {
        match &mut self.0 {
            Kind::Hce(hce) => {
                let value = hce.evaluate(pos);
                (value, value)
            }
            Kind::Net(net) => {
                let eval = net.evaluate_full(pos);
                (eval.raw, eval.cp)
            }
        }
    }
}
