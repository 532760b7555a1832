//! `chuhe-match` as it is called: output, exit status, kill -9 and interrupts.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

const MATCH: &str = env!("CARGO_BIN_EXE_chuhe-match");
const FAKE: &str = env!("CARGO_BIN_EXE_chuhe-fake-engine");

fn call(arguments: &[&str]) -> Output {
    Command::new(MATCH).args(arguments).output().expect("runs")
}

fn json(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn stats_of_a_published_match() {
    let words = "stats --pentanomial 729,5234,10174,5154,898 --elo0 -0.5 --elo1 1.5 --model logistic --json";
    let value = json(&call(&words.split(' ').collect::<Vec<_>>()));
    let near = |key: &str, expected: f64| {
        let found = value[key].as_f64().expect(key);
        assert!((found - expected).abs() < 1e-6, "{key}: {found}");
    };
    near("llr", 2.936_963_797_150_554_4);
    near("elo", 2.019_906_056_637_262_6);
    near("elo_error", 1.994_469_990_907_894);
    near("nelo", 3.273_834_707_660_111);
    near("nelo_error", 3.231_633_441_749_333_5);
    near("los", 0.976_429_239_460_168_9);
    assert_eq!(value["state"], "continue");
}

#[test]
fn stats_for_people_and_without_a_test() {
    let output = call(&["stats", "--trinomial", "0,500,0"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("Elo +0.00 ± 0.06, nElo +0.00 ± 30.45 (95 %), LOS 50.00 %"), "{text}");
    let value = json(&call(&["stats", "--pentanomial", "0,0,0,0,0", "--json"]));
    assert_eq!(
        (&value["llr"], &value["state"], &value["elo"]),
        (&Value::Null, &Value::Null, &Value::from(0.0))
    );
}

#[test]
fn what_cannot_be_done_ends_with_2() {
    for words in [
        "stats --pentanomial 1,2,3 --elo0 0 --elo1 5",
        "stats --elo0 0 --elo1 5",
        "stats --pentanomial 1,2,3,4,5 --elo0 5 --elo1 0",
        "stats --pentanomial 1,2,3,4,5 --elo0 0",
        "run --a hce --b hce --pairs 1",
        "run --a hce --b hce --pairs 0 --nodes 5",
        "run --a hce --b hce --pairs 1 --nodes 5 --depth 3",
        "run --a hce --b hce --pairs 1 --tc 0",
        "run --a hce --b net:/no/such/net --pairs 1 --nodes 5",
        "run --a hce --b hce --option-a Hash=1 --pairs 1 --nodes 5",
        "run --a hce --b /no/such/engine --pairs 1 --nodes 5",
        "run --a hce --b hce --book /no/such/book --pairs 1 --nodes 5",
    ] {
        let output = call(&words.split(' ').collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{words}");
    }
}

#[test]
fn the_engine_plays_itself_the_same_way_every_time() {
    let once = |threads: &str| {
        let arguments = ["run", "--a", "hce", "--b", "hce", "--pairs", "2", "--nodes", "300", "--seed", "9"];
        let output = call(&[&arguments[..], &["--json", "--concurrency", threads]].concat());
        let mut value = json(&output);
        value["seconds"] = Value::Null;
        value
    };
    let value = once("1");
    assert_eq!(value, once("2"));
    assert_eq!(value["games"], 4);
    assert_eq!(value["pentanomial"], serde_json::json!([0, 0, 2, 0, 0]), "one player against itself");
    assert_eq!(value["failures"]["a"]["total"], 0);
    assert_eq!(value["plan"]["a"]["in_process"], "hce");
}

/// A match of fakes with a journal; each game takes a while, so that it can be caught in the middle.
fn long_match(folder: &Path, pairs: &str) -> Command {
    let mut command = Command::new(MATCH);
    let fake = format!("'{FAKE}'");
    command.args(["run", "--a", &fake, "--b", &format!("{fake} crash:60"), "--pairs", pairs, "--nodes", "1"]);
    command.args(["--balance-nodes", "0", "--concurrency", "2", "--json"]);
    command.arg("--journal").arg(folder.join("j")).arg("--pgn").arg(folder.join("p"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn lines(folder: &Path) -> usize {
    std::fs::read(folder.join("j")).map_or(0, |bytes| bytes.iter().filter(|&&b| b == b'\n').count())
}

/// Waits until the journal has so many lines, or the match is over.
fn wait_for_lines(folder: &Path, count: usize, child: &mut Child) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while lines(folder) < count && child.try_wait().expect("asked").is_none() {
        assert!(Instant::now() < deadline, "the match does not move");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_match_killed_again_and_again_ends_like_an_undisturbed_one() {
    let (calm, rough) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let expected = json(&long_match(calm.path(), "20").output().expect("runs"));
    for kill_at in [1, 3, 4, 9, 15] {
        let mut child = long_match(rough.path(), "20").spawn().expect("starts");
        wait_for_lines(rough.path(), kill_at, &mut child);
        child.kill().expect("killed");
        child.wait().expect("reaped");
    }
    let found = json(&long_match(rough.path(), "20").output().expect("runs"));
    for key in ["pentanomial", "trinomial", "games", "elo", "failures", "reasons", "plies", "plan"] {
        assert_eq!(found[key], expected[key], "{key}");
    }
    assert_eq!(lines(rough.path()), 21, "the plan and every pair once");
    let pgn = |folder: &Path| std::fs::read(folder.join("p")).expect("written");
    assert!(pgn(rough.path()) == pgn(calm.path()), "the games differ");
    let again = json(&long_match(rough.path(), "20").output().expect("runs"));
    assert_eq!(again["pairs_from_journal"], 20);
    assert_eq!(again["pentanomial"], expected["pentanomial"]);
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_the_journal_and_says_how_to_go_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = long_match(folder.path(), "100000").spawn().expect("starts");
    wait_for_lines(folder.path(), 3, &mut child);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("interrupted");
    let output = child.wait_with_output().expect("ends");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("the same command continues the match"), "{said}");
    let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(value["interrupted"], true);
    // What counts are the pairs up to the first that was not finished; later ones stay in the journal.
    let counted = value["pairs"].as_u64().expect("a count") as usize;
    let kept = lines(folder.path());
    assert!(kept >= 3 && kept > counted, "{counted} of {kept}");
}
