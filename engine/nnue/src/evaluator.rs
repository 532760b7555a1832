//! What a search holds: the net, the line's accumulators, the refresh cache.

use std::sync::Arc;

use nnue_format::quant::raw_to_cp;
use nnue_format::{Eval, View};
use xiangqi::{Color, PieceChange, Position};

use crate::cache::Cache;
use crate::kernels::Scratch;
use crate::net::EngineNet;
use crate::stack::Stack;

/// An accumulator farther back than this is not walked to: the refresh cache is nearer.
const REACH: usize = 8;

/// Evaluates the positions of a line. One per search thread.
///
/// ```text
/// reset(&position)            a new line
/// push(&change)  pop()        along the line, after make and unmake; null moves need neither
/// evaluate(&position)         the position the pushes have led to
/// ```
pub struct Evaluator {
    net: Arc<EngineNet>,
    stack: Stack,
    cache: Cache,
    scratch: Box<Scratch>,
}

impl Evaluator {
    /// An evaluator with an empty line.
    pub fn new(net: Arc<EngineNet>) -> Evaluator {
        Evaluator { stack: Stack::new(&net), cache: Cache::new(&net), scratch: Box::new(Scratch::new()), net }
    }

    /// The net.
    pub fn net(&self) -> &Arc<EngineNet> {
        &self.net
    }

    /// Begins a line at a position (which is looked at when it is evaluated, not here).
    pub fn reset(&mut self, _position: &Position) {
        self.stack.reset();
    }

    /// A move was made. Costs next to nothing: sums are brought up to date by `evaluate`.
    #[inline]
    pub fn push(&mut self, change: &PieceChange) {
        self.stack.push(&self.net, change);
    }

    /// The last pushed move was taken back.
    #[inline]
    pub fn pop(&mut self) {
        self.stack.pop();
    }

    /// The evaluation for the side to move in centipawn-like units, within ±[`xiangqi::Score::EVAL_LIMIT`].
    /// `position` must be the one that the line has led to.
    #[inline]
    pub fn evaluate(&mut self, position: &Position) -> i32 {
        self.evaluate_full(position).cp
    }

    /// The same with the raw output.
    pub fn evaluate_full(&mut self, position: &Position) -> Eval {
        self.update(position);
        let net = &*self.net;
        let side = position.side_to_move();
        let ply = self.stack.top();
        let [own, other] = [side, side.flip()].map(|color| &ply.accumulators[color.index()]);
        let stack = net.arch.stacks().choose(position);
        let sums = [own.sums(net), other.sums(net)];
        let mut raw =
            (net.kernels.forward)(&net.stacks[stack], sums, net.arch.activation(), &mut self.scratch);
        raw += own.psqt(net, stack) - other.psqt(net, stack);
        Eval { raw, cp: raw_to_cp(raw) }
    }

    /// Brings the sums up to date without evaluating: what [`Evaluator::evaluate`] does first.
    pub fn update(&mut self, position: &Position) {
        for perspective in Color::ALL {
            self.bring_up_to_date(position, perspective);
        }
    }

    /// Makes the top accumulator of a perspective that of `position`.
    fn bring_up_to_date(&mut self, position: &Position, perspective: Color) {
        let side = perspective.index();
        if self.stack.top().view[side].is_some() {
            return;
        }
        let net = &*self.net;
        let view = net.arch.features().view(position, perspective);
        match self.stack.find(side, view, REACH) {
            Some(distance) => advance(net, &mut self.stack, perspective, view, distance),
            None => {
                let fresh = self.cache.refresh(net, position, perspective, view);
                self.stack.top_mut().accumulators[side].copy_from(fresh);
            }
        }
        self.stack.top_mut().view[side] = Some(view);
    }
}

/// Sums up the last `distance` changes from the accumulator below them.
fn advance(net: &EngineNet, stack: &mut Stack, perspective: Color, view: View, distance: usize) {
    let features = net.arch.features();
    let base = (features.bucket(view) * features.slot_count()) as u32;
    let slots = features.slots();
    let index = |piece, square| slots.get(perspective, view.mirror, piece, square).map(|s| base + s as u32);
    let (mut add, mut sub) = (List::new(), List::new());
    let (source, changes, top) = stack.split(distance);
    for change in changes {
        add.push(index(change.piece, change.to));
        sub.push(index(change.piece, change.from));
        sub.push(change.captured.and_then(|piece| index(piece, change.to)));
    }
    let side = perspective.index();
    top.accumulators[side].update(net, Some(&source.accumulators[side]), add.as_slice(), sub.as_slice());
}

/// The features that at most [`REACH`] changes add or subtract.
struct List {
    features: [u32; 2 * REACH],
    len: usize,
}

impl List {
    #[inline]
    fn new() -> List {
        List { features: [0; 2 * REACH], len: 0 }
    }

    /// `None` is a piece without a feature.
    #[inline]
    fn push(&mut self, feature: Option<u32>) {
        if let Some(feature) = feature
            && let Some(place) = self.features.get_mut(self.len)
        {
            *place = feature;
            self.len += 1;
        }
    }

    #[inline]
    fn as_slice(&self) -> &[u32] {
        &self.features[..self.len]
    }
}
