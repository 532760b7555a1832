//! Does every backend of this CPU give what the reference gives? For CPUs and emulators without a
//! toolchain: one program, no files. Prints what it checked; exit 1 at the first difference.
//!
//! `cargo run --release -p nnue-infer --example equal_everywhere [GAMES [BACKEND…]]`
//!
//! For each architecture it plays random games (2 if not told) with takebacks, and evaluates most positions
//! twice: along the line by increments, and afresh. Names of backends restrict it to those, and make
//! one that the CPU lacks an error.

use std::process::ExitCode;
use std::sync::Arc;

use nnue_format::{Architecture, QuantisedNet, reference};
use nnue_infer::{Backend, EngineNet, Evaluator};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use xiangqi::Position;

/// Every feature set, both activations, least and greatest widths, widths with padded lines.
const ARCHITECTURES: [&str; 9] = [
    "classic",
    "half-ka-hm-ab 2x512-16-32-1 pairwise 16-stacks psqt",
    "half-kp 2x128-8-8-1 crelu",
    "half-kp 2x128-8-8-1 pairwise 8-stacks psqt",
    "half-kp-hm 2x192-24-40-1 pairwise 16-stacks psqt",
    "half-kp-hm 2x320-56-120-1 crelu",
    "half-ka-hm 2x704-128-128-1 crelu 8-stacks psqt",
    "half-ka-hm 2x1024-16-32-1 pairwise 16-stacks psqt",
    "half-ka-hm 2x2048-32-16-1 crelu",
];

fn main() -> ExitCode {
    let result = run();
    if let Err(message) = &result {
        eprintln!("{message}");
    }
    // The only program of an emulated PC takes the kernel with it when it ends, and what the serial port still holds.
    if std::process::id() == 1 {
        std::thread::sleep(std::time::Duration::from_secs(5));
    }
    if result.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let games =
        arguments.next().map_or(Ok(2), |word| word.parse::<u64>().map_err(|e| format!("{word}: {e}")))?;
    let named: Vec<String> = arguments.collect();
    let backends = if named.is_empty() {
        Backend::available()
    } else {
        named.iter().map(|name| name.parse()).collect::<Result<_, _>>().map_err(|e| format!("{e}"))?
    };
    println!("backends: {}", backends.iter().map(|b| b.name()).collect::<Vec<_>>().join(" "));
    for (seed, name) in ARCHITECTURES.iter().enumerate() {
        let arch: Architecture = name.parse().map_err(|e| format!("{name}: {e}"))?;
        let net = QuantisedNet::random(&arch, seed as u64);
        let mut evaluators = Vec::new();
        for &backend in &backends {
            let net = Arc::new(EngineNet::new(&net, backend).map_err(|e| format!("{e}"))?);
            evaluators.push((backend, Evaluator::new(Arc::clone(&net)), Evaluator::new(net)));
        }
        let mut checked = 0;
        for game in 0..games {
            checked += play(&net, &mut evaluators, game)?;
        }
        println!("{arch}: {checked} positions equal, by increments and afresh");
    }
    println!("all equal");
    Ok(())
}

/// Plays one random game with takebacks; how many positions were compared.
fn play(
    net: &QuantisedNet,
    evaluators: &mut [(Backend, Evaluator, Evaluator)],
    seed: u64,
) -> Result<usize, String> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut below = |n: usize| (rng.next_u64() % n as u64) as usize;
    let (mut position, mut undos, mut checked) = (Position::start(), Vec::new(), 0);
    evaluators.iter_mut().for_each(|(_, line, _)| line.reset(&position));
    for _ in 0..120 {
        if below(6) == 0 {
            for _ in 0..below(5).min(undos.len()) {
                let Some(undo) = undos.pop() else { break };
                position.unmake(&undo);
                evaluators.iter_mut().for_each(|(_, line, _)| line.pop());
            }
        }
        let moves = position.legal_moves();
        if moves.is_empty() {
            break;
        }
        let undo = position.make(moves[below(moves.len())]);
        for (_, line, _) in evaluators.iter_mut() {
            undo.change.iter().for_each(|change| line.push(change));
        }
        undos.push(undo);
        if below(3) == 0 {
            // Left to a later evaluation: several plies are summed up at once.
            continue;
        }
        let expected = reference::evaluate(net, &position);
        checked += 1;
        for (backend, line, fresh) in evaluators.iter_mut() {
            fresh.reset(&position);
            for found in [line.evaluate_full(&position), fresh.evaluate_full(&position)] {
                if found != expected {
                    return Err(format!(
                        "{backend} gives {found:?} where the reference gives {expected:?}: {} after {} plies, {}",
                        net.arch,
                        undos.len(),
                        position.fen()
                    ));
                }
            }
        }
    }
    Ok(checked)
}
