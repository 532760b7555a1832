//! The command line of `chuhe-gen`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Self-play and record files for training xiangqi nets.
///
/// Exit codes: 0 done, 1 the check failed, 2 could not run.
#[derive(Debug, Parser)]
#[command(name = "chuhe-gen", version, max_term_width = 110)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Play games against oneself with full search and record them.
    ///
    /// The file is written as FILE.partial and renamed when it is complete. The same command goes on with an
    /// interrupted run, and says "already complete" for a finished one. Ctrl-C keeps all whole games.
    Play(PlayArgs),
    /// Read game files that people have (PGN, XQF, DhtmlXQ, CCBridge, FEN and EPD lists) and write records, opening
    /// books or other game files.
    ///
    /// Formats and encodings are found from the content. A broken game is read up to its break, and the exit code is
    /// 1 then. The output is published whole or not at all; Ctrl-C leaves nothing behind.
    Import(ImportArgs),
    /// Show what a record file holds.
    Inspect(FileArgs),
    /// Check a record file: every byte, every move, every outcome.
    Verify(FileArgs),
}

/// Arguments of `inspect` and `verify`.
#[derive(Debug, Args)]
pub struct FileArgs {
    /// The record file.
    pub file: PathBuf,
    /// JSON alone on stdout.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The game files.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Read all files as this format: pgn xqf dhtmlxq ccbridge fen jsonl.
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,
    /// Read and report only; write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// The file to write; its end says what: .rec .chr records, .pgn, .fen .epd positions, .xqf, .ubb DhtmlXQ.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// What to write, whatever the name: record pgn fen lines xqf dhtmlxq.
    #[arg(long, value_name = "KIND", requires = "out")]
    pub to: Option<String>,
    /// Replace an output file that is there.
    #[arg(long)]
    pub force: bool,
    /// Only game N of each file, counted from 1.
    #[arg(long, value_name = "N")]
    pub game: Option<usize>,
    /// Side lines are games too (records, positions, lines of moves).
    #[arg(long)]
    pub variations: bool,
    /// Positions after N plies of each game (fen), or lines cut to N plies (lines).
    #[arg(long, value_name = "N")]
    pub plies: Option<usize>,
    /// How moves are written in PGN: chinese iccs wxf.
    #[arg(long, value_name = "NAME", default_value = "chinese")]
    pub notation: String,
    /// Search each recorded position with so many nodes for its score; without it records have moves alone.
    #[arg(long, value_name = "N")]
    pub nodes: Option<u64>,
    /// The net that evaluates, or "none" for the hand-crafted evaluation.
    #[arg(long, value_name = "FILE|none", requires = "nodes")]
    pub net: Option<String>,
    /// Table of each searcher, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 8)]
    pub hash: u32,
    /// Records of games that neither the rules nor the file end: skip, draw, or search (won from 600 on, drawn within
    /// ±60, left out between). Without it: search where there are nodes, else skip.
    #[arg(long, value_name = "HOW")]
    pub unfinished: Option<String>,
    /// The rules that end recorded games.
    #[arg(long, value_name = "NAME", default_value = "competition")]
    pub rules: String,
    /// JSON alone on stdout; in a dry run with every game.
    #[arg(long)]
    pub json: bool,
    /// No progress and no list of faults on stderr.
    #[arg(long)]
    pub quiet: bool,
}

/// Arguments of `play`.
#[derive(Debug, Args)]
pub struct PlayArgs {
    /// The record file to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Play so many games.
    #[arg(long, value_name = "N", required_unless_present = "positions", conflicts_with = "positions")]
    pub games: Option<u64>,
    /// Play until there are exactly so many scored positions; of the last game those too many stay as moves
    /// without scores.
    #[arg(long, value_name = "N")]
    pub positions: Option<u64>,
    /// Nodes searched for each move.
    #[arg(long, value_name = "N", required_unless_present = "depth")]
    pub nodes: Option<u64>,
    /// Depth searched for each move, in plies.
    #[arg(long, value_name = "D")]
    pub depth: Option<i32>,
    /// The run's seed; each game's follows from it and the game's number.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Games played at a time; 0: one per core. Has no influence on the games.
    #[arg(long, value_name = "T", default_value_t = 0)]
    pub threads: usize,
    /// The net that evaluates, or "none" for the hand-crafted evaluation.
    #[arg(long, value_name = "FILE|none", default_value = "none")]
    pub net: String,
    /// Random plies before the first search: N, or A..B (each number from A to B as likely).
    #[arg(long, value_name = "N|A..B", default_value = "6..9", value_parser = parse_range)]
    pub random_plies: (u32, u32),
    /// Openings that a short search scores beyond ± this are rejected.
    #[arg(long, value_name = "SCORE", default_value_t = 200)]
    pub balance: i32,
    /// Nodes of that search; 0 accepts every opening.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub balance_nodes: u64,
    /// Table of each searcher, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 8)]
    pub hash: u32,
    /// A game is won once both sides' scores say so by this much …
    #[arg(long, value_name = "SCORE", default_value_t = 2000)]
    pub resign_score: i32,
    /// … for so many plies in a row; 0: never.
    #[arg(long, value_name = "PLIES", default_value_t = 8)]
    pub resign_plies: u32,
    /// A game is drawn once the scores lie within ± this …
    #[arg(long, value_name = "SCORE", default_value_t = 8)]
    pub draw_score: i32,
    /// … for so many plies in a row (0: never) …
    #[arg(long, value_name = "PLIES", default_value_t = 16)]
    pub draw_plies: u32,
    /// … but not before this ply of the game.
    #[arg(long, value_name = "PLY", default_value_t = 100)]
    pub draw_from: u32,
    /// A game is drawn at this ply.
    #[arg(long, value_name = "PLIES", default_value_t = 400)]
    pub max_plies: u32,
    /// The rules of repetition.
    #[arg(long, value_name = "NAME", default_value = "competition")]
    pub rules: String,
    /// JSON alone on stdout.
    #[arg(long)]
    pub json: bool,
    /// No progress and no plan on stderr.
    #[arg(long)]
    pub quiet: bool,
}

/// Reads `N` or `A..B`.
fn parse_range(text: &str) -> Result<(u32, u32), String> {
    let number = |text: &str| text.trim().parse::<u32>().map_err(|error| format!("{text:?}: {error}"));
    match text.split_once("..") {
        None => number(text).map(|n| (n, n)),
        Some((a, b)) => Ok((number(a)?, number(b.trim_start_matches('='))?)),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn ranges() {
        assert_eq!(parse_range("8"), Ok((8, 8)));
        assert_eq!(parse_range("6..9"), Ok((6, 9)));
        assert_eq!(parse_range("6..=9"), Ok((6, 9)));
        assert!(parse_range("6..").is_err());
        assert!(parse_range("-1").is_err());
    }

    #[test]
    fn what_is_needed() {
        let parse = |text: &str| Cli::try_parse_from(text.split(' '));
        assert!(parse("chuhe-gen play --out f --games 1 --nodes 1").is_ok());
        assert!(parse("chuhe-gen play --out f --positions 1 --depth 1").is_ok());
        assert!(parse("chuhe-gen play --out f --games 1 --positions 1 --nodes 1").is_err());
        assert!(parse("chuhe-gen play --out f --nodes 1").is_err());
        assert!(parse("chuhe-gen play --out f --games 1").is_err());
        assert!(parse("chuhe-gen play --games 1 --nodes 1").is_err());
    }
}
