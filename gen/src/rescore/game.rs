//! One game with new scores.

use nnue_format::record::{GameRecord, PlyFlags};
use xiangqi::{Game, Score};

use super::scorer::{NoScore, Scored, Scorer};

/// Why a game has no new scores.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GameError {
    /// The run is being stopped.
    #[error("stopped")]
    Stopped,
    /// The record cannot be played.
    #[error("game {number}, ply {ply}: {what}; `chuhe-gen validate` says more")]
    Record {
        /// The game's number in its file.
        number: u64,
        /// The ply, from 0.
        ply: usize,
        /// What is wrong.
        what: String,
    },
    /// The engine fails in it, however often it is tried.
    #[error("game {number}, ply {ply}, {fen}: the engine failed {tries} times in a row: {what}")]
    Engine {
        /// The game's number in its file.
        number: u64,
        /// The ply, from 0.
        ply: usize,
        /// The position.
        fen: String,
        /// Tries.
        tries: u32,
        /// What it did.
        what: String,
    },
    /// The engine does not start.
    #[error("{0}")]
    Start(String),
}

/// A game with new scores, and the nodes that they took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rescored {
    /// The game: moves, outcome and all else as before.
    pub record: GameRecord,
    /// Nodes searched.
    pub nodes: u64,
}

/// Gives every scored position of a game a new score, in the game's order. `blend` percent of it are the new one (100: all),
/// unless one of the two says that the game is decided.
///
/// # Errors
/// [`GameError`]; the record is as it was.
pub fn rescore(record: &GameRecord, scorer: &mut dyn Scorer, blend: u8) -> Result<Rescored, GameError> {
    let tries = scorer.tries().max(1);
    let mut tried = 1;
    loop {
        match once(record, scorer, blend) {
            Err(GameError::Engine { .. }) if tried < tries => tried += 1,
            Err(GameError::Engine { number, ply, fen, what, .. }) => {
                return Err(GameError::Engine { number, ply, fen, what, tries });
            }
            other => return other,
        }
    }
}

fn once(record: &GameRecord, scorer: &mut dyn Scorer, blend: u8) -> Result<Rescored, GameError> {
    let number = record.number;
    let wrong = |ply, what: String| GameError::Record { number, ply, what };
    let start = record.start.position().map_err(|error| wrong(0, error.to_string()))?;
    let mut game = Game::new(start);
    for &mv in &record.opening {
        game.try_play(mv).map_err(|error| wrong(game.len(), error.to_string()))?;
    }
    scorer.begin_game().map_err(|why| no_score(why, number, &game))?;
    let mut made = record.clone();
    let mut nodes = 0;
    for ply in &mut made.plies {
        let scored = scorer.score(&game).map_err(|why| no_score(why, number, &game))?;
        nodes += scored.nodes;
        ply.score = blended(ply.score, scored.score, blend);
        ply.flags = flags(ply.flags, &scored, ply.mv);
        game.try_play(ply.mv).map_err(|error| wrong(game.len(), error.to_string()))?;
    }
    Ok(Rescored { record: made, nodes })
}

fn no_score(why: NoScore, number: u64, game: &Game) -> GameError {
    match why {
        NoScore::Stopped => GameError::Stopped,
        NoScore::Start(what) => GameError::Start(what),
        NoScore::Failed(what) => {
            let (ply, fen) = (game.len(), game.position().fen());
            GameError::Engine { number, ply, fen, tries: 1, what }
        }
    }
}

/// The marks of a ply: not the best move, or is it, is said anew; all else stays.
fn flags(old: PlyFlags, scored: &Scored, played: xiangqi::Move) -> PlyFlags {
    let rest = old.without(PlyFlags::NOT_BEST);
    if scored.best == Some(played) { rest } else { rest.with(PlyFlags::NOT_BEST) }
}

/// `percent` of the new score and the rest of the old one, towards zero; the new one alone where either is decided.
fn blended(old: Score, new: Score, percent: u8) -> Score {
    if percent >= 100 || old.is_decided() || new.is_decided() {
        return new;
    }
    let percent = i32::from(percent);
    Score((new.0 * percent + old.0 * (100 - percent)) / 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blending() {
        let blend = |old, new, percent| blended(Score(old), Score(new), percent).0;
        assert_eq!(blend(100, 200, 100), 200);
        assert_eq!(blend(100, 200, 0), 100);
        assert_eq!(blend(100, 201, 50), 150);
        assert_eq!(blend(-100, 1, 50), -49);
        assert_eq!(blend(31_990, 200, 10), 200);
        assert_eq!(blend(200, -31_990, 10), -31_990);
        assert_eq!(blend(-20_000, -20_000, 50), -20_000);
    }
}
