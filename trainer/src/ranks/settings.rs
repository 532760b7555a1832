//! How ranks deal with each other; nothing in here changes a run's numbers beyond the order of sums.

use super::watch::OnLost;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// What carries gradients that lie on GPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// NCCL, from GPU to GPU
    #[default]
    Nccl,
    /// Gloo, through the hosts' memory: slow, for trying things out where there is no NCCL shim
    Gloo,
}

/// The words of the command line.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Several processes (torchrun, Slurm; see docs/cluster.md)")]
pub struct RankArgs {
    /// A rank that gives no sign of life, or hangs, for this long ends the run on all ranks
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    rank_timeout: u64,
    /// What carries gradients between GPUs
    #[arg(long, value_enum, value_name = "NAME", default_value_t = Backend::Nccl)]
    rank_backend: Backend,
}

impl RankArgs {
    /// The settings. `on_lost` ends the process; see [`OnLost`].
    pub fn settings(&self, on_lost: OnLost) -> Settings {
        let timeout = Duration::from_secs(self.rank_timeout);
        Settings { timeout, backend: self.rank_backend, on_lost: Some(on_lost) }
    }
}

/// How ranks deal with each other.
#[derive(Clone)]
pub struct Settings {
    /// A rank without a sign of life or progress for this long ends the run.
    pub timeout: Duration,
    /// What carries gradients that lie on GPUs.
    pub backend: Backend,
    /// Ends the process when a rank is lost and the training thread hangs, as in a kernel that waits for it.
    pub on_lost: Option<OnLost>,
}

/// Threads for the training step where torchrun starts several processes on this host: its share of the cores. Under
/// Slurm each task is bound to its own cores already. `None` where there is nothing to share.
pub fn threads_of_a_rank() -> Option<usize> {
    let local: usize = std::env::var("LOCAL_WORLD_SIZE").ok()?.trim().parse().ok()?;
    let cores = std::thread::available_parallelism().ok()?.get();
    (local > 1).then(|| (cores / local).max(1))
}

/// The name of the shared object with NCCL.
const SHIM: &str = "libchuhe_nccl.so";
/// Says where it is, if it is not beside the program.
const SHIM_VARIABLE: &str = "CHUHE_NCCL_SHIM";

/// Where the NCCL shim is looked for: what `CHUHE_NCCL_SHIM` says, else beside the program.
pub fn nccl_shim_places() -> Vec<PathBuf> {
    let said = std::env::var_os(SHIM_VARIABLE).map(PathBuf::from);
    let beside = std::env::current_exe().ok().and_then(|exe| Some(exe.parent()?.join(SHIM)));
    match said {
        Some(path) => vec![path],
        None => beside.into_iter().collect(),
    }
}

/// The NCCL shim.
///
/// # Errors
/// A message with where it was looked for and how to make it.
pub fn nccl_shim() -> Result<PathBuf, String> {
    let places = nccl_shim_places();
    places.iter().find(|path| path.is_file()).cloned().ok_or_else(|| {
        let places: Vec<String> = places.iter().map(|path| path.display().to_string()).collect();
        format!(
            "training on GPUs by several processes needs {SHIM}, which is not at {}; build it with \
             scripts/build-nccl-shim.sh, name it in {SHIM_VARIABLE}, or take --rank-backend gloo (slow)",
            places.join(" or ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_shim_says_how_it_is_made() {
        // No test lies beside a shim.
        let told = nccl_shim().unwrap_err();
        assert!(
            told.contains(SHIM) && told.contains("build-nccl-shim.sh") && told.contains("gloo"),
            "{told}"
        );
    }
}
