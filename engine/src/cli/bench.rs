//! `chuhe bench`

use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use serde_json::{Value, json};
use xiangqi::judge::RuleSet;

use super::eval::NetOptions;
use super::{CHECK_FAILED, Show};
use crate::bench::compare::{self, CompareError, Comparison, DEFAULT_ROUNDS};
use crate::bench::{self, BenchResult, Class, DEFAULT_DEPTH, LABELLED, Plan};
use crate::search::{Limits, MAX_THREADS};

#[derive(Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    net: NetOptions,
    /// Compare every backend of this CPU, in alternating rounds
    #[arg(long, conflicts_with_all = ["backend", "threads"])]
    all_backends: bool,
    /// Rounds of --all-backends
    #[arg(long, value_name = "N", default_value_t = DEFAULT_ROUNDS as u16, requires = "all_backends", value_parser = clap::value_parser!(u16).range(1..=1000))]
    rounds: u16,
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
    let limits = match arguments.nodes {
        Some(nodes) => Limits::nodes(nodes),
        None => Limits::depth(arguments.depth),
    };
    let threads = usize::try_from(arguments.threads)?;
    let plan = Plan { threads, rules: arguments.rules.into(), limits };
    if arguments.all_backends { compare_backends(arguments, &plan) } else { run_once(arguments, &plan) }
}

fn run_once(arguments: &Arguments, plan: &Plan) -> anyhow::Result<ExitCode> {
    let chosen = arguments.net.choose()?;
    let quiet = arguments.show.json;
    let mut progress = |i: usize, nodes: u64| {
        if !quiet {
            let (class, fen) = LABELLED[i];
            eprintln!("position {}/{} ({class}): {nodes} nodes  {fen}", i + 1, LABELLED.len());
        }
    };
    let found = bench::run(chosen.source.clone(), plan, &mut progress);
    let (nodes, seconds, nps) = (found.all.nodes, found.all.time.as_secs_f64(), found.all.nps());
    let result = json!({
        "signature": nodes,
        "nodes": nodes,
        "seconds": seconds,
        "nps": nps,
        "rules": arguments.rules.name(),
        "backend": chosen.backend,
        "net": chosen.net,
        "classes": classes(&found),
    });
    if !quiet {
        for (class, share) in Class::ALL.into_iter().zip(found.classes) {
            let (positions, nodes, nps) = (share.positions, share.nodes, share.nps());
            eprintln!("{class:<10} {positions:>3} positions {nodes:>10} nodes {nps:>10} nodes/s");
        }
    }
    arguments
        .show
        .print(&result, || format!("{}: {nodes} nodes in {seconds:.3} s, {nps} nodes/s", chosen.source))?;
    Ok(ExitCode::SUCCESS)
}

fn classes(found: &BenchResult) -> Value {
    let share = |(class, share): (Class, bench::Share)| {
        let value = json!({ "positions": share.positions, "nodes": share.nodes, "nps": share.nps() });
        (class.name().to_owned(), value)
    };
    Value::Object(Class::ALL.into_iter().zip(found.classes).map(share).collect())
}

fn compare_backends(arguments: &Arguments, plan: &Plan) -> anyhow::Result<ExitCode> {
    let (net, id) = arguments.net.quantised()?.context(
        "--all-backends without a net: the hand-crafted evaluation has no backends; give --net FILE or --arch NAME too",
    )?;
    let rounds = usize::from(arguments.rounds);
    let quiet = arguments.show.json;
    let mut progress = |round: usize, backend, found: &BenchResult| {
        if !quiet {
            eprintln!("round {}/{rounds}: {backend:<10} {:>10} nodes/s", round + 1, found.all.nps());
        }
    };
    let found = match compare::run(&net, plan, rounds, &mut progress) {
        Ok(found) => found,
        // The comparison was made, and this is its result.
        Err(error @ CompareError::Nodes { .. }) => {
            eprintln!("chuhe: {error}");
            return Ok(ExitCode::from(CHECK_FAILED));
        }
        Err(error) => return Err(error.into()),
    };
    let fastest = found.fastest().map(|row| row.backend.name());
    let rows = found.rows.iter().map(|row| {
        json!({
            "backend": row.backend.name(), "nps": row.nps, "to_before": row.to_before,
            "to_first": row.to_first, "rounds": row.rounds,
        })
    });
    let result = json!({
        "arch": net.arch.to_string(), "net": id, "signature": found.nodes, "rules": arguments.rules.name(),
        "fastest": fastest, "backends": rows.collect::<Vec<_>>(),
    });
    arguments.show.print(&result, || format!("{}\n{}", net.arch, table(&found)))?;
    Ok(ExitCode::SUCCESS)
}

/// One line for each backend, the fastest with a star.
fn table(found: &Comparison) -> String {
    let fastest = found.fastest().map(|row| row.backend);
    let mut lines =
        vec![format!("{:<12} {:>10}  {:>11}  {:>9}", "backend", "nodes/s", "× one before", "× scalar")];
    for row in &found.rows {
        let mark = if Some(row.backend) == fastest { " *" } else { "" };
        let before = row.to_before.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
        let (name, nps, first) = (row.backend.name(), row.nps, row.to_first);
        lines.push(format!("{:<12} {nps:>10}  {before:>12}  {first:>8.2}", format!("{name}{mark}")));
    }
    let rounds = found.rows.first().map_or(0, |row| row.rounds.len());
    lines.push(format!("{} nodes on each; medians of {rounds} rounds; * = fastest", found.nodes));
    lines.join("\n")
}
