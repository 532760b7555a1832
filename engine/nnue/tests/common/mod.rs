//! Random play for the tests: varied positions, all of them legal.
#![allow(dead_code, reason = "each test file uses some of it")]

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use xiangqi::{Move, Position};

/// Starts of random games: the usual one, and positions in which attack buckets, king buckets and
/// the mirror's tie-break change often.
pub(crate) const STARTS: [&str; 8] = [
    "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1",
    "4k4/4a4/9/9/4p4/4P4/9/9/4A4/4K4 w - - 0 1",
    "r3k4/9/9/9/9/9/4P4/9/9/4K3R w - - 0 1",
    "2bak4/4a4/4b4/9/2n3n2/2N3N2/9/4B4/4A4/2BAK4 w - - 0 1",
    "3k1c3/4a4/9/p3p3p/9/9/P3P3P/9/4A4/3C1K3 w - - 0 1",
    "5a3/3k5/3aR4/9/5r3/5n3/9/3A1A3/5K3/2BC2B2 w - - 0 1",
    "r1bakab1r/9/1cn3nc1/p1p1p1p1p/9/9/P1P1P1P1P/1CN3NC1/9/R1BAKAB1R b - - 0 1",
    "3k5/9/9/p3p3p/9/9/9/9/9/4K4 b - - 0 1",
];

pub(crate) fn start(number: usize) -> Position {
    Position::from_fen(STARTS[number % STARTS.len()]).unwrap()
}

pub(crate) struct Dice(Xoshiro256PlusPlus);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize
    }

    /// A legal move, or `None` where there is none.
    pub(crate) fn legal_move(&mut self, position: &Position) -> Option<Move> {
        let moves = position.legal_moves();
        if moves.is_empty() { None } else { Some(moves[self.below(moves.len())]) }
    }
}

/// Positions of random games, every `step`th ply.
pub(crate) fn positions(count: usize, step: usize, seed: u64) -> Vec<Position> {
    let mut dice = Dice::new(seed);
    let mut found = Vec::with_capacity(count);
    let mut game = 0;
    while found.len() < count {
        let mut position = start(game);
        game += 1;
        for ply in 0..200 {
            if ply % step == 0 && found.len() < count {
                found.push(position.clone());
            }
            let Some(mv) = dice.legal_move(&position) else { break };
            position.make(mv);
        }
    }
    found
}

/// Architectures that between them have every feature set, activation, stack count, PSQT or not,
/// the least and greatest widths, and widths that are no multiple of a tile.
pub(crate) const ARCHITECTURES: [&str; 8] = [
    "classic",
    "default",
    "half-kp 2x128-8-8-1 pairwise 8-stacks psqt",
    "half-kp-hm 2x192-24-40-1 crelu 16-stacks psqt",
    "half-kp-hm 2x320-56-120-1 pairwise",
    "half-ka-hm 2x704-128-128-1 crelu 8-stacks",
    "half-ka-hm 2x2048-16-32-1 pairwise psqt",
    "half-ka-hm-ab 2x256-48-8-1 crelu 16-stacks psqt",
];
