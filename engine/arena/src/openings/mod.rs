//! Where the games of a pair begin: a book, or seeded random plies from the start position.
//!
//! The opening of pair `i` is a pure function of the plan (seed, book, settings) and `i`; it depends
//! neither on threads nor on where a run was interrupted.

mod book;
mod random;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};
use xiangqi::{Game, Move, Position};

pub use book::{Book, BookError, BookOrder};
pub use random::{Balance, RandomOpenings};

/// Where a pair of games begins: a position and the moves played from it without thought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// FEN of the first position.
    pub start: String,
    /// The moves from there.
    pub moves: Vec<Move>,
}

impl Opening {
    /// The game with the opening played; `None` if this is no opening, which no source gives.
    pub fn game(&self) -> Option<Game> {
        let mut game = Game::new(Position::from_fen(&self.start).ok()?);
        for &mv in &self.moves {
            game.try_play(mv).ok()?;
        }
        Some(game)
    }
}

/// Why there is no opening for a pair.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpeningError {
    /// Random plies led to no new balanced opening.
    #[error(
        "no new opening of {plies} random plies for pair {pair} in {tries} tries; use more --random-plies or a wider --balance"
    )]
    Exhausted {
        /// The pair, from 0.
        pair: u64,
        /// Random plies.
        plies: u32,
        /// Tries made.
        tries: u32,
    },
}

/// A source of openings.
pub enum Openings {
    /// Lines of a book in a seeded or its own order.
    Book(Book),
    /// Random plies from the start position.
    Random(RandomOpenings),
}

impl Openings {
    /// The opening of a pair, pairs counted from 0.
    ///
    /// # Errors
    /// When random plies lead to nothing new.
    pub fn of_pair(&mut self, pair: u64) -> Result<Opening, OpeningError> {
        match self {
            Openings::Book(book) => Ok(book.of_pair(pair)),
            Openings::Random(random) => random.of_pair(pair),
        }
    }
}

/// A generator for one use of a seed: streams of different (seed, number) are unrelated.
pub(crate) fn stream(seed: u64, number: u64) -> Xoshiro256PlusPlus {
    let mut outer = SplitMix64::seed_from_u64(seed);
    let mut inner = SplitMix64::seed_from_u64(outer.next_u64() ^ number);
    Xoshiro256PlusPlus::seed_from_u64(inner.next_u64())
}

/// A number below `bound` (not 0), unbiased to 2^-32 for bounds that fit 32 bits.
fn below(rng: &mut impl Rng, bound: u64) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(bound)) >> 64) as u64
}
