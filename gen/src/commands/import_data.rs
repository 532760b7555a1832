//! `chuhe-gen import` of data: JSON lines of games, `.plain` text, CSV and packed positions into records.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, anyhow, bail};
use nnue_format::record::{Header, WriteError, Writer};
use serde_json::{Value, json};
use xiangqi::judge::RuleSet;

use crate::cli::ImportArgs;
use crate::exchange::jsonl::FileLine;
use crate::exchange::{Conventions, FirstRank, View};
use crate::import::data::{DataImport, DataKind, DataSettings, DataTally, Opener};
use crate::import::{IMPORT_PLAN_VERSION, ImportError, ImportPlan, Kind, WholeFile};
use crate::manifest;
use crate::plan::run_id;
use crate::progress::{LineProgress, note};

use super::play::stop_flag;

/// The kinds of all files, where they are data; `None` where they are game files.
///
/// # Errors
/// When there are both, or a file is not what it is said to be.
pub fn kinds(args: &ImportArgs) -> anyhow::Result<Option<Vec<DataKind>>> {
    let mut kinds = Vec::new();
    let mut other = None;
    for path in &args.files {
        match DataKind::of(path, args.format.as_deref()) {
            Ok(Some(kind)) => kinds.push(kind),
            // A file that cannot be read is told with the others.
            Ok(None) | Err(ImportError::Read { .. }) => other = Some(path),
            Err(error) => return Err(error.into()),
        }
    }
    match (kinds.is_empty(), other) {
        (true, _) => Ok(None),
        (false, None) => Ok(Some(kinds)),
        (false, Some(path)) => bail!(
            "{}: no data (JSON lines by export, .plain text, CSV, .bin), but other files are; import them one after the other",
            path.display()
        ),
    }
}

/// Runs the verb on data.
pub fn run(args: &ImportArgs, kinds: &[DataKind]) -> anyhow::Result<ExitCode> {
    let settings = settings(args, kinds)?;
    let out = args.out.as_deref().filter(|_| !args.dry_run);
    match out {
        None if !args.dry_run => {
            bail!("nothing to do: give --out FILE, or --dry-run to read and report only")
        }
        _ => {}
    }
    let stop = stop_flag()?;
    let tally = match out {
        None => read(args, kinds, settings, None, &stop)?.1,
        Some(out) => write(args, kinds, settings, out, &stop)?,
    };
    let report = if args.json { format!("{}\n", report(args, out, &tally)) } else { text(out, &tally) };
    super::print(&report)?;
    Ok(if tally.fault_count() == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn settings(args: &ImportArgs, kinds: &[DataKind]) -> anyhow::Result<DataSettings> {
    let others = [
        (args.nodes.is_some(), "--nodes (scores are in the data; `chuhe-gen rescore` gives new ones)"),
        (args.variations, "--variations"),
        (args.plies.is_some(), "--plies"),
        (args.game.is_some(), "--game"),
        (args.unfinished.is_some(), "--unfinished"),
    ];
    if let Some((_, option)) = others.into_iter().find(|(given, _)| *given) {
        bail!("{option} is for game files, and these are data ({})", kinds[0].name());
    }
    let kind = match (&args.to, &args.out) {
        (Some(name), _) => Kind::named(name),
        (None, Some(out)) => Kind::by_extension(out),
        (None, None) => Some(Kind::Record),
    };
    if kind != Some(Kind::Record) {
        bail!("data become records: give --to record, or --out FILE.rec");
    }
    let view = |name: &str, text: &str| {
        View::named(text).ok_or_else(|| anyhow!("{name} {text:?}: expected side (to move) or red"))
    };
    let first_rank = args.first_rank.and_then(FirstRank::numbered);
    let settings = DataSettings {
        rules: args.rules.parse::<RuleSet>().context("--rules")?,
        conventions: Conventions {
            first_rank: first_rank.unwrap_or(FirstRank::Zero),
            scores: view("--scores", &args.scores)?,
            results: view("--results", &args.results)?,
        },
        find_ranks: first_rank.is_none(),
        skip_damaged: args.skip_damaged,
        keep_numbers: args.files.len() == 1,
    };
    if args.restore && (kinds != [DataKind::Jsonl] || args.skip_damaged || args.dry_run) {
        bail!(
            "--restore writes one file of JSON lines again: no other formats, no --skip-damaged, no --dry-run"
        );
    }
    Ok(settings)
}

/// Reads all files; what cannot be used is told on stderr.
fn read<'a>(
    args: &ImportArgs,
    kinds: &[DataKind],
    settings: DataSettings,
    open: Option<Opener<'a, File>>,
    stop: &'a AtomicBool,
) -> anyhow::Result<(Option<Writer<File>>, DataTally, Option<FileLine>)> {
    let bytes = args.files.iter().map(|path| path.metadata().map_or(0, |data| data.len())).sum();
    let mut progress = LineProgress::new("bytes", args.quiet);
    let mut import = DataImport::new(settings, open, stop);
    let mut ended = Ok(());
    for (path, kind) in args.files.iter().zip(kinds) {
        ended = import.file(path, *kind, &mut |read| progress.show(read, bytes));
        if ended.is_err() {
            break;
        }
    }
    progress.finish();
    let found = import.finish();
    if !args.quiet || ended.is_err() {
        found.1.shown.iter().for_each(|line| note(line));
        let more = found.1.fault_count().saturating_sub(found.1.shown.len() as u64);
        if more > 0 {
            note(&format!("… and {more} more"));
        }
    }
    ended?;
    Ok(found)
}

/// Writes the record file and its manifest, whole or not at all.
fn write(
    args: &ImportArgs,
    kinds: &[DataKind],
    settings: DataSettings,
    out: &Path,
    stop: &AtomicBool,
) -> anyhow::Result<DataTally> {
    let (whole, file) = WholeFile::create(out, args.force)?;
    let mut file = Some(file);
    let mut plan = plan(args, kinds, &settings)?;
    let mut open = |rules: RuleSet, line: Option<&FileLine>| {
        let broken = |why: String| WriteError::Io(io::Error::new(io::ErrorKind::InvalidData, why));
        let file = file.take().ok_or_else(|| broken("the file is open already".to_owned()))?;
        let (header, bytes) = match line.filter(|_| args.restore) {
            Some(line) => line.header().map_err(|why| broken(format!("line 1: {why}")))?,
            None => {
                plan.rules = rules.to_string();
                header_of(&plan, rules).map_err(|error| broken(error.to_string()))?
            }
        };
        Writer::create(file, header, &bytes)
    };
    let (writer, tally, line) = read(args, kinds, settings, Some(&mut open), stop)?;
    let Some(writer) = writer else { bail!("no game is left to be written: {}", tally.text().trim_end()) };
    let (file, _) = writer.finish().context("cannot write the records")?;
    let mut manifest = manifest::of_any(whole.partial(), out)?;
    if args.restore {
        check_restored(line.as_ref(), manifest["sha256"].as_str().unwrap_or_default())?;
    }
    manifest["kind"] = json!(Kind::Record.name());
    manifest["inputs"] = json!(manifest::inputs(&args.files)?);
    manifest["formats"] = kinds.iter().map(|kind| kind.name()).collect();
    manifest["plan"] = json!(plan);
    manifest["restored"] = json!(args.restore);
    manifest["tally"] = tally.json();
    manifest::write_whole(&manifest::path_beside(out), &format!("{manifest:#}\n"))?;
    whole.publish(&file)?;
    Ok(tally)
}

fn check_restored(line: Option<&FileLine>, found: &str) -> anyhow::Result<()> {
    let Some(line) = line else {
        bail!(
            "--restore: the first line does not say which record file the games are of; export one whole file to jsonl"
        )
    };
    if line.sha256 != found {
        bail!(
            "--restore: the games give a file with SHA-256 {found}, but {} had {}: lines were changed, left out or added. \
             Without --restore they become a file of their own",
            line.file,
            line.sha256
        );
    }
    Ok(())
}

/// Everything that the records depend on.
fn plan(args: &ImportArgs, kinds: &[DataKind], settings: &DataSettings) -> anyhow::Result<ImportPlan> {
    let Conventions { first_rank, scores, results } = settings.conventions;
    let ranks = if settings.find_ranks { "found".to_owned() } else { first_rank.number().to_string() };
    let kinds: Vec<_> = kinds.iter().map(|kind| kind.name()).collect();
    Ok(ImportPlan {
        version: IMPORT_PLAN_VERSION,
        files: args.files.len() as u64,
        inputs: manifest::digest_of_all(&args.files)?,
        variations: false,
        unfinished: format!(
            "data {} first_rank={ranks} scores={} results={} skip_damaged={}",
            kinds.join("+"),
            scores.name(),
            results.name(),
            settings.skip_damaged
        ),
        limit: None,
        net: [0; 32],
        engine_signature: 0,
        hash_mib: 0,
        rules: args.rules.clone(),
    })
}

fn header_of(plan: &ImportPlan, rules: RuleSet) -> anyhow::Result<(Header, Vec<u8>)> {
    let bytes = plan.to_bytes()?;
    let run_id = run_id(&bytes);
    let header =
        Header { rules, seed: 0, engine_signature: 0, run_id, net_id: [0; 32], plan_len: 0, plan_crc: 0 };
    Ok((header, bytes))
}

fn report(args: &ImportArgs, out: Option<&Path>, tally: &DataTally) -> Value {
    let mut report = json!({
        "file": out.map(|out| out.to_string_lossy()),
        "kind": Kind::Record.name(),
        "files": args.files.len(),
    });
    if let (Some(report), Value::Object(tally)) = (report.as_object_mut(), tally.json()) {
        report.extend(tally);
    }
    report
}

fn text(out: Option<&Path>, tally: &DataTally) -> String {
    match out {
        Some(out) => format!("{}: {}", out.display(), tally.text()),
        None => tally.text(),
    }
}
