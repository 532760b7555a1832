//! The command line of `chuhe`. Without a verb it speaks the protocol.
//!
//! Results go to stdout (with `--json`: JSON alone), progress to stderr. Exit codes: 0 done,
//! 1 the check failed, 2 could not run.

mod bench;
mod eval;
mod examine;
mod games;
mod judge;
mod nets;
mod perft;
mod speedtest;

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use serde::Serialize;
use xiangqi::{Position, fen};

/// The check that was asked for failed.
pub(crate) const CHECK_FAILED: u8 = 1;
/// It could not be done.
pub(crate) const COULD_NOT_RUN: u8 = 2;

#[derive(Parser)]
#[command(
    name = "chuhe",
    version = crate::twin::version(),
    about = "Chuhe, a xiangqi engine. Without a verb it speaks UCI or UCCI on stdin and stdout.",
    disable_help_subcommand = true
)]
struct Cli {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Subcommand)]
enum Verb {
    /// Count the leaves of the move tree
    Perft(perft::Arguments),
    /// Check a FEN and print its canonical form
    Fen(games::FenArguments),
    /// Write a move in every notation, or read one
    Notation(games::NotationArguments),
    /// Judge a game: is it over, and why
    Judge(judge::Arguments),
    /// Evaluate a position without searching
    Eval(eval::Arguments),
    /// List the backends that nets can be evaluated with on this CPU
    Backends(nets::BackendsArguments),
    /// Make and check net files
    #[command(subcommand)]
    Net(nets::NetVerb),
    /// Search a fixed set of positions: node count (the signature) and speed
    Bench(bench::Arguments),
    /// Measure the speed of search on whole games under a clock
    Speedtest(speedtest::Arguments),
}

/// How results are shown.
#[derive(Args, Clone, Copy)]
pub(crate) struct Show {
    /// Print JSON alone on stdout
    #[arg(long)]
    json: bool,
}

impl Show {
    /// Prints a result: as JSON, or in the words of `readable`.
    pub(crate) fn print(
        self,
        value: &impl Serialize,
        readable: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        let text = if self.json { serde_json::to_string(value)? } else { readable() };
        // A reader that closed the pipe has seen enough.
        use std::io::Write;
        let mut stdout = std::io::stdout().lock();
        match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
            _ => Ok(()),
        }
    }
}

/// The position that a FEN argument names: `startpos`, or a FEN.
pub(crate) fn position(text: &str) -> anyhow::Result<Position> {
    match text.trim() {
        "startpos" => Ok(Position::start()),
        text => Position::from_fen(text).map_err(|error| anyhow::anyhow!("--fen: {error}")),
    }
}

/// The FEN argument that most verbs take.
#[derive(Args, Clone)]
pub(crate) struct FenOption {
    /// Position: a FEN, or startpos
    #[arg(long, default_value = fen::START)]
    fen: String,
}

/// Reads the arguments and does what they say.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.verb {
        None => protocol(),
        Some(Verb::Perft(arguments)) => perft::run(&arguments),
        Some(Verb::Fen(arguments)) => games::fen(&arguments),
        Some(Verb::Notation(arguments)) => games::notation(&arguments),
        Some(Verb::Judge(arguments)) => judge::run(&arguments),
        Some(Verb::Eval(arguments)) => eval::run(&arguments),
        Some(Verb::Backends(arguments)) => nets::backends(&arguments),
        Some(Verb::Net(verb)) => nets::run(&verb),
        Some(Verb::Bench(arguments)) => bench::run(&arguments),
        Some(Verb::Speedtest(arguments)) => speedtest::run(&arguments),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("chuhe: {}", error_text(&error));
            ExitCode::from(COULD_NOT_RUN)
        }
    }
}

/// An error with its causes, each said once: some name theirs already. For every program that ends
/// with one.
pub fn error_text(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text += ": ";
            text += &cause;
        }
    }
    text
}

fn protocol() -> anyhow::Result<ExitCode> {
    let out = crate::protocol::Output::new(std::io::stdout());
    let session = crate::protocol::Session::new(out, crate::eval::embedded::DEFAULT)?;
    crate::protocol::run(std::io::stdin().lock(), session)?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
