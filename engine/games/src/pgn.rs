//! PGN: games as text, as xiangqi programs write it. `docs/game-files.md` says what is tolerated.

mod lexer;
mod reader;
mod writer;

pub use reader::{Games, games, read, read_text};
pub use writer::{Notation, write, write_game};
