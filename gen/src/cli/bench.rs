//! The arguments of `bench`.

use clap::Args;
use engine::eval::embedded::DEFAULT;

/// Arguments of `bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Nodes a move, one measurement for each number.
    #[arg(long, value_name = "N,N…", value_delimiter = ',', default_values_t = [1000, 5000, 20_000])]
    pub nodes: Vec<u64>,
    /// Games of each measurement.
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub games: u64,
    /// Measure so often, and take the least time of each side: other work on the machine only adds to it.
    #[arg(long, value_name = "R", default_value_t = 3)]
    pub rounds: u32,
    /// Threads that play them; the bare loop has one.
    #[arg(long, value_name = "T", default_value_t = 1)]
    pub threads: usize,
    /// The run's seed.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// The net that evaluates: a file, "embedded" for the one in the program, or "none" for the hand-crafted evaluation.
    #[arg(long, value_name = "FILE|none", default_value = DEFAULT)]
    pub net: String,
    /// Table of each searcher, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 8)]
    pub hash: u32,
    /// JSON alone on stdout.
    #[arg(long)]
    pub json: bool,
}
