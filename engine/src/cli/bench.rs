//! `chuhe bench`

use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use xiangqi::judge::RuleSet;

use super::Show;
use super::eval::NetOptions;
use crate::bench::{self, DEFAULT_DEPTH, POSITIONS, Plan};
use crate::search::{Limits, MAX_THREADS};

#[derive(Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    net: NetOptions,
    /// Search threads; only one gives the signature
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=MAX_THREADS as u64))]
    threads: u64,
    /// Depth of every search, in plies
    #[arg(long, default_value_t = DEFAULT_DEPTH, value_parser = clap::value_parser!(i32).range(1..=64))]
    depth: i32,
    /// Nodes of every search, instead of a depth
    #[arg(long, conflicts_with = "depth", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Rule set: competition, asian, chinese, allow-chase, sky or yitian
    #[arg(long, value_name = "NAME", default_value_t)]
    rules: RuleSet,
    #[command(flatten)]
    show: Show,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let chosen = arguments.net.choose()?;
    let threads = usize::try_from(arguments.threads)?;
    let quiet = arguments.show.json;
    let limits = match arguments.nodes {
        Some(nodes) => Limits::nodes(nodes),
        None => Limits::depth(arguments.depth),
    };
    let plan = Plan { threads, rules: arguments.rules.into(), limits };
    let mut progress = |i: usize, nodes: u64| {
        if !quiet {
            eprintln!("position {}/{}: {nodes} nodes  {}", i + 1, POSITIONS.len(), POSITIONS[i]);
        }
    };
    let found = bench::run(chosen.source.clone(), &plan, &mut progress);
    let seconds = found.time.as_secs_f64();
    let result = json!({
        "signature": found.nodes,
        "nodes": found.nodes,
        "seconds": seconds,
        "nps": found.nps(),
        "rules": arguments.rules.name(),
        "backend": chosen.backend,
        "net": chosen.net,
    });
    arguments.show.print(&result, || {
        format!("{}: {} nodes in {seconds:.3} s, {} nodes/s", chosen.source, found.nodes, found.nps())
    })?;
    Ok(ExitCode::SUCCESS)
}
