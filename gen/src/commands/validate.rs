//! `chuhe-gen validate`: everything that can be checked of record files.

use std::path::PathBuf;
use std::process::ExitCode;

use super::play::load_net;
use crate::cli::ValidateArgs;
use crate::progress::LineProgress;
use crate::validate::research::Engine;
use crate::validate::{Options, Report, ValidateError, report, validate};

/// Bytes in a MiB.
const MIB: u64 = 1 << 20;

/// Runs the verb: exit code 1 where anything is wrong.
pub fn run(args: &ValidateArgs) -> anyhow::Result<ExitCode> {
    let options = options(args)?;
    let length = |path: &PathBuf| std::fs::metadata(path).map_or(0, |data| data.len());
    let all: u64 = args.files.iter().map(length).sum();
    let mut progress = LineProgress::new("MiB", args.run.quiet);
    let pool = args.run.pool()?;
    let reports: Result<Vec<Report>, ValidateError> = pool.install(|| {
        let mut done = 0;
        let mut check = |path: &PathBuf| {
            let report =
                validate(path, &options, &mut |offset| progress.show((done + offset) / MIB, all / MIB));
            done += length(path);
            report
        };
        args.files.iter().map(&mut check).collect()
    });
    progress.finish();
    let reports = reports?;
    let answer = if args.run.json { format!("{}\n", report::json(&reports)) } else { report::text(&reports) };
    super::print(&answer)?;
    let is_good = reports.iter().all(|report| report.fault_count == 0);
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn options(args: &ValidateArgs) -> anyhow::Result<Options> {
    let engine = (args.replay > 0 || args.search > 0)
        .then(|| {
            let (source, net) = load_net(&args.net)?;
            anyhow::Ok(Engine { source, net, signature: engine::signature() })
        })
        .transpose()?;
    Ok(Options {
        replay: args.replay as usize,
        search: args.search as usize,
        nodes: args.nodes,
        seed: args.sample_seed,
        engine,
    })
}
