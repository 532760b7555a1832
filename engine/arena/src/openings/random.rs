//! Seeded random plies from the start position, with a check that neither side stands lost.

use std::collections::HashSet;

use xiangqi::judge::{self, RuleSet};
use xiangqi::{Game, Move, Position};

use super::{Opening, OpeningError, below, stream};

/// Candidates for one pair before we give up.
const TRIES: u32 = 2000;

/// Says whether a position, not over, is balanced enough to begin a game.
pub type Balance = Box<dyn FnMut(&Game) -> bool + Send>;

/// Random openings, all different. The opening of a pair depends on those of the pairs before it, so
/// they are made in order and kept.
pub struct RandomOpenings {
    seed: u64,
    plies: u32,
    rules: RuleSet,
    balance: Balance,
    seen: HashSet<u64>,
    made: Vec<Vec<Move>>,
}

impl RandomOpenings {
    /// Openings of so many plies.
    pub fn new(seed: u64, plies: u32, rules: RuleSet, balance: Balance) -> RandomOpenings {
        RandomOpenings { seed, plies, rules, balance, seen: HashSet::new(), made: Vec::new() }
    }

    pub(super) fn of_pair(&mut self, pair: u64) -> Result<Opening, OpeningError> {
        while (self.made.len() as u64) <= pair {
            let next = self.make(self.made.len() as u64)?;
            self.made.push(next);
        }
        Ok(Opening { start: Position::start().fen(), moves: self.made[pair as usize].clone() })
    }

    fn make(&mut self, pair: u64) -> Result<Vec<Move>, OpeningError> {
        let mut rng = stream(self.seed, pair);
        for _ in 0..TRIES {
            let mut game = Game::new(Position::start());
            for _ in 0..self.plies {
                if judge::status(&game, self.rules).is_over() {
                    break;
                }
                let moves = game.position().legal_moves();
                game.play(moves[below(&mut rng, moves.len() as u64) as usize]);
            }
            if self.accept(&game) {
                self.seen.insert(game.position().key());
                return Ok(game.moves().collect());
            }
        }
        Err(OpeningError::Exhausted { pair, plies: self.plies, tries: TRIES })
    }

    /// A new position, of full length, not in check, going on and balanced. (The start position
    /// itself, with no random plies, is good for one pair.)
    fn accept(&mut self, game: &Game) -> bool {
        game.len() == self.plies as usize
            && !self.seen.contains(&game.position().key())
            && !game.position().in_check()
            && !judge::status(game, self.rules).is_over()
            && (self.balance)(game)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn openings(seed: u64, plies: u32) -> RandomOpenings {
        RandomOpenings::new(seed, plies, RuleSet::Competition, Box::new(|_| true))
    }

    #[test]
    fn they_differ_and_depend_on_the_seed_alone() {
        let mut first = openings(1, 6);
        let all: Vec<Opening> = (0..300).map(|pair| first.of_pair(pair).expect("an opening")).collect();
        let keys: HashSet<u64> =
            all.iter().map(|opening| opening.game().expect("playable").position().key()).collect();
        assert_eq!(keys.len(), all.len());
        let mut again = openings(1, 6);
        for pair in [299, 0, 17] {
            assert_eq!(again.of_pair(pair).as_ref(), Ok(&all[pair as usize]), "pair {pair}");
        }
        assert_ne!(openings(2, 6).of_pair(0).as_ref(), Ok(&all[0]));
    }

    #[test]
    fn one_ply_runs_out() {
        let mut few = openings(1, 1);
        let made = (0..1000).take_while(|&pair| few.of_pair(pair).is_ok()).count();
        assert_eq!(made, 44, "the start position has 44 moves");
        assert!(few.of_pair(44).is_err());
    }
}
