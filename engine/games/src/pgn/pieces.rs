//! Where a large file of PGN can be divided.

use super::lexer::begins_tags;

/// The last place of a text, from byte `from` on, where a game begins whatever stands before it: two lines of tags
/// follow each other, and the line before them is of a game's moves. A text that is divided there, each part read by
/// [`games_at`](super::games_at), gives the games of the whole.
pub fn last_beginning(text: &str, from: usize) -> Option<usize> {
    let tail = text.get(from..)?;
    let lines = tail.rmatch_indices("\n[").map(|(at, _)| from + at + 1);
    lines.filter(|&at| begins_tags(&text[at..])).find(|&at| ends_moves(&text[..at]))
}

/// Does this text end in a line of moves, a result or a comment? Not in one that a block of tags may go on behind: a tag,
/// a line with % that programs use for themselves, or signs that say nothing.
fn ends_moves(text: &str) -> bool {
    let last = text.trim_end().rsplit('\n').next().unwrap_or_default().trim_start();
    !last.starts_with(['[', '%']) && last.contains(|c: char| c.is_alphanumeric() || c == '*')
}
