//! Arguments of `stats`.

use std::path::PathBuf;

use clap::Args;

use super::RunArgs;

/// Arguments of `stats`.
#[derive(Debug, Args)]
pub struct StatsArgs {
    /// The record files; unfinished ones (.partial) too.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Write a page with plots: one file, nothing to fetch.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Replace a page that is there.
    #[arg(long, requires = "html")]
    pub force: bool,
    /// Count scored plies that are marked as not for training, too.
    #[arg(long)]
    pub all: bool,
    /// How it runs and reports.
    #[command(flatten)]
    pub run: RunArgs,
}
