//! `chuhe-gen rescore` by other programs: an engine that misbehaves, and our own as one of UCI.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use nnue_format::record::{GameRecord, Reader};
use seam_tests::programs::{json, program, run};
use xiangqi::Score;

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// A folder with games, and an engine that is the fake one with the words that are in a file.
    fn new(games: &str) -> Result<Place> {
        let folder = tempfile::Builder::new().prefix("rescore 楚河 ").tempdir()?;
        let place = Place { folder };
        let script = format!(
            "#!/bin/sh\nexec '{}' $(cat \"$(dirname \"$0\")/words\")\n",
            program("chuhe-fake-engine")?.display()
        );
        fs::write(place.path("engine"), script)?;
        fs::set_permissions(place.path("engine"), fs::Permissions::from_mode(0o755))?;
        let out = place.text("a.rec")?;
        let words = ["play", "--out", &out, "--games", games, "--nodes", "60", "--hash", "1", "--quiet"];
        ensure!(run("chuhe-gen", &words)?.status.success(), "play");
        Ok(place)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> Result<String> {
        self.path(name).to_str().map(ToOwned::to_owned).context("a path in UTF-8")
    }

    /// Exit code and stderr of a run with the fake engine and these words for it.
    fn rescore(&self, out: &str, words: &str) -> Result<(Option<i32>, String)> {
        fs::write(self.path("words"), words)?;
        let (input, out, engine) = (self.text("a.rec")?, self.text(out)?, self.text("engine")?);
        let words = [
            "rescore",
            &input,
            "--out",
            &out,
            "--engine",
            &engine,
            "--nodes",
            "9",
            "--threads",
            "2",
            "--hang-timeout",
            "1",
        ];
        let output = run("chuhe-gen", &words)?;
        Ok((output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned()))
    }
}

fn games(path: &Path) -> Result<Vec<GameRecord>> {
    Ok(Reader::open(path)?.games().collect::<Result<_, _>>()?)
}

#[test]
fn an_engine_gives_the_scores() -> Result<()> {
    let place = Place::new("6")?;
    let mut found = Vec::new();
    for words in ["", "garbage", "ucci", "variant", "first-rank"] {
        let out = format!("{words}.rec");
        let (code, stderr) = place.rescore(&out, words)?;
        ensure!(code == Some(0), "{words}: {stderr}");
        found.push(games(&place.path(&out))?);
    }
    ensure!(found.iter().all(|games| *games == found[0]), "the dialect changes nothing");
    let old = games(&place.path("a.rec"))?;
    for (old, new) in old.iter().zip(&found[0]) {
        ensure!(new.plies.iter().all(|ply| ply.score == Score(7)), "{:?}", new.plies);
        ensure!(old.moves().eq(new.moves()) && old.outcome == new.outcome);
        // The fake engine's best move is a number of the key.
        let mut walk = new.positions()?;
        while let Some(step) = walk.next() {
            let (position, ply) = step?;
            let legal = position.legal_moves();
            let best = legal[(position.key() % legal.len() as u64) as usize];
            if let Some((_, flags)) = ply.scored {
                ensure!(flags.is_not_best() == (ply.mv != best), "ply {}", ply.number);
            }
        }
    }
    Ok(())
}

#[test]
fn an_engine_that_fails_costs_nothing_but_time() -> Result<()> {
    let place = Place::new("6")?;
    let faults = [
        ("crash:2", "crash"),
        ("exit:1", "disconnect"),
        ("close:2", "disconnect"),
        ("late:1", "hang"),
        ("illegal:3", "illegal_move"),
        ("nonsense:1", "illegal_move"),
        ("none:2", "no_move"),
    ];
    for (words, kind) in faults {
        let (code, stderr) = place.rescore("b.rec", words)?;
        ensure!(code == Some(2), "{words}: {code:?}, {stderr}");
        for wanted in [kind, "ply ", "2 times", "the same command goes on"] {
            ensure!(stderr.contains(wanted), "{words}: {wanted:?} is not in {stderr}");
        }
        ensure!(!place.path("b.rec").exists() && place.path("b.rec.partial").exists());
    }
    // Games shorter than this are whole and stay; the rest is done when the engine is mended.
    let lengths: Vec<usize> = games(&place.path("a.rec"))?.iter().map(|game| game.plies.len()).collect();
    let longest = lengths.iter().max().context("games")?;
    let (code, stderr) = place.rescore("b.rec", &format!("crash:{longest}"))?;
    ensure!(code == Some(2), "{stderr}");
    let (code, stderr) = place.rescore("b.rec", "")?;
    ensure!(code == Some(0), "{stderr}");
    ensure!(lengths.iter().all(|length| length == longest) || stderr.contains("going on behind"), "{stderr}");
    let all: Vec<_> = games(&place.path("b.rec"))?.iter().map(|game| game.plies.len()).collect();
    ensure!(all == lengths, "{all:?} against {lengths:?}");
    // Who resigns has said a score.
    let (code, stderr) = place.rescore("c.rec", "resign:1")?;
    ensure!(code == Some(0), "{stderr}");
    ensure!(games(&place.path("c.rec"))?.iter().all(|game| game.plies[0].flags.is_not_best()));
    Ok(())
}

/// Our own engine spoken to in UCI says what it says in this process.
#[test]
fn our_engine_in_uci_equals_our_search() -> Result<()> {
    let place = Place::new("8")?;
    let (input, inside, outside) = (place.text("a.rec")?, place.text("in.rec")?, place.text("out.rec")?);
    let engine = program("chuhe")?;
    let engine = engine.to_str().context("a path in UTF-8")?;
    json(
        "chuhe-gen",
        &["rescore", &input, "--out", &inside, "--net", "none", "--depth", "3", "--hash", "16", "--json"],
    )?;
    let words =
        ["--engine", engine, "--option", "Hash=16", "--option", "EvalFile=none", "--depth", "3", "--json"];
    json("chuhe-gen", &[&["rescore", &input, "--out", &outside][..], &words].concat())?;
    let (inside, outside) = (games(Path::new(&inside))?, games(Path::new(&outside))?);
    let mut compared = 0;
    for (inside, outside) in inside.iter().zip(&outside) {
        for (a, b) in inside.plies.iter().zip(&outside.plies) {
            // Wins by rule are ordinary numbers to UCI, and are cut to the greatest of these.
            if !a.score.is_rule_win() {
                ensure!(a == b, "game {}: {a:?} in this process, {b:?} by UCI", inside.number);
                compared += 1;
            }
        }
    }
    ensure!(compared > 100, "{compared} positions");
    Ok(())
}
