//! Correction histories: by how much the static evaluation has been wrong in positions like this one.
//!
//! After a search the difference between its score and the static evaluation is noted under parts of the position
//! (its pawns, its guards, each side's pieces) and under the last two moves; the next evaluation of a position that shares
//! such a part is moved by the mean of what was noted. (Idea: Caissa, Stockfish.)

use nnue_infer::memory;
use xiangqi::{Color, Piece, PieceChange, PieceKind, Position, Square};

use super::history::{NO_PLACE, PLACES};
use super::parameters as p;

/// Entries for each part and side to move (a power of two).
const SIZE: usize = 1 << 14;
/// Values stay within ± this.
const LIMIT: i32 = 1024;
/// The most that one search changes a value by.
const BONUS_MOST: i32 = LIMIT / 4;
/// Weights are parts of this.
const WEIGHT_UNIT: i32 = 4096;

/// Keys of the parts of a position, kept up to date along the line being searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Structure {
    pub(crate) pawns: u64,
    /// Advisors, bishops and kings of both sides.
    guards: u64,
    /// All but the pawns, of each side.
    pieces: [u64; 2],
}

/// SplitMix64's mixing: a number for each piece on each square.
const fn number(piece: Piece, square: Square) -> u64 {
    let place = (piece.index() * Square::COUNT + square.index() + 1) as u64;
    let z = place.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Structure {
    pub(crate) const EMPTY: Structure = Structure { pawns: 0, guards: 0, pieces: [0; 2] };

    pub(crate) fn of(pos: &Position) -> Structure {
        let mut structure = Structure::EMPTY;
        for square in pos.occupied() {
            if let Some(piece) = pos.piece_on(square) {
                structure.toggle(piece, square);
            }
        }
        structure
    }

    /// A move changes the board.
    #[inline]
    pub(crate) fn apply(&mut self, change: &PieceChange) {
        self.toggle(change.piece, change.from);
        self.toggle(change.piece, change.to);
        if let Some(captured) = change.captured {
            self.toggle(captured, change.to);
        }
    }

    /// A piece comes to or leaves a square.
    #[inline]
    fn toggle(&mut self, piece: Piece, square: Square) {
        let number = number(piece, square);
        match piece.kind() {
            PieceKind::Pawn => {
                self.pawns ^= number;
                return;
            }
            PieceKind::Advisor | PieceKind::Bishop | PieceKind::King => self.guards ^= number,
            PieceKind::Knight | PieceKind::Rook | PieceKind::Cannon => {}
        }
        self.pieces[piece.color().index()] ^= number;
    }
}

/// The tables of one search thread.
pub(crate) struct Correction {
    /// [part][side to move][key]
    parts: Vec<i16>,
    /// [place two moves ago][place of the last move]
    moves: Vec<i16>,
}

/// A node as the tables know it.
#[derive(Clone, Copy)]
pub(crate) struct Node {
    pub(crate) side: Color,
    pub(crate) structure: Structure,
    /// Where the last two moves arrived.
    pub(crate) previous: [usize; 2],
}

impl Node {
    fn part_indices(&self) -> [usize; 4] {
        let Structure { pawns, guards, pieces: [red, black] } = self.structure;
        let mut part = 0;
        [pawns, guards, red, black].map(|key| {
            part += 1;
            ((part - 1) * 2 + self.side.index()) * SIZE + key as usize % SIZE
        })
    }

    fn move_index(&self) -> usize {
        self.previous[1] * (PLACES + 1) + self.previous[0]
    }
}

impl Correction {
    pub(crate) fn new() -> Correction {
        Correction { parts: vec![0; 4 * 2 * SIZE], moves: vec![0; (PLACES + 1) * (PLACES + 1)] }
    }

    pub(crate) fn clear(&mut self) {
        self.parts.fill(0);
        self.moves.fill(0);
    }

    /// The node's correction will be asked for soon.
    #[inline]
    pub(crate) fn prefetch(&self, node: &Node) {
        for index in node.part_indices() {
            memory::prefetch(&self.parts[index]);
        }
        memory::prefetch(&self.moves[node.move_index()]);
    }

    /// What to add to the static evaluation of a node, in centipawns.
    pub(crate) fn of(&self, node: &Node) -> i32 {
        let [pawns, guards, red, black] = node.part_indices().map(|index| i32::from(self.parts[index]));
        let moves = i32::from(self.moves[node.move_index()]);
        let sum = p::correction_pawns() * pawns
            + p::correction_guards() * guards
            + p::correction_pieces() * (red + black)
            + p::correction_moves() * moves;
        sum / WEIGHT_UNIT
    }

    /// A search of some depth found a score that is `error` above the (corrected) static evaluation.
    pub(crate) fn learn(&mut self, node: &Node, error: i32, depth: i32) {
        let bonus = (error * depth / p::correction_slowness()).clamp(-BONUS_MOST, BONUS_MOST);
        for index in node.part_indices() {
            gravity(&mut self.parts[index], bonus);
        }
        if node.previous[0] != NO_PLACE {
            gravity(&mut self.moves[node.move_index()], bonus);
        }
    }
}

/// Moves a value by a bonus: the nearer it is to its limit, the less.
fn gravity(value: &mut i16, bonus: i32) {
    let old = i32::from(*value);
    *value = (old + bonus - old * bonus.abs() / LIMIT) as i16;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_keys_equal_fresh_ones() {
        let mut pos = Position::start();
        let mut structure = Structure::of(&pos);
        for mv in ["h2e2", "h9g7", "e2e6", "d9e8", "h0g2", "b7e7", "e6e4", "e7e4"] {
            let change = pos.make(mv.parse().expect("a move")).change.expect("no null move");
            structure.apply(&change);
            assert_eq!(structure, Structure::of(&pos), "after {mv}");
        }
    }

    #[test]
    fn an_error_is_learned_with_its_sign_and_bounded() {
        let pos = Position::start();
        let node = Node { side: pos.side_to_move(), structure: Structure::of(&pos), previous: [NO_PLACE; 2] };
        let mut correction = Correction::new();
        assert_eq!(correction.of(&node), 0);
        for error in [400, -400] {
            for _ in 0..200 {
                correction.learn(&node, error, 8);
            }
            let learned = correction.of(&node);
            assert!(learned * error > 0 && learned.abs() < 300, "{learned} from {error}");
        }
    }
}
