//! Positions one a line: FEN lists, EPD books and problem sets, and lines of moves from the start position.
//!
//! ```text
//! # a comment; empty lines are passed over
//! rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1
//! 2Rckab1C/4a4/4R3n/p5p2/9/2N6/2P5P/C5r2/4K4/2B2A3 w - - dm 1; id "wk0";
//! h2e2 h9g7 h0g2
//! position fen 4k4/9/9/9/9/9/9/9/9/4RK3 w moves e0e5
//! ```

use xiangqi::{Position, fen, notation};

use crate::error::{FaultKind, FileError, GameFault, Place, ReadGame, shown};
use crate::text;
use crate::tree::GameTree;

/// So many lines more than half of all may be wrong; with more, the file is no list of positions.
const MOST_BAD_LINES: usize = 1000;

/// Reads a list in any encoding: one game for each line that says something, in their order. The operations
/// of EPD (`dm`, `id`, …) become tags of their own names.
///
/// # Errors
/// Where no line is a position or a list of moves, or far too few are.
pub fn read(bytes: &[u8]) -> Result<Vec<ReadGame>, FileError> {
    read_text(&text::decode(bytes).text)
}

/// Reads a list that is decoded already; lines end in `\n`.
///
/// # Errors
/// As [`read`].
pub fn read_text(text: &str) -> Result<Vec<ReadGame>, FileError> {
    let (mut found, mut judged) = (Vec::new(), Judged::default());
    for game in lines_at(text, 0, 1) {
        judged.add(&game);
        found.push(game);
        if let Some(error) = judged.error() {
            return Err(error);
        }
    }
    // Of a short list one good line is enough.
    match judged.error_beyond(0).filter(|_| judged.good == 0) {
        Some(error) => Err(error),
        None => Ok(found),
    }
}

/// How good the lines of a list are so far.
#[derive(Debug, Default)]
pub struct Judged {
    good: usize,
    bad: usize,
    first_bad: Option<GameFault>,
}

impl Judged {
    /// Counts a line.
    pub fn add(&mut self, game: &ReadGame) {
        match game.main_fault() {
            None => self.good += 1,
            Some(fault) => {
                self.bad += 1;
                self.first_bad.get_or_insert_with(|| fault.clone());
            }
        }
    }

    /// Why this is no list: far more lines are wrong than good.
    pub fn error(&self) -> Option<FileError> {
        self.error_beyond(MOST_BAD_LINES)
    }

    fn error_beyond(&self, more: usize) -> Option<FileError> {
        let fault = self.first_bad.as_ref().filter(|_| self.bad > self.good + more)?;
        let expected = "a FEN, an EPD or moves such as h2e2 h9g7 on each line";
        Some(FileError::new(fault.place, expected, &fault.found))
    }
}

/// The lines of a part of a file that say something, each read; behind so many games, the first line is `line` of the
/// file, from 1.
pub fn lines_at(text: &str, before: usize, line: usize) -> impl Iterator<Item = ReadGame> {
    let numbered = text.split('\n').enumerate().map(move |(i, text)| (line + i, text.trim()));
    let said = numbered.filter(|(_, line)| !is_comment(line));
    said.enumerate().map(move |(i, (number, line))| read_line(line, before + i + 1, number))
}

fn is_comment(line: &str) -> bool {
    line.is_empty() || line.starts_with(['#', ';', '%']) || line.starts_with("//")
}

/// A line as what it looks like: with a slash it is a position.
fn read_line(line: &str, game: usize, number: usize) -> ReadGame {
    let line = line.strip_prefix("position ").unwrap_or(line).trim_start();
    let line = line.strip_prefix("fen ").unwrap_or(line).trim_start();
    let parts = if line.contains('/') { position_parts(line) } else { moves_parts(line) };
    parts.read(game, number)
}

/// A game of a start (the start position if there is none) and moves in coordinates or any other notation.
pub(crate) fn read_parts(start: Option<&str>, moves: &str, game: usize, line: usize) -> ReadGame {
    let fen = start.unwrap_or(fen::START).to_owned();
    Parts { fen, operations: Vec::new(), moves }.read(game, line)
}

/// Plays the moves of a line up to the first that is none.
fn play(tree: &mut GameTree, moves: &str) -> Option<(FaultKind, usize, String, String)> {
    let mut position = tree.start().clone();
    let mut node = GameTree::ROOT;
    for (i, word) in moves.split_whitespace().enumerate() {
        match notation::parse_lenient(&position, word) {
            Ok(mv) => {
                node = tree.append(node, mv);
                position.make(mv);
            }
            Err(error) => {
                let is_move = matches!(error.why, notation::Unread::Illegal(..));
                let kind = if is_move { FaultKind::Illegal } else { FaultKind::Unreadable };
                let why = format!("{}; the position is {}", error.why, error.fen);
                return Some((kind, i + 1, word.to_owned(), why));
            }
        }
    }
    None
}

/// What stands in a line.
struct Parts<'a> {
    fen: String,
    operations: Vec<(String, String)>,
    moves: &'a str,
}

impl Parts<'_> {
    /// The game, number so-and-so, of a line.
    fn read(self, game: usize, line: usize) -> ReadGame {
        let (start, fault) = match self.position() {
            Ok(position) => (position, None),
            Err(why) => (Position::start(), Some((FaultKind::Start, 0, self.fen.clone(), why))),
        };
        let mut read = ReadGame::new(GameTree::new(start));
        let fault = fault.or_else(|| play(&mut read.tree, self.moves));
        read.tree.tags = self.operations;
        if let Some((kind, ply, found, why)) = fault {
            let place = Place::Line(line);
            read.add_fault(GameFault { kind, game, variation: 0, ply, place, found: shown(&found), why });
        }
        read
    }

    /// The position, with the counters that EPD has as operations.
    fn position(&self) -> Result<Position, String> {
        let counter = |name: &str| {
            let found = self.operations.iter().find(|(opcode, _)| opcode == name);
            found.and_then(|(_, value)| value.parse::<u32>().ok())
        };
        let mut setup = xiangqi::Setup::from_fen(&self.fen).map_err(|error| error.to_string())?;
        if let Some(plies) = counter("hmvc").and_then(|plies| u16::try_from(plies).ok()) {
            setup.no_capture_plies = plies;
        }
        setup.move_number = counter("fmvn").unwrap_or(setup.move_number).max(1);
        Position::try_from_setup(&setup).map_err(|error| error.to_string())
    }
}

/// A line without a slash: `startpos`, `moves` and the moves.
fn moves_parts(line: &str) -> Parts<'_> {
    let mut moves = line;
    for word in ["startpos", "moves"] {
        moves = moves.strip_prefix(word).unwrap_or(moves).trim_start();
    }
    Parts { fen: fen::START.to_owned(), operations: Vec::new(), moves }
}

/// Board and side, then dashes and counters as far as there are any, then operations or moves.
fn position_parts(line: &str) -> Parts<'_> {
    let mut rest = line;
    let mut fen = Vec::new();
    while fen.len() < 6 {
        let word = rest.split_whitespace().next().unwrap_or_default();
        let plain = word.trim_end_matches(';');
        let is_field = fen.len() < 2 || matches!(plain, "-" | "–" | "—") || is_number(plain);
        if plain.is_empty() || !is_field {
            break;
        }
        fen.push(plain);
        rest = rest.trim_start()[word.len()..].trim_start();
        if plain.len() < word.len() {
            break;
        }
    }
    let fen = fen.join(" ");
    let rest = rest.trim_start_matches([';', ' ', '\t']);
    match rest.strip_prefix("moves").filter(|moves| moves.starts_with(char::is_whitespace)) {
        Some(moves) => Parts { fen, operations: Vec::new(), moves },
        None => Parts { fen, operations: operations(rest), moves: "" },
    }
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// `opcode operand …;` again and again; a semicolon in quotes ends nothing.
fn operations(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut quoted = false;
    let ends = |c: char| {
        quoted ^= c == '"';
        c == ';' && !quoted
    };
    for part in text.split(ends) {
        let (opcode, value) = part.trim().split_once(char::is_whitespace).unwrap_or((part.trim(), ""));
        let value = value.trim();
        let bare = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        let bare = bare.filter(|bare| !bare.contains('"')).unwrap_or(value);
        if !opcode.is_empty() {
            found.push((opcode.to_owned(), bare.to_owned()));
        }
    }
    found
}

/// Writes positions, one FEN a line; with operations a position is written as EPD, its counters among them.
/// Operations whose names are no words are left out.
pub fn write<'a>(positions: impl IntoIterator<Item = (&'a Position, &'a [(String, String)])>) -> String {
    let mut out = String::new();
    for (position, operations) in positions {
        let fen = position.fen();
        let usable = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.is_empty();
        let kept: Vec<_> = operations
            .iter()
            .filter(|(name, _)| usable(name) && !matches!(name.as_str(), "hmvc" | "fmvn" | "moves"))
            .collect();
        if kept.is_empty() {
            out.push_str(&fen);
        } else {
            let fields: Vec<&str> = fen.split(' ').take(4).collect();
            out.push_str(&fields.join(" "));
            out.push_str(&format!(" hmvc {}; fmvn {};", position.no_capture_plies(), position.move_number()));
            for (name, value) in kept {
                out.push_str(&format!(" {name} {};", operand(value)));
            }
        }
        out.push('\n');
    }
    out
}

/// A number as it is, anything else in quotes.
fn operand(value: &str) -> String {
    if is_number(value) {
        return value.to_owned();
    }
    let plain: String = value.chars().filter(|&c| !c.is_control() && c != '"').collect();
    format!("\"{plain}\"")
}
