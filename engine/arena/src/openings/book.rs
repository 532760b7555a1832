//! Books of openings: FEN or EPD lines, lines of moves from the start position, or the games of a PGN, XQF,
//! DhtmlXQ or CCBridge file.

use std::path::Path;
use std::{fs, io};

use game_files::{FileError, Format, Place, ReadGame};
use sha2::{Digest, Sha256};
use xiangqi::Game;
use xiangqi::judge::{self, RuleSet};

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
    /// A line or a game is no opening.
    #[error("book {path}, {place}: {what}")]
    Opening {
        /// The file.
        path: String,
        /// Where: a line of a text, a byte of a binary file, or a game.
        place: String,
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
    /// The order of the pairs of a match; empty: as it is written.
    order: Vec<u32>,
    sha256: [u8; 32],
    digest: String,
}

impl Book {
    /// [`Book::open`] for a match, in an order.
    ///
    /// # Errors
    /// Names the line or the game that is no opening; refuses a book with fewer openings than pairs unless
    /// `wrap` allows to begin again.
    pub fn read(
        path: &Path,
        rules: RuleSet,
        most_plies: Option<usize>,
        (order, seed): (BookOrder, u64),
        (pairs, wrap): (u64, bool),
    ) -> Result<Book, BookError> {
        let mut book = Book::open(path, rules, most_plies)?;
        let enough = !book.is_empty() && (wrap || book.len() as u64 >= pairs);
        if !enough || book.len() > u32::MAX as usize {
            return Err(BookError::Short { path: path.display().to_string(), found: book.len(), pairs });
        }
        if order == BookOrder::Random {
            book.order = (0..book.len() as u32).collect();
            let mut rng = stream(seed, ORDER_STREAM);
            for i in (1..book.order.len()).rev() {
                book.order.swap(i, below(&mut rng, i as u64 + 1) as usize);
            }
        }
        Ok(book)
    }

    /// Reads a book in any format; the content says which. Moves are cut to `most_plies`, and only a fault among
    /// those counts. An opening may not end the game, by these rules. The openings stay in memory: some 150 bytes
    /// and two a ply each; while the file is read, several times that.
    ///
    /// # Errors
    /// Names the line or the game that is no opening.
    pub fn open(path: &Path, rules: RuleSet, most_plies: Option<usize>) -> Result<Book, BookError> {
        let shown = path.display().to_string();
        let bytes = fs::read(path).map_err(|source| BookError::Read { path: shown.clone(), source })?;
        let refused = |(place, what)| BookError::Opening { path: shown.clone(), place, what };
        let games = read_games(&bytes).map_err(|error| {
            let what = format!("expected {}, found {:?}", error.expected, error.found);
            refused((error.place.to_string(), what))
        })?;
        let mut openings = Vec::with_capacity(games.len());
        for (i, game) in games.into_iter().enumerate() {
            openings.push(read_opening(&game, i + 1, rules, most_plies).map_err(refused)?);
        }
        let sha256: [u8; 32] = Sha256::digest(&bytes).into();
        let digest = sha256.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Book { openings, order: Vec::new(), sha256, digest })
    }

    /// How many openings it has.
    pub fn len(&self) -> usize {
        self.openings.len()
    }

    /// Has it none?
    pub fn is_empty(&self) -> bool {
        self.openings.is_empty()
    }

    /// An opening by its place in the file, from 0.
    pub fn opening(&self, index: usize) -> Option<&Opening> {
        self.openings.get(index)
    }

    /// SHA-256 of the file.
    pub const fn sha256(&self) -> [u8; 32] {
        self.sha256
    }

    /// SHA-256 of the file, in hex.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The opening of a pair; the order begins again where the book ends.
    pub(super) fn of_pair(&self, pair: u64) -> Opening {
        let place = (pair % self.openings.len() as u64) as usize;
        let index = self.order.get(place).map_or(place, |&index| index as usize);
        self.openings[index].clone()
    }
}

/// What does not look like a game file is read as lines, so that the line which is wrong is named.
fn read_games(bytes: &[u8]) -> Result<Vec<ReadGame>, FileError> {
    let format = match game_files::detect(bytes) {
        Some(Format::Pgn) if !begins_like_pgn(bytes) => Format::FenList,
        found => found.unwrap_or(Format::FenList),
    };
    game_files::read(bytes, Some(format))
}

/// Tags, a comment or a move number.
fn begins_like_pgn(bytes: &[u8]) -> bool {
    let text = game_files::text::decode(bytes).text;
    text.trim_start().starts_with(|c: char| c == '[' || c == '{' || c.is_numeric())
}

/// The first plies of a game; else where it is wrong, and how.
fn read_opening(
    game: &ReadGame,
    number: usize,
    rules: RuleSet,
    most_plies: Option<usize>,
) -> Result<Opening, (String, String)> {
    let most = most_plies.unwrap_or(usize::MAX);
    if let Some(fault) = game.main_fault().filter(|fault| fault.ply <= most) {
        let place = match fault.place {
            Place::Line(line) => format!("line {line}"),
            Place::Byte(byte) => format!("game {number}, byte {byte}"),
        };
        return Err((place, format!("ply {}: {:?}: {}", fault.ply, fault.found, fault.why)));
    }
    let mut moves = game.tree.main_line();
    moves.truncate(most);
    let mut played = Game::new(game.tree.start().clone());
    let mut status = judge::status(&played, rules);
    for &mv in &moves {
        if status.is_over() {
            break;
        }
        played.play(mv);
        status = judge::status(&played, rules);
    }
    match status.reason {
        Some(reason) => {
            let what = format!("the opening ends the game ({reason}) after {} plies", played.len());
            Err((format!("opening {number}"), what))
        }
        None => Ok(Opening { start: game.tree.start().fen(), moves }),
    }
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
    fn games_of_others_are_openings() {
        let pgn = "[Red \"a\"]\n1. 炮二平五 马8进7 2. 炮二平五 1-0\n\n[FEN \"4k4/9/9/9/9/9/9/9/R8/3K5 w\"]\n1. a1a2 *\n";
        let book = book(pgn, 2, false).expect("the illegal move lies behind the plies that are played");
        let plies: Vec<usize> = book.openings.iter().map(|opening| opening.moves.len()).collect();
        assert_eq!(plies, [2, 1]);
        assert_eq!(book.openings[1].start, "4k4/9/9/9/9/9/9/9/R8/3K5 w - - 0 1");
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
        check("[Red \"a\"]\n\n1. h2e2 h2e2 *\n", 1, true, "line 3");
        check("4k4/9/9/9/9/9/9/9/9/3K5 w", 1, true, "insufficient_material");
        assert!(book(FEN, 2, true).is_ok());
    }
}
