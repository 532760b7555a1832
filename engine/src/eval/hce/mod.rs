//! The hand-crafted evaluation: tapered, integer, the same for both colours and both wings.
//!
//! ```text
//! material + place (kept up to date by the moves)
//!   + mobility + threats + cooperation + attack on the king      for each side
//!   → by phase → scaled where the ending is hardly to be won → + tempo
//! ```

mod endgame;
mod king;
mod maps;
mod tables;
mod tapered;
mod terms;

use xiangqi::{Color, Piece, PieceChange, PieceKind, Position, Score, Square};

use maps::SideMap;
pub use tables::{EXCHANGE_VALUE, FULL_PHASE, MATERIAL, PHASE, exchange_value, piece_square};
pub use tapered::Tapered;

/// Having the move.
const TEMPO: i32 = 14;

/// Material and place of all pieces, seen from Red.
pub fn base(pos: &Position) -> Tapered {
    let mut sum = Tapered::ZERO;
    for color in Color::ALL {
        for kind in PieceKind::ALL {
            for square in pos.pieces(color, kind) {
                sum += piece_square(Piece::new(color, kind), square);
            }
        }
    }
    sum
}

/// [`base`] after a move, from [`base`] before it.
#[inline]
pub fn base_after(base: Tapered, change: &PieceChange) -> Tapered {
    let moved = base - piece_square(change.piece, change.from) + piece_square(change.piece, change.to);
    match change.captured {
        Some(captured) => moved - piece_square(captured, change.to),
        None => moved,
    }
}

/// The phase, 0 (no piece that attacks over the board) to [`FULL_PHASE`].
pub fn phase(pos: &Position) -> i32 {
    let count = |kind| (pos.pieces(Color::Red, kind).count() + pos.pieces(Color::Black, kind).count()) as i32;
    let sum = [PieceKind::Rook, PieceKind::Knight, PieceKind::Cannon]
        .into_iter()
        .map(|kind| PHASE[kind.index()] * count(kind))
        .sum::<i32>();
    sum.min(FULL_PHASE)
}

/// Evaluates a position from the side to move's view, in centipawns within ±[`Score::EVAL_LIMIT`].
/// `base` is [`base`] of this position.
pub fn evaluate(pos: &Position, base: Tapered) -> i32 {
    let maps = [SideMap::new(pos, Color::Red), SideMap::new(pos, Color::Black)];
    let side = |us: Color| {
        let (ours, theirs) = (&maps[us as usize], &maps[!us as usize]);
        terms::mobility(pos, us, ours, theirs)
            + terms::threats(pos, us, ours, theirs)
            + terms::cooperation(pos, us, ours)
            + king::attack(pos, us, ours)
    };
    let red_view = base + side(Color::Red) - side(Color::Black);
    let red = red_view.at(phase(pos), FULL_PHASE);
    let strong = if red >= 0 { Color::Red } else { Color::Black };
    let red = red * endgame::scale(pos, strong) / endgame::FULL_SCALE;
    let own = if pos.side_to_move() == Color::Red { red } else { -red };
    (own + TEMPO).clamp(-Score::EVAL_LIMIT, Score::EVAL_LIMIT)
}

/// The hand-crafted evaluation along a line of moves.
#[derive(Clone, Debug, Default)]
pub struct Hce {
    bases: Vec<Tapered>,
}

impl Hce {
    /// Starts from a position.
    pub fn reset(&mut self, pos: &Position) {
        self.bases.clear();
        self.bases.push(base(pos));
    }

    /// A move was made.
    #[inline]
    pub fn push(&mut self, change: &PieceChange) {
        let last = self.current();
        self.bases.push(base_after(last, change));
    }

    /// The last move was taken back.
    #[inline]
    pub fn pop(&mut self) {
        self.bases.pop();
    }

    /// Material and place now, seen from Red.
    #[inline]
    pub fn current(&self) -> Tapered {
        self.bases.last().copied().unwrap_or(Tapered::ZERO)
    }

    /// Evaluates the position that the moves led to.
    #[inline]
    pub fn evaluate(&self, pos: &Position) -> i32 {
        evaluate(pos, self.current())
    }
}

/// The square's value for a piece of `color`, for callers that order moves: middlegame only.
#[inline]
pub fn place(piece: Piece, square: Square) -> i32 {
    let value = piece_square(piece, square).mg;
    if piece.color() == Color::Red { value } else { -value }
}
