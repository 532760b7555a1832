//! When a side sees the board with left and right swapped: one rule for all mirrored sets.
//!
//! 1. Own king on files a–d: no. On files f–i: yes. So an own king is seen on d or e.
//! 2. Own king on file e: the enemy king's file decides in the same way.
//! 3. Both kings on file e: the wings are compared, and the heavier one is seen on the left. In
//!    the order R, C, N, P, B, A and for each kind own pieces before the enemy's, the *numbers* of
//!    pieces on files a–d and on files f–i are compared; the first difference decides.
//! 4. All numbers equal: in the same order the *squares* are compared. Take the rank farthest from
//!    the own side on which left wing and mirrored right wing differ; the wing with the piece nearer
//!    to file e on it (the greatest file of a–d where only one of them has a piece) is the heavier.
//! 5. No difference: the board is its own mirror image, and it does not matter (no).
//!
//! Mirroring a position turns every answer of 1–4 round, so a position and its mirror image
//! have the same features: the evaluation is exactly symmetric.

use xiangqi::{Bitboard, Color, PieceKind, Position, Square};

/// The rule above in short, for the ids of the sets that use it.
pub const RULE: &str = "mirror: own king f-i; else own e and enemy king f-i; else both e: \
    counts on a-d < f-i by R C N P B A own enemy; else squares, far rank first, inner file first";

/// The order in which kinds are compared.
pub const ORDER: [PieceKind; 6] = [
    PieceKind::Rook,
    PieceKind::Cannon,
    PieceKind::Knight,
    PieceKind::Pawn,
    PieceKind::Bishop,
    PieceKind::Advisor,
];

const fn files(from: u8, to: u8) -> Bitboard {
    let mut set = Bitboard::EMPTY;
    let mut file = from;
    while file <= to {
        set = set.or(Bitboard::file(file));
        file += 1;
    }
    set
}

const LEFT: Bitboard = files(0, 3);
const RIGHT: Bitboard = files(5, 8);

/// Does `perspective` see this position mirrored?
pub fn mirrored(position: &Position, perspective: Color) -> bool {
    let own = position.king(perspective).file();
    if own != MIDDLE {
        return own > MIDDLE;
    }
    let enemy = position.king(perspective.flip()).file();
    if enemy != MIDDLE {
        return enemy > MIDDLE;
    }
    right_is_heavier(position, perspective)
}

const MIDDLE: u8 = 4;

/// Steps 3 to 5.
fn right_is_heavier(position: &Position, perspective: Color) -> bool {
    let sets = || {
        ORDER.into_iter().flat_map(move |kind| {
            [position.pieces(perspective, kind), position.pieces(perspective.flip(), kind)]
        })
    };
    for set in sets() {
        let (left, right) = ((set & LEFT).count(), (set & RIGHT).count());
        if left != right {
            return right > left;
        }
    }
    for set in sets() {
        if let Some(right) = compare_squares(set, perspective) {
            return right;
        }
    }
    false
}

/// Step 4 for one set of pieces: `Some(is the right wing heavier)`, `None` if it is symmetric.
fn compare_squares(set: Bitboard, perspective: Color) -> Option<bool> {
    let left = set & LEFT;
    let right = mirror_right_wing(set);
    let difference = left ^ right;
    let lowest = difference.first()?;
    let farthest = match perspective {
        Color::Red => Square::from_index(127 - difference.bits().leading_zeros() as usize)?,
        Color::Black => lowest,
    };
    let row = difference & Bitboard::rank(farthest.rank());
    // Files a to d of one rank: the greatest bit is nearest to file e.
    let inner = 127 - row.bits().leading_zeros();
    Some((right.bits() >> inner) & 1 != 0)
}

/// The right wing mirrored onto files a–d.
const fn mirror_right_wing(set: Bitboard) -> Bitboard {
    const fn wing(bits: u128, from: u8) -> u128 {
        // File `from` to file `8 - from`: down by `2 * from - 8` bits.
        (bits & Bitboard::file(from).bits()) >> (2 * from - 8)
    }
    let bits = set.bits();
    Bitboard::from_bits(wing(bits, 5) | wing(bits, 6) | wing(bits, 7) | wing(bits, 8))
}
