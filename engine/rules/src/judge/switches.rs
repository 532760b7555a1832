//! What each rule set decides, as one table: the judge reads it, and so can a user.

use std::fmt;

use super::{NATURAL_LIMIT_PLIES, RuleSet};

/// When an attack counts as a chase, and what a chase is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChaseReading {
    /// Chases are allowed.
    None,
    /// One piece, chased by each move and freed by each reply; a check in the cycle ends all chases.
    Competition,
    /// One piece, each move bringing about an attack on it that did not stand before.
    Asian,
    /// Any pieces, and mixed with checks and mate threats.
    Chinese,
}

impl fmt::Display for ChaseReading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ChaseReading::None => "allowed",
            ChaseReading::Competition => "competition",
            ChaseReading::Asian => "asian",
            ChaseReading::Chinese => "chinese",
        })
    }
}

/// Where a switch's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Basis {
    /// A text that defines the rule set.
    Text(&'static str),
    /// Public reports of what the platform or its engines do.
    Report(&'static str),
    /// Nothing public was found; why this value was taken.
    Guess(&'static str),
}

impl Basis {
    /// The kind, in one word.
    pub const fn name(self) -> &'static str {
        match self {
            Basis::Text(_) => "text",
            Basis::Report(_) => "report",
            Basis::Guess(_) => "guess",
        }
    }

    /// The text, the reports, or the reason.
    pub const fn source(self) -> &'static str {
        match self {
            Basis::Text(source) | Basis::Report(source) | Basis::Guess(source) => source,
        }
    }
}

/// A switch's value and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Known<T> {
    /// The value that the judge goes by.
    pub value: T,
    /// Where it comes from.
    pub basis: Basis,
}

const fn known<T: Copy>(value: T, basis: Basis) -> Known<T> {
    Known { value, basis }
}

/// What a rule set decides. Perpetual check is forbidden by all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Switches {
    /// Which standing of a position on the board is judged: the second or the third.
    pub deciding_occurrence: Known<usize>,
    /// What counts as a chase.
    pub chase: Known<ChaseReading>,
    /// Do mate threats count, where a depth for them is set?
    pub mate_threats: Known<bool>,
    /// Counted plies without capture that draw the game.
    pub natural_limit: Known<u16>,
}

/// One switch as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchRow {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: String,
    /// Where that comes from.
    pub basis: Basis,
}

impl Switches {
    /// The table's rows.
    pub fn rows(&self) -> [SwitchRow; 4] {
        let row = |name, value: &dyn fmt::Display, basis| SwitchRow { name, value: value.to_string(), basis };
        [
            row("deciding_occurrence", &self.deciding_occurrence.value, self.deciding_occurrence.basis),
            row("chase", &self.chase.value, self.chase.basis),
            row("mate_threats", &self.mate_threats.value, self.mate_threats.basis),
            row("natural_limit", &self.natural_limit.value, self.natural_limit.basis),
        ]
    }

    /// Is every value from a text that defines the rule set?
    pub fn is_public(&self) -> bool {
        self.rows().iter().all(|row| matches!(row.basis, Basis::Text(_)))
    }
}

const COMPETITION_TEXT: Basis = Basis::Text("《象棋程序竞赛规则》, 2023-11-22");
const HELP_TEXT: Basis = Basis::Text("the help text of Pikafish's options");
const NO_OTHER_LIMIT: Basis = Basis::Text("as competition; the text names no other");

const COMPETITION: Switches = Switches {
    deciding_occurrence: known(3, COMPETITION_TEXT),
    chase: known(ChaseReading::Competition, COMPETITION_TEXT),
    mate_threats: known(false, COMPETITION_TEXT),
    natural_limit: known(NATURAL_LIMIT_PLIES, COMPETITION_TEXT),
};

const ASIAN: Switches = Switches {
    deciding_occurrence: known(2, HELP_TEXT),
    chase: known(
        ChaseReading::Asian,
        Basis::Text("AXF rules (English edition), with the readings of docs/rules.md"),
    ),
    mate_threats: known(false, HELP_TEXT),
    natural_limit: known(NATURAL_LIMIT_PLIES, NO_OTHER_LIMIT),
};

const CHINESE: Switches = Switches {
    deciding_occurrence: known(2, Basis::Text("\"a variant of the Asian rules\" in the same help text")),
    chase: known(ChaseReading::Chinese, HELP_TEXT),
    mate_threats: known(true, HELP_TEXT),
    natural_limit: known(NATURAL_LIMIT_PLIES, NO_OTHER_LIMIT),
};

const ALLOW_CHASE: Switches = Switches {
    deciding_occurrence: known(2, Basis::Text("as asian; the help text names no other")),
    chase: known(ChaseReading::None, HELP_TEXT),
    mate_threats: known(false, HELP_TEXT),
    natural_limit: known(NATURAL_LIMIT_PLIES, NO_OTHER_LIMIT),
};

const SKY: Switches = Switches {
    deciding_occurrence: known(
        2,
        Basis::Guess("the help text calls it the Asian rules with slight changes, and does not name them"),
    ),
    chase: known(
        ChaseReading::Asian,
        Basis::Report(
            "the same help text; in fairy-stockfish/Fairy-Stockfish issue 55 two positions in which a \
             bishop uncovers a protected rook are reported as lost for the chaser",
        ),
    ),
    mate_threats: known(false, Basis::Report("the same help text: \"not the Chinese rules\"")),
    natural_limit: known(
        NATURAL_LIMIT_PLIES,
        Basis::Report("the help text of Rule60MaxPly: 120 is the limit of 天天象棋"),
    ),
};

const YITIAN: Switches = Switches {
    deciding_occurrence: known(
        2,
        Basis::Guess("unknown; as asian, which most servers are said to be close to"),
    ),
    chase: known(ChaseReading::Asian, Basis::Guess("unknown; as asian, for the same reason")),
    mate_threats: known(false, Basis::Guess("unknown; as asian, for the same reason")),
    natural_limit: known(
        NATURAL_LIMIT_PLIES,
        Basis::Guess("unknown; one interface plays it without a limit and names no source"),
    ),
};

impl RuleSet {
    /// What it decides, and where that is known from.
    pub const fn switches(self) -> &'static Switches {
        match self {
            RuleSet::Competition => &COMPETITION,
            RuleSet::Asian => &ASIAN,
            RuleSet::Chinese => &CHINESE,
            RuleSet::AllowChase => &ALLOW_CHASE,
            RuleSet::Sky => &SKY,
            RuleSet::Yitian => &YITIAN,
        }
    }

    /// What whoever chooses these rules must know: that their definition is not public, and which switches are judged
    /// how, and why. `None` where it is.
    pub fn caution(self) -> Option<String> {
        let describe = |row: SwitchRow| {
            format!("{} = {} ({}: {})", row.name, row.value, row.basis.name(), row.basis.source())
        };
        let rows: Vec<String> = self.switches().rows().into_iter().map(describe).collect();
        let told = !self.switches().is_public();
        told.then(|| {
            format!("the definition of the rules {self} is not public; judged by: {}", rows.join("; "))
        })
    }

    /// Which standing of a position on the board is judged: the second or the third.
    #[inline]
    pub const fn deciding_occurrence(self) -> usize {
        self.switches().deciding_occurrence.value
    }
}
