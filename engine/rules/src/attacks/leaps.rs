//! Knights and bishops: leaps that a piece on one of four neighbouring squares blocks.
//!
//! The four squares are gathered to four bits by one multiplication, and the leaps that they leave
//! open are looked up.

use super::{DIAGONAL, ORTHOGONAL, offset};
use crate::bitboard::Bitboard;
use crate::color::Color;
use crate::square::Square;
use crate::zones::home_half;

/// The board around a square, which is bit 10: at bits 1, 9, 11, 19 the neighbours beside it, at
/// 0, 2, 18, 20 those at its corners. Beyond the board's edge stand squares of other ranks, which
/// must not matter, and no leap ends.
#[inline]
fn window(square: Square, occupied: Bitboard) -> u32 {
    (occupied.bits() << 10 >> square.index()) as u32
}

/// Four neighbours of a square.
#[derive(Clone, Copy)]
struct Neighbours {
    window: u32,
    /// Takes the window's 16 cases to 16 different values of the product's upper four bits.
    factor: u32,
}

const BESIDE: Neighbours = Neighbours { window: 1 << 1 | 1 << 9 | 1 << 11 | 1 << 19, factor: 0x2010_0200 };
const AT_CORNERS: Neighbours = Neighbours { window: 1 | 1 << 2 | 1 << 18 | 1 << 20, factor: 0x2000_0400 };

impl Neighbours {
    /// Which of the neighbours are in use, as a number below 16.
    #[inline]
    const fn case(self, window: u32) -> usize {
        ((window & self.window).wrapping_mul(self.factor) >> 28) as usize
    }
}

/// The leaps of a square by case.
type Leaps = [[Bitboard; 16]; Square::COUNT];

#[derive(Clone, Copy)]
enum Gait {
    Knight,
    /// From the target: to the squares from which a knight attacks it.
    KnightBack,
    Bishop,
}

impl Gait {
    const fn neighbours(self) -> (Neighbours, [(i32, i32); 4]) {
        match self {
            Gait::Knight => (BESIDE, ORTHOGONAL),
            // The knight's leg is the target's neighbour at a corner, behind which stand two knights.
            Gait::KnightBack | Gait::Bishop => (AT_CORNERS, DIAGONAL),
        }
    }

    /// Where the leaps over the neighbour at this offset end.
    const fn ends(self, square: Square, (files, ranks): (i32, i32)) -> Bitboard {
        match self {
            Gait::Knight if files == 0 => offset(square, 1, 2 * ranks).or(offset(square, -1, 2 * ranks)),
            Gait::Knight => offset(square, 2 * files, 1).or(offset(square, 2 * files, -1)),
            Gait::KnightBack => offset(square, 2 * files, ranks).or(offset(square, files, 2 * ranks)),
            Gait::Bishop => offset(square, 2 * files, 2 * ranks),
        }
    }

    const fn table(self) -> Leaps {
        let (neighbours, offsets) = self.neighbours();
        let mut table = [[Bitboard::EMPTY; 16]; Square::COUNT];
        let mut i = 0;
        while i < Square::COUNT {
            let square = Square::known(i as u8);
            let mut blocked = 0;
            while blocked < 16 {
                let (mut window, mut set) = (0, Bitboard::EMPTY);
                let mut direction = 0;
                while direction < 4 {
                    let (files, ranks) = offsets[direction];
                    if blocked >> direction & 1 != 0 {
                        window |= 1 << (10 + 9 * ranks + files);
                    } else {
                        set = set.or(self.ends(square, (files, ranks)));
                    }
                    direction += 1;
                }
                table[i][neighbours.case(window)] = set;
                blocked += 1;
            }
            i += 1;
        }
        table
    }
}

static KNIGHT: Leaps = Gait::Knight.table();
static KNIGHT_BACK: Leaps = Gait::KnightBack.table();
static BISHOP: Leaps = Gait::Bishop.table();

/// Squares a knight on `square` attacks.
#[inline]
pub fn knight(square: Square, occupied: Bitboard) -> Bitboard {
    KNIGHT[square.index()][BESIDE.case(window(square, occupied))]
}

/// Squares from which a knight attacks `square`.
#[inline]
pub fn knight_attackers(square: Square, occupied: Bitboard) -> Bitboard {
    KNIGHT_BACK[square.index()][AT_CORNERS.case(window(square, occupied))]
}

/// The squares from which a knight attacks `square` on an empty board, and the legs that may stop it.
pub(crate) const fn knights_and_legs(square: Square) -> (Bitboard, Bitboard) {
    let (mut knights, mut legs) = (Bitboard::EMPTY, Bitboard::EMPTY);
    let mut i = 0;
    while i < DIAGONAL.len() {
        legs = legs.or(offset(square, DIAGONAL[i].0, DIAGONAL[i].1));
        knights = knights.or(Gait::KnightBack.ends(square, DIAGONAL[i]));
        i += 1;
    }
    (knights, legs)
}

/// Squares a bishop of `color` on `square` attacks.
#[inline]
pub fn bishop(color: Color, square: Square, occupied: Bitboard) -> Bitboard {
    BISHOP[square.index()][AT_CORNERS.case(window(square, occupied))] & home_half(color)
}
