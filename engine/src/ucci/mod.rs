//! UCCI 3.0 (中国象棋通用引擎协议, revision of November 2007), written from its text at
//! <https://www.xqbase.com/protocol/cchess_ucci.htm>.
//!
//! ```text
//! boot ─ucci→ idle ─go→ thinking ─bestmove | nobestmove→ idle ─quit→ bye
//! ```
//! While thinking only `stop`, `ponderhit`, `isready`, `probe` and `quit` mean something; with the option `batch` no
//! line is read then at all, so that a script runs line by line.

pub mod command;
mod format;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use xiangqi::{Game, Move, Score};

use command::{Command, CommandError, Go, Mode, parse};
use format::UcciVoice;

use crate::eval::Evaluation;
use crate::protocol::options::{Names, OptionError, describe};
use crate::protocol::running::Order;
use crate::protocol::session::{Core, SessionError};
use crate::protocol::{FirstRank, GameText, Output, cut};
use crate::search::{Clock, Limits};

/// Milliseconds in the unit of clocks without `usemillisec`.
const SECOND: u64 = 1000;

/// What UCCI remembers between lines.
#[derive(Default)]
pub(crate) struct Ucci {
    /// Moves that may not be played from the position on the board.
    banned: Vec<Move>,
    /// The opponent's offer to the search that runs.
    draw_offered: Arc<AtomicBool>,
}

/// Says in one line what is wrong, whatever the error's text holds.
pub(crate) fn complain(out: &Output, what: &dyn std::fmt::Display) {
    let text = what.to_string().replace(['\n', '\r'], " ");
    out.line(&format!("info message error: {text}"));
}

/// What a line could not do.
#[derive(Debug, thiserror::Error)]
enum Fault {
    /// The line is no command.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// It cannot be done.
    #[error("{0}: {1}")]
    Session(&'static str, SessionError),
    /// An option.
    #[error(transparent)]
    Option(SessionError),
    /// A banned move that is none.
    #[error("banmoves: move {number} of the list, {found:?}: {why}; the bans stay as they were")]
    Ban { number: usize, found: String, why: String },
    /// Not now.
    #[error("{0:?} means nothing while thinking; send stop and wait for the answer, or set batch to true")]
    Thinking(String),
}

impl Ucci {
    /// Acts on a line. False when the conversation is over.
    pub(crate) fn hear(&mut self, core: &mut Core, line: &str) -> bool {
        core.complain = complain;
        let command = match parse(line) {
            Ok(None) => return true,
            Ok(Some(Command::Quit)) => {
                core.quit();
                core.out.line("bye");
                return false;
            }
            Ok(Some(command)) => command,
            Err(error) => {
                let for_go = line.split_whitespace().next() == Some("go");
                self.refuse(core, &Fault::Command(error), for_go);
                return true;
            }
        };
        let for_go = matches!(command, Command::Go(_));
        let done = if core.is_thinking() {
            self.act_thinking(core, command, line)
        } else {
            self.act_idle(core, command)
        };
        if let Err(fault) = done {
            self.refuse(core, &fault, for_go);
        }
        true
    }

    /// Says what is wrong. A `go` that begins no search is answered, so that nobody waits for ever.
    fn refuse(&self, core: &Core, fault: &Fault, for_go: bool) {
        complain(&core.out, fault);
        if for_go && !core.is_thinking() {
            core.out.line("nobestmove");
        }
    }

    fn act_thinking(&mut self, core: &mut Core, command: Command, line: &str) -> Result<(), Fault> {
        match command {
            Command::IsReady => core.out.line("readyok"),
            Command::Stop => {
                core.stop();
                // Idle only after the answer: what comes next shall find us so.
                core.wait();
            }
            Command::PonderHit { draw } => {
                if draw {
                    self.draw_offered.store(true, Relaxed);
                }
                core.ponder_hit();
            }
            Command::Probe(text) => probe(core, &text)?,
            _ => return Err(Fault::Thinking(cut(line.trim()))),
        }
        Ok(())
    }

    fn act_idle(&mut self, core: &mut Core, command: Command) -> Result<(), Fault> {
        match command {
            Command::Ucci => identify(&core.out),
            Command::IsReady => core.out.line("readyok"),
            Command::SetOption { name, value } => self.set_option(core, &name, &value)?,
            Command::Position(text) => {
                core.set_game(&text, FirstRank::Zero).map_err(|error| Fault::Session("position", error))?;
                self.banned.clear();
            }
            Command::BanMoves(words) => self.banned = bans(core, &words)?,
            Command::Go(go) => self.go(core, &go)?,
            // A GUI that believes us thinking waits for an answer; one that is just being given comes first.
            Command::Stop => {
                core.wait();
                core.out.line("nobestmove");
            }
            Command::Probe(text) => probe(core, &text)?,
            Command::PonderHit { .. } | Command::Quit => {}
        }
        Ok(())
    }

    fn set_option(&mut self, core: &mut Core, name: &str, value: &str) -> Result<(), Fault> {
        let board = core.game.len();
        match core.set_option(Names::Ucci, name, value) {
            Ok(None) => {}
            Ok(Some(note)) => core.out.line(&format!("info message {note}")),
            // "Setting an option that was not announced is no error": GUIs send what their users typed.
            Err(SessionError::Option(OptionError::Unknown { .. })) if !core.options.debug => {}
            Err(error) => return Err(Fault::Option(error)),
        }
        if core.game.len() != board {
            self.banned.clear();
        }
        Ok(())
    }

    fn go(&mut self, core: &mut Core, go: &Go) -> Result<(), Fault> {
        if go.mode == Mode::Depth(0) {
            evaluate(core);
            return Ok(());
        }
        self.draw_offered = Arc::new(AtomicBool::new(go.draw));
        let limits = Limits { banned_moves: self.banned.clone(), ..limits(core, go) };
        // In batch mode no line is read before the answer, so that no ponderhit could come.
        let batch = core.options.batch;
        let order = Order { limits, infinite: false, ponder: go.ponder && !batch };
        let voice = UcciVoice::new(
            core.out.clone(),
            Arc::clone(&self.draw_offered),
            core.options.resign,
            core.options.multi_pv > 1,
        );
        core.start(order, voice).map_err(|error| Fault::Session("go", error))?;
        // A search without an end goes on until stop is read.
        if batch && go.mode != Mode::Infinite {
            core.wait();
        }
        Ok(())
    }
}

fn limits(core: &mut Core, go: &Go) -> Limits {
    let unit = if core.options.millisec { 1 } else { SECOND };
    let clock = |mode: Mode| match mode {
        Mode::Time { left, moves_to_go, increment } => Some(Clock {
            time_ms: left.saturating_mul(unit),
            increment_ms: increment.saturating_mul(unit),
            moves_to_go,
        }),
        _ => None,
    };
    let base = Limits { clock: go.beside.and_then(clock), ..core.limits() };
    match go.mode {
        Mode::Depth(depth) => Limits { depth: Some(depth), ..base },
        Mode::Nodes(nodes) => Limits { nodes: Some(nodes), ..base },
        Mode::Infinite => Limits { stop_at_mate: true, ..base },
        time @ Mode::Time { .. } => Limits { clock: clock(time), ..base },
    }
}

fn identify(out: &Output) {
    out.line(&format!("id name Chuhe {}", crate::VERSION));
    out.line("id copyright the Chuhe developers");
    out.line("id author the Chuhe developers");
    out.line("id user everybody");
    for line in describe(Names::Ucci) {
        out.line(&line);
    }
    out.line("ucciok");
}

/// The moves of a ban list.
fn bans(core: &Core, words: &[String]) -> Result<Vec<Move>, Fault> {
    let read = |(i, word): (usize, &String)| {
        let refused = |why: String| Fault::Ban { number: i + 1, found: cut(word), why };
        let mv: Move =
            word.parse().map_err(|error: xiangqi::mv::MoveTextError| refused(error.to_string()))?;
        match core.game.position().why_illegal(mv) {
            Some(why) => Err(refused(format!("{mv} is not legal here: {why}"))),
            None => Ok(mv),
        }
    };
    words.iter().enumerate().map(read).collect()
}

fn probe(core: &Core, text: &GameText) -> Result<(), Fault> {
    let game: Game = match text.game(FirstRank::Zero) {
        Ok(game) => game,
        Err(error) => {
            // Whoever asks reads lines until a pophash.
            core.out.line("pophash");
            return Err(Fault::Command(CommandError::Board { command: "probe", error }));
        }
    };
    core.out.line(&format::pop_hash(core.probe(&game).as_ref()));
    Ok(())
}

/// `go depth 0`: the evaluation alone, and no move.
fn evaluate(core: &Core) {
    let mut evaluation = Evaluation::new(&core.source);
    evaluation.reset(core.game.position());
    let value = Score(evaluation.evaluate(core.game.position()));
    core.out.line(&format!("info depth 0 score {}", format::score(value)));
    core.out.line("nobestmove");
}
