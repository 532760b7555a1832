//! The refresh cache: for every view the accumulator of the board last seen under it. A stale
//! accumulator is rebuilt from the difference of two boards instead of from nothing.

use nnue_format::View;
use xiangqi::{Bitboard, Color, Piece, PieceKind, Position};

use crate::net::EngineNet;
use crate::stack::Accumulator;

/// The board and the accumulator of one perspective under one view.
struct Entry {
    pieces: [Bitboard; Piece::COUNT],
    accumulator: Accumulator,
}

pub(crate) struct Cache {
    /// `[perspective][mirror][bucket]`.
    entries: Vec<Entry>,
    buckets: usize,
    /// Scratch: features to add, to subtract.
    add: Vec<u32>,
    sub: Vec<u32>,
}

impl Cache {
    pub(crate) fn new(net: &EngineNet) -> Cache {
        let buckets = net.arch.features().buckets();
        let entry =
            || Entry { pieces: [Bitboard::EMPTY; Piece::COUNT], accumulator: Accumulator::empty_board(net) };
        Cache {
            entries: (0..4 * buckets).map(|_| entry()).collect(),
            buckets,
            add: Vec::with_capacity(32),
            sub: Vec::with_capacity(32),
        }
    }

    /// The accumulator of a position.
    pub(crate) fn refresh(
        &mut self,
        net: &EngineNet,
        position: &Position,
        perspective: Color,
        view: View,
    ) -> &Accumulator {
        let features = net.arch.features();
        let bucket = features.bucket(view);
        let slots = features.slots();
        let base = (bucket * features.slot_count()) as u32;
        let place = (perspective.index() * 2 + usize::from(view.mirror)) * self.buckets + bucket;
        let entry = &mut self.entries[place];
        self.add.clear();
        self.sub.clear();
        for color in Color::ALL {
            for kind in PieceKind::ALL {
                let piece = Piece::new(color, kind);
                let now = position.pieces(color, kind);
                let before = std::mem::replace(&mut entry.pieces[piece.index()], now);
                let index = |square| slots.get(perspective, view.mirror, piece, square);
                let number = |slot| base + slot as u32;
                self.add.extend(now.without(before).filter_map(index).map(number));
                self.sub.extend(before.without(now).filter_map(index).map(number));
            }
        }
        entry.accumulator.update(net, None, &self.add, &self.sub);
        &entry.accumulator
    }
}
