//! `chuhe-gen stats`: what record files hold, as text, JSON or a page.

use std::process::ExitCode;

use anyhow::bail;

use crate::cli::StatsArgs;
use crate::manifest::write_whole;
use crate::progress::{LineProgress, note};
use crate::stats::{Keep, WdlFit, html, json, survey, text};

/// Bytes in a MiB.
const MIB: u64 = 1 << 20;

/// Runs the verb: exit code 1 where something in the files is damaged.
pub fn run(args: &StatsArgs) -> anyhow::Result<ExitCode> {
    if let Some(path) = args.html.as_ref().filter(|path| path.exists() && !args.force) {
        bail!("{} is there; give another --html, or --force to replace it", path.display());
    }
    let keep = if args.all { Keep::All } else { Keep::ForTraining };
    let mut progress = LineProgress::new("MiB", args.run.quiet);
    let pool = args.run.pool()?;
    let found =
        pool.install(|| survey(&args.files, keep, &mut |done, all| progress.show(done / MIB, all / MIB)));
    progress.finish();
    let found = found?;
    let fit = WdlFit::of(&found.counts);
    if let Some(path) = &args.html {
        write_whole(path, &html::page(&found, &fit)?)?;
        if !args.run.quiet {
            note(&format!("page: {}", path.display()));
        }
    }
    let answer =
        if args.run.json { format!("{}\n", json::json(&found, &fit)) } else { text::text(&found, &fit) };
    super::print(&answer)?;
    Ok(if found.fault_count == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
