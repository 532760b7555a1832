//! How fast a net is: `cargo run --release -p nnue-infer --example speed [ARCH]…`.
//!
//! Walks random games as a search does – a few replies tried at every position, each evaluated –
//! and prints the time of push + evaluate + pop for every backend of this CPU.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use nnue_format::{Architecture, QuantisedNet};
use nnue_infer::{Backend, EngineNet, Evaluator};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use xiangqi::{Move, Position};

/// Replies tried at each position.
const REPLIES: usize = 4;
/// Runs of each game.
const RUNS: usize = 7;

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let names = if names.is_empty() { vec!["classic".into(), "default".into()] } else { names };
    let lines = lines();
    for name in names {
        let arch: Architecture = match name.parse() {
            Ok(arch) => arch,
            Err(error) => return eprintln!("{error}"),
        };
        let net = QuantisedNet::random(&arch, 1);
        println!("{arch}");
        for backend in Backend::available() {
            let start = Instant::now();
            let engine = match EngineNet::new(&net, backend) {
                Ok(engine) => Arc::new(engine),
                Err(error) => return eprintln!("{error}"),
            };
            let load = start.elapsed();
            let mut evaluator = Evaluator::new(engine);
            // The best of some runs of each line: other programs disturb some of them only.
            let (mut best, mut evaluations) = (0.0, 0);
            for line in &lines {
                let runs: Vec<(usize, f64)> = (0..RUNS).map(|_| run(&mut evaluator, line)).collect();
                best += runs.iter().map(|run| run.1).fold(f64::MAX, f64::min);
                evaluations += runs[0].0;
            }
            best /= evaluations as f64;
            println!("  {backend:<8} {:>8.0} ns an evaluation (prepared in {load:.0?})", best * 1e9);
        }
    }
}

/// A position of a game, the replies tried, and the move played.
type Step = (Position, Vec<Move>, Move);

fn lines() -> Vec<Vec<Step>> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut pick = |moves: &[Move]| moves[(rng.next_u64() % moves.len() as u64) as usize];
    let mut lines = Vec::new();
    for _ in 0..100 {
        let (mut position, mut line) = (Position::start(), Vec::new());
        for _ in 0..100 {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            let replies = (0..REPLIES).map(|_| pick(&moves)).collect();
            let played = pick(&moves);
            line.push((position.clone(), replies, played));
            position.make(played);
        }
        lines.push(line);
    }
    lines
}

/// Evaluations of one game, and their time in seconds (moves included).
fn run(evaluator: &mut Evaluator, line: &[Step]) -> (usize, f64) {
    let mut count = 0;
    let start = Instant::now();
    let mut position = line[0].0.clone();
    evaluator.reset(&position);
    for (_, replies, played) in line {
        for &reply in replies {
            let undo = position.make(reply);
            if let Some(change) = &undo.change {
                evaluator.push(change);
                black_box(evaluator.evaluate(&position));
                count += 1;
                evaluator.pop();
            }
            position.unmake(&undo);
        }
        if let Some(change) = &position.make(*played).change {
            evaluator.push(change);
            black_box(evaluator.evaluate(&position));
            count += 1;
        }
    }
    (count, start.elapsed().as_secs_f64())
}
