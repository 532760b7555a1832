//! The program itself: exit codes, JSON, kill -9 and Ctrl-C.

#[path = "common/process.rs"]
mod process;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use datagen::seed::game_rng;
use process::{PROGRAM, command, done, json, stderr, tool};
use serde_json::Value;

#[test]
fn play_inspect_verify() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("a.rec");
    let rest = "--games 6 --nodes 60 --seed 3 --threads 1 --net none --json";
    let played = json(&done(&mut command(&out, rest), 0));
    assert_eq!((&played["games"], &played["state"]), (&6.into(), &"complete".into()));
    let again = json(&done(&mut command(&out, rest), 0));
    assert_eq!((&again["games"], &again["state"]), (&6.into(), &"already complete".into()));

    let inspected = tool("inspect", &out, 0);
    assert_eq!(inspected["games"], 6);
    assert_eq!(inspected["positions"], played["positions"]);
    assert_eq!(inspected["bytes"], out.metadata().unwrap().len());
    let sum = |counts: &Value| counts.as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum::<u64>();
    assert_eq!((sum(&inspected["outcomes"]), sum(&inspected["reasons"])), (6, 6));
    let ratio = inspected["bytes_per_position"].as_f64().unwrap();
    assert!(
        (ratio - out.metadata().unwrap().len() as f64 / played["positions"].as_f64().unwrap()).abs() < 1e-9
    );
    assert_eq!(inspected["plan"]["seed"], 3);

    let verified = tool("verify", &out, 0);
    assert_eq!((&verified["ok"], &verified["games"]), (&true.into(), &6.into()));
    assert_eq!(verified["positions"], played["positions"]);
    assert_eq!(verified["damage"], Value::Array(vec![]));

    let manifest = std::fs::read_to_string(folder.path().join("a.rec.manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(
        (&manifest["seed"], &manifest["net"], &manifest["games"]),
        (&3.into(), &"none".into(), &6.into())
    );

    let mut bytes = std::fs::read(&out).unwrap();
    let at = bytes.len() / 2;
    bytes[at] ^= 0x20;
    std::fs::write(&out, bytes).unwrap();
    let verified = tool("verify", &out, 1);
    assert_eq!(verified["ok"], false);
    assert!(verified["damage"][0]["offset"].as_u64().unwrap() <= at as u64);
    assert!(verified["damage"][0]["what"].as_str().unwrap().contains("CRC32C"));
}

#[test]
fn what_cannot_run_exits_with_2() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("a.rec");
    done(&mut command(&out, "--games 1 --nodes 1 --seed 1 --threads 1 --quiet"), 0);
    let other = stderr(done(&mut command(&out, "--games 1 --nodes 1 --seed 2 --threads 1 --quiet"), 2));
    assert!(other.contains("seed: 1 there, 2 here"), "{other}");
    let nodes = stderr(done(&mut command(&out, "--games 1 --nodes 0"), 2));
    assert!(nodes.contains("--nodes is 0"), "{nodes}");
    let net = stderr(done(&mut command(&out, "--games 1 --nodes 1 --net no-such-file"), 2));
    assert!(net.contains("no-such-file"), "{net}");
    let nowhere = folder.path().join("no such folder").join("a.rec");
    let nowhere = stderr(done(&mut command(&nowhere, "--games 1 --nodes 1"), 2));
    assert!(nowhere.contains("cannot open for writing") && nowhere.contains("make the folder"), "{nowhere}");
    done(Command::new(PROGRAM).args(["verify", "no-such-file", "--json"]), 2);
    done(Command::new(PROGRAM).args(["play", "--games", "1"]), 2);
}

fn start(out: &Path, rest: &str) -> Child {
    command(out, rest).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts")
}

/// Kills runs with SIGKILL at random moments and goes on: the end is the undisturbed file, byte for byte. Time
/// decides where the kills fall, not what comes out.
#[test]
fn kill_9_loses_nothing() {
    let kills = if std::env::var_os("CHUHE_FULL").is_some() { 10 } else { 3 };
    // Enough plies for whole blocks, little enough search that a kill meets everything there is to meet.
    let rest = "--games 400 --nodes 16 --soft-nodes 10 --balance-nodes 16 --hash 1 --seed 5 --threads 2 --quiet \
                --multi-pv 2 --random-moves 20";
    let folder = tempfile::tempdir().unwrap();
    let [whole, out] = ["whole", "out"].map(|name| folder.path().join(name));
    let begun = std::time::Instant::now();
    done(&mut command(&whole, rest), 0);
    let span = begun.elapsed().as_millis() as u64;
    let mut rng = game_rng(9, kills);
    let mut killed = 0;
    for _ in 0..kills {
        let mut child = start(&out, rest);
        std::thread::sleep(Duration::from_millis(rng.below(span * 9 / 10)));
        killed += u64::from(child.try_wait().unwrap().is_none());
        _ = child.kill();
        child.wait().unwrap();
    }
    assert!(killed > 0, "all runs ended before they were killed");
    done(&mut command(&out, rest), 0);
    assert!(std::fs::read(&out).unwrap() == std::fs::read(&whole).unwrap(), "the files differ");
    let verified = tool("verify", &out, 0);
    assert_eq!((&verified["games"], &verified["ok"]), (&400.into(), &true.into()));
}

/// Ctrl-C keeps whole games, says how to go on and exits with 2.
#[cfg(unix)]
#[test]
fn interrupted_runs_go_on() {
    let rest = "--games 16 --nodes 2500 --max-plies 80 --seed 6 --threads 2 --quiet";
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("a.rec");
    let child = command(&out, rest).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let journal = folder.path().join("a.rec.journal.partial");
    // Until a game is there (it would be a fault to wait for ever, so not for ever).
    let begun = std::time::Instant::now();
    let is_begun = || journal.metadata().is_ok_and(|data| data.len() > 1500);
    while !is_begun() && begun.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("the same command goes on"), "{stderr}");
    assert!(journal.exists() && !out.exists());
    let output = done(&mut command(&out, "--games 16 --nodes 2500 --max-plies 80 --seed 6 --threads 2"), 0);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("going on behind"), "{stderr}");
    let verified = tool("verify", &out, 0);
    assert_eq!((&verified["games"], &verified["ok"]), (&16.into(), &true.into()));
}

/// A time a move is not hidden: plan, manifest and report say that such games cannot be played again.
#[test]
fn games_by_the_clock_are_marked() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("a.rec");
    let rest = "--games 2 --movetime 1 --max-plies 30";
    let output = done(&mut command(&out, rest), 0);
    let report = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(report.contains("cannot be played again"), "{report}");
    assert!(stderr(output).contains("1 (games cannot be played again)"));
    let again = json(&done(&mut command(&out, &format!("{rest} --json --quiet")), 0));
    assert_eq!((&again["state"], &again["reproducible"]), (&"already complete".into(), &false.into()));
    let manifest = std::fs::read_to_string(folder.path().join("a.rec.manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(
        (&manifest["reproducible"], &manifest["plan"]["limit"]["movetime_ms"]),
        (&false.into(), &1.into())
    );
    assert_eq!(tool("verify", &out, 0)["ok"], true);
}

/// `--whole-book` plays each opening once; a book that is used up says what to do.
#[test]
fn books() {
    let folder = tempfile::tempdir().unwrap();
    let book = folder.path().join("开局.epd");
    std::fs::write(&book, "h2e2 h9g7\nb0c2\n# and a position\n3ak4/9/9/9/9/9/9/9/9/5K1R1 w - - 0 1\n")
        .unwrap();
    let play = |out: &str, rest: &str, code| {
        let mut command = command(&folder.path().join(out), rest);
        done(command.arg("--book").arg(&book).args(["--nodes", "60", "--threads", "2"]), code)
    };
    let whole = json(&play("a.rec", "--whole-book --balance-nodes 0 --json --quiet", 0));
    assert_eq!(whole["games"], 3);
    let two = json(&play("b.rec", "--whole-book --json --quiet", 0));
    assert_eq!((&two["games"], &two["unused_openings"]), (&2.into(), &1.into()), "a rook more is one-sided");
    let few = stderr(play("c.rec", "--games 4 --quiet", 2));
    assert!(few.contains("--games is 4") && few.contains("--whole-book"), "{few}");
    let used_up = stderr(play("d.rec", "--positions 100000 --quiet", 2));
    assert!(used_up.contains("3 openings are used up after 2 games"), "{used_up}");
    let more = json(&play("e.rec", "--games 9 --book-wrap --random-plies 2..4 --json --quiet", 0));
    assert_eq!(more["games"], 9);
    std::fs::write(&book, "h2e2 h9g7\n").unwrap();
    let other = stderr(play("a.rec", "--whole-book --balance-nodes 0 --quiet", 2));
    assert!(other.contains("is of another plan (book: 3 openings"), "{other}");
    std::fs::write(&book, "h2e2 h2e2\n").unwrap();
    let wrong = stderr(play("f.rec", "--whole-book --quiet", 2));
    assert!(wrong.contains("line 1"), "{wrong}");
}

/// The searches of the generator are those of a bare loop, and the two are compared.
#[test]
fn bench_repeats_the_searches() {
    let words = ["bench", "--nodes", "50,80", "--games", "2", "--rounds", "2", "--hash", "1", "--json"];
    let rows = json(&done(Command::new(PROGRAM).args(words), 0));
    let rows = rows["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert!(row["positions"].as_u64().unwrap() > 20 && row["permille"].as_u64().unwrap() > 0, "{row}");
    }
}

#[test]
fn one_thread_twice_is_byte_identical() {
    let folder = tempfile::tempdir().unwrap();
    let rest = "--positions 800 --nodes 200 --seed 7 --quiet --threads";
    let files = [1, 1, 2].map(|threads| {
        let out = folder.path().join(format!("{threads}{}", new_name(folder.path())));
        done(&mut command(&out, &format!("{rest} {threads}")), 0);
        assert_eq!(tool("inspect", &out, 0)["positions"], 800);
        std::fs::read(out).unwrap()
    });
    assert!(files[0] == files[1] && files[1] == files[2], "the files differ");
}

/// A name not yet in the folder.
fn new_name(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

/// `chuhe-gen inspect FILE | head -1` is no reason to complain.
#[test]
fn a_closed_pipe_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("a.rec");
    done(&mut command(&out, "--games 1 --nodes 20 --quiet"), 0);
    let mut child = Command::new(PROGRAM)
        .arg("inspect")
        .arg(&out)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}
