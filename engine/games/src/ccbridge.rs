//! CCBridge (象棋桥): records (`.cbr`, one game) and libraries (`.cbl`, many of them behind an index).
//!
//! Fields of fixed width with UTF-16 text, and a tree of moves with comments. Layout, sources and what is
//! tolerated: `docs/game-files.md`.

mod library;
mod record;
mod stream;

use crate::error::{FileError, Place, ReadGame};

/// What a record begins with.
const RECORD_MAGIC: &[u8; 16] = b"CCBridge Record\0";
/// What a library begins with.
const LIBRARY_MAGIC: &[u8; 16] = b"CCBridgeLibrary\0";

/// Reads a record, or every record of a library in the order of the file.
///
/// Works in time and memory proportional to the file (at most 64 bytes for each of its own, and as much
/// again while a list grows).
///
/// # Errors
/// Where the file begins like neither, or a library ends before its first record. Anything wrong in a
/// record is a fault of its game.
pub fn read(bytes: &[u8]) -> Result<Vec<ReadGame>, FileError> {
    if bytes.starts_with(LIBRARY_MAGIC) {
        library::read(bytes)
    } else if bytes.starts_with(RECORD_MAGIC) {
        Ok(vec![record::read(1, bytes, 0)])
    } else {
        let head = &bytes[..bytes.len().min(RECORD_MAGIC.len())];
        let expected = "CCBridge Record or CCBridgeLibrary";
        Err(FileError::new(Place::Byte(0), expected, &head.escape_ascii().to_string()))
    }
}

/// UTF-16 text, little-endian, that ends at the first zero; what is left of a character cut in two is dropped.
fn utf16(bytes: &[u8]) -> String {
    let units = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    let units: Vec<u16> = units.take_while(|&unit| unit != 0).collect();
    let text = String::from_utf16_lossy(&units);
    let whole = text.strip_suffix('\u{fffd}').unwrap_or(&text);
    whole.replace("\r\n", "\n").replace('\r', "\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::utf16;

    #[test]
    fn texts_end_at_their_zero_or_with_the_field() {
        // 一 is 4e00: a zero byte that is no zero.
        assert_eq!(utf16(b" \0\x00\x4e)\0\0\0\xcd\xab"), "一)");
        assert_eq!(utf16(b"a\0\r\0\n\0b\0\x42\xd8"), "a\nb");
    }
}
