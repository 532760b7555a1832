//! Which format a file has, told from its content: names of files say little.

use std::fmt;
use std::str::FromStr;

use xiangqi::{Position, notation};

use crate::error::{FileError, Place, ReadGame};
use crate::{ccbridge, dhtmlxq, fen_list, json_lines, pgn, text, xqf};

/// A format of game files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// PGN with moves in any notation.
    Pgn,
    /// XQF of 象棋演播室 (XQStudio).
    Xqf,
    /// DhtmlXQ of 东萍象棋网, as text or in a web page.
    DhtmlXq,
    /// CBR records and CBL libraries of 象棋桥 (CCBridge).
    CcBridge,
    /// Positions or moves, one a line: FEN lists, EPD, lines of moves.
    FenList,
    /// JSON lines.
    JsonLines,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 6] =
        [Format::Pgn, Format::Xqf, Format::DhtmlXq, Format::CcBridge, Format::FenList, Format::JsonLines];

    /// Its name on command lines and in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Pgn => "pgn",
            Format::Xqf => "xqf",
            Format::DhtmlXq => "dhtmlxq",
            Format::CcBridge => "ccbridge",
            Format::FenList => "fen",
            Format::JsonLines => "jsonl",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that names no format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is no format; expected one of {}", Format::ALL.map(Format::name).join(" "))]
pub struct UnknownFormat {
    /// The text, cut to 40 characters.
    pub found: String,
}

impl FromStr for Format {
    type Err = UnknownFormat;

    /// Reads a name; `epd` is a list of positions too.
    fn from_str(text: &str) -> Result<Format, UnknownFormat> {
        let named = Format::ALL.into_iter().find(|format| format.name() == text);
        let epd = (text == "epd").then_some(Format::FenList);
        named.or(epd).ok_or_else(|| UnknownFormat { found: crate::error::shown(text) })
    }
}

/// Reads a file of this format, or of the one its content has.
///
/// # Errors
/// Where nothing of the format is there, or the content is that of no format. An empty file has no games.
pub fn read(bytes: &[u8], format: Option<Format>) -> Result<Vec<ReadGame>, FileError> {
    match format.or_else(|| detect(bytes)) {
        Some(Format::Pgn) => pgn::read(bytes),
        Some(Format::Xqf) => xqf::read(bytes),
        Some(Format::DhtmlXq) => dhtmlxq::read(bytes),
        Some(Format::CcBridge) => ccbridge::read(bytes),
        Some(Format::FenList) => fen_list::read(bytes),
        Some(Format::JsonLines) => json_lines::read(bytes),
        None => match text::decode(bytes).text.trim_start() {
            "" => Ok(Vec::new()),
            found => {
                let expected = "games as PGN, XQF, DhtmlXQ or CCBridge, or positions as FEN or EPD lines";
                Err(FileError::new(Place::Byte(0), expected, found))
            }
        },
    }
}

/// The format of a file's content; `None` if it looks like none.
pub fn detect(bytes: &[u8]) -> Option<Format> {
    if bytes.starts_with(b"XQ") && bytes.len() >= MIN_XQF {
        return Some(Format::Xqf);
    }
    if bytes.starts_with(b"CCBridge") {
        return Some(Format::CcBridge);
    }
    let text = text::decode(bytes).text;
    if text.to_ascii_lowercase().contains("[dhtmlxq") {
        return Some(Format::DhtmlXq);
    }
    let said =
        |line: &&str| !line.is_empty() && !line.starts_with(['#', '%', ';']) && !line.starts_with("//");
    let mut lines = text.lines().map(str::trim).filter(said);
    let first = lines.next()?;
    if first.starts_with('{') && first.ends_with('}') && first.contains("\":") {
        return Some(Format::JsonLines);
    }
    if is_position(first) || (is_move_line(first) && lines.take(LINES_SEEN).all(is_position_or_moves)) {
        return Some(Format::FenList);
    }
    let mut games = pgn::games(&text);
    games.next().map(|_| Format::Pgn)
}

/// A magic and a version, at least; with less it could as well be a text.
const MIN_XQF: usize = 16;

/// Lines that are looked at to tell a list of games, one a line, from one game on many lines.
const LINES_SEEN: usize = 20;

fn is_position_or_moves(line: &str) -> bool {
    is_position(line) || is_move_line(line)
}

/// Ten ranks with slashes between, whatever the rest.
fn is_position(line: &str) -> bool {
    let line = line.strip_prefix("position ").unwrap_or(line);
    let line = line.strip_prefix("fen ").unwrap_or(line);
    let board = line.split_whitespace().next().unwrap_or_default();
    let is_board = |c: char| c.is_ascii_alphanumeric() || c == '/' || c == '[' || c == ']';
    board.matches('/').count() >= 5 && board.len() <= 120 && board.chars().all(is_board)
}

/// Moves from the start position, without numbers: the first two are legal.
fn is_move_line(line: &str) -> bool {
    let words = line.split_whitespace().skip_while(|word| matches!(*word, "position" | "startpos" | "moves"));
    let mut position = Position::start();
    let mut count = 0;
    for word in words.take(2) {
        let Ok(mv) = notation::parse_lenient(&position, word) else { return false };
        position.make(mv);
        count += 1;
    }
    count > 0
}
