//! `chuhe-gen loop` with the real programs, small: two generations, killed once on the way. Under `CHUHE_FULL=1` alone: it
//! trains twice.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use seam_tests::programs::{json, program};

const RECIPE: &str = r#"
[loop]
folder = "run"
generations = 2
seed = 3

[play]
positions = 4000
nodes = 100

[data]
generations = 2

[train]
config = "train.toml"

[match]
pairs = 8
nodes = 100
elo1 = 50.0
on_failure = "accept"

[disk]
min_free_mib = 64
"#;

const TRAIN: &str = r#"
[net]
architecture = "classic"

[training]
batch_size = 256
steps = 40

[validation]
fraction = 0.1
every_steps = 20

[checkpoint]
every_steps = 10
"#;

fn begin(recipe: &str) -> Result<Child> {
    let mut command = Command::new(program("chuhe-gen")?);
    command.args(["loop", recipe, "--quiet"]).stdin(Stdio::null()).stdout(Stdio::null());
    command.spawn().context("starting the loop")
}

/// Until a file is there (it would be a fault to wait for ever, so not for ever).
fn wait_for(path: &Path) -> Result<()> {
    let begun = Instant::now();
    while !path.exists() {
        ensure!(begun.elapsed() < Duration::from_secs(300), "{} does not come", path.display());
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

#[test]
fn two_generations_with_the_real_programs() -> Result<()> {
    if std::env::var_os("CHUHE_FULL").is_none() {
        return Ok(());
    }
    let folder = tempfile::Builder::new().prefix("楚河 loop ").tempdir()?;
    let recipe = folder.path().join("loop.toml");
    fs::write(&recipe, RECIPE)?;
    fs::write(folder.path().join("train.toml"), TRAIN)?;
    let text = recipe.to_str().context("a path in UTF-8")?;
    for file in ["gen-0001/games.rec.partial", "gen-0001/model/manifest.json", "gen-0002/match.journal"] {
        let mut running = begin(text)?;
        wait_for(&folder.path().join("run").join(file))?;
        running.kill()?;
        running.wait()?;
    }
    let ladder = json("chuhe-gen", &["loop", text, "--json", "--quiet"])?;
    let generations = ladder["generations"].as_array().context("generations")?;
    ensure!(generations.len() == 2, "{ladder}");
    for generation in generations {
        ensure!(generation["positions"] == 4000 && generation["accepted"] == true, "{generation}");
        let loss = generation["validation_loss"].as_f64().context("a loss")?;
        ensure!(loss > 0.0 && loss < 0.25, "a validation loss of {loss}");
        ensure!(generation["match"]["games"].as_u64() > Some(0), "{generation}");
    }
    ensure!(generations[1]["player"]["id"] == generations[0]["net"], "net 1 plays generation 2: {ladder}");
    let games = folder.path().join("run/gen-0002/games.rec");
    let inspected = json("chuhe-gen", &["inspect", games.to_str().context("UTF-8")?, "--json"])?;
    ensure!(inspected["net"] == generations[0]["net"], "{inspected}");
    let page = fs::read_to_string(folder.path().join("run/ladder.html"))?;
    ensure!(page.matches("<svg").count() == 3, "a page with three plots");
    Ok(())
}
