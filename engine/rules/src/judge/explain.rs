//! Why a game is judged as it is: what each move did, and what that makes of each side's conduct.
//!
//! The facts are types; [`Language`] turns them into words.

mod chinese_text;
mod english_text;
mod man;
mod reason;
mod study;

pub use man::Man;
pub use reason::Reason;

use super::{Conduct, Repetition, Rules, Status};
use crate::color::Color;
use crate::game::Game;
use crate::mv::Move;

/// What was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The whole game: its position has not stood before.
    Game,
    /// The cycle that the last move closed.
    Cycle {
        /// How often its position has stood, this time included.
        occurrences: u32,
        /// Is that often enough for a verdict?
        decides: bool,
    },
}

/// A game's last cycle, or the whole game, move by move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// By which rules.
    pub rules: Rules,
    /// How the game stands.
    pub status: Status,
    /// What was looked at.
    pub scope: Scope,
    /// The moves, in their order.
    pub moves: Vec<MoveNote>,
    /// The verdict on the cycle, even where it does not decide the game yet.
    pub cycle: Option<Repetition>,
    /// What each side's conduct was and why (Red's first); only for a cycle.
    pub reasons: Option<[Reason; 2]>,
}

/// What a move was, by its gravest side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    /// 将
    Check,
    /// 捉
    Chase,
    /// 杀
    MateThreat,
    /// It freed pieces from a chase, and did nothing else.
    Escape,
    /// 闲
    Idle,
}

impl Act {
    /// Its word in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Act::Check => "check",
            Act::Chase => "chase",
            Act::MateThreat => "mate_threat",
            Act::Escape => "escape",
            Act::Idle => "idle",
        }
    }
}

/// What one move did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveNote {
    /// Its number among the game's plies, from 1.
    pub ply: usize,
    /// Who made it.
    pub mover: Color,
    /// The move.
    pub mv: Move,
    /// The move in Chinese notation.
    pub chinese: String,
    /// Does it give check?
    pub check: bool,
    /// In how many moves it threatens mate by checks alone; looked for only where that counts.
    pub mate_threat: Option<u8>,
    /// The mover's attacks after it, except those on the king, and what the rules make of them.
    pub attacks: Vec<Attack>,
    /// The mover's pieces that were chased before it and no longer are.
    pub freed: Vec<Man>,
}

impl MoveNote {
    /// What it was, by its gravest side.
    pub fn act(&self) -> Act {
        if self.check {
            Act::Check
        } else if self.chases().next().is_some() {
            Act::Chase
        } else if self.mate_threat.is_some() {
            Act::MateThreat
        } else if !self.freed.is_empty() {
            Act::Escape
        } else {
            Act::Idle
        }
    }

    /// Those of its attacks that are chases.
    pub fn chases(&self) -> impl Iterator<Item = &Attack> {
        self.attacks.iter().filter(|attack| attack.ruling.is_chase())
    }
}

/// One piece's attack on another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attack {
    /// Who attacks.
    pub attacker: Man,
    /// Whom.
    pub victim: Man,
    /// Is it a chase?
    pub ruling: Ruling,
}

/// Is an attack a chase, and why?
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// A chase: nothing protects the victim.
    Unprotected,
    /// A chase: these protect the victim by their gait, but may not leave their squares for their
    /// king's sake.
    FalselyProtected(Vec<Man>),
    /// A chase, protected or not: a knight or cannon on a rook, or an advisor or bishop on a rook,
    /// knight or cannon.
    WorthMore,
    /// No chase: these could take the capturer in return.
    Protected(Vec<Man>),
    /// No chase: a king or pawn attacks.
    AttackerMayChase,
    /// No chase: a pawn that has not crossed the river.
    PawnAtHome,
    /// No chase: both are of one kind and the victim attacks back.
    Mutual,
    /// No chase: the capture would leave the own king open.
    KingForbids,
    /// No chase by this move: the attack, or the chase, was there before it.
    Standing,
    /// No chase: there is a check in the cycle.
    CheckInCycle,
}

impl Ruling {
    /// Is it a chase?
    pub fn is_chase(&self) -> bool {
        matches!(self, Ruling::Unprotected | Ruling::FalselyProtected(_) | Ruling::WorthMore)
    }

    /// Its word in JSON.
    pub const fn name(&self) -> &'static str {
        match self {
            Ruling::Unprotected => "unprotected",
            Ruling::FalselyProtected(_) => "falsely_protected",
            Ruling::WorthMore => "worth_more",
            Ruling::Protected(_) => "protected",
            Ruling::AttackerMayChase => "attacker_may_chase",
            Ruling::PawnAtHome => "pawn_at_home",
            Ruling::Mutual => "mutual",
            Ruling::KingForbids => "king_forbids",
            Ruling::Standing => "standing",
            Ruling::CheckInCycle => "check_in_cycle",
        }
    }

    /// The pieces that protect the victim, truly or falsely.
    pub fn protectors(&self) -> &[Man] {
        match self {
            Ruling::Protected(men) | Ruling::FalselyProtected(men) => men,
            _ => &[],
        }
    }
}

/// A language of explanations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// English.
    English,
    /// 中文
    Chinese,
}

impl Language {
    /// A move's note in one line.
    pub fn of_move(self, note: &MoveNote) -> String {
        match self {
            Language::English => english_text::of_move(note),
            Language::Chinese => chinese_text::of_move(note),
        }
    }

    /// A side's conduct and its reason in one line.
    pub fn of_reason(self, side: Color, reason: &Reason) -> String {
        match self {
            Language::English => english_text::of_reason(side, reason),
            Language::Chinese => chinese_text::of_reason(side, reason),
        }
    }

    /// What was looked at, and how the game stands, in one line.
    pub fn of_scope(self, explanation: &Explanation) -> String {
        match self {
            Language::English => english_text::of_scope(explanation),
            Language::Chinese => chinese_text::of_scope(explanation),
        }
    }
}

/// Explains the cycle that the game's last move closed, or the whole game where its position has not
/// stood before.
pub fn explain(game: &Game, rules: impl Into<Rules>) -> Explanation {
    study::explain(game, rules.into())
}

/// The conduct that a reason belongs to is the verdict's.
fn conducts(verdict: &Repetition) -> [Conduct; 2] {
    [verdict.red, verdict.black]
}
