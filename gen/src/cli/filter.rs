//! The arguments of `filter`.

use std::path::PathBuf;

use clap::Args;
use nnue_format::record::{Outcome, Reason};

use super::derived::{InputArgs, parse_share};

/// Arguments of `filter`.
#[derive(Debug, Args)]
pub struct FilterArgs {
    /// What is read.
    #[command(flatten)]
    pub input: InputArgs,
    /// The file to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Remove the marks that the inputs have before any position is judged.
    #[arg(long)]
    pub drop_marks: bool,
    /// Mark plies of the game below this number, opening included.
    #[arg(long, value_name = "PLIES", default_value_t = 0)]
    pub early_plies: usize,
    /// Mark positions with a mate or a win by the rules in sight, for either side.
    #[arg(long)]
    pub mates: bool,
    /// Mark scores beyond ± this.
    #[arg(long, value_name = "SCORE", value_parser = clap::value_parser!(i32).range(1..=32_000))]
    pub max_score: Option<i32>,
    /// Mark positions whose move was not the search's best.
    #[arg(long)]
    pub not_best: bool,
    /// Mark positions whose move captures.
    #[arg(long)]
    pub captures: bool,
    /// Mark positions whose side to move is in check.
    #[arg(long)]
    pub in_check: bool,
    /// Mark positions that were on the board before in the same game.
    #[arg(long)]
    pub repetitions: bool,
    /// Of the positions left, keep this share (0.25 or 25%) by chance and mark the others.
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub keep: Option<u32>,
    /// The seed of --keep.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Leave out games with these outcomes: draw red_loses black_loses, separated by commas.
    #[arg(long, value_name = "OUTCOMES", value_delimiter = ',')]
    pub drop_outcomes: Vec<Outcome>,
    /// Leave out games that ended for these reasons, named as `inspect` does, separated by commas.
    #[arg(long, value_name = "REASONS", value_delimiter = ',')]
    pub drop_reasons: Vec<Reason>,
    /// Leave out games of fewer plies, opening included.
    #[arg(long, value_name = "PLIES", default_value_t = 0)]
    pub min_plies: usize,
    /// Leave out games of more plies, opening included.
    #[arg(long, value_name = "PLIES")]
    pub max_plies: Option<usize>,
    /// Leave out games in which no position for training is left.
    #[arg(long)]
    pub drop_empty: bool,
}
