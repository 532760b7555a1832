//! Every backend gives what the reference gives: on random nets of every kind, on nets with
//! weights at their limits, with and without increments.

mod common;

use std::sync::Arc;

use common::{ARCHITECTURES, Dice, positions};
use nnue_format::{Architecture, QuantisedNet, reference};
use nnue_infer::{Backend, EngineNet, Evaluator};
use xiangqi::Position;

fn full() -> bool {
    std::env::var("CHUHE_FULL").is_ok_and(|v| v == "1")
}

/// The reference and every backend of this CPU agree on these positions, evaluated fresh.
fn check(net: &QuantisedNet, positions: &[Position]) {
    let mut evaluators: Vec<Evaluator> = Backend::available()
        .into_iter()
        .map(|backend| Evaluator::new(Arc::new(EngineNet::new(net, backend).unwrap())))
        .collect();
    for position in positions {
        let expected = reference::evaluate(net, position);
        for evaluator in &mut evaluators {
            evaluator.reset(position);
            let found = evaluator.evaluate_full(position);
            assert_eq!(found, expected, "{} {:?} {}", net.arch, evaluator.net().backend(), position.fen());
        }
    }
}

#[test]
fn random_nets_of_every_architecture() {
    // 3 nets of each of 8 architectures: 10,008 positions in all, or 10,000 each.
    let count = if full() { 10_000 } else { 417 };
    for (number, arch) in ARCHITECTURES.iter().enumerate() {
        let arch: Architecture = arch.parse().unwrap();
        for seed in 0..3 {
            let net = QuantisedNet::random(&arch, seed);
            check(&net, &positions(count, 7, number as u64 * 3 + seed));
        }
    }
}

/// Nets at the limits of every range: what saturates or overflows shows here.
#[test]
fn extreme_nets() {
    for arch in ARCHITECTURES {
        let arch: Architecture = arch.parse().unwrap();
        let positions = positions(20, 11, 5);
        for case in 0..6 {
            let mut dice = Dice::new(case);
            let mut sign = |size: i32| match case {
                0 => size,
                1 => -size,
                _ => size * (dice.below(2) as i32 * 2 - 1),
            };
            let mut net = QuantisedNet::zeros(&arch);
            let layers = &mut net.layers;
            // 32 pieces times 960 and a bias of 2047 are 32,767.
            layers.ft_weights.mapv_inplace(|_| sign(960) as i16);
            layers.ft_biases.mapv_inplace(|_| sign(2047) as i16);
            layers.psqt.mapv_inplace(|_| sign(1 << 20));
            layers.dense1_weights.mapv_inplace(|_| sign(127) as i8);
            layers.dense2_weights.mapv_inplace(|_| sign(127) as i8);
            layers.out_weights.mapv_inplace(|_| sign(127) as i8);
            let bias = if case < 4 { 1 << 24 } else { 0 };
            layers.dense1_biases.mapv_inplace(|_| sign(bias));
            layers.dense2_biases.mapv_inplace(|_| sign(bias));
            layers.out_biases.mapv_inplace(|_| sign(bias));
            net.check().unwrap();
            check(&net, &positions);
        }
    }
}

/// Random play with takebacks, null moves and skipped evaluations: the evaluator that follows the
/// line by increments gives what the reference gives from nothing.
#[test]
fn lines_against_reference() {
    for (number, arch) in ARCHITECTURES.iter().enumerate() {
        let arch: Architecture = arch.parse().unwrap();
        let net = QuantisedNet::random(&arch, 77 + number as u64);
        for backend in Backend::available() {
            let engine = Arc::new(EngineNet::new(&net, backend).unwrap());
            walk(&mut Evaluator::new(engine), 500, number as u64, |position| {
                Some(reference::evaluate(&net, position))
            });
        }
    }
}

/// The same over many more moves, against evaluators of small nets that start afresh each time.
/// 300,000 moves in the ordinary run; ten million with `CHUHE_FULL=1`.
#[test]
fn long_lines_against_fresh() {
    let moves = if full() { 2_500_000 } else { 75_000 };
    for set in ["half-kp", "half-kp-hm", "half-ka-hm", "half-ka-hm-ab"] {
        let arch: Architecture = format!("{set} 2x128-8-8-1 crelu 16-stacks psqt").parse().unwrap();
        let net = QuantisedNet::random(&arch, 3);
        let engine = Arc::new(EngineNet::new(&net, Backend::best()).unwrap());
        // A new line and an evaluator without history: only the cache is shared between positions.
        let mut fresh = Evaluator::new(engine.clone());
        walk(&mut Evaluator::new(engine), moves, 9, |position| {
            fresh.reset(position);
            Some(fresh.evaluate_full(position))
        });
    }
}

/// Makes `moves` random moves; checks two of three positions.
fn walk(
    evaluator: &mut Evaluator,
    moves: usize,
    seed: u64,
    mut expected: impl FnMut(&Position) -> Option<nnue_format::Eval>,
) {
    let mut dice = Dice::new(seed);
    let (mut position, mut undos, mut games) = (common::start(0), Vec::new(), 0);
    evaluator.reset(&position);
    for _ in 0..moves {
        match dice.below(8) {
            0 if !undos.is_empty() => {
                for _ in 0..1 + dice.below(undos.len().min(12)) {
                    position.unmake(&undos.pop().unwrap());
                    evaluator.pop();
                }
            }
            1 if !position.in_check() => {
                // A null move: no push.
                let undo = position.make_null();
                assert_eq!(Some(evaluator.evaluate_full(&position)), expected(&position));
                position.unmake(&undo);
            }
            _ => {}
        }
        match dice.legal_move(&position) {
            Some(mv) if undos.len() < 240 => {
                let undo = position.make(mv);
                evaluator.push(&undo.change.unwrap());
                undos.push(undo);
            }
            _ => {
                games += 1;
                position = common::start(games);
                undos.clear();
                evaluator.reset(&position);
            }
        }
        if dice.below(3) > 0 {
            let found = evaluator.evaluate_full(&position);
            assert_eq!(Some(found), expected(&position), "{}", position.fen());
        }
    }
}

/// Nets that break a rule are refused.
#[test]
fn bad_nets_are_refused() {
    let arch = Architecture::classic();
    let mut net = QuantisedNet::random(&arch, 1);
    net.layers.dense1_weights[[0, 3, 5]] = -128;
    assert!(EngineNet::new(&net, Backend::Scalar).is_err());
    let mut net = QuantisedNet::random(&arch, 1);
    net.layers.ft_weights.fill(1100);
    assert!(EngineNet::new(&net, Backend::Scalar).is_err());
}
