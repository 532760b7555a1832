//! `chuhe-gen bench`: how much of the time of self-play is search.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use serde_json::json;

use super::play::{load_net, plan_of, stop_flag};
use crate::bench::{Measured, measure};
use crate::cli::{BenchArgs, Cli, Command};
use crate::plan::{Count, Plan, SearchLimit};

/// Runs the verb.
pub fn run(args: &BenchArgs) -> anyhow::Result<ExitCode> {
    let (source, net) = load_net(&args.net)?;
    let stop = stop_flag()?;
    let plans = args.nodes.iter().map(|&nodes| plan(args, nodes, net)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut rows: Vec<(u64, Measured)> = Vec::new();
    for round in 0..args.rounds.max(1) {
        for (i, plan) in plans.iter().enumerate() {
            let folder = Folder::new()?;
            let found = measure(plan, args.threads, &source, &folder.0, &stop)?;
            match round {
                0 => rows.push((args.nodes[i], found)),
                _ => rows[i].1.take_least(&found),
            }
        }
    }
    let text = if args.json { json_of(&rows) } else { text_of(&rows) };
    super::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The plan that `play` has without further options.
fn plan(args: &BenchArgs, nodes: u64, net: [u8; 32]) -> anyhow::Result<Plan> {
    let cli = Cli::try_parse_from(["chuhe-gen", "play", "--out", "bench", "--games", "1", "--nodes", "1"])?;
    let Command::Play(defaults) = cli.command else {
        anyhow::bail!("play is no play");
    };
    let (mut plan, _) = plan_of(&defaults, net)?;
    plan.count = Count::Games(args.games);
    plan.limit = SearchLimit { nodes: Some(nodes), ..SearchLimit::default() };
    (plan.seed, plan.hash_mib) = (args.seed, args.hash);
    plan.check()?;
    Ok(plan)
}

fn json_of(rows: &[(u64, Measured)]) -> String {
    let rows: Vec<_> = rows
        .iter()
        .map(|(nodes, row)| {
            json!({
                "nodes": nodes,
                "games": row.games,
                "positions": row.positions,
                "nodes_per_second": row.nodes_per_second(),
                "bare_nodes_per_second": row.bare_nodes_per_second(),
                "permille": row.permille(),
                "positions_per_second": row.positions_per_second(),
            })
        })
        .collect();
    format!("{}\n", json!({ "rows": rows }))
}

fn text_of(rows: &[(u64, Measured)]) -> String {
    let mut text =
        "   nodes  games  positions   play, nodes/s   bare, nodes/s    ratio   positions/s\n".to_owned();
    for (nodes, row) in rows {
        let permille = row.permille();
        text += &format!(
            "{nodes:>8} {:>6} {:>10} {:>15} {:>15} {:>5}.{} % {:>13}\n",
            row.games,
            row.positions,
            row.nodes_per_second(),
            row.bare_nodes_per_second(),
            permille / 10,
            permille % 10,
            row.positions_per_second(),
        );
    }
    text + "per second of CPU time\n"
}

/// A folder of our own among the temporary ones, gone at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> anyhow::Result<Folder> {
        let path = std::env::temp_dir().join(format!("chuhe-gen bench {}", std::process::id()));
        std::fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}
