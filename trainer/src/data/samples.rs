//! Positions ready for training, as columns.

use super::error::DataError;
use super::packed::{Label, Packed};
use nnue_format::arch::{Architecture, Stacks};
use nnue_format::features::slots::king_bucket_plain;
use nnue_format::features::{FeatureSet, View};
use std::ops::Range;
use std::sync::Arc;
use xiangqi::{Color, Piece, PieceKind, Position, Square};

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

    /// Makes room for so many positions more, as full as positions are.
    pub fn reserve(&mut self, positions: usize) {
        self.indices.reserve(2 * FeatureSet::MAX_ACTIVE * positions);
        self.offsets.reserve(2 * positions);
        self.scores.reserve(positions);
        self.outcomes.reserve(positions);
        self.stacks.reserve(positions);
        self.material.reserve(positions);
    }

    /// Appends position `i` of `other`.
    pub fn push_from(&mut self, other: &Samples, i: usize) {
        let [start, middle, end] = [0, 1, 2].map(|row| other.offsets[2 * i + row]);
        let base = self.indices.len() as u32;
        self.indices.extend_from_slice(&other.indices[start as usize..end as usize]);
        self.offsets.extend([base + (middle - start), base + (end - start)]);
        self.scores.push(other.scores[i]);
        self.outcomes.push(other.outcomes[i]);
        self.stacks.push(other.stacks[i]);
        self.material.push(other.material[i]);
    }

    /// Appends the positions `range` of `other`.
    pub fn extend_from(&mut self, other: &Samples, range: Range<usize>) {
        let (first, end) = (other.offsets[2 * range.start], other.offsets[2 * range.end]);
        let base = self.indices.len() as u32;
        self.indices.extend_from_slice(&other.indices[first as usize..end as usize]);
        let ends = &other.offsets[2 * range.start + 1..=2 * range.end];
        self.offsets.extend(ends.iter().map(|end| end - first + base));
        self.scores.extend_from_slice(&other.scores[range.clone()]);
        self.outcomes.extend_from_slice(&other.outcomes[range.clone()]);
        self.stacks.extend_from_slice(&other.stacks[range.clone()]);
        self.material.extend_from_slice(&other.material[range]);
    }

    /// The positions of several parts, each ordered by stack, as one ordered by stack; positions of one stack keep the order
    /// of the parts.
    pub fn merged(mut parts: Vec<Samples>) -> Samples {
        let mut merged = Samples::new();
        match parts.len() {
            0 => return merged,
            1 => return parts.swap_remove(0),
            _ => {}
        }
        merged.reserve(parts.iter().map(Samples::len).sum());
        let mut next = vec![0; parts.len()];
        loop {
            let left = parts.iter().zip(&next).filter_map(|(part, &next)| part.stacks.get(next));
            let Some(&stack) = left.min() else { return merged };
            for (part, next) in parts.iter().zip(&mut next) {
                let run = part.stacks[*next..].partition_point(|&other| other <= stack);
                merged.extend_from(part, *next..*next + run);
                *next += run;
            }
        }
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
    /// The feature of the same piece in the position seen in a mirror, left and right swapped; `None` for a feature set
    /// that mirrors by itself, to which both are the same.
    mirror: Option<Arc<[u16]>>,
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
        Ok(Encoder { features, stacks: architecture.stacks(), mirror: mirror_of(features) })
    }

    /// Turns the position appended last into its mirror image, which is worth the same; nothing to do for a feature
    /// set that mirrors by itself.
    pub fn mirror_last(&self, packed: &mut Packed) {
        if let Some(mirror) = &self.mirror {
            for index in packed.last_features_mut() {
                *index = mirror[usize::from(*index)];
            }
        }
    }

    /// Appends a position: `score` in centipawns and `outcome` in half points, both of the side to move.
    #[inline]
    pub fn pack(&self, packed: &mut Packed, position: &Position, score: i32, outcome: u8) {
        let us = position.side_to_move();
        // `new` refused sets that have no rows of this kind.
        let rows = |out: &mut Vec<u16>| self.features.append_rows(position, us, out).unwrap_or(0);
        packed.push(self.label(position, score, outcome), rows);
    }

    fn label(&self, position: &Position, score: i32, outcome: u8) -> Label {
        Label {
            score: score.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16,
            outcome,
            stack: self.stacks.choose(position) as u8,
            material: material(position, position.side_to_move()),
        }
    }

    /// As [`Encoder::pack`], into columns.
    pub fn push(&self, samples: &mut Samples, position: &Position, score: i32, outcome: u8) {
        let us = position.side_to_move();
        let start = samples.indices.len();
        // `new` refused sets that have no rows of this kind.
        let first = self.features.append_rows(position, us, &mut samples.indices).unwrap_or(0);
        samples.offsets.extend([(start + first) as u32, samples.indices.len() as u32]);
        let label = self.label(position, score, outcome);
        samples.scores.push(label.score);
        samples.outcomes.push(label.outcome);
        samples.stacks.push(label.stack);
        samples.material.push(label.material);
    }
}

fn material(position: &Position, us: Color) -> [i8; 6] {
    MATERIAL_KINDS
        .map(|kind| position.pieces(us, kind).count() as i8 - position.pieces(us.flip(), kind).count() as i8)
}

/// For each feature of an unmirrored set, the feature of the mirror image.
fn mirror_of(features: FeatureSet) -> Option<Arc<[u16]>> {
    if features != FeatureSet::HALF_KP {
        return None;
    }
    let mut mirror: Vec<u16> = (0..features.inputs()).map(|index| index as u16).collect();
    for square in Square::all() {
        let Some(king) = king_bucket_plain(square) else { continue };
        let Some(mirrored_king) = king_bucket_plain(square.mirror_file()) else { continue };
        let view = View { king: king as u8, ..View::default() };
        let mirrored_view = View { king: mirrored_king as u8, ..View::default() };
        for color in Color::ALL {
            for piece in PieceKind::ALL.map(|kind| Piece::new(color, kind)) {
                for square in Square::all() {
                    let from = features.index(view, Color::Red, piece, square);
                    let to = features.index(mirrored_view, Color::Red, piece, square.mirror_file());
                    if let (Some(from), Some(to)) = (from, to) {
                        mirror[from] = to as u16;
                    }
                }
            }
        }
    }
    Some(mirror.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mirrored_sample_is_that_of_the_mirrored_position() {
        let encoder = Encoder::new(&"classic".parse().unwrap()).unwrap();
        for (fen, mirrored) in [
            (
                "rnbakabnr/9/1c5c1/p1p1p1p1p/9/2P6/P3P1P1P/1C5C1/4K4/RNBA1ABNR b - - 0 1",
                "rnbakabnr/9/1c5c1/p1p1p1p1p/9/6P2/P1P1P3P/1C5C1/4K4/RNBA1ABNR b - - 0 1",
            ),
            ("3k5/4P4/9/9/2b6/9/9/9/2R6/5K3 w - - 0 1", "5k3/4P4/9/9/6b2/9/9/9/6R2/3K5 w - - 0 1"),
        ] {
            let pack = |fen: &str, mirrors: usize| {
                let mut packed = Packed::new();
                encoder.pack(&mut packed, &Position::from_fen(fen).unwrap(), 0, 1);
                (0..mirrors).for_each(|_| encoder.mirror_last(&mut packed));
                let mut samples = Samples::new();
                packed.append_to(&mut samples);
                samples
            };
            let (plain, found, expected) = (pack(fen, 0), pack(fen, 1), pack(mirrored, 0));
            let mut pushed = Samples::new();
            encoder.push(&mut pushed, &Position::from_fen(fen).unwrap(), 0, 1);
            assert_eq!(plain, pushed);
            assert_eq!(plain, pack(fen, 2));
            assert_ne!(plain.indices, expected.indices);
            for row in 0..2 {
                let sorted = |samples: &Samples| {
                    let mut row = samples.row(row).to_vec();
                    row.sort_unstable();
                    row
                };
                assert_eq!(sorted(&found), sorted(&expected), "row {row} of {fen}");
            }
            assert_eq!(found.len(), 1);
        }
    }
}
