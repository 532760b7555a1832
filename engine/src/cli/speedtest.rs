//! `chuhe speedtest`

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Args;

use super::Show;
use super::eval::NetOptions;
use crate::search::{MAX_HASH_MIB, MAX_THREADS};
use crate::speedtest::{self, DEFAULT_SECONDS, MAX_SECONDS, Plan};

#[derive(Args)]
pub(super) struct Arguments {
    /// Search threads; one per CPU if not given
    #[arg(value_name = "THREADS", value_parser = clap::value_parser!(u64).range(1..=MAX_THREADS as u64))]
    threads: Option<u64>,
    /// The same by name
    #[arg(long = "threads", value_name = "N", conflicts_with = "threads", value_parser = clap::value_parser!(u64).range(1..=MAX_THREADS as u64))]
    threads_named: Option<u64>,
    /// Size of the table, in MiB; 128 per thread if not given
    #[arg(value_name = "HASH", value_parser = clap::value_parser!(u64).range(1..=MAX_HASH_MIB as u64))]
    hash: Option<u64>,
    /// The same by name
    #[arg(long = "hash", value_name = "MIB", conflicts_with = "hash", value_parser = clap::value_parser!(u64).range(1..=MAX_HASH_MIB as u64))]
    hash_named: Option<u64>,
    /// Time of all searches together, in seconds
    #[arg(value_name = "SECONDS", default_value_t = DEFAULT_SECONDS, value_parser = clap::value_parser!(u64).range(1..=MAX_SECONDS))]
    seconds: u64,
    /// The same by name
    #[arg(long = "seconds", value_name = "S", conflicts_with = "seconds", value_parser = clap::value_parser!(u64).range(1..=MAX_SECONDS))]
    seconds_named: Option<u64>,
    #[command(flatten)]
    net: NetOptions,
    #[command(flatten)]
    show: Show,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let chosen = arguments.net.choose()?;
    let number = |n: Option<u64>| n.map(usize::try_from).transpose();
    let threads = number(arguments.threads_named.or(arguments.threads))?;
    let hash_mib = number(arguments.hash_named.or(arguments.hash))?;
    let plan = Plan::new(threads, hash_mib, arguments.seconds_named.unwrap_or(arguments.seconds));
    let quiet = arguments.show.json;
    let mut last = 0;
    let mut progress = |done: usize, all: usize| {
        let percent = done * 100 / all.max(1);
        if !quiet && percent / 10 > last {
            last = percent / 10;
            eprintln!("speedtest: {done}/{all} positions");
        }
    };
    if !quiet {
        eprintln!("speedtest: {plan}");
    }
    let summary = speedtest::run(chosen.source, &plan, &Arc::new(AtomicBool::new(false)), &mut progress);
    arguments.show.print(&summary, || summary.to_string())?;
    Ok(ExitCode::SUCCESS)
}
