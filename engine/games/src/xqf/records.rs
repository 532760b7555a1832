//! The records behind the header: one for the start, then the moves in pre-order.

use xiangqi::Move;

use crate::preorder::{Cut, Step};
use crate::text::{Charset, decode_field};

use super::header::{LEN, square};
use super::keys::Keys;

/// What is added to the squares of a record in every version.
pub(super) const FROM_OFFSET: u8 = 0x18;
/// See [`FROM_OFFSET`].
pub(super) const TO_OFFSET: u8 = 0x20;

/// Flags of keyed records.
const FOLLOWED: u8 = 0x80;
const ALTERNATIVE: u8 = 0x40;
const COMMENT: u8 = 0x20;
/// Flags of plain records: any bit of the half.
pub(super) const PLAIN_FOLLOWED: u8 = 0xf0;
/// See [`PLAIN_FOLLOWED`].
pub(super) const PLAIN_ALTERNATIVE: u8 = 0x0f;

/// Records in the order of the file.
#[derive(Clone)]
pub(super) struct Records<'a> {
    bytes: &'a [u8],
    keys: &'a Keys,
    at: usize,
}

impl<'a> Records<'a> {
    /// The records of a file that has a whole header.
    pub(super) fn new(bytes: &'a [u8], keys: &'a Keys) -> Records<'a> {
        Records { bytes, keys, at: LEN }
    }

    /// The next record. The first one is the start: its squares mean nothing.
    ///
    /// # Errors
    /// Where the file ends before the record's last byte.
    pub(super) fn next(&mut self) -> Result<Step, Cut> {
        let at = self.at;
        let cut = |left: usize| Cut {
            at,
            found: format!("{left} bytes"),
            why: "the file ends where a move was promised",
            step: None,
        };
        let left = self.bytes.len().saturating_sub(at);
        let [from, to, flags, _] = self.take().ok_or_else(|| cut(left))?;
        let (followed, alternative, has_comment) = if self.keys.plain {
            (flags & PLAIN_FOLLOWED != 0, flags & PLAIN_ALTERNATIVE != 0, true)
        } else {
            (flags & FOLLOWED != 0, flags & ALTERNATIVE != 0, flags & COMMENT != 0)
        };
        let size = if has_comment { self.take().ok_or_else(|| cut(left))? } else { [0; 4] };
        let from = from.wrapping_sub(FROM_OFFSET).wrapping_sub(self.keys.from);
        let to = to.wrapping_sub(TO_OFFSET).wrapping_sub(self.keys.to);
        let mut step = Step {
            at,
            mv: square(from).zip(square(to)).filter(|(from, to)| from != to).map(|(a, b)| Move::new(a, b)),
            written: [from, to],
            followed,
            alternative,
            comment: String::new(),
        };
        if has_comment {
            step = self.comment(step, u32::from_le_bytes(size))?;
        }
        Ok(step)
    }

    fn comment(&mut self, mut step: Step, size: u32) -> Result<Step, Cut> {
        // Keyed lengths below the key come from other programs; they mean that there is no comment.
        let len = size.wrapping_sub(self.keys.comment) as i32;
        let Ok(len) = usize::try_from(len) else { return Ok(step) };
        let at = self.at;
        let Some(text) = self.bytes.get(at..at.saturating_add(len)) else {
            let left = self.bytes.len() - at;
            let found = format!("{left} bytes of {len}");
            return Err(Cut { at, found, why: "the file ends inside a comment", step: Some(step) });
        };
        let plain: Vec<u8> = text.iter().enumerate().map(|(i, &byte)| self.plain(at + i, byte)).collect();
        step.comment = decode_field(&plain, Charset::Gb18030);
        self.at += len;
        Ok(step)
    }

    /// Four bytes.
    fn take(&mut self) -> Option<[u8; 4]> {
        let (&bytes, _) = self.bytes.get(self.at..)?.split_first_chunk::<4>()?;
        let at = self.at;
        self.at += 4;
        Some(std::array::from_fn(|i| self.plain(at + i, bytes[i])))
    }

    fn plain(&self, at: usize, byte: u8) -> u8 {
        byte.wrapping_sub(self.keys.stream[at % 32])
    }
}
