//! `chuhe-gen rescore` by our own search, as a program: what was recorded comes out again, whatever interrupts it. By
//! other programs: `tests/tests/rescore.rs`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use datagen::seed::game_rng;
use nnue_format::record::{GameRecord, Reader};
use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_chuhe-gen");

fn gen_command(verb: &str, files: &[&Path], out: &Path, rest: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.arg(verb).args(files).arg("--out").arg(out).args(rest.split_whitespace());
    command
}

#[track_caller]
fn done(mut command: Command, code: i32) -> Output {
    let output = command.output().expect("the program starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{command:?}: {stderr}");
    output
}

#[track_caller]
fn rescore(files: &[&Path], out: &Path, rest: &str) -> Value {
    let output = done(gen_command("rescore", files, out, &format!("{rest} --json --quiet")), 0);
    serde_json::from_slice(&output.stdout).expect("JSON alone on stdout")
}

#[track_caller]
fn error(files: &[&Path], out: &Path, rest: &str) -> String {
    let output = done(gen_command("rescore", files, out, rest), 2);
    String::from_utf8(output.stderr).expect("text")
}

fn games(path: &Path) -> Vec<GameRecord> {
    Reader::open(path).expect("a file").games().collect::<Result<_, _>>().expect("no damage")
}

/// A file of self-play by the hand-crafted evaluation at 150 nodes and 1 MiB.
fn played(folder: &Path, name: &str, rest: &str) -> PathBuf {
    let out = folder.join(name);
    let rest = format!("--net none --nodes 150 --balance-nodes 50 --hash 1 --threads 2 --quiet {rest}");
    done(gen_command("play", &[], &out, &rest), 0);
    out
}

/// The generator clears its table before a game's first search and keeps it until the end. So does rescoring: with
/// the same limit and table all scores come out as they were recorded.
#[test]
fn the_settings_of_the_games_give_their_scores_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let file = played(folder.path(), "a.rec", "--games 40 --seed 3");
    let report = rescore(&[&file], &path("b.rec"), "--net none --nodes 150 --hash 1 --threads 3");
    let (old, new) = (games(&file), games(&path("b.rec")));
    assert_eq!((&report["state"], &report["games"]), (&"complete".into(), &40.into()));
    assert_eq!(old.len(), new.len());
    for (number, (old, new)) in (0u64..).zip(old.iter().zip(&new)) {
        assert_eq!(GameRecord { number, ..old.clone() }, *new, "game {number}");
    }
    // Another table gives others: the law above is not empty.
    rescore(&[&file], &path("c.rec"), "--net none --nodes 151 --hash 1");
    let other = games(&path("c.rec"));
    assert!(old.iter().zip(&other).any(|(old, other)| old.plies != other.plies));
    for (old, other) in old.iter().zip(&other) {
        let moves = |game: &GameRecord| game.moves().collect::<Vec<_>>();
        assert_eq!((moves(old), old.outcome, old.reason), (moves(other), other.outcome, other.reason));
        assert_eq!(old.opening.len(), other.opening.len());
    }
    let marked = |games: &[GameRecord]| {
        games.iter().flat_map(|game| &game.plies).filter(|ply| ply.flags.is_not_best()).count()
    };
    let positions = old.iter().map(|game| game.plies.len()).sum::<usize>();
    assert!(
        marked(&old) == 0 && (1..positions).contains(&marked(&other)),
        "{} of {positions}",
        marked(&other)
    );
    let verified = done(
        {
            let mut command = Command::new(PROGRAM);
            command.arg("verify").arg(path("c.rec"));
            command
        },
        0,
    );
    assert!(String::from_utf8_lossy(&verified.stdout).contains("good, 40 games"));
    let manifest = std::fs::read_to_string(path("c.rec.manifest.json")).expect("a manifest");
    let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    assert_eq!((&manifest["games"], &manifest["plan"]["settings"]["nodes"]), (&40.into(), &"151".into()));

    // Blending with nothing of the new ones leaves the scores; the marks are those of the new search.
    rescore(&[&file], &path("d.rec"), "--net none --nodes 151 --hash 1 --blend 0");
    let kept = games(&path("d.rec"));
    let open = |games: &[GameRecord]| {
        let plies = games.iter().flat_map(|game| game.plies.clone());
        plies.map(|ply| ply.score).collect::<Vec<_>>()
    };
    let pairs = open(&old).into_iter().zip(open(&kept));
    assert!(
        pairs.filter(|(old, kept)| !old.is_decided() && !kept.is_decided()).all(|(old, kept)| old == kept)
    );
    assert_eq!(marked(&kept), marked(&other));
}

#[test]
fn several_files_and_finished_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let a = played(folder.path(), "a.rec", "--games 5 --seed 1");
    let b = played(folder.path(), "b.rec", "--games 4 --seed 2");
    let chinese = played(folder.path(), "c.rec", "--games 1 --seed 2 --rules chinese");
    let rest = "--net none --depth 1 --threads 2";
    assert_eq!(rescore(&[&a, &b], &path("o.rec"), rest)["games"], 9);
    let numbers: Vec<u64> = games(&path("o.rec")).iter().map(|game| game.number).collect();
    assert_eq!(numbers, (0..9).collect::<Vec<u64>>());
    let before = std::fs::read(path("o.rec")).expect("bytes");
    assert_eq!(rescore(&[&a, &b], &path("o.rec"), rest)["state"], "already complete");
    assert!(error(&[&b, &a], &path("o.rec"), rest).contains("another plan"));
    assert!(error(&[&a, &b], &path("o.rec"), "--net none --depth 2").contains("another plan"));
    assert_eq!(std::fs::read(path("o.rec")).expect("bytes"), before);
    // By force the file is replaced: a finished one when the new one is whole, an unfinished one of another plan at once.
    std::fs::copy(path("o.rec"), path("o.rec.partial")).expect("copied");
    assert_eq!(rescore(&[&a], &path("o.rec"), &format!("{rest} --force"))["games"], 5);
    assert_eq!(games(&path("o.rec")).len(), 5);
    assert!(!path("o.rec.partial").exists() && !path("o.rec.journal.partial").exists());
    std::fs::write(path("o.rec"), "something else").expect("written");
    assert!(error(&[&a], &path("o.rec"), rest).contains("no finished record file"));
    assert_eq!(rescore(&[&a, &b], &path("o.rec"), &format!("{rest} --force"))["state"], "complete");
    assert!(std::fs::read(path("o.rec")).expect("bytes") == before, "the same file as without");
    let rules = error(&[&a, &chinese], &path("p.rec"), rest);
    assert!(rules.contains("c.rec by chinese"), "{rules}");
    assert!(error(&[&path("no such.rec")], &path("p.rec"), rest).contains("no such.rec"));
    for wrong in
        ["--net none", "--depth 1", "--net none --engine x --depth 1", "--net none --option a=1 --depth 1"]
    {
        error(&[&a], &path("p.rec"), wrong);
    }
    assert!(!path("p.rec").exists());

    let mut bytes = std::fs::read(&b).expect("bytes");
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    std::fs::write(&b, bytes).expect("written");
    let damaged = error(&[&a, &b], &path("q.rec"), rest);
    assert!(damaged.contains("b.rec: ") && damaged.contains("--skip-damaged"), "{damaged}");
    let report = rescore(&[&a, &b], &path("r.rec"), &format!("{rest} --skip-damaged"));
    assert_eq!((&report["games"], &report["damaged"]), (&5.into(), &1.into()));
}

/// Kills runs with SIGKILL at random moments and goes on: the end is the undisturbed file, byte for byte. Time decides
/// where the kills fall, not what comes out.
#[test]
fn kill_9_loses_nothing() {
    let kills = if std::env::var_os("CHUHE_FULL").is_some() { 10 } else { 3 };
    let folder = tempfile::tempdir().expect("a folder");
    let [whole, out] = ["whole", "out"].map(|name| folder.path().join(name));
    // Enough plies for whole blocks.
    let file = folder.path().join("a.rec");
    done(gen_command("play", &[], &file, "--games 420 --nodes 20 --balance-nodes 0 --hash 1 --quiet"), 0);
    let rest = "--net none --nodes 40 --hash 1";
    let begun = Instant::now();
    rescore(&[&file], &whole, &format!("{rest} --threads 1"));
    let span = begun.elapsed().as_millis() as u64;
    let mut rng = game_rng(11, kills);
    let mut killed = 0;
    for _ in 0..kills {
        let mut command = gen_command("rescore", &[&file], &out, &format!("{rest} --threads 2 --quiet"));
        let mut child =
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
        std::thread::sleep(Duration::from_millis(rng.below(span * 8 / 10)));
        killed += u64::from(child.try_wait().expect("a state").is_none());
        _ = child.kill();
        child.wait().expect("an end");
    }
    assert!(killed > 0, "all runs ended before they were killed");
    rescore(&[&file], &out, &format!("{rest} --threads 2"));
    assert!(std::fs::read(&out).expect("bytes") == std::fs::read(&whole).expect("bytes"), "the files differ");
    let names = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(names, 6, "three files and their manifests");
}
