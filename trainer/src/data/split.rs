//! Which games are for validation.
//!
//! A game belongs to one side by its number in its file and the seed alone, so the two sets are disjoint whatever the
//! order of reading and the epoch. Record tools number games anew: a game that stands in two files under two numbers may be
//! on both sides. `chuhe-gen split --validation` decides by start and moves instead.

use crate::chance::{Purpose, hash};

/// The split of the games.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    seed: u64,
    /// Hashes below it are for validation.
    threshold: u64,
}

impl Split {
    /// Keeps the share `fraction` (0 up to below 1) of all games for validation.
    pub fn new(seed: u64, fraction: f64) -> Split {
        Split { seed, threshold: (fraction.clamp(0.0, 1.0) * 2f64.powi(64)) as u64 }
    }

    /// Is the game with this number of its run for validation?
    pub fn is_validation(&self, game: u64) -> bool {
        hash(self.seed, Purpose::Split, game, 0) < self.threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_kept_and_depends_on_the_seed() {
        let split = Split::new(7, 0.1);
        let count = (0..100_000).filter(|&game| split.is_validation(game)).count();
        assert!((9_600..10_400).contains(&count), "{count} of 100000 games");
        let other = Split::new(8, 0.1);
        let both = (0..100_000).filter(|&g| split.is_validation(g) && other.is_validation(g)).count();
        assert!((800..1_200).contains(&both), "{both} games in both splits");
        assert!((0..1000).all(|game| !Split::new(7, 0.0).is_validation(game)), "no share, no game");
    }
}
