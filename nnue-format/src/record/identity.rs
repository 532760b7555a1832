//! When two games are the same. Record tools and trainer decide by the same number which games are duplicates and
//! which are kept apart for validation.

use sha2::{Digest, Sha256};
use xiangqi::{Move, Position};

use super::error::GameError;
use super::game::Start;

/// A number that follows from a game's start and moves alone: equal games have equal ones, whatever their numbers, files,
/// scores and openings. With `mirror` a game and its left-right mirror have the same. (64 bits of SHA-256: among 10^9 games
/// a wrong pair is as likely as 1 in 37.)
///
/// # Errors
/// When the start is no position.
pub fn game_id(start: &Start, moves: &[Move], mirror: bool) -> Result<u64, GameError> {
    let plain = id_of(&start.position()?, moves.iter().copied());
    if !mirror {
        return Ok(plain);
    }
    let mirrored = id_of(&mirrored_start(start)?, moves.iter().copied().map(mirrored_move));
    Ok(plain.min(mirrored))
}

fn id_of(start: &Position, moves: impl ExactSizeIterator<Item = Move>) -> u64 {
    let mut bytes = Vec::with_capacity(10 + 2 * moves.len());
    bytes.extend_from_slice(&start.key().to_le_bytes());
    bytes.extend_from_slice(&start.no_capture_plies().to_le_bytes());
    moves.for_each(|mv| bytes.extend_from_slice(&mv.bits().to_le_bytes()));
    let digest: [u8; 32] = Sha256::digest(&bytes).into();
    digest.first_chunk().map_or(0, |&bytes| u64::from_le_bytes(bytes))
}

/// The move on the board seen in a mirror, left and right swapped.
pub fn mirrored_move(mv: Move) -> Move {
    Move::new(mv.from().mirror_file(), mv.to().mirror_file())
}

/// The position of a start seen in a mirror, left and right swapped.
///
/// # Errors
/// When the start is no position.
pub fn mirrored_start(start: &Start) -> Result<Position, GameError> {
    let Start::Fen(fen) = start else { return start.position() };
    let (placement, rest) = fen.split_once(' ').unwrap_or((fen, ""));
    let ranks: Vec<String> = placement.split('/').map(|rank| rank.chars().rev().collect()).collect();
    Start::Fen(format!("{} {rest}", ranks.join("/")).trim_end().to_owned()).position()
}
