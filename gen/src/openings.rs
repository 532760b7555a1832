//! Openings: random plies from the start position, held to be balanced by a short search.

use xiangqi::judge::{self, GameResult, RuleSet};
use xiangqi::{Game, Move, Position};

use crate::plan::{OpeningPlan, SearchLimit};
use crate::player::Player;
use crate::seed::GameRng;

/// After so many one-sided openings the least one-sided of them is taken.
const MAX_TRIES: u32 = 100;

/// An opening: the game after it, with what made it.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The game, standing where the searches begin.
    pub game: Game,
    /// Nodes spent on choosing it.
    pub nodes: u64,
}

/// Draws an opening from the game's own chance; `None` if not one of `MAX_TRIES` left the game going on.
pub fn draw(
    plan: &OpeningPlan,
    rules: RuleSet,
    rng: &mut GameRng,
    player: &mut dyn Player,
) -> Option<Opening> {
    let mut least: Option<(i32, Game)> = None;
    let mut nodes = 0;
    for _ in 0..MAX_TRIES {
        let Some(game) = random_plies(plan, rules, rng) else {
            continue;
        };
        if plan.balance_nodes == 0 {
            return Some(Opening { game, nodes });
        }
        player.new_game();
        let limit = SearchLimit { nodes: Some(plan.balance_nodes), depth: None };
        let choice = player.search(&game, limit);
        nodes += choice.nodes;
        let size = choice.score.0.abs();
        if size <= plan.balance {
            return Some(Opening { game, nodes });
        }
        if least.as_ref().is_none_or(|&(other, _)| size < other) {
            least = Some((size, game));
        }
    }
    least.map(|(_, game)| Opening { game, nodes })
}

/// A game of random legal moves, each as likely; `None` if it ended on the way.
fn random_plies(plan: &OpeningPlan, rules: RuleSet, rng: &mut GameRng) -> Option<Game> {
    let span = u64::from(plan.max_plies.saturating_sub(plan.min_plies)) + 1;
    let plies = u64::from(plan.min_plies) + rng.below(span);
    let mut game = Game::new(Position::start());
    for _ in 0..plies {
        let moves = game.position().legal_moves();
        let mv: Move = *rng.pick(&moves)?;
        game.play(mv);
        if judge::status(&game, rules).result != GameResult::Ongoing {
            return None;
        }
    }
    Some(game)
}
