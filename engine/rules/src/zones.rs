//! Where a piece may stand: the one home of these sets.

use crate::bitboard::Bitboard;
use crate::color::Color;
use crate::piece::{Piece, PieceKind};
use crate::square::Square;

const fn red_zone(kind: PieceKind) -> Bitboard {
    let mut set = Bitboard::EMPTY;
    let mut i = 0;
    while i < 90 {
        let square = Square::known(i);
        let (file, rank) = (square.file(), square.rank());
        let stands = match kind {
            PieceKind::King => file >= 3 && file <= 5 && rank <= 2,
            // The five points of the palace's diagonals.
            PieceKind::Advisor => {
                (file == 4 && rank == 1) || ((file == 3 || file == 5) && (rank == 0 || rank == 2))
            }
            // Seven points: c0 g0, a2 e2 i2, c4 g4.
            PieceKind::Bishop => match rank {
                0 | 4 => file == 2 || file == 6,
                2 => file == 0 || file == 4 || file == 8,
                _ => false,
            },
            PieceKind::Knight | PieceKind::Rook | PieceKind::Cannon => true,
            // Before the river only on the files it started on, after it anywhere.
            PieceKind::Pawn => rank >= 5 || (rank >= 3 && file.is_multiple_of(2)),
        };
        if stands {
            set = set.with(square);
        }
        i += 1;
    }
    set
}

const ZONES: [Bitboard; Piece::COUNT] = {
    let mut zones = [Bitboard::EMPTY; Piece::COUNT];
    let mut kind = 0;
    while kind < 7 {
        let red = red_zone(PieceKind::ALL[kind]);
        zones[kind] = red;
        let mut i = 0;
        while i < 90 {
            if red.has(Square::known(i)) {
                zones[kind + 7] = zones[kind + 7].with(Square::known(i).flip_rank());
            }
            i += 1;
        }
        kind += 1;
    }
    zones
};

/// The squares on which a piece can stand in any game: K 9, A 5, B 7, P 55, R/N/C 90.
#[inline]
pub const fn zone(piece: Piece) -> Bitboard {
    ZONES[piece.index()]
}

/// The five ranks on `color`'s side of the river.
#[inline]
pub const fn home_half(color: Color) -> Bitboard {
    match color {
        Color::Red => Bitboard::from_bits((1 << 45) - 1),
        Color::Black => Bitboard::from_bits(((1 << 45) - 1) << 45),
    }
}

/// Has a pawn of `color` on `square` crossed the river?
#[inline]
pub const fn has_crossed(color: Color, square: Square) -> bool {
    !home_half(color).has(square)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let expected = [9, 5, 7, 90, 90, 90, 55];
        for color in Color::ALL {
            for kind in PieceKind::ALL {
                assert_eq!(zone(Piece::new(color, kind)).count(), expected[kind.index()], "{color} {kind:?}");
            }
        }
    }
}
