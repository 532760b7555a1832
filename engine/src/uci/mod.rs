//! The universal chess interface, as xiangqi programs speak it: moves `h2e2` with ranks 0–9 (1–10 with the option
//! `First Rank`); and UCI_Cyclone, the same but for `position`, which it leaves out before `fen` and `startpos`.

pub mod command;
mod extras;
pub(crate) mod format;

use command::{Command, CommandError, Go, parse};
use format::UciVoice;

use crate::protocol::Output;
use crate::protocol::options::{Names, describe};
use crate::protocol::running::Order;
use crate::protocol::session::{Core, SessionError};
use crate::search::{Clock, Limits};

/// Says in one line what is wrong, whatever the error's text holds.
pub(crate) fn complain(out: &Output, what: &dyn std::fmt::Display) {
    let text = what.to_string().replace(['\n', '\r'], " ");
    out.line(&format!("info string error: {text}"));
}

/// Acts on a line. False when the conversation is over.
pub(crate) fn hear(core: &mut Core, line: &str) -> bool {
    core.complain = complain;
    let done = match parse(line, core.options.first_rank) {
        Ok(None) => Ok(()),
        Ok(Some(Command::Quit)) => {
            core.quit();
            return false;
        }
        Ok(Some(command)) => act(core, command, line),
        Err(error) => Err(Fault::Command(error)),
    };
    if let Err(fault) = done {
        complain(&core.out, &fault);
    }
    true
}

/// What a line could not do.
#[derive(Debug, thiserror::Error)]
enum Fault {
    /// The line is no command.
    #[error(transparent)]
    Command(CommandError),
    /// It cannot be done.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The same, with the command's name before it.
    #[error("{0}: {1}")]
    Named(&'static str, SessionError),
    /// An extra that failed.
    #[error(transparent)]
    Extra(#[from] extras::ExtraError),
}

fn act(core: &mut Core, command: Command, line: &str) -> Result<(), Fault> {
    match command {
        Command::Uci => identify(&core.out, line.trim()),
        Command::IsReady => core.out.line("readyok"),
        Command::NewGame => core.new_game(),
        Command::Position(text) => {
            let ranks = core.options.first_rank;
            core.set_game(&text, ranks).map_err(|error| Fault::Named("position", error))?;
        }
        Command::Go(go) => self::go(core, &go)?,
        Command::Stop => core.stop(),
        Command::PonderHit => {
            core.ponder_hit();
        }
        Command::SetOption { name, value } => set_option(core, &name, &value)?,
        Command::Display => extras::display(core),
        Command::Eval => extras::eval(core),
        Command::Bench(depth) => extras::bench(core, depth)?,
        Command::Flip => extras::flip(core)?,
        Command::SpeedTest(asked) => extras::speed_test(core, asked)?,
        Command::ExportNet(path) => extras::export_net(core, &path)?,
        Command::Help => extras::help(&core.out),
        Command::Nothing | Command::Quit => {}
    }
    Ok(())
}

/// `greeting` is `uci` or `ucicyclone`: its own word ends the list.
fn identify(out: &Output, greeting: &str) {
    out.line(&format!("id name Chuhe {}", crate::VERSION));
    out.line("id author the Chuhe developers");
    for line in describe(Names::Uci) {
        out.line(&line);
    }
    out.line(&format!("{greeting}ok"));
}

fn set_option(core: &mut Core, name: &str, value: &str) -> Result<(), SessionError> {
    if let Some(note) = core.set_option(Names::Uci, name, value)? {
        core.out.line(&format!("info string {note}"));
    }
    Ok(())
}

fn limits(core: &mut Core, go: &Go) -> Limits {
    let side = core.game.position().side_to_move();
    // Where the other side's clock alone is told, ours shows nothing: a move is wanted at once, not a search for ever.
    let told = go.time.iter().any(Option::is_some);
    let clock = told.then(|| Clock {
        time_ms: go.time[side.index()].unwrap_or(0),
        increment_ms: go.increment[side.index()],
        moves_to_go: go.moves_to_go,
    });
    Limits {
        depth: go.depth,
        nodes: go.nodes,
        movetime_ms: go.movetime,
        clock: if go.infinite { None } else { clock },
        mate: go.mate,
        search_moves: go.search_moves.clone(),
        ..core.limits()
    }
}

fn go(core: &mut Core, go: &Go) -> Result<(), Fault> {
    if let Some(depth) = go.perft {
        return Ok(extras::perft(core, depth)?);
    }
    if let Some(mv) = core.first_illegal(&go.search_moves) {
        let mv = core.options.first_rank.text(mv);
        let error = SessionError::Illegal { mv, consequence: "no search was begun" };
        return Err(Fault::Named("go searchmoves", error));
    }
    let order = Order { limits: limits(core, go), infinite: go.infinite, ponder: go.ponder };
    core.out.line(&format!("info string {}", core.binding));
    let voice = UciVoice::new(core.out.clone(), core.game.position().clone(), &core.options);
    core.start(order, voice).map_err(|error| Fault::Named("go", error))
}
