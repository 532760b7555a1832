//! `xtask quickstart`: the main job of the project, small: play → train → export → verify → bench → match → report.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use serde_json::Value;

use crate::process::{self, root};
use crate::steps::{Done, Steps, write_whole};
use crate::summary::{self, Report};

/// Where everything of the run lies, relative to the root of the checkout, where the programs are started. The
/// words of a command are separated by blanks, so none of these names has one.
const FOLDER: &str = "runs/quickstart";
const GAMES: &str = "runs/quickstart/games.chr";
const MODEL: &str = "runs/quickstart/model";
const NET: &str = "runs/quickstart/classic.nnue";
const PAGE: &str = "runs/quickstart/report.html";
const UNTRAINED: &str = "runs/quickstart/untrained.nnue";
const TRAIN_CONFIG: &str = "trainer/configs/quickstart.toml";

/// Positions to play. The smallest run worth looking at is 100,000.
const POSITIONS: u32 = 150_000;
/// Search effort a move, in nodes: enough that material is not given away, few enough for two minutes.
const NODES_A_MOVE: u32 = 1_000;
const PLAY_SEED: u32 = 20_260_301;
/// Seed of the net with random weights that the trained one has to beat.
const UNTRAINED_SEED: u32 = 1;
/// Effort a move in the matches, in nodes, and pairs of games with colours swapped.
const MATCH_NODES: u32 = 2_000;
const MATCH_PAIRS: u32 = 40;
const MATCH_SEED: u32 = 7;

#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Delete what an earlier run left and start over
    #[arg(long)]
    fresh: bool,
}

/// Runs (or continues, or finds complete) the whole loop; false when the net misses what it must reach.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let started = Instant::now();
    std::env::set_current_dir(root()).context("entering the root of the checkout")?;
    let folder = Path::new(FOLDER);
    if args.fresh && folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("deleting {FOLDER}"))?;
    }
    let mut steps = Steps::open(folder.join("steps"))?;
    let report = run_steps(&mut steps)?;
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

fn run_steps(steps: &mut Steps) -> Result<Report> {
    let threads = cores();
    let play = format!(
        "play --out {GAMES} --positions {POSITIONS} --nodes {NODES_A_MOVE} --seed {PLAY_SEED} --threads {threads} \
         --net none --json"
    );
    let played = once(steps, "1-play", "chuhe-gen", &play, Some(GAMES))?;
    let verified = once(steps, "2-verify-records", "chuhe-gen", &format!("verify {GAMES} --json"), None)?;
    let records = once(steps, "3-inspect", "chuhe-gen", &format!("inspect {GAMES} --json"), None)?;
    let train = format!("train {TRAIN_CONFIG} --data {GAMES} --out {MODEL} --json");
    let trained = once(steps, "4-train", "chuhe-train", &train, Some(MODEL))?;
    let export = format!("export {MODEL} --out {NET} --force --json");
    let exported = once(steps, "5-export", "chuhe-train", &export, Some(NET))?;
    let net_check =
        once(steps, "6-verify-net", "chuhe", &format!("net verify {NET} --positions 10000 --json"), None)?;
    let mut benches = Vec::new();
    for backend in backends()? {
        let bench = format!("bench --net {NET} --backend {backend} --json");
        benches.push(once(steps, &format!("7-bench-{backend}"), "chuhe", &bench, None)?);
    }
    untrained_net(steps)?;
    let against_untrained = play_match(steps, "9-match-untrained", &format!("net:{UNTRAINED}"))?;
    let against_hce = play_match(steps, "10-match-hce", "hce")?;
    page(steps)?;
    Ok(Report {
        folder: FOLDER,
        games: GAMES,
        page: PAGE,
        net: NET,
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

/// One command with `--json`, done once.
fn once(steps: &mut Steps, name: &str, program: &str, words: &str, made: Option<&str>) -> Result<Done> {
    steps.once(name, &format!("{program} {words}"), made.map(Path::new), || process::json(program, words))
}

/// The net with random weights, which the trained one has to beat.
fn untrained_net(steps: &mut Steps) -> Result<Done> {
    let words = format!("net random --arch classic --seed {UNTRAINED_SEED} --out {UNTRAINED}");
    let made = Path::new(UNTRAINED);
    steps.once("8-untrained-net", &format!("chuhe {words}"), Some(made), || {
        if made.exists() {
            // Made by a run that was killed before it could note so; it is made again within a second.
            fs::remove_file(made).with_context(|| format!("deleting {UNTRAINED}"))?;
        }
        process::plain("chuhe", &words)?;
        Ok(Value::Null)
    })
}

/// The page of the training, with both matches.
fn page(steps: &mut Steps) -> Result<Done> {
    let matches = ["9-match-untrained", "10-match-hce"].map(|name| format!("{FOLDER}/steps/{name}.json"));
    let words = format!("report {MODEL} --out {PAGE} --match {}", matches.join(" "));
    steps.once("11-report", &format!("chuhe-train {words}"), Some(Path::new(PAGE)), || {
        process::plain("chuhe-train", &words)?;
        Ok(Value::Null)
    })
}

/// One match of the new net; its journal lets an interrupted one go on.
fn play_match(steps: &mut Steps, name: &str, other: &str) -> Result<Done> {
    let (threads, pgn) = (cores(), format!("{FOLDER}/{name}.pgn"));
    let words = format!(
        "run --a net:{NET} --b {other} --pairs {MATCH_PAIRS} --nodes {MATCH_NODES} --seed {MATCH_SEED} \
         --concurrency {threads} --journal {FOLDER}/{name}.journal --pgn {pgn} --json"
    );
    once(steps, name, "chuhe-match", &words, Some(&pgn))
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The evaluation backends of this CPU, as `chuhe backends` lists them.
fn backends() -> Result<Vec<String>> {
    let answer = process::json("chuhe", "backends --json")?;
    let names: Vec<String> = answer
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_string))
        .collect();
    if names.is_empty() {
        bail!("`chuhe backends --json` named no backend: {answer}");
    }
    Ok(names)
}
