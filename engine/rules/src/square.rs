//! Squares of the 9×10 board.

use std::fmt;

use crate::color::Color;

/// A square, `rank * 9 + file`, 0..90. File a..i is 0..9 and rank 0 is Red's back rank:
///
/// ```text
/// rank 9  a9 b9 … i9   (81..90)   Black's back rank
///  …
/// rank 0  a0 b0 … i0   ( 0.. 9)   Red's back rank
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Square(u8);

impl Square {
    /// Squares on the board.
    pub const COUNT: usize = 90;
    /// Files, a to i.
    pub const FILES: u8 = 9;
    /// Ranks, 0 to 9.
    pub const RANKS: u8 = 10;

    /// The square with this index; `None` from 90 up.
    #[inline]
    pub const fn from_index(index: usize) -> Option<Square> {
        if index < Square::COUNT { Some(Square(index as u8)) } else { None }
    }

    /// The square at a file (0..9) and rank (0..10); `None` off the board.
    #[inline]
    pub const fn at(file: u8, rank: u8) -> Option<Square> {
        if file < 9 && rank < 10 { Some(Square(rank * 9 + file)) } else { None }
    }

    /// For indices known to be below 90: bits of a bitboard, loops over `0..90`.
    #[inline]
    pub(crate) const fn known(index: u8) -> Square {
        debug_assert!(index < 90);
        Square(index)
    }

    /// All squares in index order.
    pub fn all() -> impl DoubleEndedIterator<Item = Square> + ExactSizeIterator {
        (0..90u8).map(Square)
    }

    /// 0..90.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// 0..9, file a is 0.
    #[inline]
    pub const fn file(self) -> u8 {
        self.0 % 9
    }

    /// 0..10, Red's back rank is 0.
    #[inline]
    pub const fn rank(self) -> u8 {
        self.0 / 9
    }

    /// The square seen from the other side of the board along the ranks: a0 ↔ a9.
    #[inline]
    pub const fn flip_rank(self) -> Square {
        Square((9 - self.rank()) * 9 + self.file())
    }

    /// Left-right mirror: a0 ↔ i0.
    #[inline]
    pub const fn mirror_file(self) -> Square {
        Square(self.rank() * 9 + 8 - self.file())
    }

    /// The square as `color` sees it: its own back rank becomes rank 0, files stay.
    #[inline]
    pub const fn relative_to(self, color: Color) -> Square {
        match color {
            Color::Red => self,
            Color::Black => self.flip_rank(),
        }
    }

    /// Reads `a0` … `i9` (lower or upper case).
    pub const fn parse(file: u8, rank: u8) -> Option<Square> {
        let file = file.to_ascii_lowercase();
        if file < b'a' || file > b'i' || rank < b'0' || rank > b'9' {
            return None;
        }
        Square::at(file - b'a', rank - b'0')
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", (b'a' + self.file()) as char, self.rank())
    }
}

impl fmt::Debug for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
