//! The arguments of verbs that look at one record file.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `inspect` and `verify`.
#[derive(Debug, Args)]
pub struct FileArgs {
    /// The record file.
    pub file: PathBuf,
    /// JSON alone on stdout.
    #[arg(long)]
    pub json: bool,
}
