//! `chuhe-train report`: a run as one page.

use super::{net_of, other_files, print_json};
use crate::checkpoint::{Checkpoint, CheckpointError, write_file};
use crate::config::Config;
use crate::data::source::Source;
use crate::model::net::NetChoice;
use crate::report::data::by_net;
use crate::report::page::page;
use crate::report::{DataView, MatchRow, NetView, Report, RunView};
use anyhow::{Result, bail};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Record files of a run are read unasked up to this many bytes, which takes a minute or two.
const UNASKED: u64 = 1 << 30;

/// Words of the command.
#[derive(Args)]
pub struct ReportArgs {
    /// Runs, also in progress; the curves of several are laid over each other, the rest is of the first
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// The page [default: report.html in the folder of the first run]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Record files for the calibration [default: those of the run, up to 1 GiB of them]
    #[arg(long, num_args = 1.., value_name = "FILE")]
    data: Vec<PathBuf>,
    /// Results of matches, as chuhe-match prints them with --json
    #[arg(long = "match", num_args = 1.., value_name = "FILE")]
    matches: Vec<PathBuf>,
    /// Overwrite a file at --out that is no page
    #[arg(long)]
    force: bool,
    /// Print all figures as JSON; a page is written only to --out
    #[arg(long)]
    json: bool,
}

/// Carries it out.
///
/// # Errors
/// What is wrong with a run or a file.
pub fn report(args: &ReportArgs, choice: &NetChoice) -> Result<ExitCode> {
    let out = match (&args.out, args.json, args.runs.first()) {
        (Some(path), ..) => Some(path.clone()),
        (None, false, Some(run)) => Some(run.join("report.html")),
        _ => None,
    };
    if let Some(path) = &out {
        check_out(path, args.force)?;
    }
    let report = gather(args, choice)?;
    if let Some(path) = &out {
        write_file(path, page(&report)?.as_bytes())?;
    }
    match (out, args.json) {
        (_, true) => print_json(&report)?,
        (Some(path), false) => println!("report  {}", path.display()),
        (None, false) => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// A page is made anew; anything else is somebody's file.
fn check_out(path: &Path, force: bool) -> Result<()> {
    match std::fs::read(path) {
        Ok(bytes) if !force && !bytes.starts_with(b"<!DOCTYPE html>") => {
            bail!("{} is there and is no page; choose another --out, or say --force", path.display())
        }
        _ => Ok(()),
    }
}

fn gather(args: &ReportArgs, choice: &NetChoice) -> Result<Report> {
    let mut runs = Vec::new();
    for folder in &args.runs {
        runs.push(RunView::read(folder)?);
    }
    let mut matches = Vec::new();
    for file in &args.matches {
        matches.extend(MatchRow::read(file)?);
    }
    let (mut net, mut data, mut no_data) = (None, None, None);
    if let Some(run) = runs.first() {
        match &run.checkpoint {
            Some(path) => {
                let checkpoint = newest(&run.folder, path)?;
                net = Some(NetView::of(&checkpoint)?);
                match source(&args.data, &checkpoint, &run.config)? {
                    Ok(source) => {
                        let mut judge = net_of(&checkpoint, &run.config, choice)?;
                        data =
                            Some(DataView::of(&run.config, source, &mut |batch| by_net(&mut *judge, batch))?);
                    }
                    Err(why) => no_data = Some(why),
                }
            }
            None => no_data = Some("the run has no checkpoint yet".to_owned()),
        }
    }
    Ok(Report { runs, net, data, no_data, matches })
}

/// The newest checkpoint of a run. One in progress may take away what it had a moment ago, and has a newer one then.
fn newest(run: &Path, seen: &Path) -> Result<Checkpoint, CheckpointError> {
    match Checkpoint::read(seen) {
        Err(CheckpointError::Io { .. } | CheckpointError::NotFound(_)) => Checkpoint::read(run),
        other => other,
    }
}

/// The record files asked for; else those of the run if they are still there and not too many, or why not.
fn source(asked: &[PathBuf], checkpoint: &Checkpoint, config: &Config) -> Result<Result<Source, String>> {
    let inputs = &checkpoint.run.inputs;
    if !asked.is_empty() {
        return Ok(Ok(other_files(asked, config)?));
    }
    let bytes: u64 = inputs.iter().map(|input| input.bytes).sum();
    if bytes > UNASKED {
        return Ok(Err(format!("the run's record files have {bytes} bytes; name some with --data")));
    }
    Ok(Source::reopen(inputs, config.loader.skip_damage).map_err(|error| error.to_string()))
}
