//! The arguments of `export`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The record files.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// What to write: jsonl (whole games), plain, csv, fen (scored positions). Without it the end of --out says so.
    #[arg(long, value_name = "FORMAT")]
    pub to: Option<String>,
    /// The file to write; - or nothing: stdout.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace an output file that is there.
    #[arg(long)]
    pub force: bool,
    /// The number of Red's first rank in moves: 0 (h2e2; Pikafish) or 1 (h3e3, b10c8; Fairy-Stockfish). Default: 1 for
    /// plain, 0 for csv.
    #[arg(long, value_name = "0|1", value_parser = clap::value_parser!(u8).range(0..=1))]
    pub first_rank: Option<u8>,
    /// Whose view scores have: side (to move) or red.
    #[arg(long, value_name = "VIEW", default_value = "side")]
    pub scores: String,
    /// Whose view results have: side (to move) or red.
    #[arg(long, value_name = "VIEW", default_value = "side")]
    pub results: String,
    /// Write positions too that are marked as not for training.
    #[arg(long)]
    pub marked: bool,
    /// Leave out plies below this number, opening included.
    #[arg(long, value_name = "PLIES", default_value_t = 0)]
    pub early_plies: usize,
    /// Leave out scores of mates and of wins by the rules.
    #[arg(long)]
    pub no_mates: bool,
    /// Leave out scores beyond ± this; 0: no limit.
    #[arg(long, value_name = "SCORE", default_value_t = 0)]
    pub max_score: i32,
    /// Leave out positions whose move was not the search's best.
    #[arg(long)]
    pub no_not_best: bool,
    /// Leave out positions whose move captures.
    #[arg(long)]
    pub no_captures: bool,
    /// Leave out positions whose side to move is in check.
    #[arg(long)]
    pub no_checks: bool,
    /// Of the positions left, write one in N, chosen by --seed.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub one_in: u64,
    /// Chooses the positions of --one-in.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Leave out damaged blocks; without it nothing is written where there is one.
    #[arg(long)]
    pub skip_damaged: bool,
    /// JSON alone on stdout: what was written; needs --out FILE.
    #[arg(long)]
    pub json: bool,
    /// No progress on stderr.
    #[arg(long)]
    pub quiet: bool,
}
