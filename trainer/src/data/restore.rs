//! Back from features to boards: what a feature says, and the position that a sample was made of.

use super::samples::Samples;
use nnue_format::features::FeatureSet;
use xiangqi::{Color, Piece, PieceKind, Square};

/// Reads the features of one set.
pub struct Restorer {
    features: FeatureSet,
    /// By slot: the piece, Red's being the perspective's own, and its square as the perspective sees it, after mirroring.
    slots: Vec<Option<(Piece, Square)>>,
}

impl Restorer {
    /// A reader of this set's features.
    pub fn new(features: FeatureSet) -> Restorer {
        let mut slots = vec![None; features.slot_count()];
        for piece in (0..Piece::COUNT).filter_map(Piece::from_index) {
            for square in Square::all() {
                if let Some(slot) = features.slots().get(Color::Red, false, piece, square) {
                    slots[slot] = Some((piece, square));
                }
            }
        }
        Restorer { features, slots }
    }

    /// The piece and its square that a slot stands for, as its perspective sees them: own pieces are Red's, below.
    pub fn slot(&self, slot: usize) -> Option<(Piece, Square)> {
        self.slots.get(slot).copied().flatten()
    }

    /// The own king's square in a king bucket, as its side sees it after mirroring.
    pub fn king_square(&self, king_bucket: usize) -> Option<Square> {
        let files = if self.features.king_buckets() == 9 { 3 } else { 2 };
        Square::at(3 + (king_bucket % files) as u8, (king_bucket / files) as u8)
    }

    /// The king bucket of a feature.
    pub fn king_bucket(&self, feature: usize) -> usize {
        feature / self.features.slot_count() / self.features.attack_buckets()
    }

    /// The position of sample `i` as a FEN with Red to move: the side to move is shown as Red, left and right may be
    /// swapped, and the history is lost, none of which the net can see. `None` if the features are of no position.
    pub fn fen(&self, samples: &Samples, i: usize) -> Option<String> {
        let (own, own_king) = self.row(samples.row(2 * i))?;
        let (other, other_king) = self.row(samples.row(2 * i + 1))?;
        let mut board = own.clone();
        if !has_kings(&own) {
            let theirs = turned(&other);
            // The other side may have mirrored where this one did not: its pieces tell.
            let king = other_king.flip_rank();
            let king = if same(&theirs, &own) { king } else { king.mirror_file() };
            board.push((Piece::new(Color::Red, PieceKind::King), own_king));
            board.push((Piece::new(Color::Black, PieceKind::King), king));
        }
        fen(&board)
    }

    /// The pieces of a row and the square of its own king, as its perspective sees them.
    fn row(&self, row: &[u16]) -> Option<(Vec<(Piece, Square)>, Square)> {
        let slots = self.features.slot_count();
        let king = self.king_square(self.king_bucket(usize::from(*row.first()?)))?;
        let pieces: Option<Vec<_>> = row.iter().map(|&f| self.slot(usize::from(f) % slots)).collect();
        Some((pieces?, king))
    }
}

fn has_kings(pieces: &[(Piece, Square)]) -> bool {
    pieces.iter().any(|(piece, _)| piece.kind() == PieceKind::King)
}

/// The same pieces seen from the other side of the board.
fn turned(pieces: &[(Piece, Square)]) -> Vec<(Piece, Square)> {
    pieces
        .iter()
        .map(|(piece, square)| (Piece::new(piece.color().flip(), piece.kind()), square.flip_rank()))
        .collect()
}

fn same(a: &[(Piece, Square)], b: &[(Piece, Square)]) -> bool {
    a.len() == b.len() && a.iter().all(|piece| b.contains(piece))
}

/// The board part of a FEN and `w - - 0 1`; `None` when two pieces share a square.
fn fen(pieces: &[(Piece, Square)]) -> Option<String> {
    let mut board = [None; 90];
    for (piece, square) in pieces {
        let place = &mut board[square.index()];
        if place.is_some() {
            return None;
        }
        *place = Some(*piece);
    }
    let ranks: Vec<String> = board.chunks(9).rev().map(rank).collect();
    Some(format!("{} w - - 0 1", ranks.join("/")))
}

fn rank(squares: &[Option<Piece>]) -> String {
    let mut text = String::new();
    let mut empty = 0;
    for square in squares {
        match square {
            None => empty += 1,
            Some(piece) => {
                if empty > 0 {
                    text += &empty.to_string();
                }
                empty = 0;
                text.push(piece.fen_char());
            }
        }
    }
    if empty > 0 {
        text += &empty.to_string();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::samples::Encoder;
    use crate::data::synthetic::random_positions;
    use xiangqi::Position;

    #[test]
    fn positions_come_back_for_every_feature_set() {
        for name in ["half-kp", "half-kp-hm", "half-ka-hm", "half-ka-hm-ab"] {
            let arch = format!("{name} 2x128-8-16-1").parse().unwrap();
            let encoder = Encoder::new(&arch).unwrap();
            let restorer = Restorer::new(arch.features());
            let mut checked = 0;
            random_positions(9, 600, |position| {
                let mut samples = Samples::new();
                encoder.push(&mut samples, position, 0, 1);
                let fen = restorer.fen(&samples, 0).expect("a position");
                let restored =
                    Position::from_fen(&fen).unwrap_or_else(|error| panic!("{name} {fen}: {error}"));
                let mut again = Samples::new();
                encoder.push(&mut again, &restored, 0, 1);
                let sorted = |samples: &Samples, row| {
                    let mut row = samples.row(row).to_vec();
                    row.sort_unstable();
                    row
                };
                for row in 0..2 {
                    assert_eq!(
                        sorted(&samples, row),
                        sorted(&again, row),
                        "{name}: {}, {fen}",
                        position.fen()
                    );
                }
                checked += 1;
            });
            assert_eq!(checked, 600);
        }
        let restorer = Restorer::new(FeatureSet::HALF_KP);
        assert_eq!(restorer.fen(&Samples { offsets: vec![0, 0, 0], ..Samples::new() }, 0), None);
    }
}
