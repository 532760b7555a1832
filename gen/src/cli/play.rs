//! The arguments of `play`.

use std::path::PathBuf;

use clap::Args;

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
    use clap::Parser;

    use super::super::Cli;
    use super::*;

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
