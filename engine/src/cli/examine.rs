//! `chuhe net examine`

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::{CHECK_FAILED, Show};
use crate::eval::{EvalSource, net_source};
use crate::examine::{Examination, Plan, run, table};

#[derive(Args)]
pub(super) struct Arguments {
    /// The net file; embedded for the net in the program, none for the hand-crafted evaluation
    file: String,
    /// What to examine beside it: another net, or none for the hand-crafted evaluation
    #[arg(long, value_name = "FILE", default_value = "none")]
    beside: String,
    /// Examine the one net alone
    #[arg(long, conflicts_with = "beside")]
    alone: bool,
    /// Record files: their results are compared with scores
    #[arg(long, num_args = 1.., value_name = "FILE")]
    data: Vec<PathBuf>,
    /// Positions taken from them
    #[arg(long, value_name = "N", default_value_t = Plan::default().data_positions)]
    data_positions: usize,
    /// Games whose positions symmetry and stability are measured on
    #[arg(long, value_name = "N", default_value_t = Plan::default().games)]
    games: usize,
    /// Nodes a move with which endgames are searched and played out
    #[arg(long, value_name = "N", default_value_t = Plan::default().endgame_nodes)]
    endgame_nodes: u64,
    /// Nodes in which a mate is to be found
    #[arg(long, value_name = "N", default_value_t = Plan::default().mate_nodes)]
    mate_nodes: u64,
    /// Depth of the searches that shallower ones are compared with
    #[arg(long, value_name = "PLIES", default_value_t = Plan::default().depth)]
    depth: i32,
    #[command(flatten)]
    show: Show,
}

pub(super) fn examine(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let plan = Plan {
        games: arguments.games,
        endgame_nodes: arguments.endgame_nodes,
        mate_nodes: arguments.mate_nodes,
        depth: arguments.depth,
        data: arguments.data.clone(),
        data_positions: arguments.data_positions,
    };
    let mut specs = vec![arguments.file.as_str()];
    if !arguments.alone && arguments.beside != arguments.file {
        specs.push(&arguments.beside);
    }
    // Every file is read before the first minute of work.
    let sources = specs.iter().map(|spec| net_source(spec)).collect::<Result<Vec<EvalSource>, _>>()?;
    let found =
        run(&sources, &plan, &mut |number, part, done, all| progress(specs[number], part, done, all))?;
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[K");
    }
    let sound = found.iter().all(Examination::is_sound);
    let titles: Vec<String> = specs.iter().map(|spec| title(spec)).collect();
    let result = json!({ "sound": sound, "examined": found });
    arguments.show.print(&result, || table(&titles, &found))?;
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) })
}

/// A file's name without its folders.
fn title(spec: &str) -> String {
    match crate::eval::is_none(spec) {
        true => "hand-crafted".to_owned(),
        false => std::path::Path::new(spec).file_stem().unwrap_or_default().to_string_lossy().into_owned(),
    }
}

/// On a terminal one line that changes; else a line where a part begins.
fn progress(spec: &str, part: &str, done: usize, all: usize) {
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[K{}: {part} {done}/{all}", title(spec));
    } else if done == 0 {
        eprintln!("{}: {part}, {all} to do", title(spec));
    }
}
