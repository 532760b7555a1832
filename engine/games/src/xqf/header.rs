//! The header: 1,024 bytes that are the same in all versions but for the keys.

use xiangqi::{Color, Setup, Square};

use crate::error::{FileError, Place};
use crate::start::setup_of;
use crate::text::{Charset, decode_field};
use crate::tree::Outcome;

use super::keys::Keys;

/// Bytes of the header.
pub(super) const LEN: usize = 0x400;
/// The last version whose records are plain.
pub(super) const LAST_PLAIN_VERSION: u8 = 10;
/// The first version that writes the list of pieces in another order.
pub(super) const FIRST_SHUFFLED_VERSION: u8 = 12;
/// The last version that any program is known to write.
const LAST_VERSION: u8 = 18;
/// Where the 32 pieces stand: `10 · file + rank` each, anything above 89 for none.
pub(super) const BOARD: usize = 0x10;
/// Who is to move, 0 Red and 1 Black: in practice hardly ever set.
pub(super) const SIDE: usize = 0x32;
/// The result: 0 unknown, 1 Red has won, 2 Black has won, 3 drawn.
pub(super) const RESULT: usize = 0x33;
/// The kind of file: 0 whole game, 1 opening, 2 middle game, 3 endgame or problem.
pub(super) const KIND: usize = 0x40;

/// Text fields: the tag, the byte that has the length, the bytes that follow it.
pub(super) const FIELDS: [(&str, usize, usize); 11] = [
    ("Title", 0x50, 63),
    ("Event", 0xd0, 63),
    ("Date", 0x110, 15),
    ("Site", 0x120, 15),
    ("Red", 0x130, 15),
    ("Black", 0x140, 15),
    ("TimeControl", 0x150, 63),
    ("RedTime", 0x190, 15),
    ("BlackTime", 0x1a0, 15),
    ("Annotator", 0x1d0, 15),
    ("Author", 0x1e0, 15),
];

/// What a header says.
pub(super) struct Header {
    pub(super) keys: Keys,
    pub(super) side_to_move: Color,
    pub(super) outcome: Outcome,
    pub(super) tags: Vec<(String, String)>,
    /// What is odd about it.
    pub(super) warnings: Vec<String>,
    squares: [Option<Square>; 32],
}

impl Header {
    /// Reads the header at the beginning of a file.
    ///
    /// # Errors
    /// Where the file does not begin with `XQ` or is shorter than a header.
    pub(super) fn read(bytes: &[u8]) -> Result<Header, FileError> {
        let Some((head, _)) = bytes.split_first_chunk::<LEN>() else {
            let expected = format!("the {LEN} bytes of an XQF header, which begins with XQ");
            let found = format!("{} bytes: {}", bytes.len(), bytes.escape_ascii());
            return Err(FileError::new(Place::Byte(0), expected, &found));
        };
        if !head.starts_with(b"XQ") {
            let found = head[..8].escape_ascii().to_string();
            return Err(FileError::new(Place::Byte(0), "XQ, the mark of XQF", &found));
        }
        let mut first = [0; 16];
        first.copy_from_slice(&head[..16]);
        let keys = Keys::read(&first);
        Ok(Header {
            side_to_move: if head[SIDE] == 1 { Color::Black } else { Color::Red },
            outcome: Outcome::from_code(head[RESULT]),
            tags: tags(head),
            warnings: warnings(head),
            squares: squares(&head[BOARD..BOARD + 32], &keys),
            keys,
        })
    }

    /// The board, with Red to move. A list in which all pieces have one place was never filled in: it stands
    /// for the start position, as XQStudio has it for whole games.
    pub(super) fn setup(&self) -> Setup {
        if self.squares.iter().all(|square| *square == self.squares[0]) {
            return xiangqi::Position::start().to_setup();
        }
        setup_of(&self.squares)
    }
}

/// XQStudio itself refuses such files.
fn warnings(head: &[u8; LEN]) -> Vec<String> {
    let version = head[2];
    let mut warnings = Vec::new();
    if version > LAST_VERSION {
        warnings.push(format!("version {version}, read as {LAST_VERSION}, the last one known"));
    }
    let sum = head[12..16].iter().fold(0u8, |sum, &key| sum.wrapping_add(key));
    if sum != 0 {
        warnings.push(format!("the four keys at byte 12 add up to {sum} modulo 256 and not to 0"));
    }
    warnings
}

fn tags(head: &[u8; LEN]) -> Vec<(String, String)> {
    let read = |&(tag, at, most): &(&str, usize, usize)| {
        let len = usize::from(head[at]).min(most);
        (tag.to_owned(), decode_field(&head[at + 1..at + 1 + len], Charset::Gb18030))
    };
    FIELDS.iter().map(read).filter(|(_, text)| !text.is_empty()).collect()
}

fn squares(list: &[u8], keys: &Keys) -> [Option<Square>; 32] {
    let mut squares = [None; 32];
    for (i, &byte) in list.iter().enumerate() {
        let place = if keys.shuffled { (usize::from(keys.board) + 1 + i) % 32 } else { i };
        squares[place] = square(byte.wrapping_sub(keys.board));
    }
    squares
}

/// `10 · file + rank`.
pub(super) fn square(byte: u8) -> Option<Square> {
    Square::at(byte / 10, byte % 10)
}
