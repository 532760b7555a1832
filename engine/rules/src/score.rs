//! Scores: what a search or an evaluation says of a position.

use std::fmt;
use std::ops::Neg;

/// A score in centipawn-like units **from the side to move's view**; fits an `i16`.
///
/// ```text
///  32000 - n   mate: the side to move mates in n plies (0 < n ≤ MAX_PLY)
///  31000 - n   win by rule: a repetition verdict for the side to move, n plies ahead
///  ±20000      the widest evaluation
/// ```
/// and the same with a minus sign for losses. A win by rule is kept apart from mate: it is no
/// checkmate, and must not be shown as one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Score(pub i32);

/// The greatest distance from the root, in plies, that a search looks at.
pub const MAX_PLY: i32 = 246;

impl Score {
    /// A draw.
    pub const DRAW: Score = Score(0);
    /// Mated at this node counts as `-MATE + ply`.
    pub const MATE: i32 = 32_000;
    /// Scores from here up (down, with a minus sign) are mates.
    pub const MATE_FLOOR: i32 = Score::MATE - 2 * MAX_PLY;
    /// A win by rule at this node counts as `RULE_WIN - ply`.
    pub const RULE_WIN: i32 = 31_000;
    /// Scores from here up (down) that are no mates are wins (losses) by rule.
    pub const RULE_WIN_FLOOR: i32 = Score::RULE_WIN - 2 * MAX_PLY;
    /// Evaluations are clamped to ± this.
    pub const EVAL_LIMIT: i32 = 20_000;
    /// Greater than any score: the window's end.
    pub const INFINITE: i32 = 32_001;

    /// Losing by mate `ply` plies from the root.
    pub const fn mated_in(ply: i32) -> Score {
        Score(-Score::MATE + ply)
    }

    /// Winning by mate `ply` plies from the root.
    pub const fn mate_in(ply: i32) -> Score {
        Score(Score::MATE - ply)
    }

    /// `Some(plies)` if this is a mate: above zero the side to move mates, below it is mated.
    pub const fn mate_plies(self) -> Option<i32> {
        if self.0 >= Score::MATE_FLOOR {
            Some(Score::MATE - self.0)
        } else if self.0 <= -Score::MATE_FLOOR {
            Some(-Score::MATE - self.0)
        } else {
            None
        }
    }

    /// Is this a win or loss by a repetition verdict?
    pub const fn is_rule_win(self) -> bool {
        let size = self.0.abs();
        size >= Score::RULE_WIN_FLOOR && size < Score::MATE_FLOOR
    }

    /// Is the game decided: a mate or a win by rule?
    pub const fn is_decided(self) -> bool {
        self.0.abs() >= Score::RULE_WIN_FLOOR
    }
}

impl Neg for Score {
    type Output = Score;

    fn neg(self) -> Score {
        Score(-self.0)
    }
}

impl fmt::Debug for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Score {
    /// `cp 34`, `mate 3` (moves, as UCI counts them), `rule win in 4` (plies).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mate_plies() {
            Some(plies) if plies > 0 => write!(f, "mate {}", (plies + 1) / 2),
            Some(plies) => write!(f, "mate {}", plies / 2),
            None if self.is_rule_win() && self.0 > 0 => {
                write!(f, "rule win in {}", Score::RULE_WIN - self.0)
            }
            None if self.is_rule_win() => write!(f, "rule loss in {}", Score::RULE_WIN + self.0),
            None => write!(f, "cp {}", self.0),
        }
    }
}
