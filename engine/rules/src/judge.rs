//! The verdict on a game: won, drawn or going on, and why.
//!
//! The words and their sources are in `docs/rules.md`.

mod asian;
mod chase;
mod chinese;
mod competition;
mod cycle;
pub mod explain;
mod mate_threat;
mod rules;
mod switches;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;

pub use rules::{DrawRule, NATURAL_LIMIT_PLIES, RuleSet, Rules, UnknownDrawRule, UnknownRuleSet};
pub use switches::{Basis, ChaseReading, Known, SwitchRow, Switches};

use cycle::{Checks, Cycle};

use crate::bitboard::Bitboard;
use crate::color::Color;
use crate::game::Game;
use crate::piece::PieceKind;
use crate::position::Position;

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

/// What a side did through a cycle of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Conduct {
    /// 允许循环
    Allowed,
    /// 长捉
    PerpetualChase,
    /// 长杀; with [`RuleSet::Chinese`] alone.
    PerpetualMateThreat,
    /// Checks, chases and mate threats by turns (一将一捉, 一将一杀, 一杀一捉); with
    /// [`RuleSet::Chinese`] alone.
    MixedAttacks,
    /// 长将
    PerpetualCheck,
}

impl Conduct {
    /// How grave it is: the side with the higher level loses.
    pub const fn level(self) -> u8 {
        match self {
            Conduct::Allowed => 0,
            Conduct::PerpetualChase | Conduct::PerpetualMateThreat | Conduct::MixedAttacks => 1,
            Conduct::PerpetualCheck => 2,
        }
    }
}

impl fmt::Display for Conduct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Conduct::Allowed => "allowed",
            Conduct::PerpetualChase => "perpetual_chase",
            Conduct::PerpetualMateThreat => "perpetual_mate_threat",
            Conduct::MixedAttacks => "mixed_attacks",
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
    /// Black's pieces that Red's conduct consisted in chasing, on their squares at the cycle's start.
    pub chased_by_red: Bitboard,
    /// Red's pieces that Black's conduct consisted in chasing, on their squares at the cycle's start.
    pub chased_by_black: Bitboard,
}

impl Repetition {
    /// The verdict where only perpetual check and perpetual chase are told apart.
    fn of(checks: [Checks; 2], chased: [Bitboard; 2]) -> Repetition {
        let conduct = |color: Color| {
            if checks[color.index()].perpetual() {
                Conduct::PerpetualCheck
            } else if !chased[color.index()].is_empty() {
                Conduct::PerpetualChase
            } else {
                Conduct::Allowed
            }
        };
        Repetition::between(Color::ALL.map(conduct), chased)
    }

    /// The verdict between Red's conduct and Black's.
    fn between([red, black]: [Conduct; 2], chased: [Bitboard; 2]) -> Repetition {
        let result = match red.level().cmp(&black.level()) {
            Ordering::Greater => GameResult::RedLoses,
            Ordering::Less => GameResult::BlackLoses,
            Ordering::Equal => GameResult::Draw,
        };
        Repetition { result, red, black, chased_by_red: chased[0], chased_by_black: chased[1] }
    }
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
/// insufficient material, repetition and the natural limit. Draws are as [`Rules::draws`] has them.
pub fn status(game: &Game, rules: impl Into<Rules>) -> Status {
    let rules = rules.into();
    let position = game.position();
    if !position.has_legal_move() {
        let reason = if position.in_check() { EndReason::Checkmate } else { EndReason::Stalemate };
        return Status::ended(GameResult::loss_of(position.side_to_move()), reason);
    }
    if insufficient_material(position) {
        return Status::ended(
            rules.draw_by(EndReason::InsufficientMaterial),
            EndReason::InsufficientMaterial,
        );
    }
    if let Some(verdict) = repetition(game, rules) {
        let result = match verdict.result {
            GameResult::Draw => rules.draw_by(EndReason::Repetition),
            decided => decided,
        };
        let status = Status::ended(result, EndReason::Repetition);
        return Status { repetition: Some(verdict), ..status };
    }
    if natural_limit_reached(position, &rules) {
        return Status::ended(rules.draw_by(EndReason::NaturalLimit), EndReason::NaturalLimit);
    }
    Status::ONGOING
}

/// The verdict on a repetition, if the current position has stood as often as the rule set asks for.
/// [`Rules::draws`] takes no part in it.
pub fn repetition(game: &Game, rules: impl Into<Rules>) -> Option<Repetition> {
    let rules = rules.into();
    let first = game.earlier_occurrences().nth(rules.set.deciding_occurrence() - 2)?;
    Some(judge_cycle(game, first, &rules))
}

/// What a repetition means to a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchVerdict {
    /// The game ends here. [`Rules::draws`] takes no part in it.
    Decided(GameResult),
    /// This side would lose if the cycle were gone through again, but the deciding occurrence is yet to come: it
    /// may still mix what it does, so it has at most a draw by going on like this, not a loss.
    AtFault(Color),
}

/// For a search that began after `root_len` plies: the verdict where the current position has stood as often as the
/// rule set asks for, or a second time within the search. `None` where neither is so; the result `Ongoing` is never
/// returned.
#[inline]
pub fn search_repetition(game: &Game, rules: &Rules, root_len: usize) -> Option<SearchVerdict> {
    let mut earlier = game.earlier_occurrences();
    let last = earlier.next()?;
    let first = if rules.set.deciding_occurrence() == 2 { Some(last) } else { earlier.next() };
    let verdict = |first| judge_cycle(game, first, rules).result;
    match first {
        Some(first) => Some(SearchVerdict::Decided(verdict(first))),
        None if last >= root_len => {
            let result = verdict(last);
            Some(result.loser().map_or(SearchVerdict::Decided(result), SearchVerdict::AtFault))
        }
        None => None,
    }
}

/// Judges the cycle from the position after `first` plies to the current one, which is the same.
fn judge_cycle(game: &Game, first: usize, rules: &Rules) -> Repetition {
    let cycle = Cycle::new(game, first);
    match rules.set.switches().chase.value {
        ChaseReading::None => Repetition::of(cycle.checks(), [Bitboard::EMPTY; 2]),
        ChaseReading::Competition => competition::judge(&cycle),
        ChaseReading::Asian => asian::judge(&cycle),
        ChaseReading::Chinese => {
            let threats = rules.set.switches().mate_threats.value;
            chinese::judge(&cycle, if threats { rules.mate_threat_depth } else { 0 })
        }
    }
}

/// Has the natural limit's count reached its end? Checkmate, stalemate and a repetition come before it.
#[inline]
pub fn natural_limit_reached(position: &Position, rules: &Rules) -> bool {
    position.no_capture_plies() >= rules.natural_limit
}

/// Is no rook, knight, cannon or pawn left? Then nobody can win.
#[inline]
pub fn insufficient_material(position: &Position) -> bool {
    use PieceKind::{Cannon, Knight, Pawn, Rook};
    [Rook, Knight, Cannon, Pawn].iter().all(|&kind| position.kind(kind).is_empty())
}
