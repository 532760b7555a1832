//! The arguments of `import`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The game files.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Read all files as this format: pgn xqf dhtmlxq ccbridge fen jsonl, or of data plain csv packed.
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
    /// The net that evaluates: a file, "embedded" for the one in the program, or "none" for the hand-crafted evaluation.
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
    /// Data: the number of Red's first rank in moves, 0 (h2e2) or 1 (h3e3). Without it: as more moves are legal.
    #[arg(long, value_name = "0|1", value_parser = clap::value_parser!(u8).range(0..=1))]
    pub first_rank: Option<u8>,
    /// Data: whose view scores have, side (to move) or red.
    #[arg(long, value_name = "VIEW", default_value = "side")]
    pub scores: String,
    /// Data: whose view results have, side (to move) or red.
    #[arg(long, value_name = "VIEW", default_value = "side")]
    pub results: String,
    /// Data: leave out faulty lines; without it nothing is written where there is one.
    #[arg(long)]
    pub skip_damaged: bool,
    /// Data, JSON lines of one file by export: write that file again, byte by byte.
    #[arg(long)]
    pub restore: bool,
    /// JSON alone on stdout; in a dry run with every game.
    #[arg(long)]
    pub json: bool,
    /// No progress and no list of faults on stderr.
    #[arg(long)]
    pub quiet: bool,
}
