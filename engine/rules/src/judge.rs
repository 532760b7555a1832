//! The verdict on a game: won, drawn or going on, and why.
//!
//! The words and their sources are in `docs/rules.md`.

mod competition;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use crate::bitboard::Bitboard;
use crate::color::Color;
use crate::game::Game;
use crate::piece::PieceKind;
use crate::position::Position;

/// Plies without capture at which the natural limit makes a draw.
pub const NATURAL_LIMIT_PLIES: u16 = 120;

/// A rule set for repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum RuleSet {
    /// 《象棋程序竞赛规则》 (2023-11-22): the third occurrence decides; perpetual check is worse
    /// than perpetual chase, which is worse than anything else.
    #[default]
    Competition,
}

impl RuleSet {
    /// All rule sets there are.
    pub const ALL: [RuleSet; 1] = [RuleSet::Competition];

    /// The name on command lines and in files.
    pub const fn name(self) -> &'static str {
        match self {
            RuleSet::Competition => "competition",
        }
    }
}

impl fmt::Display for RuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no rule set's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is no rule set; expected competition")]
pub struct UnknownRuleSet {
    /// The name.
    pub found: String,
}

impl FromStr for RuleSet {
    type Err = UnknownRuleSet;

    fn from_str(text: &str) -> Result<RuleSet, UnknownRuleSet> {
        let known = RuleSet::ALL.into_iter().find(|rules| rules.name() == text);
        known.ok_or_else(|| UnknownRuleSet { found: text.chars().take(40).collect() })
    }
}

/// How a game stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GameResult {
    /// Not over.
    Ongoing,
    /// Drawn.
    Draw,
    /// Black has won.
    RedLoses,
    /// Red has won.
    BlackLoses,
}

impl GameResult {
    /// The result in which this side loses.
    pub const fn loss_of(color: Color) -> GameResult {
        match color {
            Color::Red => GameResult::RedLoses,
            Color::Black => GameResult::BlackLoses,
        }
    }

    /// Who has lost; `None` for a draw and a game going on.
    pub const fn loser(self) -> Option<Color> {
        match self {
            GameResult::RedLoses => Some(Color::Red),
            GameResult::BlackLoses => Some(Color::Black),
            GameResult::Ongoing | GameResult::Draw => None,
        }
    }
}

impl fmt::Display for GameResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            GameResult::Ongoing => "ongoing",
            GameResult::Draw => "draw",
            GameResult::RedLoses => "red_loses",
            GameResult::BlackLoses => "black_loses",
        })
    }
}

/// By which rule a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndReason {
    /// In check without a legal move.
    Checkmate,
    /// Not in check, without a legal move: a loss too.
    Stalemate,
    /// A position stood for the third time.
    Repetition,
    /// 120 counted plies without capture.
    NaturalLimit,
    /// No rook, knight, cannon or pawn is left.
    InsufficientMaterial,
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EndReason::Checkmate => "checkmate",
            EndReason::Stalemate => "stalemate",
            EndReason::Repetition => "repetition",
            EndReason::NaturalLimit => "natural_limit",
            EndReason::InsufficientMaterial => "insufficient_material",
        })
    }
}

/// What a side did through a cycle of positions, from the least to the gravest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Conduct {
    /// 允许循环
    Allowed,
    /// 长捉
    PerpetualChase,
    /// 长将
    PerpetualCheck,
}

impl fmt::Display for Conduct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Conduct::Allowed => "allowed",
            Conduct::PerpetualChase => "perpetual_chase",
            Conduct::PerpetualCheck => "perpetual_check",
        })
    }
}

/// The verdict on a cycle of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repetition {
    /// A draw, or whoever did the graver thing loses.
    pub result: GameResult,
    /// Red's conduct.
    pub red: Conduct,
    /// Black's conduct.
    pub black: Conduct,
    /// Black's pieces that Red chased, on their squares at the cycle's start.
    pub chased_by_red: Bitboard,
    /// Red's pieces that Black chased, on their squares at the cycle's start.
    pub chased_by_black: Bitboard,
}

/// The verdict on the current position of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// How the game stands.
    pub result: GameResult,
    /// Why it ended; `None` while it goes on.
    pub reason: Option<EndReason>,
    /// The cycle's verdict, where a repetition ended the game.
    pub repetition: Option<Repetition>,
}

impl Status {
    const ONGOING: Status = Status { result: GameResult::Ongoing, reason: None, repetition: None };

    const fn ended(result: GameResult, reason: EndReason) -> Status {
        Status { result, reason: Some(reason), repetition: None }
    }

    /// Is the game over?
    pub fn is_over(&self) -> bool {
        self.result != GameResult::Ongoing
    }
}

/// The whole verdict on the current position of a game: checkmate and stalemate come first, then
/// insufficient material, repetition and the natural limit.
pub fn status(game: &Game, rules: RuleSet) -> Status {
    let position = game.position();
    if !position.has_legal_move() {
        let reason = if position.in_check() { EndReason::Checkmate } else { EndReason::Stalemate };
        return Status::ended(GameResult::loss_of(position.side_to_move()), reason);
    }
    if insufficient_material(position) {
        return Status::ended(GameResult::Draw, EndReason::InsufficientMaterial);
    }
    if let Some(verdict) = repetition(game, rules) {
        let status = Status::ended(verdict.result, EndReason::Repetition);
        return Status { repetition: Some(verdict), ..status };
    }
    if natural_limit_reached(position) {
        return Status::ended(GameResult::Draw, EndReason::NaturalLimit);
    }
    Status::ONGOING
}

/// The verdict on a repetition, if the current position stands for the third time.
pub fn repetition(game: &Game, rules: RuleSet) -> Option<Repetition> {
    let first = game.earlier_occurrences().nth(1)?;
    Some(judge_cycle(game, first, rules))
}

/// For a search that began after `root_len` plies: the verdict on a cycle that closed within the
/// search (the position stood before at the root or after it), or that the third occurrence
/// closes. `None` where neither is so; `Ongoing` is never returned.
#[inline]
pub fn search_repetition(game: &Game, rules: RuleSet, root_len: usize) -> Option<GameResult> {
    let mut earlier = game.earlier_occurrences();
    let last = earlier.next()?;
    let first = if last >= root_len { last } else { earlier.next()? };
    Some(judge_cycle(game, first, rules).result)
}

/// Judges the cycle from the position after `first` plies to the current one, which is the same.
fn judge_cycle(game: &Game, first: usize, rules: RuleSet) -> Repetition {
    match rules {
        RuleSet::Competition => competition::judge(game, first),
    }
}

/// Has the natural limit's count reached its end? Checkmate, stalemate and a third occurrence
/// come before it.
#[inline]
pub fn natural_limit_reached(position: &Position) -> bool {
    position.no_capture_plies() >= NATURAL_LIMIT_PLIES
}

/// Is no rook, knight, cannon or pawn left? Then nobody can win.
#[inline]
pub fn insufficient_material(position: &Position) -> bool {
    use PieceKind::{Cannon, Knight, Pawn, Rook};
    [Rook, Knight, Cannon, Pawn].iter().all(|&kind| position.kind(kind).is_empty())
}
