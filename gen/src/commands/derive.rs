//! What verbs that make record files from record files have in common: open, work, publish, report.

use std::path::Path;
use std::process::ExitCode;

use crate::cli::InputArgs;
use crate::derived::{
    Counters, DerivedError, DerivedPlan, DerivedWriter, Job, Opened, Report, Sources, WriteMode,
};
use crate::progress::{LineProgress, note};
use crate::sink::SinkError;

use super::play::stop_flag;

/// Damaged parts shown one by one; the manifest has all.
const DAMAGE_SHOWN: usize = 20;

/// Opens the inputs, lets `work` make files of them on the threads asked for, and prints what it reports.
pub(super) fn run(
    verb: &'static str,
    input: &InputArgs,
    work: impl FnOnce(&mut Job<'_>, &mut Report) -> Result<(), DerivedError> + Send,
) -> anyhow::Result<ExitCode> {
    let stop = stop_flag()?;
    let pool = input.run.pool()?;
    let sources = pool.install(|| Sources::open(&input.files, input.skip_damaged))?;
    show_damage(&sources);
    let mut progress = LineProgress::new("positions", input.run.quiet);
    let mut report = Report::new(verb, &sources);
    let done = pool.install(|| {
        let mut show = |done, all| progress.show(done, all);
        let mut job =
            Job { sources: &sources, stop: &stop, progress: &mut show, passes: 1, passed: 0, lost: 0 };
        work(&mut job, &mut report)
    });
    progress.finish();
    done.map_err(|error| match error {
        DerivedError::Sink(SinkError::Io { .. } | SinkError::Write { .. }) => anyhow::Error::new(error)
            .context("no unfinished file is left; once the cause is removed the same command begins anew"),
        other => other.into(),
    })?;
    super::print(&if input.run.json { format!("{}\n", report.json()) } else { report.text() })?;
    Ok(ExitCode::SUCCESS)
}

fn show_damage(sources: &Sources) {
    let all = sources.files().iter().flat_map(|file| {
        file.damage.iter().map(|damage| format!("{}: left out: {}", file.path.display(), damage.what))
    });
    for (i, line) in all.enumerate() {
        if i == DAMAGE_SHOWN {
            return note("… and more; the manifest has all");
        }
        note(&line);
    }
}

/// Makes one file: `fill` pushes its games and counts.
pub(super) fn one_file(
    job: &mut Job<'_>,
    report: &mut Report,
    (out, force): (&Path, bool),
    (plan, seed): (&DerivedPlan, u64),
    fill: impl FnOnce(&mut Job<'_>, &mut DerivedWriter) -> Result<Counters, DerivedError>,
) -> Result<(), DerivedError> {
    let mode = WriteMode { resume: false, force };
    let mut writer = match DerivedWriter::open(out, plan, job.sources, seed, mode)? {
        Opened::Complete(totals) => return report.output(out, totals, true),
        Opened::Run(writer) => writer,
    };
    let mut counters = fill(job, &mut writer)?;
    counters.0.push(("blocks_that_do_not_decode", job.lost));
    let totals = writer.publish(&counters.json(), &job.sources.json())?;
    report.count(counters);
    report.output(out, totals, false)
}

/// Settings with their names, for a plan.
pub(super) fn settings(settings: &[(&str, &dyn ToString)]) -> Vec<(String, String)> {
    settings.iter().map(|(name, value)| ((*name).to_owned(), value.to_string())).collect()
}
