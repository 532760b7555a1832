//! `xtask quickstart`: the main job of the project, small: play → train → export → verify → bench → match.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use serde_json::Value;

use crate::process::{self, root, shown};
use crate::steps::{Done, Steps, write_whole};
use crate::summary::{self, Report};

/// Where everything of the run lies, relative to the root of the checkout (programs are started there).
const FOLDER: &str = "runs/quickstart";
/// Positions to play: whole games, so a few more come out. The smallest run worth looking at is 100,000.
const POSITIONS: u32 = 120_000;
/// Search effort a move, in nodes: enough that material is not given away, few enough for two minutes.
const NODES_A_MOVE: u32 = 1_000;
const PLAY_SEED: u32 = 20_260_301;
/// Seed of the net with random weights that the trained one has to beat.
const UNTRAINED_SEED: u32 = 1;
/// Effort a move in the matches, in nodes, and pairs of games with colours swapped.
const MATCH_NODES: u32 = 2_000;
const MATCH_PAIRS: u32 = 20;
const MATCH_SEED: u32 = 7;
const TRAIN_CONFIG: &str = "scripts/quickstart.toml";

#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Delete what an earlier run left and start over
    #[arg(long)]
    fresh: bool,
}

/// Turns words and paths into the arguments of one command.
macro_rules! words {
    ($($word:expr),* $(,)?) => { vec![$(OsString::from($word)),*] };
}

/// Runs (or continues, or finds complete) the whole loop; false when the net misses what it must reach.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let started = Instant::now();
    std::env::set_current_dir(root()).context("entering the root of the checkout")?;
    let folder = PathBuf::from(FOLDER);
    if args.fresh && folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("deleting {FOLDER}"))?;
    }
    let mut steps = Steps::open(folder.join("steps"))?;
    let report = run_steps(&mut steps, &folder)?;
    let text = summary::text(&report, started.elapsed().as_secs_f64());
    write_whole(&folder.join("summary.txt"), &text)?;
    write_whole(&folder.join("summary.json"), &serde_json::to_string_pretty(&summary::json(&report))?)?;
    println!("\n{text}");
    if steps.fresh == 0 {
        println!("already complete; scripts/quickstart.sh --fresh starts over");
    }
    let misses = summary::misses(&report);
    for miss in &misses {
        eprintln!("NOT REACHED: {miss}");
    }
    Ok(misses.is_empty())
}

fn run_steps(steps: &mut Steps, folder: &Path) -> Result<Report> {
    let games = folder.join("games.chr");
    let model = folder.join("model");
    let net = folder.join("classic.nnue");
    let untrained = folder.join("untrained.nnue");
    let threads = std::thread::available_parallelism().map_or(1, usize::from).to_string();

    let play = words![
        "play",
        "--out",
        &games,
        "--positions",
        POSITIONS.to_string(),
        "--nodes",
        NODES_A_MOVE.to_string(),
        "--seed",
        PLAY_SEED.to_string(),
        "--threads",
        &threads,
        "--net",
        "none"
    ];
    let played = plain_step(steps, "1-play", "chuhe-gen", play, &games)?;
    let verified =
        json_step(steps, "2-verify-records", "chuhe-gen", words!["verify", &games, "--json"], None)?;
    let records = json_step(steps, "3-inspect", "chuhe-gen", words!["inspect", &games, "--json"], None)?;

    let train = words!["train", TRAIN_CONFIG, "--data", &games, "--out", &model, "--json"];
    let trained = json_step(steps, "4-train", "chuhe-train", train, Some(&model))?;
    let export = words!["export", &model, "--out", &net, "--json"];
    let exported = json_step(steps, "5-export", "chuhe-train", export, Some(&net))?;
    let net_check = json_step(steps, "6-verify-net", "chuhe", words!["net", "verify", &net, "--json"], None)?;

    let mut benches = Vec::new();
    for backend in backends()? {
        let bench = words!["bench", "--net", &net, "--backend", &backend, "--json"];
        benches.push(json_step(steps, &format!("7-bench-{backend}"), "chuhe", bench, None)?);
    }
    let random = words![
        "net",
        "random",
        "--arch",
        "classic",
        "--seed",
        UNTRAINED_SEED.to_string(),
        "--out",
        &untrained
    ];
    plain_step(steps, "8-untrained-net", "chuhe", random, &untrained)?;
    let against_untrained = match_step(steps, "9-match-untrained", &net, &player(&untrained), &threads)?;
    let against_hce = match_step(steps, "10-match-hce", &net, "hce", &threads)?;
    Ok(Report {
        folder: folder.to_path_buf(),
        games,
        net,
        played,
        verified,
        records,
        trained,
        exported,
        net_check,
        benches,
        against_untrained,
        against_hce,
    })
}

/// How `chuhe-match` names a net in its own process.
fn player(net: &Path) -> String {
    format!("net:{}", net.display())
}

fn match_step(steps: &mut Steps, name: &str, net: &Path, other: &str, threads: &str) -> Result<Done> {
    let run = words![
        "run",
        "--a",
        player(net),
        "--b",
        other,
        "--pairs",
        MATCH_PAIRS.to_string(),
        "--nodes",
        MATCH_NODES.to_string(),
        "--seed",
        MATCH_SEED.to_string(),
        "--concurrency",
        threads,
        "--json"
    ];
    json_step(steps, name, "chuhe-match", run, None)
}

fn json_step(
    steps: &mut Steps,
    name: &str,
    program: &str,
    args: Vec<OsString>,
    made: Option<&Path>,
) -> Result<Done> {
    steps.once(name, &shown(program, &args), made, || process::json(program, &args))
}

fn plain_step(
    steps: &mut Steps,
    name: &str,
    program: &str,
    args: Vec<OsString>,
    made: &Path,
) -> Result<Done> {
    steps.once(name, &shown(program, &args), Some(made), || {
        process::plain(program, &args)?;
        if !made.exists() {
            bail!("{} ended well, but {} is not there", shown(program, &args), made.display());
        }
        Ok(Value::Null)
    })
}

/// The evaluation backends of this CPU, as `chuhe backends` lists them.
fn backends() -> Result<Vec<String>> {
    let answer = process::json("chuhe", &["backends", "--json"].map(OsString::from))?;
    let list = answer.as_array().or_else(|| answer["backends"].as_array());
    let names: Vec<String> =
        list.into_iter().flatten().filter_map(|name| name.as_str().map(str::to_string)).collect();
    if names.is_empty() {
        bail!("`chuhe backends --json` named no backend: {answer}");
    }
    Ok(names)
}
