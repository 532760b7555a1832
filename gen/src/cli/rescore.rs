//! Arguments of `rescore`.

use std::path::PathBuf;

use arena::protocol::Protocol;
use clap::{ArgGroup, Args};

/// Arguments of `rescore`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("by").required(true)), group(ArgGroup::new("limit").required(true)))]
pub struct RescoreArgs {
    /// The record files, of one rule set.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The record file to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Replace output files that are there.
    #[arg(long)]
    pub force: bool,
    /// Score with our own search: a net ("embedded" for the one in the program), or "none" for the hand-crafted evaluation.
    #[arg(long, value_name = "FILE|none", group = "by")]
    pub net: Option<String>,
    /// Score with a UCI or UCCI engine: its command.
    #[arg(long, value_name = "COMMAND", group = "by")]
    pub engine: Option<String>,
    /// An option of the engine (a button without =); may be given again.
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "net")]
    pub option: Vec<String>,
    /// The engine's protocol, uci or ucci; both are tried otherwise.
    #[arg(long, conflicts_with = "net")]
    pub protocol: Option<Protocol>,
    /// Nodes searched in each position.
    #[arg(long, value_name = "N", group = "limit", value_parser = clap::value_parser!(u64).range(1..))]
    pub nodes: Option<u64>,
    /// Depth searched in each position, in plies.
    #[arg(long, value_name = "D", group = "limit", value_parser = clap::value_parser!(u32).range(1..=200))]
    pub depth: Option<u32>,
    /// Percent of the new score in what is written; the rest is the old one. Where either is decided: the new one alone.
    #[arg(long, value_name = "PERCENT", default_value_t = 100, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub blend: u8,
    /// Games rescored at a time; 0: one per core. With an engine, so many of its processes.
    #[arg(long, value_name = "T", default_value_t = 0)]
    pub threads: usize,
    /// Table of each of our own searchers, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub hash: u32,
    /// Seconds for a position after which an engine hangs.
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub hang_timeout: u64,
    /// Leave damaged parts of the files out and count them; without it they end the run.
    #[arg(long)]
    pub skip_damaged: bool,
    /// JSON alone on stdout.
    #[arg(long)]
    pub json: bool,
    /// No progress and no plan on stderr.
    #[arg(long)]
    pub quiet: bool,
}
