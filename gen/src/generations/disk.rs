//! Space: looked at before every step, and made by taking away what is not needed any more.

use std::io;
use std::path::Path;

use super::ladder::Ladder;
use super::recipe::{DiskSettings, PlaySettings};
use super::steps;

/// What a scored position takes in a record file, at most in practice; and its unfinished file's journal.
const BYTES_A_POSITION: u64 = 2;
/// The longest games that are ordinary, in positions.
const POSITIONS_A_GAME: u64 = 250;

/// Bytes free to us where the folder lies; `None` where that cannot be asked for.
///
/// # Errors
/// When the system refuses.
pub(super) fn free(folder: &Path) -> io::Result<Option<u64>> {
    #[cfg(unix)]
    {
        let stat = rustix::fs::statvfs(folder)?;
        Ok(Some(stat.f_bavail.saturating_mul(stat.f_frsize)))
    }
    #[cfg(not(unix))]
    {
        _ = folder;
        Ok(None)
    }
}

/// What self-play is expected to write, in bytes.
pub(super) fn of_play(play: &PlaySettings) -> u64 {
    let games = play.games.unwrap_or_default().saturating_mul(POSITIONS_A_GAME);
    play.positions.unwrap_or(games).saturating_mul(BYTES_A_POSITION)
}

/// What may go now that all generations of the ladder are judged: paths relative to the loop's folder.
pub(super) fn dispensable(ladder: &Ladder, disk: &DiskSettings) -> Vec<String> {
    let (Some(first), Some(last)) = (ladder.generations.first(), ladder.generations.last()) else {
        return Vec::new();
    };
    let next = last.number + 1;
    // The next generation may train on these.
    let player = ladder.player(next, &first.player);
    let same = ladder.generations.iter().rev().take_while(|known| known.player == player);
    let first_same = same.map(|known| known.number).min().unwrap_or(next);
    let wanted = next.saturating_sub(last.settings.data.generations.saturating_sub(1)).min(first_same);
    let mut paths = Vec::new();
    for generation in &ladder.generations {
        let age = last.number - generation.number;
        if disk.keep_games > 0 && age >= disk.keep_games && generation.number < wanted {
            paths.push(steps::games(generation.number));
        }
        if disk.keep_models > 0 && age >= disk.keep_models {
            paths.push(format!("{}/model", steps::folder(generation.number)));
        }
        if !disk.keep_tools {
            paths.extend(steps::tool_outputs(generation.number, &generation.settings));
        }
    }
    paths.retain(|path| !ladder.removed.contains(path));
    paths
}

/// Takes a file or a folder away, if it is there.
///
/// # Errors
/// When the system refuses.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    let removed = match path.symlink_metadata() {
        Ok(data) if data.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_of_the_disk() {
        let mut play =
            PlaySettings { positions: Some(1000), games: None, nodes: None, depth: None, args: Vec::new() };
        assert_eq!(of_play(&play), 2000);
        (play.positions, play.games) = (None, Some(4));
        assert_eq!(of_play(&play), 2000);
        assert!(free(Path::new(".")).is_ok());
    }
}
