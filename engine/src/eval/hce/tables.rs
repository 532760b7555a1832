//! Material and piece-square values.
//!
//! The tables are written for Red, from its back rank (first row) to Black's (last row), files a
//! to e; files f to i mirror d to a, so that the evaluation is the same left and right by
//! construction. Ratios of the material values follow the usual ones of xiangqi books (a rook is worth two
//! cannons and a bit; knights gain and cannons lose as the board empties; a pawn doubles at the river).

use xiangqi::{Piece, PieceKind, Square};

use super::tapered::{Tapered, s};

/// Material by kind, in the order of [`PieceKind::ALL`]. The king's value cancels out.
pub const MATERIAL: [Tapered; 7] =
    [s(0, 0), s(105, 110), s(100, 105), s(280, 320), s(620, 650), s(320, 300), s(50, 70)];

/// How much of the middlegame each kind carries; [`FULL_PHASE`] in all.
pub const PHASE: [i32; 7] = [0, 0, 0, 2, 4, 2, 0];

/// The phase of the start position.
pub const FULL_PHASE: i32 = 2 * (2 * PHASE[3] + 2 * PHASE[4] + 2 * PHASE[5]);

type Half = [[i32; 5]; 10];

const NONE: [i32; 5] = [0; 5];

#[rustfmt::skip]
const KING_MG: Half = [
    [0, 0, 0,   4,  14],
    [0, 0, 0, -24, -14],
    [0, 0, 0, -48, -52],
    NONE, NONE, NONE, NONE, NONE, NONE, NONE,
];

#[rustfmt::skip]
const KING_EG: Half = [
    [0, 0, 0,   0,  8],
    [0, 0, 0,  -2,  4],
    [0, 0, 0, -10, -6],
    NONE, NONE, NONE, NONE, NONE, NONE, NONE,
];

#[rustfmt::skip]
const ADVISOR: Half = [
    [0, 0, 0,   0, 0],
    [0, 0, 0,   0, 8],
    [0, 0, 0, -10, 0],
    NONE, NONE, NONE, NONE, NONE, NONE, NONE,
];

#[rustfmt::skip]
const BISHOP: Half = [
    [  0, 0,  0, 0,  0],
    NONE,
    [-12, 0,  0, 0, 12],
    NONE,
    [  0, 0, -4, 0,  0],
    NONE, NONE, NONE, NONE, NONE,
];

#[rustfmt::skip]
const KNIGHT_MG: Half = [
    [-22, -14, -12, -14, -30],
    [-12,  -4,   0,  -6, -32],
    [ -8,  -2,   8,   4,  -2],
    [ -4,   4,   6,   8,   8],
    [  0,   8,  14,  14,  14],
    [  4,  14,  18,  20,  18],
    [  6,  22,  26,  28,  24],
    [  4,  22,  28,  34,  26],
    [  2,  12,  36,  18,   4],
    [ -8,   2,   6,   2,  -8],
];

#[rustfmt::skip]
const KNIGHT_EG: Half = [
    [-24, -16, -10, -10, -16],
    [-14,  -6,  -2,   0,  -8],
    [ -8,   0,   4,   6,   6],
    [ -2,   6,  10,  12,  12],
    [  2,  10,  14,  16,  16],
    [  6,  14,  20,  22,  22],
    [  6,  18,  24,  28,  28],
    [  4,  16,  26,  30,  28],
    [ -2,  10,  24,  18,  10],
    [-12,  -2,   4,   2,  -4],
];

#[rustfmt::skip]
const ROOK_MG: Half = [
    [-18,  -2,  -6,   2,  -8],
    [ -6,   2,  -4,   6,  -4],
    [ -4,   4,   0,   8,   2],
    [  0,   6,   2,   8,   6],
    [  4,  10,   8,  12,  12],
    [  6,  12,  10,  14,  12],
    [  8,  14,  10,  16,  16],
    [  6,  10,   8,  16,  18],
    [ 10,  14,  12,  22,  24],
    [  6,   8,   8,  16,  12],
];

#[rustfmt::skip]
const ROOK_EG: Half = [
    [-10,  -6,  -4,   0,   0],
    [ -6,  -2,   0,   4,   4],
    [ -4,   0,   2,   6,   8],
    [  0,   4,   4,   8,  10],
    [  4,   8,   8,  12,  14],
    [  6,  10,  10,  14,  16],
    [  6,  10,  10,  14,  16],
    [  6,  10,  10,  16,  18],
    [  8,  12,  12,  18,  20],
    [  2,   6,   6,  10,  10],
];

#[rustfmt::skip]
const CANNON_MG: Half = [
    [  0,   2,   4,   8,   8],
    [ -2,   2,   4,   4,   4],
    [  0,   0,   6,   6,  18],
    [ -2,   0,   0,   0,   6],
    [  0,   2,   6,   2,   8],
    [  0,   2,   0,   0,   8],
    [  2,   4,   2,  -2,  14],
    [  4,   4,   0,  -6,  -4],
    [  6,   6,   0,  -8,  -8],
    [ 12,  10,   2,  -8, -10],
];

#[rustfmt::skip]
const CANNON_EG: Half = [
    [  4,   4,   6,  10,  12],
    [  2,   2,   4,   8,   8],
    [  0,   0,   4,   6,  10],
    [  0,   0,   0,   2,   4],
    [  0,   0,   0,   2,   4],
    [  0,   0,   0,   0,   4],
    [ -2,   0,   0,   0,   4],
    [ -2,   0,   0,   0,   0],
    [ -2,   0,   0,  -4,  -4],
    [  0,   0,   0,  -4,  -4],
];

#[rustfmt::skip]
const PAWN_MG: Half = [
    NONE, NONE, NONE,
    [  0,   0,  -4,   0,   8],
    [  4,   0,  10,   0,  10],
    [ 22,  30,  40,  46,  48],
    [ 28,  44,  58,  70,  74],
    [ 30,  50,  70,  88,  94],
    [ 26,  48,  76, 100, 108],
    [ -8,   0,   6,  12,  14],
];

#[rustfmt::skip]
const PAWN_EG: Half = [
    NONE, NONE, NONE,
    [  0,   0,   0,   0,   4],
    [  8,   0,   8,   0,  10],
    [ 40,  46,  52,  58,  60],
    [ 44,  56,  66,  76,  80],
    [ 40,  54,  70,  86,  90],
    [ 30,  46,  66,  88,  94],
    [-16,  -8,   0,   8,  10],
];

const HALVES: [(&Half, &Half); 7] = [
    (&KING_MG, &KING_EG),
    (&ADVISOR, &ADVISOR),
    (&BISHOP, &BISHOP),
    (&KNIGHT_MG, &KNIGHT_EG),
    (&ROOK_MG, &ROOK_EG),
    (&CANNON_MG, &CANNON_EG),
    (&PAWN_MG, &PAWN_EG),
];

const fn build() -> [[Tapered; 90]; Piece::COUNT] {
    let mut table = [[Tapered::ZERO; 90]; Piece::COUNT];
    let mut kind = 0;
    while kind < 7 {
        let (mg, eg) = HALVES[kind];
        let mut square = 0;
        while square < 90 {
            let (rank, file) = (square / 9, square % 9);
            let column = if file > 4 { 8 - file } else { file };
            let value = s(MATERIAL[kind].mg + mg[rank][column], MATERIAL[kind].eg + eg[rank][column]);
            table[kind][square] = value;
            table[kind + 7][(9 - rank) * 9 + file] = s(-value.mg, -value.eg);
            square += 1;
        }
        kind += 1;
    }
    table
}

static PIECE_SQUARE: [[Tapered; 90]; Piece::COUNT] = build();

/// Material and place of a piece, seen from Red (Black's pieces count below zero).
#[inline]
pub fn piece_square(piece: Piece, square: Square) -> Tapered {
    PIECE_SQUARE[piece.index()][square.index()]
}

/// What a capture of this kind is worth to move ordering and exchanges: one number a kind, so that
/// an exchange does not depend on the phase.
pub const EXCHANGE_VALUE: [i32; 7] = [10_000, 110, 105, 300, 640, 310, 80];

/// [`EXCHANGE_VALUE`] of a pawn over the river.
const CROSSED_PAWN_VALUE: i32 = 120;

/// The exchange value of a piece on a square.
#[inline]
pub fn exchange_value(piece: Piece, square: Square) -> i32 {
    if piece.kind() == PieceKind::Pawn && xiangqi::zones::has_crossed(piece.color(), square) {
        CROSSED_PAWN_VALUE
    } else {
        EXCHANGE_VALUE[piece.kind().index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xiangqi::Color;

    #[test]
    fn both_colours_and_both_wings_have_the_same_table() {
        for kind in PieceKind::ALL {
            for square in Square::all() {
                let red = piece_square(Piece::new(Color::Red, kind), square);
                assert_eq!(red, -piece_square(Piece::new(Color::Black, kind), square.flip_rank()));
                assert_eq!(red, piece_square(Piece::new(Color::Red, kind), square.mirror_file()));
            }
        }
    }
}
