//! Which positions are trained on. Records keep everything; what is left out is decided here, when reading, by the
//! conditions that the record tools have too ([`PositionFilter`]).

use crate::chance::{Purpose, hash};
use crate::config::FilterConfig;
use nnue_format::record::{LeftOut, Ply, PositionFilter};
use serde::{Deserialize, Serialize};
use xiangqi::Position;

/// What became of the positions read; each is counted once, by the first filter that took it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilterCounts {
    /// Went through.
    pub kept: u64,
    /// Plies of openings, which have no score.
    pub unscored: u64,
    /// Marked in the file as not for training.
    #[serde(default)]
    pub marked: u64,
    /// Plies below `early_plies`.
    pub early: u64,
    /// The side to move was in check.
    pub in_check: u64,
    /// The move captures.
    pub captures: u64,
    /// The move was not the search's best.
    pub not_best: u64,
    /// The score was beyond `max_score`.
    pub score: u64,
    /// Taken by `random_skip`.
    pub random: u64,
    /// Of games on the other side of the validation split.
    pub other_split: u64,
    /// Damaged blocks that were left out (`skip_damage`).
    pub damaged_blocks: u64,
}

impl FilterCounts {
    /// Adds the counts of another part.
    pub fn add(&mut self, other: &FilterCounts) {
        self.kept += other.kept;
        self.unscored += other.unscored;
        self.marked += other.marked;
        self.early += other.early;
        self.in_check += other.in_check;
        self.captures += other.captures;
        self.not_best += other.not_best;
        self.score += other.score;
        self.random += other.random;
        self.other_split += other.other_split;
        self.damaged_blocks += other.damaged_blocks;
    }
}

impl std::fmt::Display for FilterCounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} kept; left out: {} unscored, {} marked, {} early, {} in check, {} captures, {} not best, {} by score, {} at random",
            self.kept,
            self.unscored,
            self.marked,
            self.early,
            self.in_check,
            self.captures,
            self.not_best,
            self.score,
            self.random
        )?;
        if self.damaged_blocks > 0 {
            write!(f, "; {} damaged blocks", self.damaged_blocks)?;
        }
        Ok(())
    }
}

/// The filters of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    conditions: PositionFilter,
    seed: u64,
    /// `random_skip` as a bound on hashes.
    skip_below: u64,
}

impl Filter {
    /// Filters by this configuration; `seed` is for the random skip.
    pub fn new(config: &FilterConfig, seed: u64) -> Filter {
        let skip_below = (config.random_skip.clamp(0.0, 1.0) * 2f64.powi(64)) as u64;
        let &FilterConfig { marked, in_check, captures, not_best, max_score, early_plies, .. } = config;
        // `max_score` takes mates as well.
        let mates = false;
        let conditions =
            PositionFilter { marked, early_plies, mates, max_score, not_best, captures, in_check };
        Filter { conditions, seed, skip_below }
    }

    /// Is the position before `ply` kept? Counts it either way. `epoch` and `game` choose which positions the random
    /// skip takes.
    pub fn keeps(
        &self,
        position: &Position,
        ply: &Ply,
        epoch: u64,
        game: u64,
        counts: &mut FilterCounts,
    ) -> bool {
        let Some(scored) = ply.scored else {
            counts.unscored += 1;
            return false;
        };
        let counter = match self.conditions.left_out(position, ply, scored) {
            Some(LeftOut::Marked) => &mut counts.marked,
            Some(LeftOut::Early) => &mut counts.early,
            Some(LeftOut::Mate | LeftOut::Score) => &mut counts.score,
            Some(LeftOut::NotBest) => &mut counts.not_best,
            Some(LeftOut::Capture) => &mut counts.captures,
            Some(LeftOut::InCheck) => &mut counts.in_check,
            None if self.skip_below > 0 && self.skips(epoch, game, ply.number) => &mut counts.random,
            None => {
                counts.kept += 1;
                return true;
            }
        };
        *counter += 1;
        false
    }

    fn skips(&self, epoch: u64, game: u64, ply: usize) -> bool {
        let place = hash(self.seed, Purpose::Skip, epoch, game);
        hash(place, Purpose::Skip, ply as u64, 0) < self.skip_below
    }
}
