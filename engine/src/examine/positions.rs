//! Positions as they come up in games: the same for every net that is examined.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use xiangqi::judge::{self, GameResult, Rules};
use xiangqi::{Game, Position};

use super::{HASH_MIB, Plan, Progress};
use crate::eval::EvalSource;
use crate::search::{Limits, Searcher};

/// Seed of the openings.
const SEED: u64 = 20_261_130;
/// A game begins with so many random plies.
const RANDOM_PLIES: usize = 6;
/// Then the hand-crafted evaluation plays, by so many nodes a move.
const NODES: u64 = 500;
/// The longest game, in plies.
const PLIES: usize = 160;

/// Quiet positions (no check, the best move no capture) of games from random openings.
pub(super) fn of_games(plan: &Plan, progress: Progress<'_>) -> Vec<Position> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut searcher = Searcher::new(HASH_MIB, EvalSource::Hce);
    let rules = Rules::default();
    let mut found = Vec::new();
    for number in 0..plan.games {
        progress("games", number, plan.games);
        searcher.new_game();
        let mut game = Game::new(Position::start());
        for _ in 0..RANDOM_PLIES {
            let moves = game.position().legal_moves();
            if !moves.is_empty() {
                game.play(moves[(rng.next_u64() % moves.len() as u64) as usize]);
            }
        }
        while game.len() < PLIES && judge::status(&game, rules).result == GameResult::Ongoing {
            let Some(best) = searcher.search(&game, &Limits::nodes(NODES), &mut |_| {}).best else { break };
            let pos = game.position();
            if !pos.in_check() && pos.piece_on(best.to()).is_none() {
                found.push(pos.clone());
            }
            game.play(best);
        }
    }
    found
}
