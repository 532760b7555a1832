//! `xtask agree`: one thread and fixed nodes give the same output in a debug and a release build of `chuhe`, on every
//! backend: whole UCI conversations, line by line, but for times and speeds.
//!
//! The debug build checks every sum for overflow and every assertion on the way.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::process::{cargo, sibling, target};

/// Nodes of each search.
const NODES: u32 = 3000;
/// Every so many positions are searched for several lines at once.
const SEVERAL_LINES_EVERY: usize = 5;
/// Random nets of these architectures are evaluated with, besides the hand-crafted evaluation.
const ARCHITECTURES: [&str; 3] = ["default", "classic", "half-ka-hm 2x256-16-32-1 pairwise 8-stacks"];
/// Games on which positions follow each other, as the tables and histories of a search see them.
const GAMES: &str = include_str!("../../../engine/src/speedtest/games.txt");
/// Plies between two searched positions of a game.
const STRIDE: usize = 7;

/// Builds the debug engine, runs both and compares. True when they agree.
pub(crate) fn run() -> Result<bool> {
    let folder = target().join("agree");
    let folder_text = folder.to_str().context("the path of the target folder is not UTF-8")?;
    cargo(&["build", "--locked", "-p", "engine", "--target-dir", folder_text], &[])?;
    let release = sibling("chuhe")?;
    let debug = folder.join("debug").join(format!("chuhe{}", std::env::consts::EXE_SUFFIX));
    let backends: Vec<String> = serde_json::from_str(&said(&release, &["backends", "--json"], "")?)?;
    let mut agreed = compare("hand-crafted", &[(&release, None), (&debug, None)], None)?;
    for (i, arch) in ARCHITECTURES.into_iter().enumerate() {
        let net = folder.join(format!("{i}.nnue"));
        let path = net.to_str().context("the path of the target folder is not UTF-8")?;
        said(&release, &["net", "random", "--arch", arch, "--seed", "11", "--out", path, "--overwrite"], "")?;
        let mut runs = Vec::new();
        for backend in &backends {
            runs.extend([(&release, Some(backend.as_str())), (&debug, Some(backend.as_str()))]);
        }
        agreed &= compare(arch, &runs, Some(&net))?;
    }
    Ok(agreed)
}

/// Runs the conversation in every way; the first that differs from the first of all is told.
fn compare(what: &str, runs: &[(&PathBuf, Option<&str>)], net: Option<&Path>) -> Result<bool> {
    let mut expected: Option<Vec<String>> = None;
    for (program, backend) in runs {
        let mut lines = Vec::new();
        for line in said(program, &[], &conversation(net, *backend))?.lines() {
            lines.extend(comparable(line));
        }
        lines.push(signature(program, net, *backend)?);
        let build = if program.parent().is_some_and(|folder| folder.ends_with("debug")) {
            "debug"
        } else {
            "release"
        };
        let way = format!("{what}, {build}, backend {}", backend.unwrap_or("none"));
        let Some(first) = &expected else {
            println!("{way}: {} lines", lines.len());
            expected = Some(lines);
            continue;
        };
        if let Some(difference) = difference(first, &lines) {
            println!("{way}: DIFFERS\n{difference}");
            return Ok(false);
        }
        println!("{way}: the same");
    }
    Ok(true)
}

/// What is said to the engine. `LU_Output` is off: bounds are shown only by searches that take long.
fn conversation(net: Option<&Path>, backend: Option<&str>) -> String {
    let mut text = String::from("uci\nsetoption name LU_Output value false\nsetoption name Hash value 4\n");
    if let (Some(net), Some(backend)) = (net, backend) {
        text += &format!(
            "setoption name Backend value {backend}\nsetoption name EvalFile value {}\n",
            net.display()
        );
    }
    let mut count = 0;
    for game in GAMES.lines() {
        text += "ucinewgame\n";
        let moves: Vec<&str> = game.split_whitespace().collect();
        for plies in (0..moves.len()).step_by(STRIDE) {
            let lines = if count % SEVERAL_LINES_EVERY == 0 { 3 } else { 1 };
            count += 1;
            text += &format!("setoption name MultiPV value {lines}\n");
            text += &format!("position startpos moves {}\ngo nodes {NODES}\n", moves[..plies].join(" "));
        }
    }
    text + "quit\n"
}

/// A line without what may differ; `None` for one that tells of the machine or the backend alone.
fn comparable(line: &str) -> Option<String> {
    if line.starts_with("info string") {
        return None;
    }
    let mut words = line.split(' ');
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        if matches!(word, "time" | "nps") {
            words.next();
        } else {
            kept.push(word);
        }
    }
    Some(kept.join(" "))
}

/// The first line that is not the same.
fn difference(expected: &[String], found: &[String]) -> Option<String> {
    let line = |lines: &[String], i: usize| lines.get(i).map_or("(the end)", String::as_str).to_owned();
    let at = (0..expected.len().max(found.len())).find(|&i| line(expected, i) != line(found, i))?;
    Some(format!("line {}\n  expected {}\n  found    {}", at + 1, line(expected, at), line(found, at)))
}

/// The nodes of the bench, in all and by class.
fn signature(program: &Path, net: Option<&Path>, backend: Option<&str>) -> Result<String> {
    let path = net.map(|net| net.display().to_string());
    let mut words = vec!["bench", "--json", "--depth", "5"];
    if let (Some(path), Some(backend)) = (&path, backend) {
        words.extend(["--net", path, "--backend", backend]);
    }
    let value: Value = serde_json::from_str(&said(program, &words, "")?)?;
    let classes = value["classes"].as_object().context("bench tells no classes")?;
    let nodes: Vec<String> =
        classes.iter().map(|(name, class)| format!("{name} {}", class["nodes"])).collect();
    Ok(format!("bench {} of {}", value["signature"], nodes.join(", ")))
}

/// All that a program says to this input.
fn said(program: &Path, words: &[&str], input: &str) -> Result<String> {
    let starting = || format!("starting {}", program.display());
    let mut child = Command::new(program)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(starting)?;
    let mut pipe = child.stdin.take().context("no pipe")?;
    let input = input.to_owned();
    // What is said may fill its pipe before all is heard.
    let writer = std::thread::spawn(move || pipe.write_all(input.as_bytes()));
    let done = child.wait_with_output()?;
    let sent = writer.join().is_ok_and(|sent| sent.is_ok());
    if !done.status.success() || !sent {
        bail!("{} {words:?} ended with {}", program.display(), done.status);
    }
    Ok(String::from_utf8(done.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_backends_may_differ_and_nothing_else() {
        let line = "info depth 3 score cp 5 nodes 9 nps 77 hashfull 0 time 12 pv h2e2";
        assert_eq!(comparable(line).as_deref(), Some("info depth 3 score cp 5 nodes 9 hashfull 0 pv h2e2"));
        assert_eq!(comparable("info string threads 1, CPUs allowed 2"), None);
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(difference(&lines("a\nb"), &lines("a\nb")), None);
        let told = difference(&lines("a\nb"), &lines("a")).expect("a line is missing");
        assert!(told.contains("line 2") && told.contains("(the end)"), "{told}");
    }

    #[test]
    fn every_game_is_asked_about() {
        let text = conversation(Some(Path::new("/a b/x.nnue")), Some("scalar"));
        assert_eq!(text.matches("ucinewgame").count(), GAMES.lines().count());
        assert!(text.matches("go nodes").count() > 40 && text.contains("EvalFile value /a b/x.nnue"));
    }
}
