//! Game files as people have them: PGN, XQF, DhtmlXQ (东萍), CCBridge CBL and CBR, EPD and FEN lists.
//!
//! Bytes in, games out, and games back to bytes: no file is opened here. A broken game gives what was
//! read before the break and an error that says where; the rest of the file is still read.

pub mod ccbridge;
pub mod dhtmlxq;
pub mod error;
pub mod fen_list;
mod format;
mod gb18030;
pub mod json_lines;
mod line;
pub mod pgn;
mod preorder;
mod start;
pub mod text;
pub mod tree;
mod walk;
pub mod xqf;

pub use error::{FaultKind, FileError, GameFault, Place, ReadGame};
pub use format::{Format, UnknownFormat, detect, read};
pub use tree::{GameTree, NodeId, Outcome};
