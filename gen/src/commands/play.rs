//! `chuhe-gen play`: the command line becomes a plan, the plan becomes a file.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, bail};
use engine::eval::EvalSource;
use nnue_format::record::{Header, Totals};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::cli::PlayArgs;
use crate::manifest;
use crate::plan::{Adjudication, Count, OpeningPlan, PLAN_VERSION, Plan, PlanError, SearchLimit};
use crate::player::EnginePlayer;
use crate::progress::{Progress, note, per_second};
use crate::run;
use crate::sink::{Opened, Sink, SinkError};

/// Runs the verb.
pub fn run(args: &PlayArgs) -> anyhow::Result<ExitCode> {
    let (source, net) = load_net(&args.net)?;
    let plan = plan_of(args, net);
    plan.check()?;
    let threads = threads(args.threads);
    let header = header_of(&plan)?;
    if !args.quiet {
        show_plan(args, &plan, threads);
    }
    let mut sink = match Sink::open(&args.out, &header, &plan)? {
        Opened::Complete(totals) => {
            report(args, totals, "already complete", None)?;
            return Ok(ExitCode::SUCCESS);
        }
        Opened::Run(sink) => *sink,
    };
    let found = sink.found();
    if found.games > 0 && !args.quiet {
        note(&format!("going on behind {} games, {} positions", found.games, found.positions));
    }
    let stop = stop_flag()?;
    let mut progress = Progress::new(plan.count, found, args.quiet);
    let rules = plan.rule_set()?;
    let new_player = |stop| EnginePlayer::new(plan.hash_mib, source.clone(), rules, stop);
    let ended = run::play(&plan, threads, &mut sink, &stop, new_player, &mut |totals| progress.show(totals));
    progress.finish();
    ended.with_context(|| {
        let path = sink.paths().partial.display();
        format!("stopped; whole games are kept in {path} and its journal, the same command goes on")
    })?;
    if !sink.is_complete() {
        let waiting = sink.waiting().len() as u64;
        let (games, path) = (sink.written().games + waiting, sink.paths().partial.display());
        bail!(
            "interrupted: {games} whole games are kept in {path} and its journal; the same command goes on"
        );
    }
    let elapsed = progress.elapsed();
    let (repeated, nodes) = (sink.repeated(), sink.nodes());
    let totals = sink.publish(|totals, paths| -> Result<(), SinkError> {
        let manifest = manifest::manifest(&plan, totals, &paths.partial, &paths.out)?;
        manifest::write_whole(&paths.manifest, &format!("{manifest:#}\n"))
    })?;
    let made = Made { elapsed, positions: totals.positions - found.positions, nodes, repeated };
    report(args, totals, "complete", Some(&made))?;
    Ok(ExitCode::SUCCESS)
}

/// A flag that Ctrl-C and termination set.
pub(super) fn stop_flag() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed)).context("cannot listen for Ctrl-C")?;
    Ok(stop)
}

/// The evaluation and the net's id (zeros for none).
pub(super) fn load_net(spec: &str) -> anyhow::Result<(EvalSource, [u8; 32])> {
    let backend = engine::eval::backend_named("auto")?;
    let loaded = engine::eval::load_net(spec, backend).context("--net")?;
    Ok(loaded.map_or((EvalSource::Hce, [0; 32]), |loaded| (EvalSource::Net(loaded.net), loaded.id.0)))
}

fn plan_of(args: &PlayArgs, net: [u8; 32]) -> Plan {
    let count = match (args.games, args.positions) {
        (Some(games), _) => Count::Games(games),
        (None, positions) => Count::Positions(positions.unwrap_or_default()),
    };
    Plan {
        version: PLAN_VERSION,
        count,
        limit: SearchLimit { nodes: args.nodes, depth: args.depth },
        seed: args.seed,
        net,
        engine_signature: engine::signature(),
        hash_mib: args.hash,
        opening: OpeningPlan {
            min_plies: args.random_plies.0,
            max_plies: args.random_plies.1,
            balance: args.balance,
            balance_nodes: args.balance_nodes,
        },
        adjudication: Adjudication {
            resign_score: args.resign_score,
            resign_plies: args.resign_plies,
            draw_score: args.draw_score,
            draw_plies: args.draw_plies,
            draw_from: args.draw_from,
            max_plies: args.max_plies,
        },
        rules: args.rules.clone(),
    }
}

/// The header of the plan's file. The run id is a digest of the plan: the same plan is the same run.
pub fn header_of(plan: &Plan) -> Result<Header, PlanError> {
    let digest: [u8; 32] = Sha256::digest(plan.to_bytes()?).into();
    let mut run_id = [0; 16];
    run_id.copy_from_slice(&digest[..16]);
    Ok(Header {
        rules: plan.rule_set()?,
        seed: plan.seed,
        engine_signature: plan.engine_signature,
        run_id,
        net_id: plan.net,
        plan_len: 0,
        plan_crc: 0,
    })
}

fn threads(asked: usize) -> usize {
    if asked > 0 { asked } else { std::thread::available_parallelism().map_or(1, std::num::NonZero::get) }
}

fn show_plan(args: &PlayArgs, plan: &Plan, threads: usize) {
    note(&format!("{} ({threads} threads)", args.out.display()));
    for (name, value) in plan.settings() {
        note(&format!("  {name:<18}{value}"));
    }
}

/// What this process did.
struct Made {
    elapsed: Duration,
    positions: u64,
    nodes: u64,
    repeated: u64,
}

/// The result on stdout.
fn report(args: &PlayArgs, totals: Totals, state: &str, made: Option<&Made>) -> anyhow::Result<()> {
    let out = args.out.display();
    let bytes = std::fs::metadata(&args.out).with_context(|| format!("{out}"))?.len();
    let speed = made.map(|made| per_second(made.positions, made.elapsed));
    if args.json {
        let json = json!({
            "file": args.out.to_string_lossy(),
            "state": state,
            "games": totals.games,
            "plies": totals.plies,
            "positions": totals.positions,
            "bytes": bytes,
            "seconds": made.map(|made| made.elapsed.as_secs_f64()),
            "positions_per_second": speed,
            "nodes": made.map(|made| made.nodes),
            "nodes_per_second": made.map(|made| per_second(made.nodes, made.elapsed)),
            "repeated_openings": made.map(|made| made.repeated),
        });
        return super::print(&format!("{json}\n"));
    }
    let Totals { games, positions, .. } = totals;
    let mut text = format!("{out}: {state}, {games} games, {positions} positions, {bytes} bytes\n");
    if let (Some(made), Some(speed)) = (made, speed) {
        let (seconds, repeated) = (made.elapsed.as_secs(), made.repeated);
        let nps = per_second(made.nodes, made.elapsed);
        text += &format!(
            "{seconds} s, {speed} positions/s, {nps} nodes/s; {repeated} repeated openings left out\n"
        );
    }
    super::print(&text)
}
