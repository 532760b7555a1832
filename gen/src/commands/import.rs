//! `chuhe-gen import`: game files of any kind into records, books and other game files.

use std::process::ExitCode;

use anyhow::bail;
use game_files::Format;

use crate::cli::ImportArgs;
use crate::import::{self, Imported, Summary};
use crate::progress::note;

/// Faults shown one by one; the rest is counted.
const FAULTS_SHOWN: usize = 20;

/// Runs the verb.
pub fn run(args: &ImportArgs) -> anyhow::Result<ExitCode> {
    let format = args.format.as_deref().map(str::parse::<Format>).transpose()?;
    let mut summary = Summary::default();
    let mut games = Vec::new();
    for path in &args.files {
        match import::read_file(path, format) {
            Ok(found) => {
                summary.add_file(&found);
                if found.is_empty() {
                    note(&format!("{}: no game in it", path.display()));
                }
                games.extend(found);
            }
            Err(error) => {
                note(&error.to_string());
                summary.file_errors.push(error.to_string());
            }
        }
    }
    if summary.files == 0 {
        bail!("no file could be read as games: nothing done");
    }
    show_faults(&games, args.quiet);
    let text = match args.json {
        true => format!("{}\n", import::report_json(&games, &summary)),
        false => summary.text(),
    };
    super::print(&text)?;
    Ok(if summary.is_clean() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn show_faults(games: &[Imported], quiet: bool) {
    if quiet {
        return;
    }
    let faults = games.iter().flat_map(|imported| {
        let of_game = imported.game.faults.iter().map(ToString::to_string);
        of_game
            .chain(imported.game.warnings.clone())
            .map(|what| format!("{}: {what}", imported.file.display()))
    });
    let mut left = 0;
    for (i, line) in faults.enumerate() {
        if i < FAULTS_SHOWN {
            note(&line);
        } else {
            left += 1;
        }
    }
    if left > 0 {
        note(&format!("… and {left} more; --json has them all"));
    }
}
