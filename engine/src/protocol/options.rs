//! The options of all dialects: one table of what there is, one function that sets one.
//!
//! UCI's names have capitals and blanks, UCCI's are one word in lower case; both set the same values. Case, blanks
//! and underscores make no difference when a name is read.

use std::fmt;

use super::values::{Options, Row, RowKind};

/// An option, whatever its name in a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptionId {
    /// Lines of input and output are written to a file.
    DebugLog,
    /// Where search threads and their memory go.
    Numa,
    /// Search threads.
    Threads,
    /// Size of the table.
    Hash,
    /// Empties the table.
    ClearHash,
    /// The GUI may let the engine think on the opponent's time.
    Ponder,
    /// Lines to search.
    MultiPv,
    /// Time kept back from every move.
    Overhead,
    /// Nodes that count as a millisecond.
    NodesTime,
    /// Win, draw and loss chances beside scores.
    ShowWdl,
    /// The engine is asked for analysis, not for moves to play.
    Analyse,
    /// Weakened play by level.
    Skill,
    /// Weakened play by rating.
    LimitStrength,
    /// The rating.
    Elo,
    /// How repetitions are judged.
    Repetition,
    /// Is there a natural limit?
    SixtyMove,
    /// The natural limit.
    SixtyMovePlies,
    /// Mate threats that the Chinese rules see.
    MateThreat,
    /// What a draw counts as.
    Draw,
    /// What the number of a score means.
    Score,
    /// Are bounds shown?
    Bounds,
    /// The net.
    EvalFile,
    /// The code that evaluates nets.
    Backend,
    /// UCI: which game is played.
    Variant,
    /// UCI: from what ranks are counted.
    FirstRank,
    /// UCCI: times are in milliseconds.
    Millisec,
    /// UCCI: no input is read while thinking.
    Batch,
    /// UCCI: more is said.
    Debug,
    /// UCCI: how often a move that is not the best is played.
    Randomness,
    /// UCCI: may the engine resign?
    Resign,
    /// UCCI: a new game.
    NewGame,
}

/// Which names are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// `Move Overhead`
    Uci,
    /// `moveoverhead`
    Ucci,
}

/// An option that cannot be set so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// There is none of this name.
    #[error("option {found:?} is not known; known are {known}")]
    Unknown {
        /// The name, cut to 40 characters.
        found: String,
        /// The names there are, in this dialect.
        known: String,
    },
    /// The value does not fit.
    #[error("option {name}: expected {expected}, found {found:?}; the old value stays")]
    Value {
        /// The option.
        name: &'static str,
        /// What it takes.
        expected: String,
        /// What came, cut to 40 characters.
        found: String,
    },
}

/// What is to be done when an option has been set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Nothing: the value is looked at when it is needed.
    Kept,
    /// Search with so many threads; 0 = as many as there are processors.
    Threads(usize),
    /// A table of so many MiB; 0 = the default size.
    Hash(usize),
    /// Empty the table.
    ClearHash,
    /// A new game begins.
    NewGame,
    /// Evaluate by this file, on this backend.
    Net {
        /// The file; empty, `<empty>` or `none` for the hand-crafted evaluation.
        file: String,
        /// The backend's name; `auto` for the best one.
        backend: String,
    },
    /// Judge by other rules.
    Rules {
        /// The rule set was chosen, not one of its circumstances.
        set: bool,
    },
    /// Place threads so.
    Numa(String),
    /// Log to this file; empty = to none.
    Log(String),
}

const fn spin(default: u32, min: u32, max: u32) -> RowKind {
    RowKind::Spin { default, min, max }
}

const fn check(default: bool) -> RowKind {
    RowKind::Check { default }
}

const fn row(id: OptionId, uci: &'static str, ucci: &'static str, kind: RowKind, about: &'static str) -> Row {
    Row { id, uci, ucci, kind, about }
}

const NO: &str = "";
const REPETITION_RULES: &[&str] =
    &["ComputerRule", "AsianRule", "ChineseRule", "SkyRule", "YitianRule", "AllowChase"];
const DRAW_RULES: &[&str] =
    &["None", "DrawAsBlackWin", "DrawAsRedWin", "DrawRepAsBlackWin", "DrawRepAsRedWin"];
const SCORE_TYPES: &[&str] = &["Elo", "PawnValueNormalized", "Raw"];
/// GUIs for many games look for those that an engine plays in the option `UCI_Variant`.
const VARIANTS: &[&str] = &["xiangqi"];
const DEGREES: &[&str] = &["none", "small", "medium", "large"];

/// In the order in which a greeting lists them. A dialect in which a row has no name does not know it.
pub(crate) const ROWS: &[Row] = &{
    use super::values::*;
    use OptionId::*;
    [
        row(Millisec, NO, "usemillisec", check(true), "times are in milliseconds, not in seconds"),
        row(
            Batch,
            NO,
            "batch",
            check(false),
            "nothing is read while thinking, so that a script runs line by line",
        ),
        row(Debug, NO, "debug", check(false), "unknown options are told"),
        row(
            DebugLog,
            "Debug Log File",
            "debuglogfile",
            RowKind::Text { default: EMPTY },
            "append every line that is read (>>) or said (<<) to this file",
        ),
        row(
            Numa,
            "NumaPolicy",
            "numapolicy",
            RowKind::Text { default: AUTO },
            "where threads go on machines with several memory nodes: auto, system, hardware, none, or lists of processors (0-7:8-15)",
        ),
        row(Threads, "Threads", NO, spin(1, 1, MOST_THREADS), "search threads"),
        row(Threads, NO, "threads", spin(1, 0, MOST_THREADS), "search threads; 0 = one for each processor"),
        row(Hash, "Hash", NO, spin(HASH_MIB, 1, MOST_HASH_MIB), "size of the transposition table, in MiB"),
        row(
            Hash,
            NO,
            "hashsize",
            spin(HASH_MIB, 0, MOST_HASH_MIB),
            "size of the transposition table, in MiB; 0 = the default size",
        ),
        row(ClearHash, "Clear Hash", "clearhash", RowKind::Button, "empty the transposition table"),
        row(NewGame, NO, "newgame", RowKind::Button, "a new game: forget all that was learned"),
        row(Ponder, "Ponder", "ponder", check(false), "the engine will be let think on the opponent's time"),
        row(MultiPv, "MultiPV", "multipv", spin(1, 1, MOST_LINES), "lines to search and to show"),
        row(
            Overhead,
            "Move Overhead",
            "moveoverhead",
            spin(OVERHEAD_MS, 0, MOST_OVERHEAD_MS),
            "kept back from every move's time, in ms",
        ),
        row(
            NodesTime,
            "nodestime",
            "nodestime",
            spin(0, 0, MOST_NODES_PER_MS),
            "nodes that count as a millisecond of time, so that timed searches repeat; 0 = the clock",
        ),
        row(ShowWdl, "UCI_ShowWDL", NO, check(false), "show chances of win, draw and loss, in thousandths"),
        row(
            Analyse,
            "UCI_AnalyseMode",
            NO,
            check(false),
            "for analysis: play is not weakened, whatever Skill Level and UCI_Elo say",
        ),
        row(
            Skill,
            "Skill Level",
            "skilllevel",
            spin(FULL_SKILL, 0, FULL_SKILL),
            "below 20 the move played is at times not the best of four",
        ),
        row(
            LimitStrength,
            "UCI_LimitStrength",
            "limitstrength",
            check(false),
            "weaken play by UCI_Elo; Skill Level is void then",
        ),
        row(
            Elo,
            "UCI_Elo",
            "elo",
            spin(ELO_MIN, ELO_MIN, ELO_MAX),
            "rating to play at, with UCI_LimitStrength",
        ),
        row(
            Randomness,
            NO,
            "randomness",
            RowKind::Combo { default: "none", values: DEGREES },
            "how often a move that is not the best is played",
        ),
        row(Resign, NO, "resign", check(false), "resign when a mate cannot be avoided"),
        row(
            Repetition,
            "Repetition Rule",
            "repetitionrule",
            RowKind::Combo { default: REPETITION_RULES[0], values: REPETITION_RULES },
            "how repetitions are judged",
        ),
        row(SixtyMove, "Sixty Move Rule", "sixtymoverule", check(true), "the natural limit makes a draw"),
        row(
            SixtyMovePlies,
            "Rule60MaxPly",
            "rule60maxply",
            spin(LIMIT_PLIES, 1, MOST_LIMIT_PLIES),
            "the natural limit, in plies without capture",
        ),
        row(
            MateThreat,
            "Mate Threat Depth",
            "matethreatdepth",
            spin(MATE_THREAT_MOVES, 0, MOST_MATE_THREAT_MOVES),
            "moves within which ChineseRule sees a threatened mate; 0 = none",
        ),
        row(
            Draw,
            "DrawRule",
            "drawrule",
            RowKind::Combo { default: DRAW_RULES[0], values: DRAW_RULES },
            "what draws, or draws by repetition, count as, for analysis",
        ),
        row(
            Score,
            "ScoreType",
            NO,
            RowKind::Combo { default: SCORE_TYPES[0], values: SCORE_TYPES },
            "what the number of a score means",
        ),
        row(Bounds, "LU_Output", NO, check(true), "show lower and upper bounds of unfinished iterations"),
        row(
            EvalFile,
            "EvalFile",
            "evalfile",
            RowKind::Text { default: EVAL_FILE },
            "net file; none for the hand-crafted evaluation",
        ),
        row(
            Backend,
            "Backend",
            "backend",
            RowKind::Text { default: AUTO },
            "code that evaluates nets: auto, or a name that chuhe backends lists",
        ),
        row(
            Variant,
            "UCI_Variant",
            NO,
            RowKind::Combo { default: VARIANTS[0], values: VARIANTS },
            "the game; there is one",
        ),
        row(
            FirstRank,
            "First Rank",
            NO,
            spin(0, 0, 1),
            "number of Red's back rank in moves: 0 (h2e2), or 1 as in Fairy-Stockfish and its GUIs (h3e3)",
        ),
    ]
};

/// A name without what makes no difference in it.
fn plain(name: &str) -> String {
    name.chars().filter(|c| !c.is_whitespace() && *c != '_').flat_map(char::to_lowercase).collect()
}

/// The options that a dialect knows, in order.
pub(crate) fn rows(names: Names) -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(move |row| !row.name(names).is_empty())
}

/// The option of this name.
///
/// # Errors
/// Where there is none.
pub(crate) fn find(names: Names, name: &str) -> Result<&'static Row, OptionError> {
    let wanted = plain(name);
    rows(names).find(|row| plain(row.name(names)) == wanted).ok_or_else(|| {
        let known: Vec<&str> = rows(names).map(|row| row.name(names)).collect();
        OptionError::Unknown { found: super::cut(name), known: known.join(", ") }
    })
}

/// The `option` lines of a greeting.
pub fn describe(names: Names) -> Vec<String> {
    let shown = |row: &'static Row| match names {
        Names::Uci => format!("option name {} type {}", row.uci, Uci(&row.kind)),
        Names::Ucci => format!("option {} type {}", row.ucci, Ucci(&row.kind)),
    };
    let tuned = match names {
        Names::Uci => super::tuning::describe(),
        Names::Ucci => Vec::new(),
    };
    rows(names).map(shown).chain(tuned).collect()
}

struct Uci<'a>(&'a RowKind);

impl fmt::Display for Uci<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self.0 {
            RowKind::Spin { default, min, max } => write!(f, "spin default {default} min {min} max {max}"),
            RowKind::Check { default } => write!(f, "check default {default}"),
            RowKind::Combo { default, values } => {
                write!(f, "combo default {default}")?;
                values.iter().try_for_each(|value| write!(f, " var {value}"))
            }
            RowKind::Text { default } => write!(f, "string default {default}"),
            RowKind::Button => f.write_str("button"),
        }
    }
}

/// UCCI says the default last.
struct Ucci<'a>(&'a RowKind);

impl fmt::Display for Ucci<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self.0 {
            RowKind::Spin { default, min, max } => write!(f, "spin min {min} max {max} default {default}"),
            RowKind::Combo { default, values } => {
                f.write_str("combo")?;
                values.iter().try_for_each(|value| write!(f, " var {value}"))?;
                write!(f, " default {default}")
            }
            _ => fmt::Display::fmt(&Uci(self.0), f),
        }
    }
}

impl Options {
    /// Sets an option by its name.
    ///
    /// # Errors
    /// Where there is none of that name or the value does not fit; nothing is changed then.
    pub(crate) fn set(&mut self, names: Names, name: &str, value: &str) -> Result<Change, OptionError> {
        if names == Names::Uci
            && let Some(done) = super::tuning::set(name, value.trim())
        {
            return done.map(|()| Change::Kept);
        }
        let row = find(names, name)?;
        self.apply(row, names, value.trim())
    }
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
