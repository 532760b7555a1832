//! The number of Red's back rank in the text of a move: 0 in UCI as xiangqi programs speak it, in UCI_Cyclone and in
//! UCCI; 1 in UCI as Fairy-Stockfish speaks it, and with it every program whose board is `pyffish` or `ffish`.
//!
//! ```text
//! 0   h2e2   h9g7
//! 1   h3e3   h10g8
//! ```

use xiangqi::{Move, Square};

use super::cut;

/// The number of Red's back rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FirstRank {
    /// Ranks 0 to 9.
    #[default]
    Zero,
    /// Ranks 1 to 10.
    One,
}

/// A text that is no move, by the ranks that are spoken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoveError {
    /// With ranks from 0.
    #[error(transparent)]
    Zero(#[from] xiangqi::mv::MoveTextError),
    /// With ranks from 1.
    #[error(
        "{found:?} is no move in coordinates; expected one such as h3e3 (files a-i, ranks 1-10 as First Rank is 1)"
    )]
    One {
        /// The text, cut to 40 characters.
        found: String,
    },
}

impl FirstRank {
    /// A square: `h2`, or `h3`.
    pub fn square(self, square: Square) -> String {
        match self {
            FirstRank::Zero => square.to_string(),
            FirstRank::One => format!("{}{}", char::from(b'a' + square.file()), square.rank() + 1),
        }
    }

    /// A move: `h2e2`, or `h3e3`.
    pub fn text(self, mv: Move) -> String {
        format!("{}{}", self.square(mv.from()), self.square(mv.to()))
    }

    /// Moves with blanks between.
    pub fn line(self, moves: &[Move]) -> String {
        let texts: Vec<String> = moves.iter().map(|&mv| self.text(mv)).collect();
        texts.join(" ")
    }

    /// The move that [`FirstRank::text`] writes so.
    ///
    /// # Errors
    /// Where it writes none so.
    pub fn read(self, text: &str) -> Result<Move, MoveError> {
        match self {
            FirstRank::Zero => Ok(text.parse()?),
            FirstRank::One => from_one(text).ok_or_else(|| MoveError::One { found: cut(text) }),
        }
    }
}

/// `h10g8`: the second file is the only letter after the first character.
fn from_one(text: &str) -> Option<Move> {
    let second = text.bytes().skip(1).position(|byte| byte.is_ascii_alphabetic())? + 1;
    let (from, to) = text.split_at_checked(second)?;
    let (from, to) = (square_from_one(from)?, square_from_one(to)?);
    (from != to).then(|| Move::new(from, to))
}

fn square_from_one(text: &str) -> Option<Square> {
    let rank: u8 = match text.as_bytes() {
        [_, b'1', b'0'] => 9,
        [_, digit @ b'1'..=b'9'] => digit - b'1',
        _ => return None,
    };
    Square::parse(*text.as_bytes().first()?, b'0' + rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_move_is_read_as_it_is_written() {
        for ranks in [FirstRank::Zero, FirstRank::One] {
            for from in Square::all() {
                for to in Square::all().filter(|&to| to != from) {
                    let mv = Move::new(from, to);
                    assert_eq!(ranks.read(&ranks.text(mv)), Ok(mv));
                }
            }
        }
        let knight = FirstRank::Zero.read("h9g7").expect("a move");
        assert_eq!(FirstRank::One.text(knight), "h10g8");
        assert_eq!(FirstRank::One.line(&[knight, knight]), "h10g8 h10g8");
    }

    #[test]
    fn other_texts_are_refused() {
        let texts = [
            "", "h", "h3", "h0e0", "h2e0", "h11e3", "h01e3", "h3e", "h3e3q", "j3e3", "h3h3", "33e3", "h3é3",
            "é3h3", "h10",
        ];
        for text in texts {
            let error = FirstRank::One.read(text).expect_err(text).to_string();
            assert!(error.contains("h3e3"), "{text}: {error}");
        }
        assert!(FirstRank::Zero.read("h10g8").is_err());
    }
}
