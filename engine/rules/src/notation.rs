//! Moves as text: coordinates (UCI, ICCS), Chinese (炮二平五) and WXF (C2=5).
//!
//! Chinese and WXF name a piece by its file as its own side counts them (1 = rightmost) and, where
//! several stand on one file, by their order from the front; 《象棋程序竞赛规则》 chapter 2,
//! section 6. Reading is writing turned round: a text is normalised and looked for among the texts
//! of the legal moves, so that the two can never disagree. What other programs and people write
//! beside that is read by [`parse_lenient`] alone.

mod lenient;
mod named;
mod normal;
mod write;

use std::fmt;

use crate::mv::Move;
use crate::position::Position;

pub use lenient::parse_lenient;
pub use write::{chinese, iccs, uci, wxf};

/// A text that names no legal move of a position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{found:?} {why}; expected coordinates (h2e2, H2-E2), Chinese (炮二平五; Black 炮2平5) or WXF (C2=5) in {fen}"
)]
pub struct NotationError {
    /// The text, cut to 40 characters.
    pub found: String,
    /// What is wrong with it.
    pub why: Unread,
    /// The position.
    pub fen: String,
}

/// Why a text names no move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unread {
    /// Nothing but blanks.
    Empty,
    /// A move in coordinates that breaks this rule.
    Illegal(Move, &'static str),
    /// The text of no legal move.
    NoMove,
    /// Read leniently, it could be either of these moves.
    Ambiguous(Move, Move),
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unread::Empty => f.write_str("is no move"),
            Unread::Illegal(mv, why) => write!(f, "is not legal: {mv}: {why}"),
            Unread::NoMove => f.write_str("names no legal move"),
            Unread::Ambiguous(a, b) => write!(f, "could be {a} or {b}"),
        }
    }
}

impl NotationError {
    fn new(position: &Position, text: &str, why: Unread) -> NotationError {
        NotationError { found: text.chars().take(40).collect(), why, fen: position.fen() }
    }
}

/// The legal move that a text names, in any of the notations.
///
/// Characters may be simplified or traditional, letters and digits of full width; in WXF `=` and
/// `.`, `H` and `N`, `E` and `B`, and the sign of front or back before or after the letter mean the
/// same, and letters have either case.
///
/// # Errors
/// Where no legal move has this text. Red's Chinese moves take Chinese digits and Black's Arabic
/// ones; where pieces stand in tandem, the short form is refused.
pub fn parse(position: &Position, text: &str) -> Result<Move, NotationError> {
    read(position, text).map_err(|why| NotationError::new(position, text, why))
}

fn read(position: &Position, text: &str) -> Result<Move, Unread> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Unread::Empty);
    }
    if let Some(mv) = normal::coordinates(text) {
        return position.why_illegal(mv).map_or(Ok(mv), |why| Err(Unread::Illegal(mv, why)));
    }
    let written = normal::characters(position.side_to_move(), text).ok_or(Unread::NoMove)?;
    let legal = position.legal_moves();
    let found = if normal::is_wxf(written) {
        let written = normal::wxf(written);
        legal.iter().find(|&&mv| write::is_wxf_of(position, mv, written))
    } else {
        legal.iter().find(|&&mv| write::is_chinese_of(position, mv, written))
    };
    found.copied().ok_or(Unread::NoMove)
}
