//! The game of xiangqi (中国象棋): board, moves, FEN, notation, game records, repetition judges.
//!
//! No I/O, no threads, no network, no unsafe code. Squares run from a0 (Red's left corner seen
//! from Red) to i9; see [`Square`].

pub mod bitboard;
pub mod change;
pub mod color;
pub mod mv;
pub mod piece;
pub mod score;
pub mod square;
pub mod zones;

pub use bitboard::Bitboard;
pub use change::PieceChange;
pub use color::Color;
pub use mv::{Move, MoveList};
pub use piece::{Piece, PieceKind};
pub use score::Score;
pub use square::Square;
