//! `chuhe-gen play`: the command line becomes a plan, the plan becomes a file.

mod plan_of;
mod report;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, anyhow, bail};
use engine::eval::EvalSource;
use nnue_format::record::Header;

use crate::cli::PlayArgs;
use crate::manifest;
use crate::plan::{Plan, PlanError, run_id};
use crate::player::EnginePlayer;
use crate::progress::{Progress, note};
use crate::run::{self, RunError};
use crate::sink::{Opened, Sink, SinkError};
use report::{Made, report};

pub use plan_of::{NoPlan, plan_of};

/// Runs the verb.
pub fn run(args: &PlayArgs) -> anyhow::Result<ExitCode> {
    let (source, net) = load_net(&args.net)?;
    let (plan, starts) = plan_of(args, net)?;
    let threads = threads(args.threads);
    let header = header_of(&plan)?;
    if !args.quiet {
        show_plan(args, &plan, threads);
    }
    let mut sink = match Sink::open(&args.out, &header, &plan).map_err(advised)? {
        Opened::Complete(totals) => {
            report(args, &plan, totals, "already complete", None)?;
            return Ok(ExitCode::SUCCESS);
        }
        Opened::Run(sink) => *sink,
    };
    let found = sink.found();
    if found.games > 0 && !args.quiet {
        note(&format!("going on behind {} games, {} positions", found.games, found.positions));
    }
    let stop = stop_flag()?;
    let mut progress = Progress::new(plan.greatest_count(), found, args.quiet);
    let rules = plan.rule_set()?;
    let new_player = |stop| EnginePlayer::new(plan.hash_mib, source.clone(), rules, stop);
    let ended = run::play(&plan, &starts, threads, &mut sink, &stop, new_player, &mut |t| progress.show(t));
    progress.finish();
    let busy = ended.map_err(|error| stopped(error, &sink))?;
    if !sink.is_complete() {
        let waiting = sink.waiting().len() as u64;
        let (games, path) = (sink.written().games + waiting, sink.paths().partial.display());
        bail!(
            "interrupted: {games} whole games are kept in {path} and its journal; the same command goes on"
        );
    }
    let elapsed = progress.elapsed();
    let (unused, nodes) = (sink.unused(), sink.nodes());
    let totals = sink
        .publish(|totals, paths| -> Result<(), SinkError> {
            let manifest = manifest::manifest(&plan, totals, &paths.partial, &paths.out)?;
            manifest::write_whole(&paths.manifest, &format!("{manifest:#}\n"))
        })
        .map_err(advised)?;
    let made = Made { elapsed, busy, threads, positions: totals.positions - found.positions, nodes, unused };
    report(args, &plan, totals, "complete", Some(&made))?;
    Ok(ExitCode::SUCCESS)
}

/// An error with what to do about it.
fn advised(error: SinkError) -> anyhow::Error {
    match error.advice() {
        Some(advice) => anyhow!("{error}; {advice}"),
        None => error.into(),
    }
}

/// Why a run ended too early, and how it goes on.
fn stopped(error: RunError, sink: &Sink) -> anyhow::Error {
    let path = sink.paths().partial.display();
    let advice = match &error {
        // These say themselves what to do.
        RunError::Sink(SinkError::BookUsedUp { .. } | SinkError::NoMoreOpenings { .. }) => {
            return error.into();
        }
        RunError::Sink(error) => error.advice(),
        RunError::Play(_) => None,
    };
    let advice = advice.unwrap_or("the same command goes on");
    anyhow!("{error}; whole games are kept in {path} and its journal: {advice}")
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

/// The header of the plan's file. The run id is a digest of the plan: the same plan is the same run.
pub fn header_of(plan: &Plan) -> Result<Header, PlanError> {
    let run_id = run_id(&plan.to_bytes()?);
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

/// How many threads play; 0 asks for one per core.
pub(super) fn threads(asked: usize) -> usize {
    if asked > 0 { asked } else { std::thread::available_parallelism().map_or(1, std::num::NonZero::get) }
}

fn show_plan(args: &PlayArgs, plan: &Plan, threads: usize) {
    note(&format!("{} ({threads} threads)", args.out.display()));
    for (name, value) in plan.settings() {
        note(&format!("  {name:<18}{value}"));
    }
}
