//! The arguments that verbs share which work through whole files on many threads.

use anyhow::Context;
use clap::Args;

/// How a verb runs and reports.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Threads to use; 0: one per core. Has no influence on the result.
    #[arg(long, value_name = "T", default_value_t = 0)]
    pub threads: usize,
    /// JSON alone on stdout.
    #[arg(long)]
    pub json: bool,
    /// No progress on stderr.
    #[arg(long)]
    pub quiet: bool,
}

impl RunArgs {
    /// The threads.
    ///
    /// # Errors
    /// When the system has no such number of them.
    pub fn pool(&self) -> anyhow::Result<rayon::ThreadPool> {
        rayon::ThreadPoolBuilder::new().num_threads(self.threads).build().context("--threads")
    }
}
