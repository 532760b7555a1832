//! Which positions are trained on. Records keep everything; what is left out is decided here, when reading: by the
//! conditions that the record tools have too ([`PositionFilter`]), and by some that need the game or chance.
//!
//! Chance in here is that of the run: a position that one of these filters takes is left out in every epoch. Only
//! [`super::skip`] takes another part each time.

use crate::chance::{Purpose, hash};
use crate::config::FilterConfig;
use nnue_format::record::{GameHead, LeftOut, Ply, PositionFilter};
use serde::{Deserialize, Serialize};
use xiangqi::Position;

macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident $words:literal,)*) => {
        /// What became of the positions read; each is counted once, by the first filter that took it.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct FilterCounts { $($(#[$doc])* pub $name: u64,)* }

        impl FilterCounts {
            /// Adds the counts of another part.
            pub fn add(&mut self, other: &FilterCounts) {
                $(self.$name += other.$name;)*
            }

            /// The counts with their names, as people read them, in the order in which the filters are asked.
            pub fn named(&self) -> Vec<(&'static str, u64)> {
                vec![$(($words, self.$name),)*]
            }
        }
    };
}

counts! {
    /// Went through.
    kept "kept",
    /// Plies of openings, which have no score.
    unscored "unscored",
    /// Marked in the file as not for training.
    marked "marked",
    /// Plies below `early_plies`.
    early "early",
    /// The score was beyond `max_score`.
    score "by score",
    /// The move was not the search's best.
    not_best "not best",
    /// The move captures.
    captures "captures",
    /// The side to move was in check.
    in_check "in check",
    /// Fewer pieces than `min_pieces` or more than `max_pieces`.
    pieces "by pieces",
    /// More plies since the last capture than `max_quiet_plies`.
    quiet_plies "near the natural limit",
    /// On the board before in the same game.
    repetitions "repetitions",
    /// Taken by `soft_early_plies`.
    soft_early "early by chance",
    /// Taken by `disagreement`.
    disagreement "score against outcome",
    /// Taken by `random_skip`.
    random "at random",
    /// Of games on the other side of the validation split.
    other_split "on the other side of the split",
    /// Of games that stand in the validation files too.
    in_validation_files "of games in the validation files",
    /// Damaged blocks that were left out (`skip_damage`).
    damaged_blocks "damaged blocks",
}

impl std::fmt::Display for FilterCounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} kept", self.kept)?;
        let mut start = "; left out:";
        for (words, count) in self.named().into_iter().skip(1).filter(|(_, count)| *count > 0) {
            write!(f, "{start} {count} {words}")?;
            start = ",";
        }
        Ok(())
    }
}

/// Winning chances by score, for [`FilterConfig::disagreement`]: P(win) = 1 / (1 + exp((HALF - score) / SPREAD)). The model of
/// docs/decisions/0009 at 60 % of the material, which is near enough to tell the unlikely from the likely.
const HALF: f64 = 110.0;
const SPREAD: f64 = 200.0;

/// The chance of this outcome, in half points, from this score.
fn chance_of(outcome: u8, score: i32) -> f64 {
    let win = |score: f64| 1.0 / (1.0 + ((HALF - score) / SPREAD).exp());
    let (wins, losses) = (win(f64::from(score)), win(-f64::from(score)));
    match outcome {
        0 => losses,
        1 => 1.0 - wins - losses,
        _ => wins,
    }
}

/// The filters of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    conditions: PositionFilter,
    config: FilterConfig,
    seed: u64,
}

/// What takes a position, as the field of [`FilterCounts`] that counts it.
type Counter = fn(&mut FilterCounts) -> &mut u64;

impl Filter {
    /// Filters by this configuration; `seed` is for those by chance.
    pub fn new(config: &FilterConfig, seed: u64) -> Filter {
        let &FilterConfig { marked, in_check, captures, not_best, max_score, early_plies, .. } = config;
        // `max_score` takes mates as well.
        let mates = false;
        let conditions =
            PositionFilter { marked, early_plies, mates, max_score, not_best, captures, in_check };
        Filter { conditions, config: config.clone(), seed }
    }

    /// Must [`Filter::passes`] be given the keys of the game's earlier positions?
    pub fn wants_keys(&self) -> bool {
        self.config.repetitions
    }

    /// Does the position before `ply` pass? Counts it if not. `keys` are those of the game's earlier positions, if they are
    /// wanted.
    #[inline]
    pub fn passes(
        &self,
        game: &GameHead,
        position: &Position,
        ply: &Ply,
        keys: &[u64],
        counts: &mut FilterCounts,
    ) -> bool {
        match self.taken_by(game, position, ply, keys) {
            Some(counter) => {
                *counter(counts) += 1;
                false
            }
            None => true,
        }
    }

    fn taken_by(&self, game: &GameHead, position: &Position, ply: &Ply, keys: &[u64]) -> Option<Counter> {
        let Some(scored) = ply.scored else { return Some(|counts| &mut counts.unscored) };
        match self.conditions.left_out(position, ply, scored) {
            Some(LeftOut::Marked) => return Some(|counts| &mut counts.marked),
            Some(LeftOut::Early) => return Some(|counts| &mut counts.early),
            Some(LeftOut::Mate | LeftOut::Score) => return Some(|counts| &mut counts.score),
            Some(LeftOut::NotBest) => return Some(|counts| &mut counts.not_best),
            Some(LeftOut::Capture) => return Some(|counts| &mut counts.captures),
            Some(LeftOut::InCheck) => return Some(|counts| &mut counts.in_check),
            None => {}
        }
        let config = &self.config;
        let pieces = position.occupied().count() as usize;
        if pieces < config.min_pieces || (config.max_pieces > 0 && pieces > config.max_pieces) {
            return Some(|counts| &mut counts.pieces);
        }
        let quiet = usize::from(position.no_capture_plies());
        if config.max_quiet_plies > 0 && quiet > config.max_quiet_plies {
            return Some(|counts| &mut counts.quiet_plies);
        }
        // A position comes back only without captures between, so no earlier key needs to be looked at.
        if config.repetitions && keys.iter().rev().take(quiet).any(|&key| key == position.key()) {
            return Some(|counts| &mut counts.repetitions);
        }
        if ply.number < config.soft_early_plies && self.chance(game, ply, 0) < self.soft_share(ply.number) {
            return Some(|counts| &mut counts.soft_early);
        }
        if config.disagreement > 0.0 {
            let outcome = game.outcome.half_points(position.side_to_move());
            let share = config.disagreement * (1.0 - chance_of(outcome, scored.0.0));
            if self.chance(game, ply, 1) < share {
                return Some(|counts| &mut counts.disagreement);
            }
        }
        None
    }

    /// The share of plies `number` that `soft_early_plies` takes: a straight line from 1 at `early_plies` to 0.
    fn soft_share(&self, number: usize) -> f64 {
        let (first, end) = (self.config.early_plies, self.config.soft_early_plies);
        end.saturating_sub(number) as f64 / end.saturating_sub(first).max(1) as f64
    }

    /// A number in 0..1 that belongs to this ply of this game, one for each `filter`.
    fn chance(&self, game: &GameHead, ply: &Ply, filter: u64) -> f64 {
        let place = hash(self.seed, Purpose::Filter, game.number, filter);
        (hash(place, Purpose::Filter, ply.number as u64, 0) >> 11) as f64 / 2f64.powi(53)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_of_outcomes() {
        for score in [-3000, -400, 0, 90, 800] {
            let sum: f64 = (0..3).map(|outcome| chance_of(outcome, score)).sum();
            assert!((sum - 1.0).abs() < 1e-12);
            assert_eq!(chance_of(0, score), chance_of(2, -score));
        }
        assert!((chance_of(2, 110) - 0.5).abs() < 1e-12);
        assert!(chance_of(2, -1000) < 0.01 && chance_of(2, 1000) > 0.98);
    }

    #[test]
    fn soft_plies_fade() {
        let config = FilterConfig { early_plies: 4, soft_early_plies: 12, ..FilterConfig::default() };
        let filter = Filter::new(&config, 1);
        let shares: Vec<f64> = [4, 8, 11, 12, 40].map(|ply| filter.soft_share(ply)).to_vec();
        assert_eq!(shares, [1.0, 0.5, 0.125, 0.0, 0.0]);
    }
}
