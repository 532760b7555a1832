//! Why a file cannot be made from others.

use std::path::{Path, PathBuf};

use nnue_format::record::{GameError, ReadError, WriteError};

use crate::plan::PlanError;
use crate::sink::SinkError;

/// Why a file cannot be made from others.
#[derive(Debug, thiserror::Error)]
pub enum DerivedError {
    /// An input is damaged, or cannot be read.
    #[error("{}: {source}; --skip-damaged leaves the damaged part out (one block at the most)", path.display())]
    Damaged {
        /// The input.
        path: PathBuf,
        /// Where and what.
        source: ReadError,
    },
    /// An input cannot be used at all.
    #[error("{}: {source}", path.display())]
    Input {
        /// The input.
        path: PathBuf,
        /// Why.
        source: ReadError,
    },
    /// Two inputs are judged by different rules.
    #[error(
        "{} is judged by {first_rules}, {} by {other_rules}: one file holds games of one rule set; give inputs of one",
        first.display(), other.display()
    )]
    Rules {
        /// The first input.
        first: PathBuf,
        /// Its rules.
        first_rules: String,
        /// An input with other rules.
        other: PathBuf,
        /// Those.
        other_rules: String,
    },
    /// Too many inputs for the plan.
    #[error("{found} inputs, at most {limit} are possible: merge them in steps")]
    TooMany {
        /// How many.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// An input is the output.
    #[error("{} is an input and the output: give another --out", .0.display())]
    OntoItself(PathBuf),
    /// A game cannot be walked.
    #[error("{}: block at byte {offset}, game {number}: {source}", path.display())]
    Game {
        /// The input.
        path: PathBuf,
        /// Where its block begins.
        offset: u64,
        /// Its number.
        number: u64,
        /// Why.
        source: GameError,
    },
    /// An output file is there and is not this one.
    #[error("{} is there, and it is not what this command makes ({why}); give another --out, or --force to replace it", path.display())]
    There {
        /// The file.
        path: PathBuf,
        /// What it is.
        why: String,
    },
    /// The memory allowed is too small.
    #[error("--memory {mib} is too little for these inputs: at least {needed} MiB are needed")]
    Memory {
        /// What was allowed, in MiB.
        mib: u64,
        /// What is needed, in MiB.
        needed: u64,
    },
    /// A setting is out of its range.
    #[error("{name} is {found}; possible: {possible}")]
    Setting {
        /// The option.
        name: &'static str,
        /// Its value.
        found: String,
        /// What it can be.
        possible: String,
    },
    /// A temporary file is not as it was written.
    #[error("{0} in a temporary file is not as it was written: the disk, or another program, changed it")]
    Temporary(&'static str),
    /// The run was stopped.
    #[error("interrupted: nothing is published, and nothing is left behind; the same command begins anew")]
    Stopped,
    /// The system, or a record writer, refused.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// The plan cannot be coded.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

impl DerivedError {
    /// The system refused something with a file.
    pub fn io(path: &Path, verb: &'static str) -> impl FnOnce(std::io::Error) -> DerivedError {
        let path = path.to_owned();
        move |source| SinkError::Io { path, verb, source }.into()
    }

    /// A record writer refused.
    pub fn write(path: &Path) -> impl Fn(WriteError) -> DerivedError {
        let path = path.to_owned();
        move |source| SinkError::Write { path: path.clone(), source }.into()
    }
}
