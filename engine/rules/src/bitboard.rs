//! Sets of squares: 90 bits in a `u128`.

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};

use crate::square::Square;

/// A set of squares; bit `i` is the square with index `i`. Bits 90 and up are always zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Bitboard(u128);

impl Bitboard {
    /// No square.
    pub const EMPTY: Bitboard = Bitboard(0);
    /// All 90 squares.
    pub const FULL: Bitboard = Bitboard((1 << 90) - 1);

    /// The set with these bits; bits past the board are dropped.
    #[inline]
    pub const fn from_bits(bits: u128) -> Bitboard {
        Bitboard(bits & Bitboard::FULL.0)
    }

    /// The bits.
    #[inline]
    pub const fn bits(self) -> u128 {
        self.0
    }

    /// The set of one square.
    #[inline]
    pub const fn of(square: Square) -> Bitboard {
        Bitboard(1 << square.index())
    }

    /// The squares of a rank (0..10).
    #[inline]
    pub const fn rank(rank: u8) -> Bitboard {
        Bitboard((0x1ff << (rank as u32 * 9)) & Bitboard::FULL.0)
    }

    /// The squares of a file (0..9).
    #[inline]
    pub const fn file(file: u8) -> Bitboard {
        let mut bits = 0;
        let mut rank = 0;
        while rank < 10 {
            bits |= 1 << (rank * 9 + file as u32);
            rank += 1;
        }
        Bitboard(bits)
    }

    /// Is the square in the set?
    #[inline]
    pub const fn has(self, square: Square) -> bool {
        (self.0 >> square.index()) & 1 != 0
    }

    /// Is the set empty?
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Has the set more than one square?
    #[inline]
    pub const fn more_than_one(self) -> bool {
        self.0 & self.0.wrapping_sub(1) != 0
    }

    /// How many squares the set has.
    #[inline]
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Union.
    #[inline]
    pub const fn or(self, other: Bitboard) -> Bitboard {
        Bitboard(self.0 | other.0)
    }

    /// Intersection.
    #[inline]
    pub const fn and(self, other: Bitboard) -> Bitboard {
        Bitboard(self.0 & other.0)
    }

    /// The squares of `self` that are not in `other`.
    #[inline]
    pub const fn without(self, other: Bitboard) -> Bitboard {
        Bitboard(self.0 & !other.0)
    }

    /// The set with one square added.
    #[inline]
    pub const fn with(self, square: Square) -> Bitboard {
        Bitboard(self.0 | 1 << square.index())
    }

    /// The square with the lowest index.
    #[inline]
    pub const fn first(self) -> Option<Square> {
        if self.0 == 0 { None } else { Some(Square::known(self.0.trailing_zeros() as u8)) }
    }

    /// How many squares of the set have a lower index than `square`.
    #[inline]
    pub const fn count_below(self, square: Square) -> u32 {
        (self.0 & ((1 << square.index()) - 1)).count_ones()
    }

    /// The square that has `n` squares of the set below it; `None` if there are too few.
    pub const fn nth(self, n: u32) -> Option<Square> {
        let mut rest = self.0;
        let mut i = 0;
        while i < n && rest != 0 {
            rest &= rest - 1;
            i += 1;
        }
        Bitboard(rest).first()
    }
}

impl Iterator for Bitboard {
    type Item = Square;

    #[inline]
    fn next(&mut self) -> Option<Square> {
        let square = self.first()?;
        self.0 &= self.0 - 1;
        Some(square)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count() as usize, Some(self.count() as usize))
    }

    /// Word by word: half the work of `next`.
    #[inline]
    fn fold<B, F: FnMut(B, Square) -> B>(self, init: B, mut f: F) -> B {
        let mut folded = init;
        for (word, base) in [(self.0 as u64, 0), ((self.0 >> 64) as u64, 64)] {
            let mut rest = word;
            while rest != 0 {
                folded = f(folded, Square::known(base + rest.trailing_zeros() as u8));
                rest &= rest - 1;
            }
        }
        folded
    }
}

impl FromIterator<Square> for Bitboard {
    fn from_iter<T: IntoIterator<Item = Square>>(iter: T) -> Bitboard {
        iter.into_iter().fold(Bitboard::EMPTY, Bitboard::with)
    }
}

macro_rules! bit_op {
    ($op:ident, $f:ident, $assign:ident, $g:ident, $t:tt) => {
        impl $op for Bitboard {
            type Output = Bitboard;
            #[inline]
            fn $f(self, other: Bitboard) -> Bitboard {
                Bitboard(self.0 $t other.0)
            }
        }
        impl $assign for Bitboard {
            #[inline]
            fn $g(&mut self, other: Bitboard) {
                self.0 = self.0 $t other.0;
            }
        }
    };
}
bit_op!(BitAnd, bitand, BitAndAssign, bitand_assign, &);
bit_op!(BitOr, bitor, BitOrAssign, bitor_assign, |);
bit_op!(BitXor, bitxor, BitXorAssign, bitxor_assign, ^);

impl Not for Bitboard {
    type Output = Bitboard;

    #[inline]
    fn not(self) -> Bitboard {
        Bitboard(!self.0 & Bitboard::FULL.0)
    }
}
