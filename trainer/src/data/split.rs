//! Which games are for validation.
//!
//! A game belongs to one side by what it is: by its start, its moves and the seed. So the two sides are disjoint whatever the
//! order of reading and the epoch, and a game that stands in two files or under two numbers, or as its mirror image, is on
//! one side. Games of separate validation files are kept out of training by the same number.

use crate::chance::{Purpose, hash};
use nnue_format::record::{GameError, Start, game_id};
use std::collections::HashSet;
use std::sync::Arc;
use xiangqi::Move;

/// Where a game belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It is trained on.
    Training,
    /// It is of the share kept for validation.
    Validation,
    /// It stands in the validation files too.
    InValidationFiles,
}

/// The split of the games.
#[derive(Clone, Debug)]
pub struct Split {
    seed: u64,
    /// Hashes below it are for validation.
    threshold: u64,
    /// Games of the validation files; `None` without such files.
    held_out: Option<Arc<HashSet<u64>>>,
}

impl Split {
    /// Keeps the share `fraction` (0 up to below 1) of all games for validation.
    pub fn new(seed: u64, fraction: f64) -> Split {
        Split { seed, threshold: (fraction.clamp(0.0, 1.0) * 2f64.powi(64)) as u64, held_out: None }
    }

    /// Keeps the games with these numbers ([`game_id`] with mirrors) out of training, and no others.
    pub fn by_files(games: HashSet<u64>) -> Split {
        Split { seed: 0, threshold: 0, held_out: Some(Arc::new(games)) }
    }

    /// Is every game trained on?
    pub fn is_trivial(&self) -> bool {
        self.threshold == 0 && self.held_out.as_ref().is_none_or(|games| games.is_empty())
    }

    /// Where a game of the training files belongs.
    ///
    /// # Errors
    /// When the start is no position.
    pub fn side(&self, start: &Start, moves: &[Move]) -> Result<Side, GameError> {
        if self.is_trivial() {
            return Ok(Side::Training);
        }
        let id = game_id(start, moves, true)?;
        Ok(match &self.held_out {
            Some(games) if games.contains(&id) => Side::InValidationFiles,
            _ if hash(self.seed, Purpose::Split, id, 0) < self.threshold => Side::Validation,
            _ => Side::Training,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xiangqi::Position;

    /// 20,000 games of three plies.
    fn games() -> impl Iterator<Item = Vec<Move>> {
        let start = Position::start();
        let mut found = Vec::new();
        for &a in start.legal_moves().iter() {
            let mut position = start.clone();
            position.make(a);
            for &b in position.legal_moves().iter() {
                let mut position = position.clone();
                position.make(b);
                found.extend(position.legal_moves().iter().map(|&c| vec![a, b, c]));
            }
        }
        found.into_iter().take(20_000)
    }

    #[test]
    fn the_share_is_kept_and_depends_on_the_seed() {
        let is_validation =
            |split: &Split, game: &[Move]| split.side(&Start::Standard, game).unwrap() == Side::Validation;
        let (split, other) = (Split::new(7, 0.1), Split::new(8, 0.1));
        let (mut count, mut both) = (0, 0);
        for game in games() {
            let is = is_validation(&split, &game);
            count += u32::from(is);
            both += u32::from(is && is_validation(&other, &game));
            let mirrored: Vec<Move> = game.iter().copied().map(nnue_format::record::mirrored_move).collect();
            assert_eq!(is, is_validation(&split, &mirrored), "{game:?} and its mirror image");
            assert!(!is_validation(&Split::new(7, 0.0), &game), "no share, no game");
        }
        assert!((1_800..2_200).contains(&count), "{count} of 20000 games");
        assert!((130..280).contains(&both), "{both} games in both splits");
    }

    #[test]
    fn games_of_validation_files_are_held_out() {
        let all: Vec<Vec<Move>> = games().take(50).collect();
        let held = all[..20].iter().map(|game| game_id(&Start::Standard, game, true).unwrap()).collect();
        let split = Split::by_files(held);
        for (i, game) in all.iter().enumerate() {
            let side = split.side(&Start::Standard, game).unwrap();
            let twin = all[..20].iter().any(|held| {
                game_id(&Start::Standard, held, true).ok() == game_id(&Start::Standard, game, true).ok()
            });
            assert_eq!(side == Side::InValidationFiles, twin, "game {i}");
            assert!(twin || i >= 20);
        }
    }
}
