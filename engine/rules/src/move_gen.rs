//! Moves by the pieces' own gait, without asking whether the king is left in check.
//!
//! The order is fixed: pieces in square order, destinations of each in square order. A move's rank
//! in that order, found without a list, is what records store.

use crate::attacks;
use crate::bitboard::Bitboard;
use crate::mv::{Move, MoveList};
use crate::position::Position;
use crate::square::Square;

impl Position {
    /// Where the piece on `from` can go by its own gait: quiet moves and captures, its own side's
    /// pieces left out. Empty for an empty square.
    #[inline]
    pub fn destinations(&self, from: Square) -> Bitboard {
        match self.piece_on(from) {
            Some(piece) => attacks::moves(piece, from, self.occupied()).without(self.color(piece.color())),
            None => Bitboard::EMPTY,
        }
    }

    /// Adds the moves to squares of `targets`, which has none under a piece of the side to move.
    #[inline(never)]
    fn generate(&self, list: &mut MoveList, targets: Bitboard) {
        let occupied = self.occupied();
        for from in self.color(self.side_to_move) {
            let Some(piece) = self.piece_on(from) else { continue };
            let to = attacks::moves(piece, from, occupied) & targets;
            to.for_each(|to| list.push(Move::new(from, to)));
        }
    }

    /// All pseudo-legal moves of the side to move, added to `list`.
    pub fn pseudo_legal(&self, list: &mut MoveList) {
        self.generate(list, !self.color(self.side_to_move));
    }

    /// The captures among them.
    pub fn pseudo_legal_captures(&self, list: &mut MoveList) {
        self.generate(list, self.color(!self.side_to_move));
    }

    /// The quiet moves among them.
    pub fn pseudo_legal_quiets(&self, list: &mut MoveList) {
        self.generate(list, !self.occupied());
    }

    /// Is this a move of the side to move by the piece's own gait?
    #[inline]
    pub fn is_pseudo_legal(&self, mv: Move) -> bool {
        self.color(self.side_to_move).has(mv.from()) && self.destinations(mv.from()).has(mv.to())
    }

    /// How many pseudo-legal moves there are.
    pub fn pseudo_legal_count(&self) -> u32 {
        self.color(self.side_to_move).map(|from| self.destinations(from).count()).sum()
    }

    /// The place of a move among the pseudo-legal ones, from 0; `None` if it is not one of them.
    pub fn move_rank(&self, mv: Move) -> Option<u32> {
        if !self.is_pseudo_legal(mv) {
            return None;
        }
        let own = self.color(self.side_to_move);
        let before = own & Bitboard::from_bits(Bitboard::of(mv.from()).bits() - 1);
        let earlier: u32 = before.map(|from| self.destinations(from).count()).sum();
        Some(earlier + self.destinations(mv.from()).count_below(mv.to()))
    }

    /// The pseudo-legal move with this rank; `None` if there are not so many.
    pub fn move_at_rank(&self, rank: u32) -> Option<Move> {
        let mut rest = rank;
        for from in self.color(self.side_to_move) {
            let to = self.destinations(from);
            let count = to.count();
            if rest < count {
                return to.nth(rest).map(|to| Move::new(from, to));
            }
            rest -= count;
        }
        None
    }
}
