//! The arguments of `play`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use engine::eval::embedded::DEFAULT;

/// Arguments of `play`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("count").required(true).args(["games", "positions", "whole_book"]))]
#[command(group = ArgGroup::new("limit").required(true).multiple(true).args(["nodes", "soft_nodes", "depth", "movetime"]))]
pub struct PlayArgs {
    /// The record file to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Play so many games.
    #[arg(long, value_name = "N")]
    pub games: Option<u64>,
    /// Play until there are exactly so many scored positions; of the last game those too many stay as moves
    /// without scores.
    #[arg(long, value_name = "N")]
    pub positions: Option<u64>,
    /// Play one game from each opening of the --book.
    #[arg(long, requires = "book")]
    pub whole_book: bool,
    /// Nodes searched for each move, exactly.
    #[arg(long, value_name = "N", help_heading = "Search")]
    pub nodes: Option<u64>,
    /// Nodes after which no new iteration begins; with --nodes as the hard limit, or 8 times as many.
    #[arg(long, value_name = "N", help_heading = "Search")]
    pub soft_nodes: Option<u64>,
    /// Depth searched for each move, in plies.
    #[arg(long, value_name = "D", help_heading = "Search")]
    pub depth: Option<i32>,
    /// Time for each move, in ms. Games then depend on the machine: the same plan gives others, and what is recorded
    /// cannot be checked by searching again.
    #[arg(long, value_name = "MS", help_heading = "Search")]
    pub movetime: Option<u64>,
    /// The net that evaluates: a file, "embedded" for the one in the program, or "none" for the hand-crafted evaluation.
    #[arg(long, value_name = "FILE|none", default_value = DEFAULT, help_heading = "Search")]
    pub net: String,
    /// Table of each searcher, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 8, help_heading = "Search")]
    pub hash: u32,
    /// The run's seed; each game's follows from it and the game's number.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Games played at a time; 0: one per core. Has no influence on the games.
    #[arg(long, value_name = "T", default_value_t = 0)]
    pub threads: usize,
    /// Games begin from the openings of this file, each used once, in an order by the seed: FEN or EPD lines, lines of moves,
    /// or the games of a PGN, XQF, DhtmlXQ or CCBridge file. It is held in memory.
    #[arg(long, value_name = "FILE", help_heading = "Openings")]
    pub book: Option<PathBuf>,
    /// Cut the book's lines to so many plies.
    #[arg(long, value_name = "N", requires = "book", help_heading = "Openings")]
    pub book_plies: Option<u32>,
    /// Begin again with the book when its openings are used up; needs --random-plies.
    #[arg(long, requires = "book", help_heading = "Openings")]
    pub book_wrap: bool,
    /// Random plies before the first search: N, or A..B (each number from A to B as likely). 6..9 without a book, none
    /// with one.
    #[arg(long, value_name = "N|A..B", value_parser = parse_range, help_heading = "Openings")]
    pub random_plies: Option<(u32, u32)>,
    /// Openings that a short search scores beyond ± this are rejected.
    #[arg(long, value_name = "SCORE", default_value_t = 200, help_heading = "Openings")]
    pub balance: i32,
    /// Nodes of that search; 0 accepts every opening.
    #[arg(long, value_name = "N", default_value_t = 1000, help_heading = "Openings")]
    pub balance_nodes: u64,
    /// Search so many lines and play one of them; the recorded score is the best one's.
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Variety")]
    pub multi_pv: u32,
    /// Only lines at most so far behind the best; the closer to it, the likelier.
    #[arg(long, value_name = "SCORE", default_value_t = 30, help_heading = "Variety")]
    pub multi_pv_margin: i32,
    /// Only in the first so many plies after the opening; 0: in all.
    #[arg(long, value_name = "PLIES", default_value_t = 20, help_heading = "Variety")]
    pub multi_pv_plies: u32,
    /// Of a thousand moves play so many at random, after the search that scores the position.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Variety")]
    pub random_moves: u32,
    /// Only in the first so many plies after the opening; 0: in all.
    #[arg(long, value_name = "PLIES", default_value_t = 0, help_heading = "Variety")]
    pub random_moves_plies: u32,
    /// A game is won once both sides' scores say so by this much …
    #[arg(long, value_name = "SCORE", default_value_t = 2000, help_heading = "Ends")]
    pub resign_score: i32,
    /// … for so many plies in a row; 0: never.
    #[arg(long, value_name = "PLIES", default_value_t = 8, help_heading = "Ends")]
    pub resign_plies: u32,
    /// A game is won as soon as a search proves a mate.
    #[arg(long, help_heading = "Ends")]
    pub resign_mate: bool,
    /// A game is drawn once the scores lie within ± this …
    #[arg(long, value_name = "SCORE", default_value_t = 8, help_heading = "Ends")]
    pub draw_score: i32,
    /// … for so many plies in a row (0: never) …
    #[arg(long, value_name = "PLIES", default_value_t = 16, help_heading = "Ends")]
    pub draw_plies: u32,
    /// … but not before this ply of the game.
    #[arg(long, value_name = "PLY", default_value_t = 100, help_heading = "Ends")]
    pub draw_from: u32,
    /// A game is drawn at this ply.
    #[arg(long, value_name = "PLIES", default_value_t = 400, help_heading = "Ends")]
    pub max_plies: u32,
    /// The rules of repetition and of the natural limit: competition asian chinese allow-chase sky yitian.
    #[arg(long, value_name = "NAME", default_value = "competition", help_heading = "Ends")]
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
        assert!(parse("chuhe-gen play --out f --games 1 --soft-nodes 1").is_ok());
        assert!(
            parse("chuhe-gen play --out f --games 1 --soft-nodes 1 --nodes 9 --depth 3 --movetime 5").is_ok()
        );
        assert!(parse("chuhe-gen play --out f --whole-book --nodes 1").is_err());
        assert!(parse("chuhe-gen play --out f --whole-book --book b --nodes 1").is_ok());
        assert!(parse("chuhe-gen play --out f --whole-book --book b --nodes 1 --games 1").is_err());
        assert!(parse("chuhe-gen play --out f --games 1 --nodes 1 --book-wrap").is_err());
    }
}
