//! What `scripts/test.sh` and `scripts/quickstart.sh` do once everything is built.
//!
//! The shell scripts fetch libtorch and build; every later step is here, so that it works from any folder, from
//! paths with blanks and Chinese characters, and can be read and tested. Programs of the workspace are run as
//! processes found beside this one, exactly as a user runs them.

mod agree;
mod checks;
mod dist;
mod process;
mod quickstart;
mod steps;
mod summary;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "xtask",
    version,
    about = "The stages behind scripts/test.sh, scripts/quickstart.sh and scripts/dist.sh"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Format, lints, tests, doctests, documentation, dependency rules; the time of each
    Test(checks::Args),
    /// The whole loop on real input: play, train, export, verify, bench, match, summary
    Quickstart(quickstart::Args),
    /// Debug and release builds and all backends say the same at fixed nodes (chuhe built before)
    Agree,
    /// Build what is given to users, into target/dist/programs
    Dist(dist::Args),
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Test(args) => checks::run(&args),
        Command::Quickstart(args) => quickstart::run(&args),
        Command::Agree => agree::run(),
        Command::Dist(args) => dist::run(&args),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
