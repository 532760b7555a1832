//! The verbs of `chuhe-gen`.

pub mod bench;
pub mod dedup;
mod derive;
pub mod export;
pub mod filter;
pub mod import;
pub mod import_data;
pub mod inspect;
pub mod loop_;
pub mod merge;
pub mod play;
pub mod rescore;
pub mod shuffle;
pub mod split;
pub mod stats;
pub mod validate;
pub mod verify;

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use anyhow::Context;

use crate::cli::{Cli, Command};

/// Runs a command line.
pub fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        Command::Play(args) => play::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Loop(args) => loop_::run(&args),
        Command::Rescore(args) => rescore::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Split(args) => split::run(&args),
        Command::Shuffle(args) => shuffle::run(&args),
        Command::Dedup(args) => dedup::run(&args),
        Command::Filter(args) => filter::run(&args),
        Command::Stats(args) => stats::run(&args),
        Command::Validate(args) => validate::run(&args),
    }
}

/// Results to stdout. Whoever closed it (`| head`) has seen enough: that is no error.
fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to stdout"),
    }
}
