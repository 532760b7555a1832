//! The universal chess interface, as xiangqi programs speak it: moves `h2e2` with ranks 0–9.
//!
//! Bad input never ends the engine: it is answered by one line `info string error: …` that names the word, the
//! move or the field, and the old position, options and net stay.

pub mod command;
pub mod format;
pub mod options;
pub mod session;

use std::io::BufRead;

pub use session::{GameError, Output, Session, flipped, game_from};

use crate::eval::EvalSource;

/// A longer line than this is cut: no sender means it (a game of 100,000 plies fits).
const LONGEST_LINE: usize = 1 << 20;

/// Reads lines and answers them until `quit` or the end of input.
///
/// # Errors
/// Where input cannot be read; text that is not UTF-8 is no error.
pub fn run(mut input: impl BufRead, out: Output, source: EvalSource) -> std::io::Result<()> {
    let mut session = Session::new(out, source);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        if input.read_until(b'\n', &mut bytes)? == 0 {
            session.end_of_input();
            return Ok(());
        }
        bytes.truncate(LONGEST_LINE);
        if !session.handle(&String::from_utf8_lossy(&bytes)) {
            return Ok(());
        }
    }
}
