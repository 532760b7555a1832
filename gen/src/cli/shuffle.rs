//! The arguments of `shuffle` and `dedup`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::derived::InputArgs;

/// Arguments of `shuffle`.
#[derive(Debug, Args)]
pub struct ShuffleArgs {
    /// What is read.
    #[command(flatten)]
    pub input: InputArgs,
    /// The file to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// The seed of the order.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Memory for games being put in order, in MiB. Has no influence on the result. Temporary files beside the output take about 5 bytes a
    /// position.
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub memory: u64,
}

/// What is there once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Once {
    /// Games alone: later ones of the same start and moves are left out.
    Games,
    /// Positions alone: later ones are marked as not for training.
    Positions,
    /// Games first, then the positions of those that are left.
    Both,
}

/// Arguments of `dedup`.
#[derive(Debug, Args)]
pub struct DedupArgs {
    /// What is read.
    #[command(flatten)]
    pub input: InputArgs,
    /// The file to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// What is to be there once.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "both")]
    pub by: Once,
    /// A game or position and its left-right mirror are the same.
    #[arg(long)]
    pub mirror: bool,
    /// Memory for what was seen, in MiB. Has no influence on the result. Temporary files beside the output take up to 24 bytes a
    /// position.
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub memory: u64,
}
