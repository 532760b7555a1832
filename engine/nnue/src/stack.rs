//! Accumulators of the line being searched, one entry per ply, brought up to date lazily.

use xiangqi::PieceChange;

use nnue_format::View;

use crate::aligned::Words;
use crate::net::EngineNet;

/// Feature-transformer sums of one perspective, and its PSQT sums where the net has them: a row of
/// [`FeatureRows`](crate::net::FeatureRows).
#[derive(Clone)]
pub(crate) struct Accumulator(Vec<Words>);

impl Accumulator {
    /// Of an empty board: the biases.
    pub(crate) fn empty_board(net: &EngineNet) -> Accumulator {
        Accumulator(net.empty_board.clone())
    }

    /// `self = source + Σ add − Σ sub`; in place without a source.
    #[inline]
    pub(crate) fn update(&mut self, net: &EngineNet, source: Option<&Accumulator>, add: &[u32], sub: &[u32]) {
        (net.kernels.update)(&net.ft, source.map(|s| &*s.0), add, sub, &mut self.0);
    }

    /// Makes this what `source` is; both belong to one net.
    #[inline]
    pub(crate) fn copy_from(&mut self, source: &Accumulator) {
        self.0.copy_from_slice(&source.0);
    }

    /// The feature-transformer sums.
    #[inline]
    pub(crate) fn sums(&self, net: &EngineNet) -> &[Words] {
        &self.0[..net.ft.sums()]
    }

    /// The PSQT sum for a stack; 0 where the net has none.
    #[inline]
    pub(crate) fn psqt(&self, net: &EngineNet, stack: usize) -> i32 {
        self.0.get(net.ft.sums()).map_or(0, |line| line.int(stack))
    }
}

/// What one ply changed, and the accumulators after it as far as they are known.
#[derive(Clone)]
pub(crate) struct Ply {
    /// `None` at the bottom.
    pub(crate) change: Option<PieceChange>,
    /// Per perspective: the view under which the accumulator is summed; `None`: not computed.
    pub(crate) view: [Option<View>; 2],
    pub(crate) accumulators: [Accumulator; 2],
}

/// The stack. Entries past the top stay allocated for the next line.
pub(crate) struct Stack {
    plies: Vec<Ply>,
    top: usize,
}

impl Stack {
    pub(crate) fn new(net: &EngineNet) -> Stack {
        Stack { plies: vec![Stack::fresh(net)], top: 0 }
    }

    fn fresh(net: &EngineNet) -> Ply {
        let empty = Accumulator::empty_board(net);
        Ply { change: None, view: [None; 2], accumulators: [empty.clone(), empty] }
    }

    pub(crate) fn reset(&mut self) {
        self.top = 0;
        self.plies[0].view = [None; 2];
    }

    #[inline]
    pub(crate) fn push(&mut self, net: &EngineNet, change: &PieceChange) {
        self.top += 1;
        if self.top == self.plies.len() {
            self.plies.push(Stack::fresh(net));
        }
        let ply = &mut self.plies[self.top];
        ply.change = Some(*change);
        ply.view = [None; 2];
    }

    /// Takes back the last push; nothing happens at the bottom.
    #[inline]
    pub(crate) fn pop(&mut self) {
        self.top = self.top.saturating_sub(1);
    }

    #[inline]
    pub(crate) fn top(&self) -> &Ply {
        &self.plies[self.top]
    }

    #[inline]
    pub(crate) fn top_mut(&mut self) -> &mut Ply {
        &mut self.plies[self.top]
    }

    /// How many plies below the top the nearest accumulator of this perspective lies, if it is
    /// summed under `view` and at most `reach` plies away.
    #[inline]
    pub(crate) fn find(&self, perspective: usize, view: View, reach: usize) -> Option<usize> {
        let lowest = self.top.saturating_sub(reach);
        let known = (lowest..=self.top).rev().find(|&i| self.plies[i].view[perspective].is_some())?;
        (self.plies[known].view[perspective] == Some(view)).then_some(self.top - known)
    }

    /// The changes of the last `distance` plies, oldest first, with the ply below them and the
    /// top to write to.
    #[inline]
    pub(crate) fn split(&mut self, distance: usize) -> (&Ply, impl Iterator<Item = PieceChange>, &mut Ply) {
        let (below, rest) = self.plies.split_at_mut(self.top);
        let source = below.len() - distance;
        let top = &mut rest[0];
        let last = top.change;
        let changes = below[source + 1..].iter().filter_map(|ply| ply.change).chain(last);
        (&below[source], changes, top)
    }
}
