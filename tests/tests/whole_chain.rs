//! The whole chain by process: play → verify → train → export → the engine evaluates the net like the reference.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use nnue_format::{net, reference};
use seam_tests::programs::{json, run};
use xiangqi::Position;

/// Small enough for half a minute on two cores, large enough that the loss must fall.
const POSITIONS: &str = "4000";
const NODES: &str = "100";

const CONFIG: &str = r#"
[net]
architecture = "classic"

[training]
seed = 3
batch_size = 256
steps = 60

[validation]
fraction = 0.1
every_steps = 30

[checkpoint]
every_steps = 30
"#;

/// Positions to compare on: opening, middle game, ends, both sides to move, a check.
const POSITIONS_TO_EVALUATE: &[&str] = &[
    "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1",
    "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR b - - 0 1",
    "r1ba1a3/4kn3/2n1b4/pNp1p1p1p/4c4/6P2/P1P2R2P/1CcC5/9/2BAKAB2 w - - 0 1",
    "1cbak4/9/n2a5/2p1p3p/5cp2/2n2N3/6PCP/3AB4/2C6/3A1K1N1 w - - 0 1",
    "3k5/9/9/9/9/9/9/9/R8/4K4 w - - 0 1",
    "4k4/9/2c2an2/4c4/6R2/9/9/4B4/4A4/3K1AB2 b - - 0 1",
    "3aka3/9/9/9/4C4/9/9/rC7/9/5K3 w - - 0 1",
];

fn play(folder: &Path, name: &str) -> Result<std::path::PathBuf> {
    let file = folder.join(name);
    let path = file.to_str().context("a path in UTF-8")?;
    let words =
        ["play", "--out", path, "--positions", POSITIONS, "--nodes", NODES, "--seed", "5", "--threads", "1"];
    let output = run("chuhe-gen", &words)?;
    ensure!(output.status.success(), "play: {}", String::from_utf8_lossy(&output.stderr));
    Ok(file)
}

#[test]
fn play_train_export_evaluate() -> Result<()> {
    // A folder whose name a shell would stumble over.
    let folder = tempfile::Builder::new().prefix("楚河 whole chain ").tempdir()?;
    let text = |name: &str| folder.path().join(name).to_str().map(str::to_string).context("a path in UTF-8");
    let games = play(folder.path(), "games.chr")?;
    let games = games.to_str().context("a path in UTF-8")?;

    let verified = json("chuhe-gen", &["verify", games, "--json"])?;
    ensure!(verified["ok"] == true, "verify: {verified}");
    let inspected = json("chuhe-gen", &["inspect", games, "--json"])?;
    ensure!(inspected["positions"].as_u64() >= Some(4000), "inspect: {inspected}");
    ensure!(inspected["positions"] == verified["positions"], "{inspected} against {verified}");

    let (config, model, net) = (text("config.toml")?, text("model")?, text("a net.nnue")?);
    fs::write(&config, CONFIG)?;
    let trained = json("chuhe-train", &["train", &config, "--data", games, "--out", &model, "--json"])?;
    let loss = trained["validation_loss"].as_f64().context("validation_loss")?;
    ensure!(loss > 0.0 && loss < 0.25, "a validation loss of {loss}; guessing 0.5 gives 0.25 at most");
    let exported = json("chuhe-train", &["export", &model, "--out", &net, "--json"])?;
    ensure!(exported["id"].is_string(), "export: {exported}");

    let checked = json("chuhe", &["net", "verify", &net, "--json"])?;
    ensure!(
        checked["ok"] == true && checked["id"] == exported["id"],
        "net verify: {checked} after {exported}"
    );
    evaluates_like_the_reference(&net)
}

/// The engine, by process and on every backend, gives what the file means.
fn evaluates_like_the_reference(path: &str) -> Result<()> {
    let (file, _) = net::read(Path::new(path)).context("reading the exported net")?;
    let mut seen = std::collections::BTreeSet::new();
    for backend in backends()? {
        for fen in POSITIONS_TO_EVALUATE {
            let position = Position::from_fen(fen).with_context(|| fen.to_string())?;
            let expected = reference::evaluate(&file.net, &position);
            let found =
                json("chuhe", &["eval", "--net", path, "--fen", fen, "--backend", &backend, "--json"])?;
            ensure!(
                found["raw"] == expected.raw && found["cp"] == expected.cp,
                "{backend} on {fen}: {found}, expected raw {} cp {}",
                expected.raw,
                expected.cp
            );
            seen.insert(expected.raw);
        }
    }
    ensure!(seen.len() > POSITIONS_TO_EVALUATE.len() / 2, "the net says the same everywhere: {seen:?}");
    Ok(())
}

fn backends() -> Result<Vec<String>> {
    let answer = json("chuhe", &["backends", "--json"])?;
    let list = answer.as_array().or_else(|| answer["backends"].as_array()).context("a list of backends")?;
    let names: Vec<String> = list.iter().filter_map(|name| name.as_str().map(str::to_string)).collect();
    ensure!(names.iter().any(|name| name == "scalar"), "no scalar backend in {answer}");
    Ok(names)
}

/// The same plan and seed on one thread give the same bytes.
#[test]
fn play_twice_gives_the_same_bytes() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (first, second) = (play(folder.path(), "a.chr")?, play(folder.path(), "b.chr")?);
    let (first, second) = (fs::read(first)?, fs::read(second)?);
    ensure!(!first.is_empty() && first == second, "{} and {} bytes that differ", first.len(), second.len());
    Ok(())
}
