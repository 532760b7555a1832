//! PGN: games as text, as xiangqi programs write it. `docs/game-files.md` says what is tolerated.

mod lexer;
mod pieces;
mod reader;
mod writer;

pub use pieces::last_beginning;
pub use reader::{Games, games, games_at, read, read_text};
pub use writer::{Notation, write, write_game};
