//! The footer: where the blocks are, what the file holds, and the header once more.
//!
//! ```text
//!  0  8  marker                     B × (8 offset of the block, 8 number of its first game, 4 games, 4 positions)
//!  8  8  games                      88  the header's bytes again
//! 16  8  plies                       4  CRC32C of all bytes before it
//! 24  8  positions                   4  length of the footer
//! 32  4  blocks B                    8  end marker
//! ```

use super::block::BlockHead;
use super::bytes::Cursor;
use super::error::{Part, ReadError};
use super::header::{HEADER_LEN, Header};

/// The first eight bytes of the footer.
pub const FOOTER_MARKER: [u8; 8] = *b"\xd3CHUIDX\n";

/// The last eight bytes of a finished file.
pub(crate) const END_MARKER: [u8; 8] = *b"\xe5CHUEND\n";

const FIELDS_LEN: usize = 36;
const ENTRY_LEN: usize = 24;

/// Length of checksum, footer length and end marker.
pub(crate) const TAIL_LEN: usize = 16;

/// The length of a footer without blocks.
pub(crate) const MIN_FOOTER_LEN: usize = FIELDS_LEN + HEADER_LEN + TAIL_LEN;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Totals {
    /// Games.
    pub games: u64,
    /// Plies, openings included.
    pub plies: u64,
    /// Scored plies.
    pub positions: u64,
}

impl Totals {
    /// Adds what a block holds.
    pub(crate) fn add(&mut self, head: &BlockHead) {
        self.games += u64::from(head.games);
        self.plies += u64::from(head.plies);
        self.positions += u64::from(head.positions);
    }
}

/// One block in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexEntry {
    /// Where the block begins in the file.
    pub offset: u64,
    /// The number of its first game.
    pub first_number: u64,
    /// Its games.
    pub games: u32,
    /// Its scored plies.
    pub positions: u32,
}

/// The footer of a finished file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footer {
    /// What the file holds.
    pub totals: Totals,
    /// Its blocks in the order of the file.
    pub index: Vec<IndexEntry>,
    /// The header, again.
    pub header: Header,
}

impl Footer {
    /// The footer's bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let length = MIN_FOOTER_LEN + self.index.len() * ENTRY_LEN;
        let mut out = Vec::with_capacity(length);
        out.extend_from_slice(&FOOTER_MARKER);
        for total in [self.totals.games, self.totals.plies, self.totals.positions] {
            out.extend_from_slice(&total.to_le_bytes());
        }
        out.extend_from_slice(&(self.index.len() as u32).to_le_bytes());
        for entry in &self.index {
            out.extend_from_slice(&entry.offset.to_le_bytes());
            out.extend_from_slice(&entry.first_number.to_le_bytes());
            out.extend_from_slice(&entry.games.to_le_bytes());
            out.extend_from_slice(&entry.positions.to_le_bytes());
        }
        out.extend_from_slice(&self.header.to_bytes());
        let crc = crc32c::crc32c(&out);
        out.extend_from_slice(&crc.to_le_bytes());
        out.extend_from_slice(&(length as u32).to_le_bytes());
        out.extend_from_slice(&END_MARKER);
        out
    }

    /// Reads a footer that begins at byte `offset`. `bytes` begin with the marker and reach to the end of
    /// the file; the second value is the footer's length.
    pub(crate) fn from_bytes(bytes: &[u8], offset: u64) -> Result<(Footer, usize), ReadError> {
        let part = Part::Footer;
        let cut = || ReadError::Cut { offset, part, end: offset + bytes.len() as u64 };
        let mut cursor = Cursor::new(bytes.get(8..).ok_or_else(cut)?);
        let totals = Footer::totals(&mut cursor).ok_or_else(cut)?;
        let blocks = cursor.u32().ok_or_else(cut)? as usize;
        let length = MIN_FOOTER_LEN as u64 + blocks as u64 * ENTRY_LEN as u64;
        // Too many blocks for the bytes there are: cut, or the number is damaged. The length at the
        // end of an unharmed tail tells which.
        let Some(bytes) = usize::try_from(length).ok().and_then(|length| bytes.get(..length)) else {
            return Err(damaged_count(bytes, offset).unwrap_or_else(cut));
        };
        let (body, tail) = bytes.split_at(bytes.len() - TAIL_LEN);
        let mut tail = Cursor::new(tail);
        let stored = tail.u32().unwrap_or_default();
        let computed = crc32c::crc32c(body);
        if computed != stored {
            return Err(ReadError::Checksum { offset, part, length, computed, stored });
        }
        let stored_len = u64::from(tail.u32().unwrap_or_default());
        if stored_len != length {
            let field = "its own length";
            return Err(ReadError::Field { offset, part, field, found: stored_len, limit: length });
        }
        let end: [u8; 8] = tail.array().unwrap_or_default();
        if end != END_MARKER {
            return Err(ReadError::Marker { offset: offset + length - 8, found: end.to_vec() });
        }
        let mut index = Vec::with_capacity(blocks);
        for _ in 0..blocks {
            index.push(Footer::entry(&mut cursor).ok_or_else(cut)?);
        }
        let header = cursor.array::<HEADER_LEN>().ok_or_else(cut)?;
        let header = Header::from_bytes(&header, offset + body.len() as u64 - HEADER_LEN as u64)?;
        Ok((Footer { totals, index, header }, bytes.len()))
    }

    fn totals(cursor: &mut Cursor<'_>) -> Option<Totals> {
        Some(Totals { games: cursor.u64()?, plies: cursor.u64()?, positions: cursor.u64()? })
    }

    fn entry(cursor: &mut Cursor<'_>) -> Option<IndexEntry> {
        Some(IndexEntry {
            offset: cursor.u64()?,
            first_number: cursor.u64()?,
            games: cursor.u32()?,
            positions: cursor.u32()?,
        })
    }
}

/// The error for a footer whose number of blocks promises more bytes than there are, if the file is
/// whole at its end (so that it was not cut).
fn damaged_count(bytes: &[u8], offset: u64) -> Option<ReadError> {
    let (body, tail) = bytes.split_at_checked(bytes.len().checked_sub(TAIL_LEN)?)?;
    let mut tail = Cursor::new(tail);
    let (stored, length) = (tail.u32()?, tail.u32()?);
    (tail.array() == Some(END_MARKER) && length as usize == bytes.len()).then(|| ReadError::Checksum {
        offset,
        part: Part::Footer,
        length: bytes.len() as u64,
        computed: crc32c::crc32c(body),
        stored,
    })
}
