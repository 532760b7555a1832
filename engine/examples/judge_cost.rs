//! What a question to the judge costs, by rule set: where nothing repeats, and where a cycle of four
//! plies has closed. Run by hand: `cargo run --release -p engine --example judge_cost`.

use std::hint::black_box;
use std::time::Instant;

use xiangqi::judge::{self, RuleSet, Rules};
use xiangqi::{Game, Position};

const OPENING: &str = "h2e2 h9g7 h0g2 i9h9 i0h0 b9c7 c3c4 g6g5 h0h6 b7a7 b0c2 a9b9 c2d4 h7i7 h6g6 e9e8";
const CHASE: &str = "4k4/4N4/2c6/9/9/9/9/5K3/9/9 b - - 0 1";
const CALLS: u32 = 1_000_000;

fn play(position: Position, moves: &str) -> Game {
    let mut game = Game::new(position);
    for mv in moves.split_whitespace() {
        match mv.parse() {
            Ok(mv) => drop(game.play(mv)),
            Err(error) => eprintln!("{error}"),
        }
    }
    game
}

fn main() {
    let (Ok(chase), start) = (Position::from_fen(CHASE), Position::start()) else { return };
    let fresh = play(start.clone(), OPENING);
    let games = [
        ("nothing repeats", fresh),
        ("knights to and fro", play(start, "h0g2 h9g7 g2h0 g7h9")),
        ("a knight chases a cannon", play(chase, "c7f7 e8g9 f7c7 g9e8")),
    ];
    for set in RuleSet::ALL {
        let rules = Rules::from(set);
        for (name, game) in &games {
            let before = Instant::now();
            for _ in 0..CALLS {
                black_box(judge::search_repetition(black_box(game), &rules, 0));
            }
            println!("{set}, {name}: {} ns", before.elapsed().as_nanos() / u128::from(CALLS));
        }
    }
}
