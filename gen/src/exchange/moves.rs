//! Moves in coordinates as others number the ranks: 0 to 9 (Pikafish, UCCI), or 1 to 10 (Fairy-Stockfish).

use xiangqi::{Move, Square};

/// The number of Red's first rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstRank {
    /// Ranks 0 to 9: `h2e2`.
    Zero,
    /// Ranks 1 to 10: `h3e3`, `b10c8`.
    One,
}

impl FirstRank {
    /// Both.
    pub const ALL: [FirstRank; 2] = [FirstRank::Zero, FirstRank::One];

    /// The value of this number: 0 or 1.
    pub const fn numbered(number: u8) -> Option<FirstRank> {
        match number {
            0 => Some(FirstRank::Zero),
            1 => Some(FirstRank::One),
            _ => None,
        }
    }

    /// The number.
    pub const fn number(self) -> u8 {
        match self {
            FirstRank::Zero => 0,
            FirstRank::One => 1,
        }
    }
}

/// A move in coordinates.
pub fn move_text(mv: Move, first: FirstRank) -> String {
    let square = |square: Square| {
        let file = char::from(b'a' + square.file());
        format!("{file}{}", square.rank() + first.number())
    };
    square(mv.from()) + &square(mv.to())
}

/// Reads a move in coordinates.
///
/// # Errors
/// Says what was expected.
pub fn parse_move(text: &str, first: FirstRank) -> Result<Move, String> {
    let parsed = square(text, first).and_then(|(from, rest)| Some((from, square(rest, first)?)));
    match parsed {
        Some((from, (to, ""))) if from != to => Ok(Move::new(from, to)),
        _ => Err(match first {
            FirstRank::Zero => "no move in coordinates with ranks 0 to 9, such as h2e2".to_owned(),
            FirstRank::One => "no move in coordinates with ranks 1 to 10, such as h3e3".to_owned(),
        }),
    }
}

/// The square that a text begins with, and the rest.
fn square(text: &str, first: FirstRank) -> Option<(Square, &str)> {
    let mut bytes = text.bytes();
    let file = bytes.next()?.to_ascii_lowercase().checked_sub(b'a')?;
    let digits = bytes.take(2).take_while(u8::is_ascii_digit).count();
    let rank: u8 = text.get(1..1 + digits)?.parse().ok()?;
    Some((Square::at(file, rank.checked_sub(first.number())?)?, text.get(1 + digits..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_square_both_ways() {
        for first in FirstRank::ALL {
            for from in Square::all() {
                for to in Square::all().filter(|&to| to != from) {
                    let mv = Move::new(from, to);
                    assert_eq!(parse_move(&move_text(mv, first), first), Ok(mv));
                }
            }
        }
        let mv: Move = "b9c7".parse().expect("a move");
        assert_eq!(
            (move_text(mv, FirstRank::One), move_text(mv, FirstRank::Zero)),
            ("b10c8".into(), "b9c7".into())
        );
    }

    #[test]
    fn what_is_no_move() {
        for text in
            ["", "h", "h2", "h2e", "h2e22", "h2h2", "j2e2", "h2e2 ", "0000", "none", "h２e2", "h11e2", "hé"]
        {
            for first in FirstRank::ALL {
                assert!(parse_move(text, first).is_err(), "{text}");
            }
        }
        assert!(parse_move("h0e2", FirstRank::One).is_err());
        assert!(parse_move("h10e2", FirstRank::Zero).is_err());
    }
}
