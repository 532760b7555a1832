//! Moves and lists of moves.

use arrayvec::ArrayVec;
use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use crate::square::Square;

/// A move: from a square to a square. In 14 bits, `from << 7 | to`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Move(u16);

impl Move {
    /// A move between two squares; nothing is said about its being legal.
    #[inline]
    pub const fn new(from: Square, to: Square) -> Move {
        Move((from.index() as u16) << 7 | to.index() as u16)
    }

    /// Where the piece comes from.
    #[inline]
    pub const fn from(self) -> Square {
        Square::known((self.0 >> 7) as u8)
    }

    /// Where it goes.
    #[inline]
    pub const fn to(self) -> Square {
        Square::known((self.0 & 127) as u8)
    }

    /// A number below 2^14 that is unique to the move: `from << 7 | to`. Never 0 for a move
    /// between different squares, so that 0 can stand for "no move" in tables.
    #[inline]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// The move with these bits; `None` where they name no squares or twice the same one.
    #[inline]
    pub const fn from_bits(bits: u16) -> Option<Move> {
        match (Square::from_index((bits >> 7) as usize), Square::from_index((bits & 127) as usize)) {
            (Some(from), Some(to)) if from.index() != to.index() => Some(Move::new(from, to)),
            _ => None,
        }
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.from(), self.to())
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is no move in coordinates.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is no move in coordinates; expected four characters such as h2e2 (files a-i, ranks 0-9)")]
pub struct MoveTextError {
    /// The text, cut to 40 characters.
    pub found: String,
}

impl FromStr for Move {
    type Err = MoveTextError;

    /// Reads coordinates with ranks 0–9: `h2e2`.
    fn from_str(text: &str) -> Result<Move, MoveTextError> {
        let parsed = match text.as_bytes() {
            &[a, b, c, d] => Square::parse(a, b).zip(Square::parse(c, d)),
            _ => None,
        };
        match parsed {
            Some((from, to)) if from != to => Ok(Move::new(from, to)),
            _ => Err(MoveTextError { found: text.chars().take(40).collect() }),
        }
    }
}

/// No position has as many pseudo-legal moves: 2 rooks and 2 cannons with 17 each, 2 knights with
/// 8, 5 pawns with 3, 2 advisors and 2 bishops with 4, a king with 4 make 119.
pub const MAX_MOVES: usize = 128;

/// A list of moves without allocation.
#[derive(Clone, Default)]
pub struct MoveList {
    moves: ArrayVec<Move, MAX_MOVES>,
}

impl MoveList {
    /// An empty list.
    #[inline]
    pub const fn new() -> MoveList {
        MoveList { moves: ArrayVec::new_const() }
    }

    /// Adds a move. More than [`MAX_MOVES`] cannot arise in a position; they would be dropped.
    #[inline]
    pub fn push(&mut self, mv: Move) {
        let pushed = self.moves.try_push(mv);
        debug_assert!(pushed.is_ok());
    }
}

impl Deref for MoveList {
    type Target = [Move];

    #[inline]
    fn deref(&self) -> &[Move] {
        &self.moves
    }
}

impl fmt::Debug for MoveList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
