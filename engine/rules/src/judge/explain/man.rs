//! A man on the board: a piece, where it stands, and where it stood when the story began.

use crate::bitboard::Bitboard;
use crate::position::Position;
use crate::{Piece, Square};

/// A piece and its square.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Man {
    /// What it is.
    pub piece: Piece,
    /// Where it stands.
    pub square: Square,
    /// Where it stood before the first of the explained moves: its name through all of them.
    pub home: Square,
}

/// Where the man on each square stood at first.
pub(super) struct Homes([Square; Square::COUNT]);

impl Homes {
    pub(super) fn new() -> Homes {
        Homes(std::array::from_fn(|i| Square::known(i as u8)))
    }

    /// The man on `from` goes to `to`.
    pub(super) fn go(&mut self, from: Square, to: Square) {
        self.0[to.index()] = self.0[from.index()];
    }

    /// The men on these squares; empty ones are left out.
    pub(super) fn men(&self, position: &Position, squares: Bitboard) -> Vec<Man> {
        squares.filter_map(|square| self.man(position, square)).collect()
    }

    pub(super) fn man(&self, position: &Position, square: Square) -> Option<Man> {
        position.piece_on(square).map(|piece| Man { piece, square, home: self.0[square.index()] })
    }
}
