//! `chuhe-match`: matches between engines or nets, and what their results say.

mod cli;
mod progress;
mod tune;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use arena::plan::Match;
use arena::{report, runner};
use clap::Parser;
use serde_json::{Value, json};

use cli::{Cli, Command, RunArgs, StatsArgs};
use progress::Progress;

/// Done.
const DONE: u8 = 0;
/// Could not run, or not to the end.
const NOT_RUN: u8 = 2;

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run(args) => run(&args),
        Command::Stats(args) => stats(&args),
        Command::Spsa(args) => tune::run(&args),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("chuhe-match: {}", engine::cli::error_text(&error));
            ExitCode::from(NOT_RUN)
        }
    }
}

fn stats(args: &StatsArgs) -> anyhow::Result<u8> {
    let (counts, sprt) = (args.counts()?, args.sprt.sprt()?);
    if args.json {
        println!("{}", Value::Object(report::statistics(&counts, sprt.as_ref())));
    } else {
        print!("{}", report::statistics_text(&counts, sprt.as_ref()));
    }
    Ok(DONE)
}

fn run(args: &RunArgs) -> anyhow::Result<u8> {
    let (plan, outputs) = (args.plan()?, args.outputs());
    let sprt = plan.sprt;
    let pairs = plan.pairs;
    eprintln!(
        "{} against {}: {pairs} pairs at {}, {} rules, seed {}, {} at once",
        plan.players[0].name(),
        plan.players[1].name(),
        plan.settings.limit,
        plan.settings.rules,
        plan.seed,
        plan.concurrency
    );
    let game = Match::prepare(plan)?;
    let stop = stop_at_interrupt()?;
    let mut progress = Progress::new(pairs, sprt);
    let summary = runner::run(&game, &outputs, &stop, &mut |event| progress.on_event(event));
    progress.finish();
    let summary = summary?;
    if args.json {
        let mut value = report::summary(&summary, sprt.as_ref());
        let path = |path: &Option<std::path::PathBuf>| path.as_ref().map(|path| path.display().to_string());
        value["plan"] = game.description();
        value["files"] = json!({ "journal": path(&outputs.journal), "pgn": path(&outputs.pgn) });
        println!("{value}");
    } else {
        print!("{}", report::summary_text(&summary, sprt.as_ref()));
    }
    if !summary.interrupted {
        return Ok(DONE);
    }
    match &outputs.journal {
        Some(path) => eprintln!(
            "interrupted after {} pairs; the same command continues the match from {}",
            summary.tally.pairs(),
            path.display()
        ),
        None => eprintln!(
            "interrupted after {} pairs; nothing was kept (with --journal FILE a match can be continued)",
            summary.tally.pairs()
        ),
    }
    Ok(NOT_RUN)
}

/// Set by the first interrupt, which ends a run in order; a second one ends it at once. The journal stands either way.
fn stop_at_interrupt() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    let interrupt = move || {
        if asked.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(NOT_RUN));
        }
    };
    ctrlc::set_handler(interrupt).context("handling interrupts")?;
    Ok(stop)
}
