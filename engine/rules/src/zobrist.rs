//! Keys of positions: 64-bit Zobrist numbers.

use crate::piece::Piece;
use crate::square::Square;

/// The numbers come from SplitMix64 with this seed, so that keys are the same in every build.
const SEED: u64 = 0x6368_7568_655f_3930; // "chuhe_90"

/// SplitMix64 (Steele, Lea, Flood 2014; public domain reference by S. Vigna).
const fn splitmix(state: u64) -> (u64, u64) {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (state, z ^ (z >> 31))
}

struct Keys {
    pieces: [[u64; Square::COUNT]; Piece::COUNT],
    side: u64,
}

static KEYS: Keys = {
    let mut keys = Keys { pieces: [[0; Square::COUNT]; Piece::COUNT], side: 0 };
    let mut state = SEED;
    let mut piece = 0;
    while piece < Piece::COUNT {
        let mut square = 0;
        while square < Square::COUNT {
            (state, keys.pieces[piece][square]) = splitmix(state);
            square += 1;
        }
        piece += 1;
    }
    (_, keys.side) = splitmix(state);
    keys
};

/// The number of a piece on a square.
#[inline]
pub(crate) fn piece(piece: Piece, square: Square) -> u64 {
    KEYS.pieces[piece.index()][square.index()]
}

/// The number of Black's being to move.
#[inline]
pub(crate) fn side() -> u64 {
    KEYS.side
}
