//! How games are divided among files.

use std::path::{Path, PathBuf};

use nnue_format::record::{GameError, GameRecord};

use crate::cli::derived::MILLION;
use crate::derived::{DerivedError, game_id};
use crate::seed::game_rng;

/// The most files of a split: their numbers have five digits.
pub const MAX_PARTS: u64 = 99_999;

/// How many games each file gets: `games` each and the rest for the last.
///
/// # Errors
/// When that would be too many files, or files without games.
pub fn by_games(all: u64, games: u64) -> Result<Vec<u64>, DerivedError> {
    if games == 0 || all.div_ceil(games) > MAX_PARTS {
        let possible =
            format!("at least {} (of {all} games, into {MAX_PARTS} files)", (all / MAX_PARTS).max(1));
        return Err(DerivedError::Setting { name: "--games", found: games.to_string(), possible });
    }
    let parts = all.div_ceil(games).max(1);
    Ok((0..parts).map(|part| (all - part * games).min(games)).collect())
}

/// How many games each of `parts` files gets: numbers that differ by one at the most.
///
/// # Errors
/// When there are too many files, or more than games.
pub fn by_parts(all: u64, parts: u64) -> Result<Vec<u64>, DerivedError> {
    if parts == 0 || parts > MAX_PARTS.min(all) {
        let possible = format!("1 to {} (there are {all} games)", MAX_PARTS.min(all));
        return Err(DerivedError::Setting { name: "--parts", found: parts.to_string(), possible });
    }
    Ok((0..parts).map(|part| all / parts + u64::from(part < all % parts)).collect())
}

/// The name of file `part` (from 0): `dir/games.rec` gives `dir/games-00001.rec`.
pub fn part_name(out: &Path, part: u64) -> PathBuf {
    let stem = out.file_stem().unwrap_or_default().to_string_lossy();
    let end = out.extension().map_or(String::new(), |end| format!(".{}", end.to_string_lossy()));
    out.with_file_name(format!("{stem}-{:05}{end}", part + 1))
}

/// Is the game for validation, if that is to be so many millionths of all? Start, moves and seed decide alone; a mirrored game is on
/// the same side.
///
/// # Errors
/// When the start is no position.
pub fn is_validation(game: &GameRecord, seed: u64, millionths: u32) -> Result<bool, GameError> {
    Ok(game_rng(seed, game_id(game, true)?).below(MILLION.into()) < u64::from(millionths))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(by_games(10, 4).unwrap(), [4, 4, 2]);
        assert_eq!(by_games(8, 4).unwrap(), [4, 4]);
        assert_eq!(by_games(0, 4).unwrap(), [0]);
        assert_eq!(by_parts(10, 4).unwrap(), [3, 3, 2, 2]);
        assert_eq!(by_parts(3, 3).unwrap(), [1, 1, 1]);
        for error in [by_games(10, 0), by_games(1_000_000, 9), by_parts(10, 0), by_parts(10, 11)] {
            assert!(matches!(error, Err(DerivedError::Setting { .. })), "{error:?}");
        }
    }

    #[test]
    fn names() {
        assert_eq!(part_name(Path::new("a/b.rec"), 0), Path::new("a/b-00001.rec"));
        assert_eq!(part_name(Path::new("b"), 41), Path::new("b-00042"));
    }
}
