//! Arguments of `validate`.

use std::path::PathBuf;

use clap::Args;
use engine::eval::embedded::DEFAULT;

use super::RunArgs;

/// Arguments of `validate`.
#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// The record files.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Play so many games of each file again from the plan's seed; moves, scores and end must be the same. Takes
    /// the engine (signature) and the net that played them.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=MAX_SAMPLE))]
    pub replay: u32,
    /// Search so many positions of each file again, alone and with an empty table, and tell how far the scores are
    /// from those recorded.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=MAX_SAMPLE))]
    pub search: u32,
    /// Nodes of these searches; without it those of the file's plan.
    #[arg(long, value_name = "N", requires = "search")]
    pub nodes: Option<u64>,
    /// The net of the games: a file, "embedded" for the one in the program, or "none" for the hand-crafted evaluation.
    #[arg(long, value_name = "FILE|none", default_value = DEFAULT)]
    pub net: String,
    /// Which games and positions are sampled.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub sample_seed: u64,
    /// How it runs and reports.
    #[command(flatten)]
    pub run: RunArgs,
}

/// The most that is sampled of a file: some kilobytes each in memory.
const MAX_SAMPLE: i64 = 100_000;
