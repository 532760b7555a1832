//! The values of options, and how a value is read.

use std::ops::RangeInclusive;

use xiangqi::judge::{DrawRule, RuleSet, Rules};

use super::options::{Change, Names, OptionError, OptionId};
use super::ranks::FirstRank;
use crate::eval::embedded::EMBEDDED;
use crate::score_display::ScoreType;
use crate::search::{MAX_HASH_MIB, MAX_THREADS, Skill};

/// The table's size unless another is asked for, in MiB.
pub(crate) const HASH_MIB: u32 = crate::bench::HASH_MIB as u32;
pub(crate) const MOST_HASH_MIB: u32 = MAX_HASH_MIB as u32;
pub(crate) const MOST_THREADS: u32 = MAX_THREADS as u32;
pub(crate) const ELO_MIN: u32 = Skill::ELO_MIN;
pub(crate) const ELO_MAX: u32 = Skill::ELO_MAX;
/// The level at which nothing is weakened.
pub(crate) const FULL_SKILL: u32 = Skill::FULL / HUNDREDTH;
/// Kept back from every move's time unless another is asked for, in ms.
pub(crate) const OVERHEAD_MS: u32 = 30;
/// Mate threats are seen within so many moves unless others are asked for: as in the last public source of Pikafish
/// that had the option (2023); later builds have 10, which is slow.
pub(crate) const MATE_THREAT_MOVES: u32 = 1;
// The widest values, which are Pikafish's.
pub(crate) const MOST_LINES: u32 = 500;
pub(crate) const MOST_OVERHEAD_MS: u32 = 5000;
pub(crate) const MOST_NODES_PER_MS: u32 = 10_000;
pub(crate) const MOST_LIMIT_PLIES: u32 = 150;
pub(crate) const MOST_MATE_THREAT_MOVES: u32 = 10;
pub(crate) const LIMIT_PLIES: u32 = xiangqi::judge::NATURAL_LIMIT_PLIES as u32;
/// How GUIs write "no text".
pub(crate) const EMPTY: &str = "<empty>";
/// What is evaluated with when nobody sets it: the net in the program, if there is one.
pub(crate) const EVAL_FILE: &str = match EMBEDDED {
    Some(net) => net.name,
    None => EMPTY,
};
/// "Choose yourself".
pub(crate) const AUTO: &str = "auto";
/// Skill levels are searched with in hundredths.
const HUNDREDTH: u32 = 100;
/// Levels of UCCI's `randomness`: none, small, medium, large.
const RANDOMNESS_LEVELS: [u32; 4] = [FULL_SKILL, 15, 10, 5];

/// What an option can be set to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RowKind {
    /// A whole number.
    Spin { default: u32, min: u32, max: u32 },
    /// Yes or no.
    Check { default: bool },
    /// One of several words.
    Combo { default: &'static str, values: &'static [&'static str] },
    /// Any text.
    Text { default: &'static str },
    /// Something to do at once.
    Button,
}

/// An option as a dialect announces it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) id: OptionId,
    /// Its name in UCI; empty where UCI has it not.
    pub(crate) uci: &'static str,
    /// Its name in UCCI; empty where UCCI has it not.
    pub(crate) ucci: &'static str,
    pub(crate) kind: RowKind,
    /// What it does, for `help`.
    pub(crate) about: &'static str,
}

impl Row {
    pub(crate) fn name(&self, names: Names) -> &'static str {
        match names {
            Names::Uci => self.uci,
            Names::Ucci => self.ucci,
        }
    }
}

/// The values that are looked at when they are needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// Lines to search.
    pub(crate) multi_pv: usize,
    /// Time kept back, in ms.
    pub(crate) overhead_ms: u64,
    /// Nodes that count as a millisecond; 0 = the clock.
    pub(crate) nodes_per_ms: u64,
    /// Show chances of win, draw and loss.
    pub(crate) show_wdl: bool,
    /// For analysis: play is not weakened.
    pub(crate) analyse: bool,
    /// 0 to 20, 20 = full strength.
    pub(crate) skill_level: u32,
    /// Weaken by rating; the level is void then.
    pub(crate) limit_strength: bool,
    /// The rating.
    pub(crate) elo: u32,
    /// Who judges games, but for the natural limit.
    pub(crate) rules: Rules,
    /// Is there a natural limit?
    pub(crate) sixty_move: bool,
    /// The natural limit, in plies.
    pub(crate) sixty_move_plies: u16,
    /// What numbers of scores mean.
    pub(crate) score_type: ScoreType,
    /// Are bounds shown?
    pub(crate) bounds: bool,
    /// The net's file as it was set.
    pub(crate) eval_file: String,
    /// The backend as it was set.
    pub(crate) backend: String,
    /// UCI: from what ranks are counted.
    pub(crate) first_rank: FirstRank,
    /// UCCI: times are in milliseconds.
    pub(crate) millisec: bool,
    /// UCCI: nothing is read while thinking.
    pub(crate) batch: bool,
    /// UCCI: more is said.
    pub(crate) debug: bool,
    /// UCCI: may the engine resign?
    pub(crate) resign: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            multi_pv: 1,
            overhead_ms: OVERHEAD_MS.into(),
            nodes_per_ms: 0,
            show_wdl: false,
            analyse: false,
            skill_level: FULL_SKILL,
            limit_strength: false,
            elo: ELO_MIN,
            rules: Rules { mate_threat_depth: MATE_THREAT_MOVES as u8, ..Rules::default() },
            sixty_move: true,
            sixty_move_plies: xiangqi::judge::NATURAL_LIMIT_PLIES,
            score_type: ScoreType::Elo,
            bounds: true,
            eval_file: EVAL_FILE.to_owned(),
            backend: AUTO.to_owned(),
            first_rank: FirstRank::Zero,
            // A GUI that is told of the option goes over to milliseconds, says the text of UCCI, whether it sets it or not.
            millisec: true,
            batch: false,
            debug: false,
            resign: false,
        }
    }
}

/// Does this text stand for none?
pub(crate) fn is_empty(text: &str) -> bool {
    matches!(text, "" | EMPTY)
}

/// A value on its way to an option.
struct Value<'a> {
    row: &'static Row,
    names: Names,
    text: &'a str,
}

impl Value<'_> {
    fn refuse(&self, expected: String) -> OptionError {
        OptionError::Value { name: self.row.name(self.names), expected, found: super::cut(self.text) }
    }

    fn number(&self, range: RangeInclusive<u32>) -> Result<u32, OptionError> {
        let fits = self.text.parse().ok().filter(|n| range.contains(n));
        fits.ok_or_else(|| self.refuse(format!("a whole number from {} to {}", range.start(), range.end())))
    }

    fn flag(&self) -> Result<bool, OptionError> {
        match self.text.to_ascii_lowercase().as_str() {
            "true" | "on" | "yes" | "1" => Ok(true),
            "false" | "off" | "no" | "0" => Ok(false),
            _ => Err(self.refuse("true or false".to_owned())),
        }
    }

    /// The index of the word among those there are.
    fn word(&self, values: &[&str]) -> Result<usize, OptionError> {
        let found = values.iter().position(|value| value.eq_ignore_ascii_case(self.text));
        found.ok_or_else(|| self.refuse(format!("one of {}", values.join(", "))))
    }

    /// A number, a flag as 0 or 1, the index of a word; 0 for a text and a button.
    fn read(&self) -> Result<u32, OptionError> {
        Ok(match self.row.kind {
            RowKind::Spin { min, max, .. } => self.number(min..=max)?,
            RowKind::Check { .. } => u32::from(self.flag()?),
            RowKind::Combo { values, .. } => self.word(values)? as u32,
            RowKind::Text { .. } | RowKind::Button => 0,
        })
    }
}

/// In the order of the words of `Repetition Rule`.
const RULE_SETS: [RuleSet; 6] = [
    RuleSet::Competition,
    RuleSet::Asian,
    RuleSet::Chinese,
    RuleSet::Sky,
    RuleSet::Yitian,
    RuleSet::AllowChase,
];

/// In the order of the words of `DrawRule`.
const DRAW_RULES: [DrawRule; 5] = [
    DrawRule::None,
    DrawRule::DrawAsBlackWin,
    DrawRule::DrawAsRedWin,
    DrawRule::DrawRepAsBlackWin,
    DrawRule::DrawRepAsRedWin,
];

impl Options {
    /// Reads a value and keeps it; what is more than a value is left to the caller as a [`Change`].
    pub(crate) fn apply(
        &mut self,
        row: &'static Row,
        names: Names,
        text: &str,
    ) -> Result<Change, OptionError> {
        let n = Value { row, names, text }.read()?;
        Ok(match row.id {
            OptionId::DebugLog => Change::Log(if is_empty(text) { String::new() } else { text.to_owned() }),
            OptionId::Numa => Change::Numa(text.to_owned()),
            OptionId::Threads => Change::Threads(n as usize),
            OptionId::Hash => Change::Hash(n as usize),
            OptionId::ClearHash => Change::ClearHash,
            OptionId::NewGame => Change::NewGame,
            OptionId::EvalFile => Change::Net { file: text.to_owned(), backend: self.backend.clone() },
            OptionId::Backend => Change::Net { file: self.eval_file.clone(), backend: text.to_owned() },
            id if self.keep_rule(id, n) => Change::Rules { set: id == OptionId::Repetition },
            id => {
                self.keep(id, n);
                Change::Kept
            }
        })
    }

    /// Keeps what a game is judged by. False for other options.
    fn keep_rule(&mut self, id: OptionId, n: u32) -> bool {
        let index = n as usize;
        match id {
            OptionId::Repetition => self.rules.set = RULE_SETS[index % RULE_SETS.len()],
            OptionId::Draw => self.rules.draws = DRAW_RULES[index % DRAW_RULES.len()],
            OptionId::MateThreat => self.rules.mate_threat_depth = n as u8,
            OptionId::SixtyMove => self.sixty_move = n != 0,
            OptionId::SixtyMovePlies => self.sixty_move_plies = n as u16,
            _ => return false,
        }
        true
    }

    /// Keeps what is looked at when it is needed.
    fn keep(&mut self, id: OptionId, n: u32) {
        let (on, index) = (n != 0, n as usize);
        match id {
            OptionId::MultiPv => self.multi_pv = index,
            OptionId::Overhead => self.overhead_ms = n.into(),
            OptionId::NodesTime => self.nodes_per_ms = n.into(),
            OptionId::ShowWdl => self.show_wdl = on,
            OptionId::Analyse => self.analyse = on,
            OptionId::Skill => self.skill_level = n,
            OptionId::LimitStrength => self.limit_strength = on,
            OptionId::Elo => self.elo = n,
            OptionId::Randomness => self.skill_level = RANDOMNESS_LEVELS[index % RANDOMNESS_LEVELS.len()],
            OptionId::Score => self.score_type = ScoreType::ALL[index % ScoreType::ALL.len()],
            OptionId::Bounds => self.bounds = on,
            OptionId::FirstRank => self.first_rank = if on { FirstRank::One } else { FirstRank::Zero },
            OptionId::Millisec => self.millisec = on,
            OptionId::Batch => self.batch = on,
            OptionId::Debug => self.debug = on,
            OptionId::Resign => self.resign = on,
            // `Ponder` is told for the GUI's sake: how time is shared out does not depend on it. `UCI_Variant` leaves
            // nothing to choose.
            _ => {}
        }
    }

    /// By which rules games are judged now.
    pub(crate) fn judge(&self) -> Rules {
        let natural_limit = if self.sixty_move { self.sixty_move_plies } else { Rules::NO_LIMIT };
        Rules { natural_limit, ..self.rules }
    }

    /// The playing strength of a search whose choice is made with `seed`; `None` for all of it.
    pub(crate) fn skill(&self, seed: u64) -> Option<Skill> {
        let level_x100 = match self.limit_strength {
            true => Skill::level_of_elo(self.elo),
            false => self.skill_level * HUNDREDTH,
        };
        let weak = level_x100 < Skill::FULL && !self.analyse;
        weak.then_some(Skill { level_x100, seed })
    }
}
