//! FEN: positions as text.
//!
//! ```text
//! rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1
//! └ ranks 9 to 0, files a to i ──────────────────────────────┘ │ │ │ │ └ move number
//!                                            side to move: w or b ┘ └ ┘ └ plies without capture
//! ```
//!
//! Read leniently where one meaning is possible: `r` is Red, H and E are knight and bishop, runs
//! of blanks may be split, the fields after the side may be missing, fields 3 and 4 may hold
//! anything, a dash is no counter, a byte order mark, blanks around, an EPD's semicolon and empty
//! pocket brackets are passed over. `startpos` stands for the start position.

use crate::color::Color;
use crate::piece::Piece;
use crate::position::Position;
use crate::setup::{Setup, SetupError};
use crate::square::Square;

/// The start position's FEN.
pub const START: &str = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1";

/// Why a text is no position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FenError {
    /// Nothing but blanks.
    #[error("the FEN is empty; expected ranks 9 to 0 and the side to move, as in {START:?}")]
    Empty,
    /// A letter that names no piece.
    #[error(
        "{found:?} at character {at} of the board names no piece; expected one of K A B N R C P (or H, E), lower case for Black, or a digit 1-9"
    )]
    Letter {
        /// The character.
        found: char,
        /// Its place, from 1.
        at: usize,
    },
    /// A rank with too few or too many files.
    #[error("rank {rank} has {found} files; expected 9")]
    Files {
        /// The rank, 9 to 0.
        rank: u8,
        /// How many.
        found: usize,
    },
    /// Too few or too many ranks.
    #[error("the board has {found} ranks; expected 10, from rank 9 down to rank 0, with '/' between")]
    Ranks {
        /// How many.
        found: usize,
    },
    /// No side to move.
    #[error("the side to move is missing; expected w (Red) or b (Black) after the board")]
    NoSide,
    /// Something else in its place.
    #[error("{found:?} is no side to move; expected w or r (Red) or b (Black)")]
    Side {
        /// The text, cut to 40 characters.
        found: String,
    },
    /// A counter that is no number, or too large.
    #[error("{found:?} is no {what}; expected a number from 0 to {most}")]
    Counter {
        /// Which counter.
        what: &'static str,
        /// The text, cut to 40 characters.
        found: String,
        /// The largest allowed.
        most: u32,
    },
    /// Text after the last field.
    #[error("{found:?} after the last field; expected board, side, two dashes and two counters")]
    Trailing {
        /// The text, cut to 40 characters.
        found: String,
    },
    /// Well written, but no position of a game.
    #[error(transparent)]
    Setup(#[from] SetupError),
}

/// Move numbers and counters past this are typing errors.
const MOST_MOVES: u32 = 1_000_000;

fn cut(text: &str) -> String {
    text.chars().take(40).collect()
}

fn parse_rank(text: &str, rank: u8, at: usize, setup: &mut Setup) -> Result<(), FenError> {
    let mut file = 0usize;
    for (i, c) in text.chars().enumerate() {
        if let Some(blanks @ 1..=9) = c.to_digit(10) {
            file += blanks as usize;
        } else if let Some(piece) = Piece::from_fen_char(c) {
            if let Some(square) = u8::try_from(file).ok().and_then(|file| Square::at(file, rank)) {
                setup.board[square.index()] = Some(piece);
            }
            file += 1;
        } else {
            return Err(FenError::Letter { found: c, at: at + i });
        }
    }
    if file == 9 { Ok(()) } else { Err(FenError::Files { rank, found: file }) }
}

fn parse_board(text: &str, setup: &mut Setup) -> Result<(), FenError> {
    let text = text.strip_suffix("[]").unwrap_or(text);
    let found = text.split('/').count();
    let mut at = 1;
    for (i, part) in text.split('/').enumerate() {
        // A rank too many is reported as such, after what is wrong in the ten before it.
        let Some(rank) = 9u8.checked_sub(i.min(255) as u8) else { break };
        if part.is_empty() && found != 10 {
            break;
        }
        parse_rank(part, rank, at, setup)?;
        at += part.chars().count() + 1;
    }
    if found == 10 { Ok(()) } else { Err(FenError::Ranks { found }) }
}

fn parse_counter(text: &str, what: &'static str, most: u32) -> Result<u32, FenError> {
    let wrong = || FenError::Counter { what, found: cut(text), most };
    if is_dash(text) {
        return Ok(0);
    }
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(wrong());
    }
    text.parse().ok().filter(|&n| n <= most).ok_or_else(wrong)
}

fn is_dash(text: &str) -> bool {
    matches!(text, "-" | "–" | "—" | "－" | "−")
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

impl Setup {
    /// Reads a FEN without asking whether the position can stand in a game.
    ///
    /// # Errors
    /// Says which field is wrong, what was found there and what was expected.
    pub fn from_fen(text: &str) -> Result<Setup, FenError> {
        let text = text.trim_start_matches('\u{feff}').trim();
        let text = text.strip_suffix(';').unwrap_or(text).trim_end();
        if text == "startpos" {
            return Setup::from_fen(START);
        }
        let mut fields = text.split_whitespace();
        let board = fields.next().ok_or(FenError::Empty)?;
        let mut setup = Setup::empty();
        parse_board(board, &mut setup)?;
        setup.side_to_move = match fields.next() {
            Some("w" | "W" | "r" | "R") => Color::Red,
            Some("b" | "B") => Color::Black,
            Some(found) => return Err(FenError::Side { found: cut(found) }),
            None => return Err(FenError::NoSide),
        };
        // Five are one too many: enough to see it.
        let rest: Vec<&str> = fields.take(5).collect();
        let counters = match rest.as_slice() {
            // Fields 3 and 4, which other games use, were left out.
            [a] if is_number(a) => &rest[..],
            [a, b] if is_number(a) && is_number(b) => &rest[..],
            [] | [_] | [_, _] => &[],
            [a, b, ..] if is_number(a) || is_number(b) => {
                return Err(FenError::Trailing { found: cut(&rest[2..].join(" ")) });
            }
            [_, _, counters @ ..] => counters,
        };
        if let Some(extra) = counters.get(2) {
            return Err(FenError::Trailing { found: cut(extra) });
        }
        if let Some(text) = counters.first() {
            let plies = parse_counter(text, "count of plies without capture", u16::MAX.into())?;
            setup.no_capture_plies = plies as u16;
        }
        if let Some(text) = counters.get(1) {
            setup.move_number = parse_counter(text, "move number", MOST_MOVES)?.max(1);
        }
        Ok(setup)
    }

    /// The FEN of this setup, in its canonical form of six fields.
    pub fn fen(&self) -> String {
        let mut fen = String::with_capacity(80);
        for rank in (0..Square::RANKS).rev() {
            let mut blanks = 0u8;
            let flush = |blanks: &mut u8, fen: &mut String| {
                if *blanks > 0 {
                    fen.push((b'0' + *blanks) as char);
                    *blanks = 0;
                }
            };
            for file in 0..Square::FILES {
                match Square::at(file, rank).and_then(|square| self.board[square.index()]) {
                    Some(piece) => {
                        flush(&mut blanks, &mut fen);
                        fen.push(piece.fen_char());
                    }
                    None => blanks += 1,
                }
            }
            flush(&mut blanks, &mut fen);
            if rank > 0 {
                fen.push('/');
            }
        }
        let side = self.side_to_move.fen_char();
        fen.push_str(&format!(" {side} - - {} {}", self.no_capture_plies, self.move_number));
        fen
    }
}

impl Position {
    /// Reads a FEN; see the [module](self) for what is accepted.
    ///
    /// # Errors
    /// Says which field is wrong or which rule the position breaks.
    pub fn from_fen(text: &str) -> Result<Position, FenError> {
        Ok(Position::try_from_setup(&Setup::from_fen(text)?)?)
    }

    /// The FEN of this position, in its canonical form of six fields.
    pub fn fen(&self) -> String {
        self.to_setup().fen()
    }
}
