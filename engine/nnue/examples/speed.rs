//! How fast a net is: `cargo run --release -p nnue-infer --example speed [ARCH]…`.
//!
//! Walks random games as a search does – a few replies tried at every position, each evaluated –
//! and prints the time of push + evaluate + pop for every backend of this CPU.

use std::sync::Arc;
use std::time::Instant;

use nnue_format::{Architecture, QuantisedNet};
use nnue_infer::{Backend, EngineNet, Evaluator};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use xiangqi::{Move, Position};

/// Replies tried at each position.
const REPLIES: usize = 4;

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
            let mut best = f64::MAX;
            let mut sum = 0i64;
            for _ in 0..3 {
                let (count, seconds, total) = run(&mut evaluator, &lines);
                best = best.min(seconds / count as f64);
                sum = total;
            }
            println!("  {backend:<8} {:>8.0} ns an evaluation (sum {sum}; prepared in {load:.0?})", best * 1e9);
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

/// Evaluations, their time in seconds (moves included), and a checksum.
fn run(evaluator: &mut Evaluator, lines: &[Vec<Step>]) -> (usize, f64, i64) {
    let (mut count, mut sum) = (0, 0);
    let start = Instant::now();
    for line in lines {
        let mut position = line[0].0.clone();
        evaluator.reset(&position);
        for (_, replies, played) in line {
            for &reply in replies {
                let undo = position.make(reply);
                if let Some(change) = &undo.change {
                    evaluator.push(change);
                    sum += i64::from(evaluator.evaluate(&position));
                    count += 1;
                    evaluator.pop();
                }
                position.unmake(&undo);
            }
            if let Some(change) = &position.make(*played).change {
                evaluator.push(change);
                sum += i64::from(evaluator.evaluate(&position));
                count += 1;
            }
        }
    }
    (count, start.elapsed().as_secs_f64(), sum)
}
