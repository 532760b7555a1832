//! Books of openings: FEN or EPD lines, or lines of moves from the start position, one a line.

use std::path::Path;
use std::{fs, io};

use sha2::{Digest, Sha256};
use xiangqi::judge::{self, RuleSet};
use xiangqi::{Game, Position};

use super::{Opening, below, stream};

/// A stream apart from those of the pairs.
const ORDER_STREAM: u64 = u64::MAX;

/// In which order a book is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BookOrder {
    /// Shuffled by the match's seed.
    Random,
    /// As it is written.
    Sequential,
}

/// Why a book cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BookError {
    /// It cannot be read.
    #[error("book {path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// A line is no opening.
    #[error("book {path}, line {line}: {what}")]
    Line {
        /// The file.
        path: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// It has too few openings.
    #[error(
        "book {path} has {found} openings for {pairs} pairs; at fixed nodes a repeated opening is the same two games again. Take fewer pairs, another book, or --book-wrap"
    )]
    Short {
        /// The file.
        path: String,
        /// Openings in it.
        found: usize,
        /// Pairs to play.
        pairs: u64,
    },
}

/// A book, read and checked whole.
pub struct Book {
    openings: Vec<Opening>,
    order: Vec<u32>,
    digest: String,
}

impl Book {
    /// Reads a book. Lines of moves are cut to `most_plies`. An opening may not end the game, by the
    /// match's rules.
    ///
    /// # Errors
    /// Names the line that is no opening; refuses a book with fewer openings than pairs unless
    /// `wrap` allows to begin again.
    pub fn read(
        path: &Path,
        rules: RuleSet,
        most_plies: Option<usize>,
        (order, seed): (BookOrder, u64),
        (pairs, wrap): (u64, bool),
    ) -> Result<Book, BookError> {
        let shown = path.display().to_string();
        let bytes = fs::read(path).map_err(|source| BookError::Read { path: shown.clone(), source })?;
        let text = String::from_utf8_lossy(&bytes);
        let mut openings = Vec::new();
        for (i, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let opening = read_opening(line, rules, most_plies).map_err(|what| BookError::Line {
                path: shown.clone(),
                line: i + 1,
                what,
            })?;
            openings.push(opening);
        }
        let enough = !openings.is_empty() && (wrap || openings.len() as u64 >= pairs);
        if !enough || openings.len() > u32::MAX as usize {
            return Err(BookError::Short { path: shown, found: openings.len(), pairs });
        }
        let mut indices: Vec<u32> = (0..openings.len() as u32).collect();
        if order == BookOrder::Random {
            let mut rng = stream(seed, ORDER_STREAM);
            for i in (1..indices.len()).rev() {
                indices.swap(i, below(&mut rng, i as u64 + 1) as usize);
            }
        }
        let digest = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Book { openings, order: indices, digest })
    }

    /// SHA-256 of the file, in hex.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The opening of a pair; the order begins again where the book ends.
    pub(super) fn of_pair(&self, pair: u64) -> Opening {
        let place = (pair % self.order.len() as u64) as usize;
        self.openings[self.order[place] as usize].clone()
    }
}

/// A line with a slash is a position, with EPD operations from the first semicolon or unknown word
/// on ignored; any other is moves from the start position.
fn read_opening(line: &str, rules: RuleSet, most_plies: Option<usize>) -> Result<Opening, String> {
    let opening = if line.contains('/') { read_position(line)? } else { read_moves(line, most_plies)? };
    let mut game = Game::new(Position::from_fen(&opening.start).map_err(|error| error.to_string())?);
    let mut status = judge::status(&game, rules);
    for (i, &mv) in opening.moves.iter().enumerate() {
        game.try_play(mv).map_err(|error| format!("ply {}: {error}", i + 1))?;
        status = judge::status(&game, rules);
        if status.is_over() {
            break;
        }
    }
    match status.reason {
        Some(reason) => Err(format!("the opening ends the game ({reason}) after {} plies", game.len())),
        None => Ok(opening),
    }
}

fn read_position(line: &str) -> Result<Opening, String> {
    let fields = line.split(';').next().unwrap_or(line).trim();
    // Board, side, two unused fields, two counters; EPD has operations in place of the counters.
    let words: Vec<&str> = fields.split_whitespace().collect();
    let whole = Position::from_fen(fields);
    let position = match whole {
        Err(_) if words.len() > 4 => Position::from_fen(&words[..4].join(" ")),
        whole => whole,
    };
    let position = position.map_err(|error| error.to_string())?;
    Ok(Opening { start: position.fen(), moves: Vec::new() })
}

fn read_moves(line: &str, most_plies: Option<usize>) -> Result<Opening, String> {
    let words = line.split_whitespace().skip_while(|word| matches!(*word, "position" | "startpos" | "moves"));
    let moves = words
        .take(most_plies.unwrap_or(usize::MAX))
        .map(|word| word.parse().map_err(|error| format!("{error}")))
        .collect::<Result<Vec<_>, String>>()?;
    Ok(Opening { start: Position::start().fen(), moves })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(text: &str, pairs: u64, wrap: bool) -> Result<Book, BookError> {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("开局 book.txt");
        fs::write(&path, text).expect("written");
        Book::read(&path, RuleSet::Competition, Some(2), (BookOrder::Random, 7), (pairs, wrap))
    }

    const FEN: &str = "1Cbakabnr/9/rc5c1/p1p1p1p1p/9/2P6/P3P1P1P/7C1/9/RNBAKABNR b - - 2 2";

    #[test]
    fn all_kinds_of_lines() {
        let text = format!(
            "\u{feff}# a comment\r\n{FEN}\r\n{FEN}; id \"x\";\r\n\r\nposition startpos moves h2e2 h9g7 h0g2\r\nb2e2\n"
        );
        let book = book(&text, 4, false).expect("a book");
        let starts: Vec<&str> = book.openings.iter().map(|opening| opening.start.as_str()).collect();
        assert_eq!(starts, [FEN, FEN, xiangqi::fen::START, xiangqi::fen::START]);
        assert_eq!(book.openings[2].moves.len(), 2, "cut to two plies");
        let mut played: Vec<Opening> = (0..4).map(|pair| book.of_pair(pair)).collect();
        let mut written = book.openings.clone();
        let key = |opening: &Opening| (opening.start.clone(), opening.moves.len());
        played.sort_by_key(key);
        written.sort_by_key(key);
        assert_eq!(played, written, "a permutation");
    }

    #[test]
    fn bad_books_are_refused() {
        let check = |text: &str, pairs, wrap, expected: &str| {
            let error = book(text, pairs, wrap).err().expect("refused").to_string();
            assert!(error.contains(expected), "{error}");
        };
        check("", 1, true, "has 0 openings");
        check(FEN, 2, false, "--book-wrap");
        check("h2e2\nh2h8", 1, true, "line 2");
        check("h2e2 x", 1, true, "line 1");
        check("nonsense/w", 1, true, "line 1");
        assert!(book(FEN, 2, true).is_ok());
    }
}
