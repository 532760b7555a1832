//! What is exported, and how.

use std::path::Path;

use nnue_format::record::{GameHead, LeftOut, Ply, PositionFilter};
use xiangqi::Position;

use crate::exchange::{FirstRank, View, csv};

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Whole games, one a line, everything in them.
    Jsonl,
    /// Scored positions as `.plain` text.
    Plain,
    /// Scored positions as CSV.
    Csv,
    /// Scored positions, their FENs alone.
    Fen,
}

impl Target {
    /// All of them.
    pub const ALL: [Target; 4] = [Target::Jsonl, Target::Plain, Target::Csv, Target::Fen];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Target::Jsonl => "jsonl",
            Target::Plain => "plain",
            Target::Csv => "csv",
            Target::Fen => "fen",
        }
    }

    /// The target of this name.
    pub fn named(name: &str) -> Option<Target> {
        Target::ALL.into_iter().find(|target| target.name() == name)
    }

    /// The target that the end of a file's name says.
    pub fn by_extension(path: &Path) -> Option<Target> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "jsonl" | "json" => Some(Target::Jsonl),
            "plain" => Some(Target::Plain),
            "csv" => Some(Target::Csv),
            "fen" | "epd" => Some(Target::Fen),
            _ => None,
        }
    }

    /// The number of Red's first rank in moves, as this format's programs have it.
    pub const fn first_rank(self) -> FirstRank {
        match self {
            Target::Plain => FirstRank::One,
            _ => FirstRank::Zero,
        }
    }
}

/// What is exported, and how.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The format.
    pub target: Target,
    /// The number of Red's first rank in moves.
    pub first_rank: FirstRank,
    /// From whose view scores are written.
    pub scores: View,
    /// From whose view results are written.
    pub results: View,
    /// Which positions.
    pub filter: PositionFilter,
    /// Of these, one in so many is written; 1: all.
    pub one_in: u64,
    /// Chooses which.
    pub seed: u64,
    /// Leave out what is damaged.
    pub skip_damaged: bool,
    /// For whole games of one file: the line that says which, with its end.
    pub file_line: Option<String>,
}

impl Settings {
    /// What the file begins with.
    pub(super) fn begin(&self) -> Vec<u8> {
        match self.target {
            Target::Csv => csv::head().into_bytes(),
            Target::Jsonl => self.file_line.clone().unwrap_or_default().into_bytes(),
            Target::Plain | Target::Fen => Vec::new(),
        }
    }

    /// Is the position written? Else the word for why not.
    pub(super) fn keeps(&self, head: &GameHead, position: &Position, ply: &Ply) -> Result<(), &'static str> {
        let scored = ply.scored.ok_or("unscored")?;
        if let Some(why) = self.filter.left_out(position, ply, scored) {
            return Err(word(why));
        }
        let chosen = mix(mix(self.seed ^ mix(head.number)) ^ ply.number as u64);
        if chosen.is_multiple_of(self.one_in.max(1)) { Ok(()) } else { Err("not_chosen") }
    }
}

/// The word for it in summaries and JSON.
const fn word(why: LeftOut) -> &'static str {
    match why {
        LeftOut::Marked => "marked",
        LeftOut::Early => "early",
        LeftOut::Mate => "mates",
        LeftOut::Score => "score",
        LeftOut::NotBest => "not_best",
        LeftOut::Capture => "captures",
        LeftOut::InCheck => "in_check",
    }
}

/// SplitMix64's output function (Steele, Lea and Flood, 2014).
const fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}
