//! Positions from random legal play, for benchmarks and tests that have no record file.

use super::samples::{Encoder, MATERIAL_KINDS, Samples};
use crate::chance::{Purpose, below, generator};
use xiangqi::Position;

/// Plies after which a random game is given up.
const LONGEST: usize = 160;
/// Rough values of [`MATERIAL_KINDS`], so that the scores mean something.
const VALUES: [i32; 6] = [600, 300, 280, 120, 120, 60];

/// `count` positions of random games. The score is the material difference, the outcome its sign.
pub fn random_play(encoder: &Encoder, seed: u64, count: usize) -> Samples {
    let mut samples = Samples::new();
    random_positions(seed, count, |position| {
        let us = position.side_to_move();
        let score: i32 = MATERIAL_KINDS
            .iter()
            .zip(VALUES)
            .map(|(&kind, value)| {
                let own = position.pieces(us, kind).count() as i32;
                value * (own - position.pieces(us.flip(), kind).count() as i32)
            })
            .sum();
        encoder.push(&mut samples, position, score, (1 + score.signum()) as u8);
    });
    samples
}

/// Calls `seen` for `count` positions of random games, the start position left out.
pub fn random_positions(seed: u64, count: usize, mut seen: impl FnMut(&Position)) {
    let mut rng = generator(seed, Purpose::Synthetic, 0, 0);
    let mut found = 0;
    while found < count {
        let mut position = Position::start();
        for _ in 0..LONGEST {
            let moves = position.legal_moves();
            if moves.is_empty() || found == count {
                break;
            }
            position.make(moves[below(&mut rng, moves.len() as u64) as usize]);
            seen(&position);
            found += 1;
        }
    }
}
