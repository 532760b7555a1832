//! By which rules a game is judged.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use super::{EndReason, GameResult};

/// Plies without capture at which the natural limit makes a draw, unless another number is set.
pub const NATURAL_LIMIT_PLIES: u16 = 120;

/// A rule set for repetitions. What each decides, and from which text: `docs/rules.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum RuleSet {
    /// 《象棋程序竞赛规则》 (2023-11-22): the third occurrence decides; perpetual check is worse
    /// than perpetual chase, which is worse than anything else.
    #[default]
    Competition,
    /// 亚洲规则 as engines play it: the second occurrence decides; perpetual check, then perpetual
    /// chase of one piece, then anything else.
    Asian,
    /// 中国规则, simplified: perpetual check, then perpetual chase, mate threat and cycles mixed of
    /// check, mate threat and chase, then anything else.
    Chinese,
    /// Only perpetual check is forbidden.
    AllowChase,
    /// 天天象棋's rules as far as they are known.
    Sky,
    /// 弈天's rules as far as they are known.
    Yitian,
}

impl RuleSet {
    /// All rule sets there are.
    pub const ALL: [RuleSet; 6] = [
        RuleSet::Competition,
        RuleSet::Asian,
        RuleSet::Chinese,
        RuleSet::AllowChase,
        RuleSet::Sky,
        RuleSet::Yitian,
    ];

    /// The name on command lines and in files.
    pub const fn name(self) -> &'static str {
        match self {
            RuleSet::Competition => "competition",
            RuleSet::Asian => "asian",
            RuleSet::Chinese => "chinese",
            RuleSet::AllowChase => "allow-chase",
            RuleSet::Sky => "sky",
            RuleSet::Yitian => "yitian",
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
#[error("{found:?} is no rule set; expected {}", known())]
pub struct UnknownRuleSet {
    /// The name, cut to 40 characters.
    pub found: String,
}

fn known() -> String {
    RuleSet::ALL.map(RuleSet::name).join(", ")
}

impl FromStr for RuleSet {
    type Err = UnknownRuleSet;

    fn from_str(text: &str) -> Result<RuleSet, UnknownRuleSet> {
        let known = RuleSet::ALL.into_iter().find(|rules| rules.name() == text);
        known.ok_or_else(|| UnknownRuleSet { found: text.chars().take(40).collect() })
    }
}

/// Whether draws are taken for wins: for analysis that wants to see past them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum DrawRule {
    /// A draw is a draw.
    #[default]
    None,
    /// Every draw is a win for Black.
    DrawAsBlackWin,
    /// Every draw is a win for Red.
    DrawAsRedWin,
    /// A draw by repetition is a win for Black; other draws are draws.
    DrawRepAsBlackWin,
    /// A draw by repetition is a win for Red; other draws are draws.
    DrawRepAsRedWin,
}

impl DrawRule {
    /// All there are.
    pub const ALL: [DrawRule; 5] = [
        DrawRule::None,
        DrawRule::DrawAsBlackWin,
        DrawRule::DrawAsRedWin,
        DrawRule::DrawRepAsBlackWin,
        DrawRule::DrawRepAsRedWin,
    ];

    /// The name on command lines and in the protocols.
    pub const fn name(self) -> &'static str {
        match self {
            DrawRule::None => "None",
            DrawRule::DrawAsBlackWin => "DrawAsBlackWin",
            DrawRule::DrawAsRedWin => "DrawAsRedWin",
            DrawRule::DrawRepAsBlackWin => "DrawRepAsBlackWin",
            DrawRule::DrawRepAsRedWin => "DrawRepAsRedWin",
        }
    }
}

/// A name that is no draw rule's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is no draw rule; expected {}", DrawRule::ALL.map(DrawRule::name).join(", "))]
pub struct UnknownDrawRule {
    /// The name, cut to 40 characters.
    pub found: String,
}

impl FromStr for DrawRule {
    type Err = UnknownDrawRule;

    /// Reads a name; case does not matter.
    fn from_str(text: &str) -> Result<DrawRule, UnknownDrawRule> {
        let known = DrawRule::ALL.into_iter().find(|rule| rule.name().eq_ignore_ascii_case(text));
        known.ok_or_else(|| UnknownDrawRule { found: text.chars().take(40).collect() })
    }
}

/// All that a verdict on a game depends on beside its moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rules {
    /// How repetitions are judged.
    pub set: RuleSet,
    /// Counted plies without capture that draw the game; `u16::MAX` where there is no natural limit.
    pub natural_limit: u16,
    /// What a draw counts as.
    pub draws: DrawRule,
    /// Moves within which a threatened mate is seen, 0 to 10, for [`RuleSet::Chinese`]; 0 = mate
    /// threats are not looked for.
    pub mate_threat_depth: u8,
}

impl Rules {
    /// The natural limit of rules without one.
    pub const NO_LIMIT: u16 = u16::MAX;
    /// The natural limits that can be set, in plies.
    pub const LIMITS: RangeInclusive<u16> = 1..=150;
    /// The depths to which mate threats can be looked for, in moves; 0 = not at all.
    pub const MATE_THREAT_DEPTHS: RangeInclusive<u8> = 0..=10;

    /// What a draw for this reason counts as.
    pub const fn draw_by(&self, reason: EndReason) -> GameResult {
        let repetition = matches!(reason, EndReason::Repetition);
        match self.draws {
            DrawRule::DrawAsBlackWin => GameResult::RedLoses,
            DrawRule::DrawAsRedWin => GameResult::BlackLoses,
            DrawRule::DrawRepAsBlackWin if repetition => GameResult::RedLoses,
            DrawRule::DrawRepAsRedWin if repetition => GameResult::BlackLoses,
            _ => GameResult::Draw,
        }
    }
}

impl From<RuleSet> for Rules {
    /// The rule set with its own natural limit, draws as draws and no mate threats.
    fn from(set: RuleSet) -> Rules {
        let natural_limit = set.switches().natural_limit.value;
        Rules { set, natural_limit, draws: DrawRule::None, mate_threat_depth: 0 }
    }
}

impl Default for Rules {
    fn default() -> Rules {
        RuleSet::default().into()
    }
}
