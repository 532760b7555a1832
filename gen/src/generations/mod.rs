//! Generations without a hand on them: `chuhe-gen loop LOOP.toml`.
//!
//! ```text
//! Recipe (TOML) → Settings of a generation → Step: play → tools → train → export → verify → match → verdict
//!                                              └ a child process with its own resume
//! Journal (JSON lines, synced before and after each step) → Ladder → text, JSON, page
//! ```
//!
//! The journal is the only truth: what a step was given, what it made, how it ended. Everything else (the page,
//! the ladder, what is to be done next) is computed from it, so that a loop killed at any moment goes on.

mod child;
mod disk;
mod error;
mod journal;
mod ladder;
mod page;
mod per_generation;
mod perform;
mod planned;
mod plots;
mod recipe;
mod run;
mod step_run;
mod steps;

pub use child::Stop;
pub use error::LoopError;
pub use journal::{Ended, Event, FileState, Line, LoopJournal, Player, Settings};
pub use ladder::{Generation, Ladder, Match, StepState};
pub use page::page;
pub use per_generation::PerGeneration;
pub use planned::{Planned, dry_run};
pub use recipe::{OnFailure, Opponent, Play, Recipe, RecipeError, Undecided};
pub use run::{Config, Outcome, run};
pub use steps::{Purpose, Step, seed, steps};

/// The journal's name in a loop's folder.
pub const JOURNAL: &str = "journal.jsonl";
/// The page's name in a loop's folder.
pub const PAGE: &str = "ladder.html";
/// The name of the net that generation 1 plays with, in a loop's folder.
pub const START_NET: &str = "start.nnue";
