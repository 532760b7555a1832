//! The options of the protocol: one table of what there is, one function that sets one.

use std::str::FromStr;

use xiangqi::judge::RuleSet;

use crate::search::{MAX_HASH_MIB, MAX_THREADS};

/// What an option can be set to.
enum Kind {
    Spin { default: usize, min: usize, max: usize },
    Check { default: bool },
    Combo { default: &'static str, values: &'static [&'static str] },
    Text { default: &'static str },
    Button,
}

struct Described {
    name: &'static str,
    kind: Kind,
}

const HASH_DEFAULT: usize = 16;
const MULTI_PV_MOST: usize = 128;
const OVERHEAD_DEFAULT: u64 = 30;
const OVERHEAD_MOST: usize = 5000;
const BEST_BACKEND: &str = "auto";
const COMPUTER_RULE: &str = "ComputerRule";

/// In the order in which `uci` lists them.
const OPTIONS: &[Described] = &[
    Described { name: "Threads", kind: Kind::Spin { default: 1, min: 1, max: MAX_THREADS } },
    Described { name: "Hash", kind: Kind::Spin { default: HASH_DEFAULT, min: 1, max: MAX_HASH_MIB } },
    Described { name: "Clear Hash", kind: Kind::Button },
    Described { name: "Ponder", kind: Kind::Check { default: false } },
    Described { name: "MultiPV", kind: Kind::Spin { default: 1, min: 1, max: MULTI_PV_MOST } },
    Described {
        name: "Move Overhead",
        kind: Kind::Spin { default: OVERHEAD_DEFAULT as usize, min: 0, max: OVERHEAD_MOST },
    },
    Described { name: "EvalFile", kind: Kind::Text { default: "<empty>" } },
    Described { name: "Backend", kind: Kind::Text { default: BEST_BACKEND } },
    Described {
        name: "Repetition Rule",
        kind: Kind::Combo { default: COMPUTER_RULE, values: &[COMPUTER_RULE] },
    },
];

/// An option that cannot be set so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// There is none of this name.
    #[error("option {found:?} is not known; known are {known}", known = names())]
    Unknown {
        /// The name, cut to 40 characters.
        found: String,
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

fn names() -> String {
    let names: Vec<&str> = OPTIONS.iter().map(|option| option.name).collect();
    names.join(", ")
}

/// What changes when an option is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing to be done now.
    Kept,
    /// Search with so many threads.
    Threads(usize),
    /// A table of so many MiB.
    Hash(usize),
    /// Empty the table.
    ClearHash,
    /// Evaluate by this file, on this backend (`auto` for the best one).
    Net {
        /// The file; `<empty>` or `none` for the hand-crafted evaluation.
        file: String,
        /// The backend's name.
        backend: String,
    },
    /// Judge by these rules.
    Rules(RuleSet),
}

/// The values that are kept here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Lines to search.
    pub multi_pv: usize,
    /// Time kept back, in ms.
    pub overhead_ms: u64,
    /// The net's file as it was set.
    pub eval_file: String,
    /// The backend as it was set.
    pub backend: String,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            multi_pv: 1,
            overhead_ms: OVERHEAD_DEFAULT,
            eval_file: "<empty>".to_owned(),
            backend: BEST_BACKEND.to_owned(),
        }
    }
}

/// The `option` lines of the answer to `uci`.
pub fn describe() -> Vec<String> {
    let line = |option: &Described| {
        let kind = match option.kind {
            Kind::Spin { default, min, max } => format!("spin default {default} min {min} max {max}"),
            Kind::Check { default } => format!("check default {default}"),
            Kind::Combo { default, values } => {
                let values: Vec<String> = values.iter().map(|value| format!(" var {value}")).collect();
                format!("combo default {default}{}", values.concat())
            }
            Kind::Text { default } => format!("string default {default}"),
            Kind::Button => "button".to_owned(),
        };
        format!("option name {} type {kind}", option.name)
    };
    OPTIONS.iter().map(line).collect()
}

fn spin<T: FromStr>(option: &Described, value: &str) -> Result<T, OptionError> {
    let Kind::Spin { min, max, .. } = option.kind else {
        return Err(refuse(option, "no number".to_owned(), value));
    };
    let fits = value.parse::<usize>().ok().filter(|n| (min..=max).contains(n));
    fits.and_then(|_| value.parse().ok())
        .ok_or_else(|| refuse(option, format!("a whole number from {min} to {max}"), value))
}

fn refuse(option: &Described, expected: String, value: &str) -> OptionError {
    OptionError::Value { name: option.name, expected, found: value.chars().take(40).collect() }
}

impl Options {
    /// Sets an option by its name (case does not matter).
    ///
    /// # Errors
    /// Where there is none of that name or the value does not fit; nothing is changed then.
    pub fn set(&mut self, name: &str, value: &str) -> Result<Change, OptionError> {
        let option = OPTIONS
            .iter()
            .find(|option| option.name.eq_ignore_ascii_case(name))
            .ok_or_else(|| OptionError::Unknown { found: name.chars().take(40).collect() })?;
        Ok(match option.name {
            "Threads" => Change::Threads(spin(option, value)?),
            "Hash" => Change::Hash(spin(option, value)?),
            "Clear Hash" => Change::ClearHash,
            "MultiPV" => {
                self.multi_pv = spin(option, value)?;
                Change::Kept
            }
            "Move Overhead" => {
                self.overhead_ms = spin(option, value)?;
                Change::Kept
            }
            "Ponder" => match value {
                "true" | "false" => Change::Kept,
                _ => return Err(refuse(option, "true or false".to_owned(), value)),
            },
            "EvalFile" => Change::Net { file: value.to_owned(), backend: self.backend.clone() },
            "Backend" => Change::Net { file: self.eval_file.clone(), backend: value.to_owned() },
            _ if value.eq_ignore_ascii_case(COMPUTER_RULE) => Change::Rules(RuleSet::Competition),
            _ => return Err(refuse(option, COMPUTER_RULE.to_owned(), value)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_described_option_can_be_set_to_its_default() {
        let mut options = Options::default();
        for option in OPTIONS {
            let value = match option.kind {
                Kind::Spin { default, .. } => default.to_string(),
                Kind::Check { default } => default.to_string(),
                Kind::Combo { default, .. } | Kind::Text { default } => default.to_owned(),
                Kind::Button => String::new(),
            };
            assert!(options.set(option.name, &value).is_ok(), "{}", option.name);
        }
        assert_eq!(options, Options::default());
    }

    #[test]
    fn wrong_values_change_nothing() {
        let mut options = Options::default();
        for (name, value) in
            [("Hash", "0"), ("Threads", "many"), ("MultiPV", "-1"), ("Sporks", "1"), ("Ponder", "x")]
        {
            assert!(options.set(name, value).is_err(), "{name} {value}");
        }
        assert_eq!(options, Options::default());
    }
}
