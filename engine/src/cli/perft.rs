//! `chuhe perft`

use std::process::ExitCode;
use std::time::Instant;

use clap::Args;
use serde_json::json;
use xiangqi::perft;

use super::{FenOption, Show, position};

#[derive(Args)]
pub(super) struct Arguments {
    /// Depth in plies
    depth: u32,
    #[command(flatten)]
    fen: FenOption,
    /// Also the leaves below each move
    #[arg(long)]
    divide: bool,
    #[command(flatten)]
    show: Show,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let mut pos = position(&arguments.fen.fen)?;
    let start = Instant::now();
    let (nodes, moves) = if arguments.divide {
        let moves = perft::divide(&mut pos, arguments.depth);
        let nodes = if arguments.depth == 0 { 1 } else { moves.iter().map(|&(_, nodes)| nodes).sum() };
        (nodes, moves)
    } else {
        (perft::perft(&mut pos, arguments.depth), Vec::new())
    };
    let seconds = start.elapsed().as_secs_f64();
    let nps = (nodes as f64 / seconds.max(1e-9)) as u64;
    let mut result = json!({ "nodes": nodes, "seconds": seconds, "nps": nps });
    if arguments.divide {
        let by_move: serde_json::Map<String, serde_json::Value> =
            moves.iter().map(|(mv, nodes)| (mv.to_string(), json!(nodes))).collect();
        result["divide"] = by_move.into();
    }
    arguments.show.print(&result, || {
        let mut lines: Vec<String> = moves.iter().map(|(mv, nodes)| format!("{mv}: {nodes}")).collect();
        lines.push(format!("{nodes} leaves in {seconds:.3} s, {:.1} million a second", nps as f64 / 1e6));
        lines.join("\n")
    })?;
    Ok(ExitCode::SUCCESS)
}
