//! Arguments of `loop`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `loop`.
#[derive(Debug, Args)]
pub struct LoopArgs {
    /// The recipe, TOML; see docs/loop.md and scripts/recipes.
    #[arg(value_name = "LOOP.toml")]
    pub recipe: PathBuf,
    /// Play so many times the positions or games of the recipe, in a folder of its own (the recipe's, then -xFACTOR).
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pub scale: f64,
    /// Print the steps of the next generation and do nothing.
    #[arg(long, conflicts_with = "status")]
    pub dry_run: bool,
    /// Print the ladder and do nothing; a loop may be running.
    #[arg(long)]
    pub status: bool,
    /// Do this step of the last generation, and all behind it, again with the recipe's present settings: play tool-N
    /// train export verify match. What they made is deleted.
    #[arg(long, value_name = "STEP", conflicts_with_all = ["dry_run", "status"])]
    pub redo: Option<String>,
    /// Where chuhe, chuhe-gen, chuhe-train and chuhe-match are [default: beside this program].
    #[arg(long, value_name = "DIR")]
    pub programs: Option<PathBuf>,
    /// JSON alone on stdout.
    #[arg(long)]
    pub json: bool,
    /// No progress and no plan on stderr.
    #[arg(long)]
    pub quiet: bool,
}
