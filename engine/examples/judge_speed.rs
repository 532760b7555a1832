//! What the judge of repetitions costs a search, in nanoseconds a call: at positions of real games, where nothing
//! repeats, and at ones that stand for the second time.
//!
//! ```text
//! cargo run --release -p engine --example judge_speed
//! ```

use std::hint::black_box;
use std::time::Instant;

use engine::speedtest;
use xiangqi::judge::{self, RuleSet, Rules};
use xiangqi::{Game, Move};

const ROUNDS: u32 = 2000;
/// The best of so many measurements: others use the machine too.
const TRIES: usize = 7;

fn main() {
    let games: Vec<Game> = speedtest::games().filter(|game| game.occurrences() == 1).collect();
    println!("{} positions without a repetition; ns a call", games.len());
    for set in RuleSet::ALL {
        let rules = Rules::from(set);
        println!(
            "{set:12} nothing repeats {:7.1}   a repetition {:9.1}",
            cost(&games, &rules),
            cost(&repeated(&games), &rules)
        );
    }
}

/// The same games after two moves there and back, where they are legal.
fn repeated(games: &[Game]) -> Vec<Game> {
    let there_and_back = |game: &Game| {
        let mut game = game.clone();
        let first = *game.position().legal_moves().iter().find(|mv| is_quiet(&game, **mv))?;
        game.try_play(first).ok()?;
        let second = *game.position().legal_moves().iter().find(|mv| is_quiet(&game, **mv))?;
        game.try_play(second).ok()?;
        game.try_play(Move::new(first.to(), first.from())).ok()?;
        game.try_play(Move::new(second.to(), second.from())).ok()?;
        Some(game)
    };
    games.iter().step_by(8).filter_map(there_and_back).collect()
}

fn is_quiet(game: &Game, mv: Move) -> bool {
    game.position().piece_on(mv.to()).is_none()
}

fn cost(games: &[Game], rules: &Rules) -> f64 {
    let measure = || {
        let start = Instant::now();
        for _ in 0..ROUNDS {
            for game in games {
                black_box(judge::search_repetition(black_box(game), rules, 0));
            }
        }
        start.elapsed().as_nanos() as f64 / f64::from(ROUNDS) / games.len().max(1) as f64
    };
    (0..TRIES).map(|_| measure()).fold(f64::INFINITY, f64::min)
}
