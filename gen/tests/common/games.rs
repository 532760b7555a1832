//! Random legal games with made-up scores, for tests and measurements of tools that need many games and no search.

use datagen::seed::game_rng;
use nnue_format::record::{GameRecord, Outcome, PlyFlags, PlyRecord, Reason, Start};
use xiangqi::judge::{self, RuleSet};
use xiangqi::{Game, Position, Score};

/// Game `number` of `seed`: some plies of opening, then scored plies up to a limit between 60 and 180 plies. Its end is as the
/// judge says, or drawn by the limit.
pub(crate) fn random_game(seed: u64, number: u64) -> GameRecord {
    let mut rng = game_rng(seed, number);
    let (opening_plies, limit) = (4 + rng.below(8), 60 + rng.below(120));
    let mut game = Game::new(Position::start());
    let (mut opening, mut plies, mut drift) = (Vec::new(), Vec::new(), 0i32);
    let rules = RuleSet::Competition;
    let (mut outcome, mut reason) = (Outcome::Draw, Reason::PlyLimit);
    for ply in 0..=limit {
        let status = judge::status(&game, rules);
        if let Some((found, why)) = Outcome::from_result(status.result).zip(status.reason) {
            (outcome, reason) = (found, why.into());
            break;
        }
        if ply == limit {
            break;
        }
        let moves = game.position().legal_moves();
        let mv = moves[rng.below(moves.len() as u64) as usize];
        if ply < opening_plies {
            opening.push(mv);
        } else {
            drift = -(drift + rng.below(61) as i32 - 30);
            let score = if rng.below(60) == 0 { Score::mate_in(rng.below(30) as i32) } else { Score(drift) };
            plies.push(PlyRecord { mv, score, flags: PlyFlags::from_bits(rng.below(9) == 0, false) });
        }
        game.play(mv);
    }
    GameRecord { number, start: Start::Standard, opening, plies, outcome, reason, rules }
}
