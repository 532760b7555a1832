//! How scores are shown: as Elo, in pawns, raw; and as chances of a win, a draw and a loss.
//!
//! Outside search and evaluation on purpose: floating point is at home here, and nothing that is computed here
//! goes back into a search. Scores by rule and mates are shown as what they are in every type.

mod model;

use std::fmt;
use std::str::FromStr;

use xiangqi::{Position, Score};

pub use model::{FULL_BOARD, Wdl, WinModel, material, material_of};

/// What the number after `score cp` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoreType {
    /// The difference in rating that the expected result stands for: 200 is a score of 76 %.
    Elo,
    /// 100 is the raw score at which the side to move wins every second game from a full board.
    PawnValueNormalized,
    /// As the search counts.
    Raw,
}

impl ScoreType {
    /// All there are.
    pub const ALL: [ScoreType; 3] = [ScoreType::Elo, ScoreType::PawnValueNormalized, ScoreType::Raw];

    /// The value of the option `ScoreType`.
    pub const fn name(self) -> &'static str {
        match self {
            ScoreType::Elo => "Elo",
            ScoreType::PawnValueNormalized => "PawnValueNormalized",
            ScoreType::Raw => "Raw",
        }
    }
}

/// A name that is no score type's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is no score type; expected Elo, PawnValueNormalized or Raw")]
pub struct UnknownScoreType {
    /// The name, cut to 40 characters.
    pub found: String,
}

impl FromStr for ScoreType {
    type Err = UnknownScoreType;

    /// Case does not matter.
    fn from_str(text: &str) -> Result<ScoreType, UnknownScoreType> {
        let known = ScoreType::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(text));
        known.ok_or_else(|| UnknownScoreType { found: text.chars().take(40).collect() })
    }
}

/// A score as protocols show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownScore {
    /// `cp N`. A win or loss by rule is ±(31000 less the plies to it) whatever the type; everything else stays
    /// within ±[`Score::EVAL_LIMIT`].
    Cp(i32),
    /// `mate N`: moves, below zero (and 0) when the side to move is mated.
    Mate(i32),
}

impl ShownScore {
    /// A score of this position, side to move, in the terms of a type.
    pub fn new(score: Score, kind: ScoreType, position: &Position) -> ShownScore {
        match score.mate_plies() {
            Some(plies) if plies > 0 => return ShownScore::Mate((plies + 1) / 2),
            Some(plies) => return ShownScore::Mate(plies / 2),
            None if score.is_rule_win() => return ShownScore::Cp(score.0),
            None => {}
        }
        ShownScore::Cp(match kind {
            ScoreType::Raw => score.0,
            ScoreType::PawnValueNormalized => model::in_pawns(score.0),
            ScoreType::Elo => WinModel::of(position).elo(score.0),
        })
    }
}

impl fmt::Display for ShownScore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShownScore::Cp(value) => write!(f, "cp {value}"),
            ShownScore::Mate(moves) => write!(f, "mate {moves}"),
        }
    }
}

/// The chances that a score of this position stands for, side to move: mates and wins by rule are certain.
pub fn wdl(score: Score, position: &Position) -> Wdl {
    if score.is_decided() {
        return if score.0 > 0 { Wdl::WIN } else { Wdl::LOSS };
    }
    WinModel::of(position).wdl(score.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decided_scores_are_shown_as_such_in_every_type() {
        let start = Position::start();
        let cases = [
            (Score::mate_in(5), "mate 3", Wdl::WIN),
            (Score::mated_in(4), "mate -2", Wdl::LOSS),
            (Score::mated_in(0), "mate 0", Wdl::LOSS),
            (Score(Score::RULE_WIN - 4), "cp 30996", Wdl::WIN),
            (Score(-Score::RULE_WIN + 7), "cp -30993", Wdl::LOSS),
        ];
        for kind in ScoreType::ALL {
            for (score, text, chances) in cases {
                assert_eq!(ShownScore::new(score, kind, &start).to_string(), text, "{kind:?}");
                assert_eq!(wdl(score, &start), chances, "{score}");
            }
        }
    }

    #[test]
    fn types_keep_sign_and_order() {
        let start = Position::start();
        for kind in ScoreType::ALL {
            let shown = |raw| match ShownScore::new(Score(raw), kind, &start) {
                ShownScore::Cp(value) => value,
                ShownScore::Mate(_) => panic!("{raw} is no mate"),
            };
            let scores = [-20_000, -3000, -300, -30, 0, 30, 300, 3000, 20_000].map(shown);
            assert!(scores.is_sorted() && scores[4] == 0, "{kind:?}: {scores:?}");
            assert!(scores.iter().all(|value| value.abs() <= Score::EVAL_LIMIT), "{kind:?}: {scores:?}");
            for (low, high) in scores.iter().zip(scores.iter().rev()) {
                assert_eq!(*low, -high, "{kind:?}");
            }
        }
    }

    #[test]
    fn names_are_read() {
        for kind in ScoreType::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
            assert_eq!(kind.name().to_lowercase().parse(), Ok(kind));
        }
        assert!("Centipawns".parse::<ScoreType>().is_err());
    }
}
