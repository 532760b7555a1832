//! `chuhe-server`: the server that hands self-play work to volunteers.
//!
//! Volunteer serving is not part of this release. The program exists so that its name, its verbs and their exit
//! codes stand; `init` and `serve` say so and end with exit code 2 ("could not run").

use std::process::ExitCode;

use clap::{Parser, Subcommand};

const NOT_PART: &str =
    "volunteer serving is not part of this release; `chuhe-gen play` makes data on your own machines";

#[derive(Parser)]
#[command(
    name = "chuhe-server",
    version,
    about = "Server that hands self-play work to volunteers (not part of this release)"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make a new run (not part of this release)
    Init,
    /// Hand out and take in work (not part of this release)
    Serve,
}

fn main() -> ExitCode {
    let verb = match Cli::parse().command {
        Command::Init => "init",
        Command::Serve => "serve",
    };
    eprintln!("error: chuhe-server {verb}: {NOT_PART}");
    ExitCode::from(2)
}
