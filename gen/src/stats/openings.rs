//! How many different games, starts and positions there are.

use nnue_format::record::{GameRecord, Ply, Start};
use serde_json::{Value, json};
use xiangqi::Position;

use super::distinct::{Distinct, Keys, mix};

/// Positions after so many plies of a game are compared with each other.
pub const DEPTHS: [usize; 8] = [0, 2, 4, 6, 8, 12, 16, 24];

/// Different positions and games are counted exactly up to so many.
const MANY: usize = 1 << 20;
/// Different openings, for each number of plies.
const FEW: usize = 1 << 17;

/// Counts of different things.
#[derive(Clone, Debug)]
pub struct Diversity {
    /// Scored positions that are kept: board and side to move.
    pub positions: Distinct,
    /// Whole games: start and moves.
    pub games: Distinct,
    /// Positions where the scored part of a game begins.
    pub starts: Distinct,
    /// Positions after so many plies, of the games that have as many, in the order of [`DEPTHS`].
    pub depths: [Distinct; DEPTHS.len()],
}

/// Keys of a block's things, on their way to [`Diversity`].
#[derive(Clone, Debug)]
pub struct DiversityKeys {
    positions: Keys,
    games: Keys,
    starts: Keys,
    depths: [Keys; DEPTHS.len()],
}

impl Default for Diversity {
    fn default() -> Diversity {
        Diversity {
            positions: Distinct::new(MANY),
            games: Distinct::new(MANY),
            starts: Distinct::new(MANY),
            depths: std::array::from_fn(|_| Distinct::new(FEW)),
        }
    }
}

impl Diversity {
    /// Empty lists for a block.
    pub fn keys(&self) -> DiversityKeys {
        DiversityKeys {
            positions: self.positions.keys(),
            games: self.games.keys(),
            starts: self.starts.keys(),
            depths: std::array::from_fn(|i| self.depths[i].keys()),
        }
    }

    /// Takes the lists of a block.
    pub fn absorb(&mut self, keys: &DiversityKeys) {
        self.positions.absorb(&keys.positions);
        self.games.absorb(&keys.games);
        self.starts.absorb(&keys.starts);
        for (to, from) in self.depths.iter_mut().zip(&keys.depths) {
            to.absorb(from);
        }
    }

    /// For `--json`.
    pub fn json(&self) -> Value {
        let depths: Vec<Value> = DEPTHS
            .iter()
            .zip(&self.depths)
            .map(|(plies, distinct)| json!({ "plies": plies, "positions": distinct.json() }))
            .collect();
        json!({
            "positions": self.positions.json(),
            "games": self.games.json(),
            "starts": self.starts.json(),
            "after_plies": depths,
        })
    }
}

impl DiversityKeys {
    /// Counts a game by its key ([`game_key`]).
    pub fn game(&mut self, key: u64) {
        self.games.add(key);
    }

    /// Counts a position of a walk through a game. `first_scored` is the ply at which its scores begin, `kept`
    /// whether it is among the positions counted.
    pub fn position(&mut self, position: &Position, ply: &Ply, first_scored: usize, kept: bool) {
        if kept {
            self.positions.add(position.key());
        }
        if ply.number == first_scored {
            self.starts.add(position.key());
        }
        if let Some(depth) = DEPTHS.iter().position(|&plies| plies == ply.number) {
            self.depths[depth].add(position.key());
        }
    }
}

/// A game's key: equal for the same start and moves, and hardly ever else.
pub fn game_key(game: &GameRecord) -> u64 {
    let start = match &game.start {
        Start::Standard => 0,
        Start::Fen(text) => text.bytes().fold(1, |key, byte| mix(key ^ u64::from(byte))),
    };
    game.moves().fold(mix(start), |key, mv| mix(key ^ u64::from(mv.bits())))
}
