//! DhtmlXQ, the text of 东萍象棋网 (dpxq.com) and of many programs and pages since: tags in square brackets
//! with a board and moves in digits.
//!
//! Layout, sources and what is tolerated: `docs/game-files.md`.

mod block;
mod branches;
mod fields;
mod scan;
mod write;

use crate::error::{FileError, Place, ReadGame};
use crate::text;

pub use write::write;

/// Reads every game of a text or web page, in the order in which they stand there.
///
/// Works in time and memory proportional to the text (at most 64 bytes for each of its own, and as much
/// again while a list grows), but for sorting the variations.
///
/// # Errors
/// Where there is no tag of the format that makes a game. Anything wrong in a game is a fault of it.
pub fn read(bytes: &[u8]) -> Result<Vec<ReadGame>, FileError> {
    let text = scan::join_strings(text::decode(bytes).text);
    let lines = scan::Lines::new(&text);
    let blocks = block::blocks(&text);
    if blocks.is_empty() {
        let expected = "a game in DhtmlXQ tags, such as [DhtmlXQ_movelist]7747…[/DhtmlXQ_movelist]";
        return Err(FileError::new(Place::Line(1), expected, text.trim_start()));
    }
    Ok(blocks.iter().enumerate().map(|(i, block)| branches::read(i + 1, block, &lines)).collect())
}
