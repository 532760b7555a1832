//! Positions ready for training, as columns.

use super::error::DataError;
use nnue_format::arch::{Architecture, Stacks};
use nnue_format::features::FeatureSet;
use xiangqi::{Color, PieceKind, Position};

/// The kinds whose numbers the material fit looks at, in the order of [`Samples::material`].
pub const MATERIAL_KINDS: [PieceKind; 6] = [
    PieceKind::Rook,
    PieceKind::Cannon,
    PieceKind::Knight,
    PieceKind::Bishop,
    PieceKind::Advisor,
    PieceKind::Pawn,
];

/// Positions with their features and targets. Row `2 i` of the features is the side to move of position `i`, row
/// `2 i + 1` its opponent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// Active features of all rows.
    pub indices: Vec<u16>,
    /// Where each row begins in `indices`, and the end: `2 n + 1` numbers.
    pub offsets: Vec<u32>,
    /// The search's score, side to move, centipawns.
    pub scores: Vec<i16>,
    /// What the side to move got from the game, in half points.
    pub outcomes: Vec<u8>,
    /// The output stack.
    pub stacks: Vec<u8>,
    /// Number of pieces, side to move less the other, by [`MATERIAL_KINDS`].
    pub material: Vec<[i8; 6]>,
}

impl Samples {
    /// No positions.
    pub fn new() -> Samples {
        Samples { offsets: vec![0], ..Samples::default() }
    }

    /// The number of positions.
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    /// True when there is no position.
    pub fn is_empty(&self) -> bool {
        self.scores.is_empty()
    }

    /// The active features of one row.
    pub fn row(&self, row: usize) -> &[u16] {
        &self.indices[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    /// Appends position `i` of `other`.
    pub fn push_from(&mut self, other: &Samples, i: usize) {
        for row in [2 * i, 2 * i + 1] {
            self.indices.extend_from_slice(other.row(row));
            self.offsets.push(self.indices.len() as u32);
        }
        self.scores.push(other.scores[i]);
        self.outcomes.push(other.outcomes[i]);
        self.stacks.push(other.stacks[i]);
        self.material.push(other.material[i]);
    }

    /// Appends all positions of `other`.
    pub fn append(&mut self, other: &Samples) {
        let base = self.indices.len() as u32;
        self.indices.extend_from_slice(&other.indices);
        self.offsets.extend(other.offsets[1..].iter().map(|offset| base + offset));
        self.scores.extend_from_slice(&other.scores);
        self.outcomes.extend_from_slice(&other.outcomes);
        self.stacks.extend_from_slice(&other.stacks);
        self.material.extend_from_slice(&other.material);
    }

    /// Drops all positions, keeping the memory.
    pub fn clear(&mut self) {
        self.indices.clear();
        self.offsets.clear();
        self.offsets.push(0);
        self.scores.clear();
        self.outcomes.clear();
        self.stacks.clear();
        self.material.clear();
    }
}

/// Turns positions into samples for one architecture.
#[derive(Clone)]
pub struct Encoder {
    features: FeatureSet,
    stacks: Stacks,
    active: Vec<usize>,
}

impl Encoder {
    /// An encoder for `architecture`.
    ///
    /// # Errors
    /// [`DataError::Inputs`] when its indices do not fit 16 bits.
    pub fn new(architecture: &Architecture) -> Result<Encoder, DataError> {
        let (features, inputs) = (architecture.features(), architecture.inputs());
        if inputs > 1 << 16 {
            return Err(DataError::Inputs { features: features.to_string(), inputs });
        }
        Ok(Encoder { features, stacks: architecture.stacks(), active: Vec::with_capacity(32) })
    }

    /// Appends a position: `score` in centipawns and `outcome` in half points, both of the side to move.
    pub fn push(&mut self, samples: &mut Samples, position: &Position, score: i32, outcome: u8) {
        let us = position.side_to_move();
        for perspective in [us, us.flip()] {
            self.features.active(position, perspective, &mut self.active);
            samples.indices.extend(self.active.iter().map(|&index| index as u16));
            samples.offsets.push(samples.indices.len() as u32);
        }
        samples.scores.push(score.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16);
        samples.outcomes.push(outcome);
        samples.stacks.push(self.stacks.choose(position) as u8);
        samples.material.push(material(position, us));
    }
}

fn material(position: &Position, us: Color) -> [i8; 6] {
    MATERIAL_KINDS
        .map(|kind| position.pieces(us, kind).count() as i8 - position.pieces(us.flip(), kind).count() as i8)
}
