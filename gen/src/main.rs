//! `chuhe-gen`: self-play and record files. Exit codes: 0 done, 1 the check failed, 2 could not run.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match datagen::commands::run(datagen::cli::Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            datagen::progress::note(&format!("chuhe-gen: {}", engine::cli::error_text(&error)));
            ExitCode::from(2)
        }
    }
}
