//! What the search learned about moves: histories, killers, countermoves.

use super::correction::Correction;
use xiangqi::{Color, Move, Piece, PieceKind, Square};

/// Histories stay within ± this.
pub(crate) const HISTORY_LIMIT: i32 = 16_384;
/// Those that count twice stay within ± this.
const BUTTERFLY_LIMIT: i32 = HISTORY_LIMIT / 2;
/// So many plies from the root have a history of their own.
const LOW_PLIES: usize = 4;
/// Rows of the pawn history (a power of two).
const PAWN_ROWS: usize = 512;

const SQUARES: usize = Square::COUNT;
/// A piece on a square, as an index.
pub(crate) const PLACES: usize = Piece::COUNT * SQUARES;
/// No place: the row that null moves and the root's parents use.
pub(crate) const NO_PLACE: usize = PLACES;

/// A piece's arrival at a square, as an index.
#[inline]
pub(crate) fn place_index(piece: Piece, to: Square) -> usize {
    piece.index() * SQUARES + to.index()
}

/// Moves a history value towards ±`limit`: the nearer it is, the slower.
#[inline]
fn learn<const LIMIT: i32>(value: &mut i16, bonus: i32) {
    let bonus = bonus.clamp(-LIMIT, LIMIT);
    let old = i32::from(*value);
    *value = (old + bonus - old * bonus.abs() / LIMIT) as i16;
}

/// What histories know of a node besides the move.
#[derive(Clone, Copy)]
pub(crate) struct Context {
    /// Where the moves arrived that were made one, two, four and six plies ago.
    pub(crate) previous: [usize; 4],
    /// The row of the pawns in the pawn history.
    pub(crate) pawns: usize,
    pub(crate) ply: i32,
}

/// Of a bonus, what the continuation of a move one, two, four and six plies ago gets, in 64ths.
const CONTINUATION_SHARE: [i32; 4] = [64, 56, 40, 28];

/// The tables of one search thread.
pub(crate) struct History {
    /// [colour][from * 90 + to], within ± [`BUTTERFLY_LIMIT`]
    butterfly: Vec<i16>,
    /// [ply from the root][from * 90 + to]: this search only
    low_ply: Vec<i16>,
    /// [row of the pawns][place]
    pawn: Vec<i16>,
    /// [previous place][place]
    continuation: Vec<i16>,
    /// [place][captured kind]
    captures: Vec<i16>,
    /// [previous place] → the quiet move that refuted it
    counters: Vec<Option<Move>>,
    pub(crate) correction: Correction,
}

impl History {
    pub(crate) fn new() -> History {
        History {
            butterfly: vec![0; 2 * SQUARES * SQUARES],
            low_ply: vec![0; LOW_PLIES * SQUARES * SQUARES],
            pawn: vec![0; PAWN_ROWS * PLACES],
            continuation: vec![0; (PLACES + 1) * PLACES],
            captures: vec![0; PLACES * PieceKind::ALL.len()],
            counters: vec![None; PLACES + 1],
            correction: Correction::new(),
        }
    }

    /// Forgets everything: a new game.
    pub(crate) fn clear(&mut self) {
        self.butterfly.fill(0);
        self.new_search();
        self.pawn.fill(0);
        self.continuation.fill(0);
        self.captures.fill(0);
        self.counters.fill(None);
        self.correction.clear();
    }

    /// Forgets what belongs to one root only.
    pub(crate) fn new_search(&mut self) {
        self.low_ply.fill(0);
    }

    /// The row that pawns with this key have in the pawn history.
    #[inline]
    pub(crate) const fn pawn_row(key: u64) -> usize {
        key as usize % PAWN_ROWS
    }

    #[inline]
    fn butterfly_index(color: Color, mv: Move) -> usize {
        (color.index() * SQUARES + mv.from().index()) * SQUARES + mv.to().index()
    }

    #[inline]
    fn low_ply_index(ply: i32, mv: Move) -> usize {
        (ply as usize * SQUARES + mv.from().index()) * SQUARES + mv.to().index()
    }

    /// How a quiet move is ordered among the others of its node.
    #[inline]
    pub(crate) fn order(&self, piece: Piece, mv: Move, context: &Context) -> i32 {
        let place = place_index(piece, mv.to());
        let butterfly = i32::from(self.butterfly[History::butterfly_index(piece.color(), mv)]);
        let pawn = i32::from(self.pawn[context.pawns * PLACES + place]);
        let mut score = 2 * (butterfly + pawn);
        for previous in context.previous {
            score += i32::from(self.continuation[previous * PLACES + place]);
        }
        if context.ply < LOW_PLIES as i32 {
            let low_ply = i32::from(self.low_ply[History::low_ply_index(context.ply, mv)]);
            score += 8 * low_ply / (1 + context.ply);
        }
        score
    }

    /// How good a quiet move has been, for prunings and reductions: within ± 3 * [`HISTORY_LIMIT`].
    #[inline]
    pub(crate) fn merit(&self, piece: Piece, mv: Move, context: &Context) -> i32 {
        let place = place_index(piece, mv.to());
        let butterfly = i32::from(self.butterfly[History::butterfly_index(piece.color(), mv)]);
        let continuation = |p: usize| i32::from(self.continuation[p * PLACES + place]);
        2 * butterfly + continuation(context.previous[0]) + continuation(context.previous[1])
    }

    #[inline]
    pub(crate) fn capture(&self, piece: Piece, to: Square, captured: PieceKind) -> i32 {
        i32::from(self.captures[place_index(piece, to) * PieceKind::ALL.len() + captured.index()])
    }

    #[inline]
    pub(crate) fn counter(&self, previous: usize) -> Option<Move> {
        self.counters[previous]
    }

    pub(crate) fn learn_quiet(&mut self, piece: Piece, mv: Move, context: &Context, bonus: i32) {
        let place = place_index(piece, mv.to());
        self.learn_butterfly(piece, mv, bonus);
        learn::<BUTTERFLY_LIMIT>(&mut self.pawn[context.pawns * PLACES + place], bonus / 2);
        if context.ply < LOW_PLIES as i32 {
            learn::<BUTTERFLY_LIMIT>(&mut self.low_ply[History::low_ply_index(context.ply, mv)], bonus / 2);
        }
        self.learn_continuation(place, context.previous, bonus);
    }

    pub(crate) fn learn_butterfly(&mut self, piece: Piece, mv: Move, bonus: i32) {
        let index = History::butterfly_index(piece.color(), mv);
        learn::<BUTTERFLY_LIMIT>(&mut self.butterfly[index], bonus / 2);
    }

    pub(crate) fn learn_continuation(&mut self, place: usize, previous: [usize; 4], bonus: i32) {
        for (p, share) in previous.into_iter().zip(CONTINUATION_SHARE) {
            if p != NO_PLACE {
                learn::<HISTORY_LIMIT>(&mut self.continuation[p * PLACES + place], bonus * share / 64);
            }
        }
    }

    pub(crate) fn learn_capture(&mut self, piece: Piece, to: Square, captured: PieceKind, bonus: i32) {
        let index = place_index(piece, to) * PieceKind::ALL.len() + captured.index();
        learn::<HISTORY_LIMIT>(&mut self.captures[index], bonus);
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
            learn::<HISTORY_LIMIT>(&mut value, 1500);
            assert!(i32::from(value).abs() <= HISTORY_LIMIT);
        }
        assert!(value > 15_000);
        for _ in 0..1000 {
            learn::<HISTORY_LIMIT>(&mut value, -1500);
            assert!(i32::from(value).abs() <= HISTORY_LIMIT);
        }
        assert!(value < -15_000);
    }
}
