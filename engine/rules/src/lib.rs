//! The game of xiangqi (中国象棋): board, moves, FEN, notation, game records, repetition judges.
//!
//! No I/O, no threads, no network, no unsafe code. Squares run from a0 (Red's left corner seen
//! from Red) to i9; see [`Square`].

pub mod attacks;
pub mod bitboard;
pub mod change;
pub mod color;
pub mod fen;
pub mod game;
pub mod judge;
mod king_sight;
pub mod legality;
pub mod make_move;
pub mod move_gen;
pub mod mv;
pub mod notation;
pub mod perft;
pub mod piece;
pub mod position;
mod quiet_checks;
pub mod score;
pub mod setup;
pub mod square;
mod zobrist;
pub mod zones;

pub use bitboard::Bitboard;
pub use change::PieceChange;
pub use color::Color;
pub use fen::FenError;
pub use game::{Game, IllegalMove};
pub use make_move::Undo;
pub use mv::{Move, MoveList};
pub use piece::{Piece, PieceKind};
pub use position::Position;
pub use score::Score;
pub use setup::{Setup, SetupError};
pub use square::Square;
