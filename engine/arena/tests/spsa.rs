//! `chuhe-match spsa` as it is called, on an engine that plays the longer, the nearer a number of it is to 70.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const MATCH: &str = env!("CARGO_BIN_EXE_chuhe-match");
const FAKE: &str = env!("CARGO_BIN_EXE_chuhe-fake-engine");

fn spsa(folder: &Path, param: &str, more: &[&str]) -> Output {
    let engine = format!("'{FAKE}' spin");
    let words =
        "spsa --protocol uci --iterations 24 --batch 2 --nodes 1 --random-plies 4 --balance-nodes 0 --json";
    Command::new(MATCH)
        .args(words.split(' '))
        .args(["--engine", &engine, "--param", param, "--journal"])
        .arg(folder.join("journal"))
        .args(more)
        .output()
        .expect("runs")
}

fn json(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn refused(output: &Output, expected: &str) {
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{:?} {told}", output.status);
    assert!(told.contains(expected), "expected {expected:?}: {told}");
}

#[test]
fn a_number_is_tuned_and_the_same_command_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let (csv, html) = (folder.join("way.csv"), folder.join("way.html"));
    let files = ["--csv", csv.to_str().expect("UTF-8"), "--html", html.to_str().expect("UTF-8")];
    let line = "Strength,40,0,100,4,0.05";
    let tuned = json(&spsa(folder, line, &files));
    assert_eq!((&tuned["complete"], &tuned["iterations"]), (&true.into(), &24.into()));
    assert_eq!(tuned["failures"], 0);
    let now = tuned["parameters"][0]["now"].as_f64().expect("a number");
    assert!((55.0..=85.0).contains(&now), "{tuned}");
    assert_eq!(std::fs::read_to_string(&csv).expect("a table").lines().count(), 26);
    assert!(std::fs::read_to_string(&html).expect("a page").contains("Strength: 40"));

    // Killed half-way: what is left of the journal is enough, whoever many play at once.
    let journal = std::fs::read_to_string(folder.join("journal")).expect("the journal");
    let cut: String = journal.split_inclusive('\n').take(20).collect();
    std::fs::write(folder.join("journal"), cut + "{\"pair\":").expect("a torn journal");
    let again = json(&spsa(folder, line, &["--concurrency", "2"]));
    assert_eq!((&again["continued"], &again["parameters"]), (&19.into(), &tuned["parameters"]));
    refused(&spsa(folder, line, &["--seed", "2"]), "seed");
    refused(&spsa(folder, "Strength,41,0,100,4,0.05", &[]), "parameters");
}

#[test]
fn what_cannot_be_tuned_is_said_before_a_game() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    refused(&spsa(folder, "Weakness,40,0,100,4,0.05", &[]), "Weakness: the engine has none");
    refused(&spsa(folder, "Strength,40,0,200,4,0.05", &[]), "it goes from 0 to 100");
    refused(&spsa(folder, "Strength,40,0,100,4", &[]), "expected NAME,VALUE,MIN,MAX,C_END,R_END");
    refused(&spsa(folder, "Strength,40,0,100,4,0.05", &["--param", "Strength,1,0,9,1,0.1"]), "given twice");
    refused(&spsa(folder, "Strength,40,0,100,4,0.05", &["--search-params", "nothing"]), "nothing");
    refused(&spsa(folder, "Strength,40,0,100,4,0.05", &["--alpha", "3"]), "--alpha");
    refused(&spsa(folder, "Strength,40,0,100,4,0.05", &["--params", "/no such file"]), "/no such file");
    assert!(!folder.join("journal").exists());
}
