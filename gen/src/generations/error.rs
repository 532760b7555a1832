//! Why a loop cannot go on.

use std::io;
use std::path::PathBuf;

use arena::journal::JournalError;

use super::recipe::RecipeError;
use crate::sink::SinkError;

/// Why a loop cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum LoopError {
    /// The recipe.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A file of ours.
    #[error(transparent)]
    File(#[from] SinkError),
    /// The system refused.
    #[error("{path}: cannot {verb}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        verb: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A program is missing.
    #[error("{path} is not there; build it first (scripts/build.sh), or name its folder with --programs")]
    Program {
        /// Where it should be.
        path: PathBuf,
    },
    /// A file is not what an earlier step made.
    #[error(
        "generation {generation}, {step}: {path} {found}; expected {expected}, as the journal says. Restore it, or do \
         the step that made it again with --redo"
    )]
    Changed {
        /// The generation.
        generation: u32,
        /// The step that needs it.
        step: String,
        /// The file.
        path: String,
        /// What was found.
        found: String,
        /// What the journal says.
        expected: String,
    },
    /// There is too little space.
    #[error(
        "generation {generation}, {step}: {free} MiB are free in {folder}, expected {needed} MiB ({expected} for the step, \
         and disk.min_free_mib); make room, then start the loop again"
    )]
    Space {
        /// The generation.
        generation: u32,
        /// The step.
        step: String,
        /// Where.
        folder: PathBuf,
        /// MiB free.
        free: u64,
        /// MiB needed.
        needed: u64,
        /// MiB that the step is expected to write.
        expected: u64,
    },
    /// A child failed.
    #[error(
        "generation {generation}, {step}: {program} {status}:\n{message}\n(its log: {log}; the same command goes on)"
    )]
    Child {
        /// The generation.
        generation: u32,
        /// The step.
        step: String,
        /// The program.
        program: &'static str,
        /// How it ended.
        status: String,
        /// Did it say that a check failed?
        is_check: bool,
        /// The end of its log.
        message: String,
        /// Its log.
        log: PathBuf,
    },
    /// A step that is not to be had again.
    #[error("--redo {found}: {why}")]
    Redo {
        /// What was asked for.
        found: String,
        /// Why not.
        why: String,
    },
}
