//! How games end: outcome, reason, and whose failure it was.

use serde::{Deserialize, Serialize};
use xiangqi::Color;
use xiangqi::judge::{EndReason, GameResult};

/// One of the two players of a match; results are seen from A, the new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// `--a`, the new engine.
    A,
    /// `--b`, the old one.
    B,
}

impl Side {
    /// Both, A first.
    pub const BOTH: [Side; 2] = [Side::A, Side::B];

    /// A is 0, B is 1.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The other one.
    pub const fn other(self) -> Side {
        match self {
            Side::A => Side::B,
            Side::B => Side::A,
        }
    }

    /// `a` or `b`.
    pub const fn name(self) -> &'static str {
        match self {
            Side::A => "a",
            Side::B => "b",
        }
    }
}

/// The outcome of a game that was played to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Drawn.
    Draw,
    /// Black has won.
    RedLoses,
    /// Red has won.
    BlackLoses,
}

impl Outcome {
    /// A loss of this colour.
    pub const fn loss_of(color: Color) -> Outcome {
        match color {
            Color::Red => Outcome::RedLoses,
            Color::Black => Outcome::BlackLoses,
        }
    }

    /// The judge's result; `None` while the game goes on.
    pub const fn from_result(result: GameResult) -> Option<Outcome> {
        match result {
            GameResult::Ongoing => None,
            GameResult::Draw => Some(Outcome::Draw),
            GameResult::RedLoses => Some(Outcome::RedLoses),
            GameResult::BlackLoses => Some(Outcome::BlackLoses),
        }
    }

    /// Half points of Red: 0, 1 or 2.
    pub const fn red_half_points(self) -> u8 {
        match self {
            Outcome::RedLoses => 0,
            Outcome::Draw => 1,
            Outcome::BlackLoses => 2,
        }
    }
}

/// What a player can do wrong. Each loses the game, and each is counted apart, from typed events and
/// never from texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// It answered with a move that is none, or not legal.
    IllegalMove,
    /// Its process ended with an error or a signal.
    Crash,
    /// It gave no answer, not even to `stop`.
    Hang,
    /// It answered too late.
    TimeLoss,
    /// It closed its output, or ended without an error, in the middle of a game.
    Disconnect,
    /// It said that it has no move where there are legal ones.
    NoMove,
}

impl FailureKind {
    /// All kinds, in the order of reports.
    pub const ALL: [FailureKind; 6] = [
        FailureKind::IllegalMove,
        FailureKind::Crash,
        FailureKind::Hang,
        FailureKind::TimeLoss,
        FailureKind::Disconnect,
        FailureKind::NoMove,
    ];

    /// The word in reports and journals.
    pub const fn name(self) -> &'static str {
        match self {
            FailureKind::IllegalMove => "illegal_move",
            FailureKind::Crash => "crash",
            FailureKind::Hang => "hang",
            FailureKind::TimeLoss => "time_loss",
            FailureKind::Disconnect => "disconnect",
            FailureKind::NoMove => "no_move",
        }
    }
}

/// Why a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// In check without a legal move.
    Checkmate,
    /// Without a legal move, not in check.
    Stalemate,
    /// The third occurrence of a position, by the rule set's verdict.
    Repetition,
    /// The natural limit.
    NaturalLimit,
    /// Nothing that could mate.
    InsufficientMaterial,
    /// The loser gave up.
    Resignation,
    /// Adjudicated a draw on both players' scores.
    DrawAdjudication,
    /// Adjudicated on both players' scores.
    WinAdjudication,
    /// The longest game we let be played; a draw.
    PlyLimit,
    /// The loser failed.
    #[serde(untagged)]
    Failure(FailureKind),
}

impl Reason {
    /// The word in reports and journals.
    pub const fn name(self) -> &'static str {
        match self {
            Reason::Checkmate => "checkmate",
            Reason::Stalemate => "stalemate",
            Reason::Repetition => "repetition",
            Reason::NaturalLimit => "natural_limit",
            Reason::InsufficientMaterial => "insufficient_material",
            Reason::Failure(kind) => kind.name(),
            Reason::Resignation => "resignation",
            Reason::DrawAdjudication => "draw_adjudication",
            Reason::WinAdjudication => "win_adjudication",
            Reason::PlyLimit => "ply_limit",
        }
    }
}

impl From<EndReason> for Reason {
    fn from(reason: EndReason) -> Reason {
        match reason {
            EndReason::Checkmate => Reason::Checkmate,
            EndReason::Stalemate => Reason::Stalemate,
            EndReason::Repetition => Reason::Repetition,
            EndReason::NaturalLimit => Reason::NaturalLimit,
            EndReason::InsufficientMaterial => Reason::InsufficientMaterial,
        }
    }
}

/// How often a player failed, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FailureCounts([u64; FailureKind::ALL.len()]);

impl FailureCounts {
    /// Counts one more.
    pub fn add(&mut self, kind: FailureKind) {
        self.0[kind as usize] += 1;
    }

    /// How often this happened.
    pub fn of(&self, kind: FailureKind) -> u64 {
        self.0[kind as usize]
    }

    /// All kinds together.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journal_words_are_report_words() {
        let failures = FailureKind::ALL.map(Reason::Failure);
        let others = [
            Reason::Checkmate,
            Reason::Stalemate,
            Reason::Repetition,
            Reason::NaturalLimit,
            Reason::InsufficientMaterial,
            Reason::Resignation,
            Reason::DrawAdjudication,
            Reason::WinAdjudication,
            Reason::PlyLimit,
        ];
        for reason in failures.into_iter().chain(others) {
            let text = serde_json::to_string(&reason).expect("serialises");
            assert_eq!(text, format!("{:?}", reason.name()));
            assert_eq!(serde_json::from_str::<Reason>(&text).expect("reads back"), reason);
        }
    }
}
