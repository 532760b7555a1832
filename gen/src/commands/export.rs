//! `chuhe-gen export`: record files into JSON lines, plain text, CSV or FENs.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use nnue_format::record::{PositionFilter, Reader};
use serde_json::{Value, json};

use crate::cli::ExportArgs;
use crate::exchange::jsonl::{FileLine, file_line};
use crate::exchange::{FirstRank, View};
use crate::export::{ExportError, Output, Settings, Tally, Target, export};
use crate::manifest;
use crate::progress::{LineProgress, note};

use super::play::stop_flag;

/// Damaged places shown one by one.
const DAMAGE_SHOWN: usize = 20;

/// Runs the verb.
pub fn run(args: &ExportArgs) -> anyhow::Result<ExitCode> {
    let out = args.out.as_deref().filter(|path| *path != Path::new("-"));
    let target = target(args, out)?;
    if args.json && out.is_none() {
        bail!("--json needs --out FILE: stdout carries the {} itself", target.name());
    }
    let settings = settings(args, target)?;
    let positions = scored_positions(args)?;
    let stop = stop_flag()?;
    let mut output = Output::create(out, args.force)?;
    let mut progress = LineProgress::new("positions", args.quiet);
    let written = export(&args.files, &settings, &mut output, &stop, &mut |seen| {
        progress.show(seen, positions.max(seen));
    });
    progress.finish();
    let tally = match written {
        // Whoever closed stdout (`| head`) has seen enough.
        Err(ExportError::Write(error)) if out.is_none() && error.kind() == io::ErrorKind::BrokenPipe => {
            return Ok(ExitCode::SUCCESS);
        }
        other => other?,
    };
    show_damage(&tally);
    if let (Some(path), Some(partial)) = (out, output.partial()) {
        write_manifest(args, &settings, path, partial, &tally)?;
    }
    output.publish()?;
    if out.is_some() {
        let text = if args.json { format!("{}\n", report(args, target, &tally)) } else { text(args, &tally) };
        super::print(&text)?;
    } else if !args.quiet {
        note(text(args, &tally).trim_end());
    }
    Ok(if tally.damaged == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn target(args: &ExportArgs, out: Option<&Path>) -> anyhow::Result<Target> {
    match (&args.to, out) {
        (Some(name), _) => {
            Target::named(name).ok_or_else(|| anyhow!("--to {name:?}: expected one of jsonl plain csv fen"))
        }
        (None, Some(path)) => Target::by_extension(path).ok_or_else(|| {
            anyhow!("{}: the name does not say what to write; give --to jsonl|plain|csv|fen", path.display())
        }),
        (None, None) => bail!("give --to jsonl|plain|csv|fen"),
    }
}

fn settings(args: &ExportArgs, target: Target) -> anyhow::Result<Settings> {
    let view = |name: &str, text: &str| {
        View::named(text).ok_or_else(|| anyhow!("{name} {text:?}: expected side (to move) or red"))
    };
    let filter = PositionFilter {
        marked: !args.marked,
        early_plies: args.early_plies,
        mates: args.no_mates,
        max_score: args.max_score,
        not_best: args.no_not_best,
        captures: args.no_captures,
        in_check: args.no_checks,
    };
    let plain_filter = PositionFilter { marked: true, ..PositionFilter::default() };
    if target == Target::Jsonl {
        let views = [&args.scores, &args.results].iter().any(|view| *view != "side");
        if filter != plain_filter
            || args.one_in > 1
            || args.first_rank.is_some_and(|first| first != 0)
            || views
        {
            bail!(
                "--to jsonl writes whole games as they are recorded: no filters, views or other ranks; mark positions by \
                 `chuhe-gen filter`, or export plain or csv"
            );
        }
    }
    if args.max_score < 0 {
        bail!("--max-score must be 0 (no limit) or more");
    }
    let first_rank = args.first_rank.and_then(FirstRank::numbered);
    Ok(Settings {
        target,
        first_rank: first_rank.unwrap_or(target.first_rank()),
        scores: view("--scores", &args.scores)?,
        results: view("--results", &args.results)?,
        filter,
        one_in: args.one_in,
        seed: args.seed,
        skip_damaged: args.skip_damaged,
        file_line: line_of_file(args, target)?,
    })
}

/// For whole games of one finished file: what `import --restore` needs to write it again.
fn line_of_file(args: &ExportArgs, target: Target) -> anyhow::Result<Option<String>> {
    let [path] = args.files.as_slice() else { return Ok(None) };
    if target != Target::Jsonl {
        return Ok(None);
    }
    let mut reader = Reader::open(path).with_context(|| path.display().to_string())?;
    let (Some(header), Ok(footer)) = (reader.header().cloned(), reader.footer_at_end()) else {
        return Ok(None);
    };
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (_, sha256) = manifest::digest(path)?;
    let line = FileLine::new(name, sha256, footer.totals.games, &header, reader.plan());
    Ok(Some(file_line(&line)? + "\n"))
}

/// Scored positions of all files as far as their footers tell.
fn scored_positions(args: &ExportArgs) -> anyhow::Result<u64> {
    let mut sum = 0;
    for path in &args.files {
        let mut reader = Reader::open(path).with_context(|| path.display().to_string())?;
        sum += reader.footer_at_end().map_or(0, |footer| footer.totals.positions);
    }
    Ok(sum)
}

fn show_damage(tally: &Tally) {
    for (path, _, what) in tally.damage.iter().take(DAMAGE_SHOWN) {
        note(&format!("{}: left out: {what}", path.display()));
    }
    let more = tally.damaged.saturating_sub(DAMAGE_SHOWN as u64);
    if more > 0 {
        note(&format!("… and {more} more damaged places"));
    }
}

fn counts(tally: &Tally) -> Value {
    let damage = tally.damage.iter().map(
        |(file, offset, what)| json!({ "file": file.to_string_lossy(), "offset": offset, "what": what }),
    );
    json!({
        "games": tally.games,
        "positions": tally.positions,
        "bytes": tally.bytes,
        "left_out": tally.left_out,
        "damaged": tally.damaged,
        "damage": damage.collect::<Vec<_>>(),
    })
}

fn report(args: &ExportArgs, target: Target, tally: &Tally) -> Value {
    let out = args.out.as_deref().unwrap_or(Path::new("-"));
    let mut report = json!({ "file": out.to_string_lossy(), "format": target.name() });
    if let (Some(report), Value::Object(counts)) = (report.as_object_mut(), counts(tally)) {
        report.extend(counts);
    }
    report
}

fn text(args: &ExportArgs, tally: &Tally) -> String {
    let out = args.out.as_deref().unwrap_or(Path::new("-")).display();
    let mut text =
        format!("{out}: {} games, {} positions, {} bytes\n", tally.games, tally.positions, tally.bytes);
    let left_out: Vec<_> = tally.left_out.iter().map(|(why, count)| format!("{why} {count}")).collect();
    if !left_out.is_empty() {
        text += &format!("left out: {}\n", left_out.join(", "));
    }
    text
}

/// How the file was made, in JSON beside it.
fn write_manifest(
    args: &ExportArgs,
    settings: &Settings,
    path: &Path,
    partial: &Path,
    tally: &Tally,
) -> anyhow::Result<()> {
    let mut manifest = manifest::of_any(partial, path)?;
    manifest["format"] = json!(settings.target.name());
    manifest["inputs"] = json!(manifest::inputs(&args.files)?);
    manifest["first_rank"] = json!(settings.first_rank.number());
    manifest["scores"] = json!(settings.scores.name());
    manifest["results"] = json!(settings.results.name());
    manifest["one_in"] = json!(settings.one_in);
    manifest["seed"] = json!(settings.seed);
    manifest["filter"] = json!({
        "marked": settings.filter.marked,
        "early_plies": settings.filter.early_plies,
        "mates": settings.filter.mates,
        "max_score": settings.filter.max_score,
        "not_best": settings.filter.not_best,
        "captures": settings.filter.captures,
        "in_check": settings.filter.in_check,
    });
    manifest["counts"] = counts(tally);
    manifest::write_whole(&manifest::path_beside(path), &format!("{manifest:#}\n"))?;
    Ok(())
}
