//! Conversations: one session core, three dialects on it.
//!
//! ```text
//! line ─► Session ─► uci  (UCI and UCI_Cyclone) ─┐                    ┌─► info …, bestmove …
//!                └─► ucci (UCCI 3.0)            ─┴─► Core ─► Running ─┴─► answers in the dialect's words
//! ```
//! The first word says which is meant: `uci`, `ucicyclone` or `ucci`; a line that needs no greeting is UCI. A later
//! greeting changes the dialect. Bad input never ends the engine: it is answered by one line that names the word, the
//! move or the field, and the old position, options and net stay.

mod board;
mod errand;
mod input;
pub(crate) mod machine;
pub(crate) mod options;
mod output;
mod ranks;
pub(crate) mod running;
pub(crate) mod session;
mod tuning;
pub(crate) mod values;

use std::io::BufRead;

pub use board::{BoardError, GameError, GameText, flipped, game_from, mirrored};
pub use options::{Names, OptionError, describe};
pub use output::Output;
pub use ranks::{FirstRank, MoveError};
pub use session::SessionError;

use crate::eval::SourceError;
use crate::ucci::Ucci;
use crate::uci;
use input::{Line, Lines};
use session::Core;

/// Characters of a wrong word that an error repeats.
const SHOWN: usize = 40;

pub(crate) fn cut(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}

/// Which words are spoken.
enum Dialect {
    /// UCI, which takes UCI_Cyclone's positions too.
    Uci,
    Ucci(Ucci),
}

/// A conversation.
pub struct Session {
    core: Core,
    dialect: Dialect,
}

impl Session {
    /// A session that answers to `out`, evaluating by the net that `net` names (see [`crate::eval::net_source`]).
    ///
    /// # Errors
    /// Where there is no such net.
    pub fn new(out: Output, net: &str) -> Result<Session, SourceError> {
        Ok(Session { core: Core::new(out, net)?, dialect: Dialect::Uci })
    }

    /// Acts on a line. False when the session is over.
    pub fn handle(&mut self, line: &str) -> bool {
        self.core.out.heard(line);
        match line.split_whitespace().next() {
            None => return true,
            Some("uci" | "ucicyclone") => self.dialect = Dialect::Uci,
            Some("ucci") if !matches!(self.dialect, Dialect::Ucci(_)) => {
                self.dialect = Dialect::Ucci(Ucci::default());
            }
            Some(_) => {}
        }
        match &mut self.dialect {
            Dialect::Uci => uci::hear(&mut self.core, line),
            Dialect::Ucci(ucci) => ucci.hear(&mut self.core, line),
        }
    }

    /// Waits for the running search to end by itself.
    pub fn wait(&mut self) {
        self.core.wait();
    }

    /// No more input: waits for a search that ends by itself, stops any other.
    pub fn end_of_input(&mut self) {
        self.core.settle();
    }

    fn too_long(&self) {
        let what = format!("a line of more than {} bytes is not read", input::LONGEST_LINE);
        match self.dialect {
            Dialect::Uci => uci::complain(&self.core.out, &what),
            Dialect::Ucci(_) => crate::ucci::complain(&self.core.out, &what),
        }
    }
}

/// Reads lines and answers them until `quit` or the end of input.
///
/// # Errors
/// Where input cannot be read; text that is not UTF-8 is no error.
pub fn run(input: impl BufRead, mut session: Session) -> std::io::Result<()> {
    let mut lines = Lines::new(input);
    loop {
        match lines.next_line()? {
            Line::End => {
                session.end_of_input();
                return Ok(());
            }
            Line::TooLong => session.too_long(),
            Line::Text(text) => {
                if !session.handle(&text) {
                    return Ok(());
                }
            }
        }
    }
}
