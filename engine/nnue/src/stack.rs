//! Accumulators of the line being searched, one entry per ply, brought up to date lazily.

use xiangqi::PieceChange;

use nnue_format::View;

use crate::aligned::{Aligned, Ints, Words};
use crate::net::EngineNet;

/// PSQT sums: the columns of 16 stacks; those a net does not have are zero.
pub(crate) type PsqtSums = [Ints; 2];

/// Feature-transformer sums of one perspective.
#[derive(Clone)]
pub(crate) struct Accumulator {
    pub(crate) sums: Aligned<Words>,
    pub(crate) psqt: PsqtSums,
}

impl Accumulator {
    /// Of an empty board: the biases.
    pub(crate) fn empty_board(net: &EngineNet) -> Accumulator {
        Accumulator { sums: net.ft_biases.clone(), psqt: PsqtSums::default() }
    }

    /// `self = source + Σ add − Σ sub`; in place without a source.
    #[inline]
    pub(crate) fn update(&mut self, net: &EngineNet, source: Option<&Accumulator>, add: &[u32], sub: &[u32]) {
        if let Some(source) = source {
            self.psqt = source.psqt;
        }
        // First, so that the wait for these rows and the next ones overlaps.
        for &feature in add {
            for (sums, weights) in self.psqt.iter_mut().zip(net.psqt_row(feature)) {
                sums.0.iter_mut().zip(weights.0).for_each(|(sum, w)| *sum += w);
            }
        }
        for &feature in sub {
            for (sums, weights) in self.psqt.iter_mut().zip(net.psqt_row(feature)) {
                sums.0.iter_mut().zip(weights.0).for_each(|(sum, w)| *sum -= w);
            }
        }
        (net.kernels.update)(&net.ft, source.map(|s| &*s.sums), add, sub, &mut self.sums);
    }

    /// The PSQT sum for a stack.
    #[inline]
    pub(crate) fn psqt(&self, stack: usize) -> i32 {
        self.psqt[stack / 8].0[stack % 8]
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
