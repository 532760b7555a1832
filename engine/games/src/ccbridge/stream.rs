//! The moves of a record: four bytes each and perhaps a comment, in pre-order.

use xiangqi::{Move, Square};

use crate::preorder::{Cut, Step};

use super::utf16;

/// The line ends with this move.
const LAST: u8 = 1;
/// A move in place of this one comes later.
const ALTERNATIVE: u8 = 2;
/// A comment follows: 32 bits with its length in bytes, then its text.
const COMMENT: u8 = 4;

/// What stands next.
pub(super) enum Taken {
    /// A move, or the start.
    Step(Step),
    /// Four zeros, and where: a start without a comment, or the unused rest of a slot.
    Zeros(usize),
    /// The end of the record.
    Cut(Cut),
}

impl Taken {
    pub(super) fn step(self) -> Option<Step> {
        match self {
            Taken::Step(step) => Some(step),
            Taken::Zeros(_) | Taken::Cut(_) => None,
        }
    }
}

/// Moves in the order of the file.
#[derive(Clone)]
pub(super) struct Stream<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The byte of the file at which the record begins.
    begin: usize,
}

impl<'a> Stream<'a> {
    /// The moves of a record that begins at a byte of the file, from a byte of the record on.
    pub(super) fn new(bytes: &'a [u8], at: usize, begin: usize) -> Stream<'a> {
        Stream { bytes, at, begin }
    }

    /// The next move. The first one is the start: its squares mean nothing.
    pub(super) fn next(&mut self) -> Taken {
        let at = self.at;
        let Some([flags, unused, from, to]) = self.take() else { return self.cut(at, None) };
        if [flags, unused, from, to] == [0; 4] {
            return Taken::Zeros(self.begin + at);
        }
        let squares = square(from).zip(square(to)).filter(|(from, to)| from != to);
        let mut step = Step {
            at: self.begin + at,
            mv: squares.map(|(from, to)| Move::new(from, to)),
            written: [from, to],
            followed: flags & LAST == 0,
            alternative: flags & ALTERNATIVE != 0,
            comment: String::new(),
        };
        if flags & COMMENT != 0 {
            let Some(size) = self.take() else { return self.cut(at, Some(step)) };
            let len = usize::try_from(u32::from_le_bytes(size)).unwrap_or(usize::MAX);
            let Some(text) = self.bytes.get(self.at..self.at.saturating_add(len)) else {
                return self.cut(self.at, Some(step));
            };
            step.comment = utf16(text);
            self.at += len;
        }
        Taken::Step(step)
    }

    fn take(&mut self) -> Option<[u8; 4]> {
        let four = self.bytes.get(self.at..)?.first_chunk::<4>()?;
        self.at += 4;
        Some(*four)
    }

    fn cut(&self, at: usize, step: Option<Step>) -> Taken {
        let found = format!("{} bytes", self.bytes.len().saturating_sub(at));
        let why = match step {
            Some(_) => "the record ends inside a comment",
            None => "the record ends where a move was promised",
        };
        Taken::Cut(Cut { at: self.begin + at, found, why, step })
    }
}

/// Squares are counted from Black's left corner seen from Red, row by row.
fn square(byte: u8) -> Option<Square> {
    Square::from_index(usize::from(byte)).map(Square::flip_rank)
}
