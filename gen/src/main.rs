//! `chuhe-gen`: self-play and record files. Exit codes: 0 done, 1 the check failed, 2 could not run.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match datagen::commands::run(datagen::cli::Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            datagen::progress::note(&format!("chuhe-gen: {}", message(&error)));
            ExitCode::from(2)
        }
    }
}

/// The error with its causes, each said once: some name theirs already.
fn message(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text += ": ";
            text += &cause;
        }
    }
    text
}
