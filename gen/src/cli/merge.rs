//! The arguments of `merge` and `split`.

use std::path::PathBuf;

use clap::Args;

use super::derived::{InputArgs, parse_share};

/// Arguments of `merge`.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// What is read.
    #[command(flatten)]
    pub input: InputArgs,
    /// The file to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// Arguments of `split`.
#[derive(Debug, Args)]
pub struct SplitArgs {
    /// What is read.
    #[command(flatten)]
    pub input: InputArgs,
    /// The files to write: NAME.rec gives NAME-00001.rec, NAME-00002.rec …; with --validation the file of all games that are not
    /// for validation.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Files of so many games each, in order.
    #[arg(long, value_name = "N", required_unless_present_any = ["parts", "validation"], conflicts_with_all = ["parts", "validation"])]
    pub games: Option<u64>,
    /// So many files, in order, whose numbers of games differ by one at the most.
    #[arg(long, value_name = "N", conflicts_with = "validation")]
    pub parts: Option<u64>,
    /// This share of the games (0.02 or 2%) into a file of its own. Start, moves and --seed decide alone, so equal games are
    /// always on the same side, in whatever files they are.
    #[arg(long, value_name = "SHARE", value_parser = parse_share, requires = "validation_out")]
    pub validation: Option<u32>,
    /// The file of the games for validation.
    #[arg(long, value_name = "FILE", requires = "validation")]
    pub validation_out: Option<PathBuf>,
    /// Which games are for validation.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
}
