//! The verbs of `chuhe-gen`.

pub mod inspect;
pub mod play;
pub mod verify;

use std::process::ExitCode;

use crate::cli::{Cli, Command};

/// Runs a command line.
pub fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        Command::Play(args) => play::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Verify(args) => verify::run(&args),
    }
}
