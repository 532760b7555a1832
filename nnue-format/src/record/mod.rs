//! The record file (`.rec`): whole games of xiangqi with the search's score of every position.
//!
//! ```text
//! file    header | plan (opaque) | block | block | … | footer
//! block   marker | head: lengths and counts | CRC32C | one zstd frame per column | CRC32C
//! ```
//!
//! `docs/record-format.md` describes every byte. In short:
//!
//! * A game begins at its opening's start, so that repetitions and the natural limit can be judged, and
//!   carries for each ply after the opening the move played and the score the search gave.
//! * A move is its rank among the pseudo-legal moves ([`xiangqi::Position::move_rank`]); a score is the
//!   difference from what the two scores before it promise. Both go to columns chosen by what the reader
//!   knows already, and zstd is the entropy coder of each column.
//! * A file cut anywhere gives all its whole blocks and one error; a damaged block costs itself alone.
//!
//! Reading: [`Reader`] walks the blocks and reports damage between them; [`RawBlock::games`] makes whole
//! [`GameRecord`]s, [`RawBlock::walk`] visits positions without building them. Writing: [`Writer`];
//! [`recover`] says where an interrupted file can be continued.

mod block;
mod bytes;
mod columns;
mod error;
mod filter;
mod footer;
mod game;
mod header;
mod identity;
mod reader;
mod score_code;
mod writer;

pub use block::{
    BLOCK_HEAD_LEN, BLOCK_MARKER, BLOCK_PLIES, BlockHead, MAX_BLOCK_GAMES, MAX_BLOCK_PLIES, RawBlock,
};
pub use columns::{COLUMN_COUNT, COLUMN_NAMES};
pub use error::{ColumnError, GameError, Part, ReadError, WriteError};
pub use filter::{LeftOut, PositionFilter};
pub use footer::{FOOTER_MARKER, Footer, IndexEntry, Totals};
pub use game::{
    GameHead, GameRecord, MAX_FEN_LEN, MAX_GAME_PLIES, Outcome, Ply, PlyFlags, PlyRecord, Reason, Start, Walk,
};
pub use header::{HEADER_LEN, Header, MAGIC, MAX_PLAN_LEN, VERSION};
pub use identity::{game_id, mirrored_move, mirrored_start};
pub use reader::{Games, Reader};
pub use writer::{PackedBlock, Packer, Recovered, Writer, ends_block, recover};

#[cfg(test)]
mod tests;
