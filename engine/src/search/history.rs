//! What the search learned about moves: histories, killers, countermoves.

use xiangqi::{Color, Move, Piece, PieceKind, Square};

/// Histories stay within ± this.
pub(crate) const HISTORY_LIMIT: i32 = 16_384;

const SQUARES: usize = Square::COUNT;
/// A piece on a square, as an index.
const PLACES: usize = Piece::COUNT * SQUARES;
/// No place: the row that null moves and the root's parents use.
pub(crate) const NO_PLACE: usize = PLACES;

/// A piece's arrival at a square, as an index.
#[inline]
pub(crate) fn place_index(piece: Piece, to: Square) -> usize {
    piece.index() * SQUARES + to.index()
}

/// Moves a history value towards ±[`HISTORY_LIMIT`]: the nearer it is, the slower.
#[inline]
fn learn(value: &mut i16, bonus: i32) {
    let old = i32::from(*value);
    *value = (old + bonus - old * bonus.abs() / HISTORY_LIMIT) as i16;
}

/// The tables of one search thread.
pub(crate) struct History {
    /// [colour][from * 90 + to]
    butterfly: Vec<i16>,
    /// [previous place][place]
    continuation: Vec<i16>,
    /// [place][captured kind]
    captures: Vec<i16>,
    /// [previous place] → the quiet move that refuted it
    counters: Vec<Option<Move>>,
}

impl History {
    pub(crate) fn new() -> History {
        History {
            butterfly: vec![0; 2 * SQUARES * SQUARES],
            continuation: vec![0; (PLACES + 1) * PLACES],
            captures: vec![0; PLACES * PieceKind::ALL.len()],
            counters: vec![None; PLACES + 1],
        }
    }

    pub(crate) fn clear(&mut self) {
        self.butterfly.fill(0);
        self.continuation.fill(0);
        self.captures.fill(0);
        self.counters.fill(None);
    }

    #[inline]
    fn butterfly_index(color: Color, mv: Move) -> usize {
        (color.index() * SQUARES + mv.from().index()) * SQUARES + mv.to().index()
    }

    /// The sum of a quiet move's histories; `previous` are the places of the last two moves.
    #[inline]
    pub(crate) fn quiet(&self, piece: Piece, mv: Move, previous: [usize; 2]) -> i32 {
        let place = place_index(piece, mv.to());
        let butterfly = self.butterfly[History::butterfly_index(piece.color(), mv)];
        let continuation = |p: usize| i32::from(self.continuation[p * PLACES + place]);
        i32::from(butterfly) + continuation(previous[0]) + continuation(previous[1])
    }

    #[inline]
    pub(crate) fn capture(&self, piece: Piece, to: Square, captured: PieceKind) -> i32 {
        i32::from(self.captures[place_index(piece, to) * PieceKind::ALL.len() + captured.index()])
    }

    #[inline]
    pub(crate) fn counter(&self, previous: usize) -> Option<Move> {
        self.counters[previous]
    }

    pub(crate) fn learn_quiet(&mut self, piece: Piece, mv: Move, previous: [usize; 2], bonus: i32) {
        let place = place_index(piece, mv.to());
        learn(&mut self.butterfly[History::butterfly_index(piece.color(), mv)], bonus);
        for p in previous {
            if p != NO_PLACE {
                learn(&mut self.continuation[p * PLACES + place], bonus);
            }
        }
    }

    pub(crate) fn learn_capture(&mut self, piece: Piece, to: Square, captured: PieceKind, bonus: i32) {
        let index = place_index(piece, to) * PieceKind::ALL.len() + captured.index();
        learn(&mut self.captures[index], bonus);
    }

    pub(crate) fn set_counter(&mut self, previous: usize, mv: Move) {
        self.counters[previous] = Some(mv);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_in_bounds() {
        let mut value = 0i16;
        for _ in 0..1000 {
            learn(&mut value, 1500);
            assert!(i32::from(value).abs() <= HISTORY_LIMIT);
        }
        assert!(value > 15_000);
        for _ in 0..1000 {
            learn(&mut value, -1500);
            assert!(i32::from(value).abs() <= HISTORY_LIMIT);
        }
        assert!(value < -15_000);
    }
}
