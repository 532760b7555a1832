//! What a move changes on the board.

use crate::piece::Piece;
use crate::square::Square;

/// What one move changed: a piece moved and perhaps one was captured. The board reports changes
/// and does not know who listens (features, accumulators).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceChange {
    /// The piece that moved.
    pub piece: Piece,
    /// Where it stood.
    pub from: Square,
    /// Where it stands now.
    pub to: Square,
    /// What stood on `to` before.
    pub captured: Option<Piece>,
}
