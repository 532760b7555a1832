//! When games, and when positions, are the same.

use nnue_format::record::{self, GameError, GameRecord, mirrored_move, mirrored_start};
use xiangqi::{Move, Position};

/// The number of a game's start and moves: [`nnue_format::record::game_id`].
///
/// # Errors
/// When the start is no position.
pub fn game_id(game: &GameRecord, mirror: bool) -> Result<u64, GameError> {
    let moves: Vec<Move> = game.moves().collect();
    record::game_id(&game.start, &moves, mirror)
}

/// Calls `visit` for each scored ply of a game that was decoded from a file: its index among them, the position before it, and
/// the number that stands for that position: its key, or with `mirror` the lesser of its key and its mirror's.
///
/// # Errors
/// When the start is no position.
pub fn scored_positions(
    game: &GameRecord,
    mirror: bool,
    mut visit: impl FnMut(usize, &Position, u64),
) -> Result<(), GameError> {
    let mut position = game.start.position()?;
    let mut twin = if mirror { Some(mirrored_start(&game.start)?) } else { None };
    for (ply, mv) in game.moves().enumerate() {
        if let Some(index) = ply.checked_sub(game.opening.len()) {
            let key = position.key();
            visit(index, &position, twin.as_ref().map_or(key, |twin| key.min(twin.key())));
        }
        position.make(mv);
        if let Some(twin) = &mut twin {
            twin.make(mirrored_move(mv));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use nnue_format::record::{Outcome, PlyFlags, PlyRecord, Reason, Start};
    use xiangqi::Score;
    use xiangqi::judge::RuleSet;

    use super::*;

    fn game(start: Start, moves: &str, opening: usize) -> GameRecord {
        let moves: Vec<Move> = moves.split(' ').map(|mv| mv.parse().unwrap()).collect();
        let ply = |&mv: &Move| PlyRecord { mv, score: Score(0), flags: PlyFlags::NONE };
        GameRecord {
            number: 0,
            start,
            opening: moves[..opening].to_vec(),
            plies: moves[opening..].iter().map(ply).collect(),
            outcome: Outcome::Draw,
            reason: Reason::Stated,
            rules: RuleSet::Competition,
        }
    }

    #[test]
    fn games_are_the_same_by_start_and_moves() {
        let fen = Start::Fen("3k5/9/9/9/9/9/9/9/R8/1R3K3 w - - 0 1".to_owned());
        let mirrored_fen = Start::Fen("5k3/9/9/9/9/9/9/9/8R/3K3R1 w - - 0 1".to_owned());
        let id = |game: &GameRecord, mirror| game_id(game, mirror).unwrap();
        let left = game(Start::Standard, "b2e2 b9c7 b0c2", 0);
        let right = game(Start::Standard, "h2e2 h9g7 h0g2", 2);
        assert_ne!(id(&left, false), id(&right, false));
        assert_eq!(id(&left, true), id(&right, true));
        assert_eq!(id(&left, false), id(&game(Start::Standard, "b2e2 b9c7 b0c2", 3), false));
        assert_ne!(id(&left, true), id(&game(Start::Standard, "b2e2 b9c7", 0), true));
        let (left, right) = (game(fen.clone(), "a1a8", 0), game(mirrored_fen, "i1i8", 0));
        assert_ne!(id(&left, false), id(&right, false));
        assert_eq!(id(&left, true), id(&right, true));
        assert_ne!(id(&left, false), id(&game(fen, "a1a7", 0), false));
    }

    #[test]
    fn positions_are_the_same_by_key_or_mirror() {
        let keys = |moves: &str, opening, mirror| {
            let mut keys = Vec::new();
            let game = game(Start::Standard, moves, opening);
            scored_positions(&game, mirror, |index, position, key| {
                assert!(mirror || key == position.key());
                assert_eq!(index, keys.len());
                keys.push(key);
            })
            .unwrap();
            keys
        };
        let (left, right) = ("b2e2 b9c7 b0c2", "h2e2 h9g7 h0g2");
        assert_eq!(keys(left, 0, true), keys(right, 0, true));
        assert_eq!(keys(left, 0, false)[0], keys(right, 0, false)[0]);
        assert_ne!(keys(left, 0, false)[1..], keys(right, 0, false)[1..]);
        assert_eq!(keys(left, 1, false), keys(left, 0, false)[1..]);
    }
}
