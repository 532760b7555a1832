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
    [  0,   0,   0,  17,  20],
    [  0,   0,   0, -38,  -9],
    [  0,   0,   0, -50, -60],
    NONE,
    NONE,
    NONE,
    NONE,
    NONE,
    NONE,
    NONE,
];

#[rustfmt::skip]
const KING_EG: Half = [
    [  0,   0,   0,   1,   4],
    [  0,   0,   0,  -5,   9],
    [  0,   0,   0, -10,  -5],
    NONE,
    NONE,
    NONE,
    NONE,
    NONE,
    NONE,
    NONE,
];

#[rustfmt::skip]
const ADVISOR_MG: Half = [
    [  0,   0,   0,  -2,   0],
    [  0,   0,   0,   0,  19],
    [  0,   0,   0, -26,   0],
    NONE,
    NONE,
    NONE,
    NONE,
    NONE,
    NONE,
    NONE,
];

#[rustfmt::skip]
const ADVISOR_EG: Half = [
    [  0,   0,   0, -36,   0],
    [  0,   0,   0,   0, -13],
    [  0,   0,   0, -20,   0],
    NONE,
    NONE,
    NONE,
    NONE,
    NONE,
    NONE,
    NONE,
];

#[rustfmt::skip]
const BISHOP_MG: Half = [
    [  0,   0,  -7,   0,   0],
    NONE,
    [-19,   0,   0,   0,  14],
    NONE,
    [  0,   0, -18,   0,   0],
    NONE,
    NONE,
    NONE,
    NONE,
    NONE,
];

#[rustfmt::skip]
const BISHOP_EG: Half = [
    [  0,   0, -28,   0,   0],
    NONE,
    [-29,   0,   0,   0, -31],
    NONE,
    [  0,   0, -23,   0,   0],
    NONE,
    NONE,
    NONE,
    NONE,
    NONE,
];

#[rustfmt::skip]
const KNIGHT_MG: Half = [
    [-24, -37, -11, -18, -28],
    [-15,  -2, -12, -18, -33],
    [ -4, -17,  -5,   9,   3],
    [-13,  -1,  -4,  -3,  14],
    [ -3,  11,  22,  14,  18],
    [  8,  13,  17,  16,  16],
    [ 15,  17,  31,  34,  18],
    [  7,  17,  32,  36,  29],
    [  2,  15,  39,  15,   4],
    [-11,   4,   7,   2,  -8],
];

#[rustfmt::skip]
const KNIGHT_EG: Half = [
    [-26, -13, -11, -12, -16],
    [-20,  -4,  -6, -12,  -9],
    [-12,  -7,  -6,  10,   7],
    [ -3,   7,   5,   7,   8],
    [ -1,   9,  20,   8,  21],
    [ 11,  11,  22,  18,  16],
    [  9,  13,  11,  27,  22],
    [  7,  13,  25,  30,  30],
    [ -2,   6,  15,  14,   5],
    [-18,   4,   5,   5,  -4],
];

#[rustfmt::skip]
const ROOK_MG: Half = [
    [-22,   1,  -4,   8,  -8],
    [-14,  -3,  -3,  -6,   1],
    [ -8,  12,   6,  14,  -6],
    [ -8,  10,   5,   1,   7],
    [  4,  23,   9,  10,  17],
    [  8,  15,  14,   5,   9],
    [ 16,  16,  31,  12,  14],
    [  4,  18,  13,  13,  18],
    [  8,  28,  13,  20,  23],
    [  9,   9,   8,  11,  13],
];

#[rustfmt::skip]
const ROOK_EG: Half = [
    [-12,  -5,  -2,   2,   1],
    [ -8,   0,   0,  -8,   5],
    [ -3,   2,   4,   7,   6],
    [  0,  13,  15,   8,   8],
    [  5,   9,  15,  15,  16],
    [  6,  15,  12,  16,  24],
    [ 10,  17,  12,   7,  11],
    [  3,  15,  20,  16,  20],
    [  1,  11,   9,   9,  17],
    [  4,   5,  13,   5,  10],
];

#[rustfmt::skip]
const CANNON_MG: Half = [
    [ -2,  -1,  -8,   6,   8],
    [ -7,   9,  27,   4,  15],
    [  7,  -4,  16,  21,  34],
    [  2, -15,  -2,   4,   4],
    [  5,   9,  10,   1,  16],
    [-10,  -4,  -1, -12,  13],
    [ 10,  10, -11,   1,  -1],
    [  5,   0,  -6,  -1,  -9],
    [  0,  -8,  -6, -16, -10],
    [ 19,   3,   0, -16, -10],
];

#[rustfmt::skip]
const CANNON_EG: Half = [
    [  2,   8,   7,   9,  12],
    [  4,   2,   5,   1,   5],
    [  2,   5,   1,  11,  12],
    [  3,   3,   0,  -1,   1],
    [ -4,   2,  -2,   4,   4],
    [  0,   2,   3,  -6,   2],
    [ -1,  10,  -1,   1,  -5],
    [ -2,  -3,  -6,   0,  -2],
    [ -4,  -1,   2,  -7,  -5],
    [ -3,  -2,   4,  -8,  -4],
];

#[rustfmt::skip]
const PAWN_MG: Half = [
    NONE,
    NONE,
    NONE,
    [ -8,   0,  -2,   0,  23],
    [ -1,   0,   8,   0,  17],
    [ 27,  37,  44,  49,  46],
    [ 31,  46,  58,  60,  71],
    [ 32,  47,  71,  98,  95],
    [ 28,  48,  69, 111, 108],
    [ -8,   0,   5,  12,  14],
];

#[rustfmt::skip]
const PAWN_EG: Half = [
    NONE,
    NONE,
    NONE,
    [  1,   0,  15,   0, -10],
    [  3,   0,   4,   0,  20],
    [ 44,  59,  57,  60,  59],
    [ 53,  47,  51,  82,  80],
    [ 44,  51,  69,  96,  87],
    [ 32,  45,  55,  87,  86],
    [-15,  -4,  -3,  -3,   0],
];

const HALVES: [(&Half, &Half); 7] = [
    (&KING_MG, &KING_EG),
    (&ADVISOR_MG, &ADVISOR_EG),
    (&BISHOP_MG, &BISHOP_EG),
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
