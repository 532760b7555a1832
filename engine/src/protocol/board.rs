//! Positions as all dialects give them: `startpos` or a FEN, then moves; every move is checked.

use xiangqi::{Game, Position, Setup};

use super::ranks::FirstRank;

/// The words of a position, before anything is known to be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameText {
    /// The FEN; `None` for the start position.
    pub fen: Option<String>,
    /// The words after `moves`.
    pub moves: Vec<String>,
}

/// A position that cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoardError {
    /// Neither `startpos` nor `fen`.
    #[error("expected startpos or fen, found {found:?}")]
    Start {
        /// What came instead, cut to 40 characters.
        found: String,
    },
    /// The FEN is none, or no position of a game.
    #[error(transparent)]
    Fen(#[from] xiangqi::fen::FenError),
    /// A move that cannot be played.
    #[error(transparent)]
    Moves(#[from] GameError),
}

/// A list of moves that cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("move {number} of the list, {text:?}: {why}")]
pub struct GameError {
    /// Which move, from 1.
    pub number: usize,
    /// Its text, cut to 40 characters.
    pub text: String,
    /// What is wrong with it.
    pub why: String,
}

impl GameText {
    /// Reads `startpos [moves …]` or `fen F [moves …]`; text between `startpos` and `moves` is passed over.
    ///
    /// # Errors
    /// Where it begins with neither.
    pub(crate) fn read(words: &[&str]) -> Result<GameText, BoardError> {
        let split = words.iter().position(|&word| word == "moves").unwrap_or(words.len());
        let (head, tail) = words.split_at(split);
        let fen = match head.split_first() {
            Some((&"startpos", _)) => None,
            Some((&"fen", text)) => Some(text.join(" ")),
            other => {
                return Err(BoardError::Start { found: super::cut(other.map_or("", |(word, _)| word)) });
            }
        };
        Ok(GameText { fen, moves: tail.iter().skip(1).map(|&word| word.to_owned()).collect() })
    }

    /// The game that these words describe, moves with these ranks.
    ///
    /// # Errors
    /// Says which field of the FEN or which move is wrong.
    pub(crate) fn game(&self, ranks: FirstRank) -> Result<Game, BoardError> {
        let start = match &self.fen {
            None => Position::start(),
            Some(fen) => Position::from_fen(fen)?,
        };
        Ok(play(start, &self.moves, ranks)?)
    }
}

/// The game that begins at `start` with these moves, given as coordinates.
///
/// # Errors
/// Names the first move that is none or is not legal, and its number.
pub fn game_from<T: AsRef<str>>(start: Position, moves: &[T]) -> Result<Game, GameError> {
    play(start, moves, FirstRank::Zero)
}

fn play<T: AsRef<str>>(start: Position, moves: &[T], ranks: FirstRank) -> Result<Game, GameError> {
    let mut game = Game::new(start);
    for (i, text) in moves.iter().enumerate() {
        let text = text.as_ref();
        let refused = |why: String| GameError { number: i + 1, text: super::cut(text), why };
        let mv = ranks.read(text).map_err(|error| refused(error.to_string()))?;
        game.try_play(mv).map_err(|error| refused(error.to_string()))?;
    }
    Ok(game)
}

/// The same position with the sides changed.
pub fn flipped(setup: &Setup) -> Setup {
    let mut other = setup.clone();
    for square in xiangqi::Square::all() {
        let piece = setup.board[square.index()];
        other.board[square.flip_rank().index()] =
            piece.map(|piece| xiangqi::Piece::new(!piece.color(), piece.kind()));
    }
    other.side_to_move = !setup.side_to_move;
    other
}

/// The same position seen in a mirror, left and right changed.
pub fn mirrored(setup: &Setup) -> Setup {
    let mut other = setup.clone();
    for square in xiangqi::Square::all() {
        other.board[square.mirror_file().index()] = setup.board[square.index()];
    }
    other
}
