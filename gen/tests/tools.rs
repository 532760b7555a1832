//! Record files made from record files, held against slow and obvious twins; and what happens when something goes wrong.

#[path = "common/games.rs"]
mod games;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use games::random_game;
use nnue_format::record::{GameRecord, Header, Outcome, PlyFlags, Reader, Reason, Writer};
use serde_json::Value;
use tempfile::TempDir;
use xiangqi::judge::RuleSet;

const PROGRAM: &str = env!("CARGO_BIN_EXE_chuhe-gen");

fn write(path: &Path, games: &[GameRecord], per_block: usize) {
    let rules = games.first().map_or(RuleSet::Competition, |game| game.rules);
    let header = Header {
        rules,
        seed: 1,
        engine_signature: 9,
        run_id: *b"a run of a test.",
        net_id: [7; 32],
        plan_len: 0,
        plan_crc: 0,
    };
    let mut writer = Writer::create(Vec::new(), header, b"a plan").unwrap();
    for (i, game) in games.iter().enumerate() {
        writer.push(game).unwrap();
        if (i + 1) % per_block == 0 {
            writer.end_block().unwrap();
        }
    }
    std::fs::write(path, writer.finish().unwrap().0).unwrap();
}

fn some_games(seed: u64, count: u64) -> Vec<GameRecord> {
    (0..count).map(|number| random_game(seed, number)).collect()
}

/// A folder with `a.rec` and `b.rec`, and their games.
fn two_files() -> (TempDir, Vec<GameRecord>) {
    let folder = tempfile::tempdir().unwrap();
    let games = some_games(1, 30);
    write(&folder.path().join("a.rec"), &games[..20], 6);
    write(&folder.path().join("b.rec"), &games[20..], 4);
    (folder, games)
}

fn command(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(line.split_whitespace()).current_dir(folder);
    command
}

fn run(folder: &Path, line: &str) -> Output {
    command(folder, line).output().unwrap()
}

/// Runs a line that succeeds, and gives its JSON.
fn good(folder: &Path, line: &str) -> Value {
    let output = run(folder, &format!("{line} --json --quiet"));
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Runs a line that fails, and gives its message. Nothing is left of `out`.
fn bad(folder: &Path, line: &str) -> String {
    let before = names(folder);
    let output = run(folder, line);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{line}: {error}");
    assert_eq!(names(folder), before, "{line}");
    error
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// All games of an undamaged file, numbered from 0.
fn games_of(path: PathBuf) -> Vec<GameRecord> {
    let games: Vec<_> = Reader::open(path).unwrap().games().map(Result::unwrap).collect();
    assert!(games.iter().zip(0..).all(|(game, number)| game.number == number));
    games
}

/// Games without their numbers.
fn bare(games: &[GameRecord]) -> Vec<GameRecord> {
    games.iter().map(|game| GameRecord { number: 0, ..game.clone() }).collect()
}

/// Enough games for several buckets and parts at the least memory.
fn many() -> &'static [GameRecord] {
    static MANY: OnceLock<Vec<GameRecord>> = OnceLock::new();
    MANY.get_or_init(|| {
        let mut games = some_games(2, 1400);
        // Some games again, some with an opening longer by a ply, some marked already.
        for i in 0..100 {
            let mut again = games[i * 7].clone();
            if i % 3 == 0 {
                again.opening.push(again.plies.remove(0).mv);
            }
            games.push(again);
        }
        for game in games.iter_mut().step_by(5) {
            game.plies.iter_mut().step_by(4).for_each(|ply| ply.flags = ply.flags.with(PlyFlags::SKIP));
        }
        games.iter_mut().zip(0..).for_each(|(game, number)| game.number = number);
        games
    })
}

fn many_file() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("many.rec"), many(), usize::MAX);
    folder
}

#[test]
fn merge_keeps_all_games_in_order() {
    let (folder, games) = two_files();
    let folder = folder.path();
    let report = good(folder, "merge a.rec b.rec --out all.rec");
    assert_eq!(report["files"][0]["games"], 30);
    assert_eq!(bare(&games_of(folder.join("all.rec"))), bare(&games));
    let json: Value = serde_json::from_slice(&run(folder, "inspect all.rec --json").stdout).unwrap();
    assert_eq!(
        (json["plan"]["verb"].as_str(), json["plan"]["inputs"][1]["games"].as_u64()),
        (Some("merge"), Some(10))
    );
    let text = String::from_utf8(run(folder, "inspect all.rec").stdout).unwrap();
    assert!(text.contains("made by merge"), "{text}");
    assert!(run(folder, "verify all.rec").status.success());
    let manifest = std::fs::read_to_string(folder.join("all.rec.manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["inputs"][0]["file"], "a.rec");
    // The same again is done already; something else of that name is not touched.
    let bytes = std::fs::read(folder.join("all.rec")).unwrap();
    assert_eq!(good(folder, "merge a.rec b.rec --out all.rec")["files"][0]["state"], "already complete");
    assert!(bad(folder, "merge a.rec --out all.rec").contains("--force"));
    assert_eq!(std::fs::read(folder.join("all.rec")).unwrap(), bytes);
    good(folder, "merge a.rec --out all.rec --force");
    assert_eq!(bare(&games_of(folder.join("all.rec"))), bare(&games[..20]));
    // Names are not in the bytes.
    std::fs::rename(folder.join("a.rec"), folder.join("c.rec")).unwrap();
    good(folder, "merge c.rec b.rec --out again.rec");
    assert_eq!(std::fs::read(folder.join("again.rec")).unwrap(), bytes);
}

#[test]
fn split_gives_every_game_to_one_file() {
    let (folder, games) = two_files();
    let folder = folder.path();
    good(folder, "split a.rec b.rec --out by.rec --games 12");
    let parts = |name: &str, count: usize| {
        (1..=count).map(|i| bare(&games_of(folder.join(format!("{name}-{i:05}.rec"))))).collect::<Vec<_>>()
    };
    let by_games = parts("by", 3);
    assert_eq!(by_games.concat(), bare(&games));
    assert_eq!(by_games.iter().map(Vec::len).collect::<Vec<_>>(), [12, 12, 6]);
    good(folder, "split a.rec b.rec --out into.rec --parts 4");
    let into = parts("into", 4);
    assert_eq!(into.concat(), bare(&games));
    assert_eq!(into.iter().map(Vec::len).collect::<Vec<_>>(), [8, 8, 7, 7]);
    // A part that is gone is made again, the same; the others are left.
    let bytes = std::fs::read(folder.join("into-00002.rec")).unwrap();
    std::fs::remove_file(folder.join("into-00002.rec")).unwrap();
    let report = good(folder, "split a.rec b.rec --out into.rec --parts 4");
    let states: Vec<_> = (0..4).map(|i| report["files"][i]["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["already complete", "complete", "already complete", "already complete"]);
    assert_eq!(std::fs::read(folder.join("into-00002.rec")).unwrap(), bytes);
    assert!(bad(folder, "split a.rec --out x.rec --parts 21").contains("1 to 20"));
    // Without knowing where a game stands, the same side.
    good(folder, "split a.rec b.rec --out t.rec --validation 0.3 --validation-out v.rec --seed 4");
    good(folder, "split b.rec a.rec --out t2.rec --validation 30% --validation-out v2.rec --seed 4");
    let sides = |t: &str, v: &str| [t, v].map(|name| bare(&games_of(folder.join(name))));
    let ([training, validation], [training2, validation2]) =
        (sides("t.rec", "v.rec"), sides("t2.rec", "v2.rec"));
    assert!((3..20).contains(&validation.len()) && training.len() + validation.len() == 30);
    assert!(validation.iter().all(|game| validation2.contains(game) && !training.contains(game)));
    assert_eq!(training.len(), training2.len());
}

#[test]
fn shuffle_is_a_permutation_that_follows_from_the_seed() {
    let folder = many_file();
    let folder = folder.path();
    good(folder, "shuffle many.rec --out one.rec --seed 3 --memory 1 --threads 1");
    good(folder, "shuffle many.rec --out two.rec --seed 3 --memory 1024 --threads 8");
    good(folder, "shuffle many.rec --out other.rec --seed 4");
    let [one, two, other] = ["one.rec", "two.rec", "other.rec"].map(|name| games_of(folder.join(name)));
    let bytes = |name| std::fs::read(folder.join(name)).unwrap();
    assert!(bytes("one.rec") == bytes("two.rec"), "memory and threads have an influence");
    assert_eq!(one, two);
    let key = |game: &GameRecord| format!("{:?}", GameRecord { number: 0, ..game.clone() });
    let sorted = |games: &[GameRecord]| {
        let mut keys: Vec<_> = games.iter().map(key).collect();
        keys.sort();
        keys
    };
    assert!(sorted(&one) == sorted(many()) && sorted(&other) == sorted(many()));
    // Of 1500 games in random order about one stays where it was, and about one meets its old neighbour.
    let places: HashMap<_, _> = many().iter().map(key).zip(0usize..).collect();
    for games in [&one, &other] {
        let order: Vec<_> = games.iter().map(|game| places[&key(game)]).collect();
        assert!(order.iter().enumerate().filter(|&(i, &place)| i == place).count() < 12);
        assert!(order.windows(2).filter(|pair| pair[0] + 1 == pair[1]).count() < 12);
    }
    assert!(bytes("one.rec") != bytes("other.rec"));
    let left = names(folder);
    assert!(left.iter().all(|name| !name.contains("partial")), "{left:?}");
}

/// What `dedup` must give, with everything in memory.
fn deduplicated(games: &[GameRecord], by_games: bool, by_positions: bool, mirror: bool) -> Vec<GameRecord> {
    let mirrored = |text: &str| {
        let flip = |c: char| if ('a'..='i').contains(&c) { (b'a' + b'i' - c as u8) as char } else { c };
        text.chars().map(flip).collect::<String>()
    };
    let (mut seen_games, mut seen_positions) = (HashSet::new(), HashSet::new());
    let mut kept = Vec::new();
    for game in games {
        let mut game = game.clone();
        let moves: String = game.moves().map(|mv| format!("{mv} ")).collect();
        let twin = if mirror { mirrored(&moves).min(moves.clone()) } else { moves };
        if by_games && !seen_games.insert(twin) {
            continue;
        }
        let mut marks = Vec::new();
        let mut walk = game.positions().unwrap();
        while let Some(step) = walk.next() {
            let (position, ply) = step.unwrap();
            let Some((_, flags)) = ply.scored else { continue };
            let fen = position.fen();
            let mut fields = fen.split(' ');
            let (placement, side) = (fields.next().unwrap(), fields.next().unwrap());
            let turned = placement.split('/').map(|rank| rank.chars().rev().collect::<String>());
            let turned = turned.collect::<Vec<_>>().join("/");
            let placement = if mirror { turned.min(placement.to_owned()) } else { placement.to_owned() };
            let again = !flags.is_skipped() && !seen_positions.insert(format!("{placement} {side}"));
            marks.push(by_positions && again);
        }
        for (ply, mark) in game.plies.iter_mut().zip(marks) {
            ply.flags = if mark { ply.flags.with(PlyFlags::SKIP) } else { ply.flags };
        }
        kept.push(game);
    }
    kept
}

#[test]
fn dedup_is_its_slow_twin() {
    let folder = many_file();
    let folder = folder.path();
    for (by, by_games, by_positions) in
        [("games", true, false), ("positions", false, true), ("both", true, true)]
    {
        for mirror in [false, true] {
            let flag = if mirror { "--mirror" } else { "" };
            let name = format!("{by}{flag}.rec");
            let report =
                good(folder, &format!("dedup many.rec --out {name} --by {by} {flag} --memory 1 --threads 1"));
            let expected = deduplicated(many(), by_games, by_positions, mirror);
            let found = bare(&games_of(folder.join(&name)));
            assert!(found == bare(&expected), "{name}");
            let count = |name: &str| report["counts"][name].as_u64().unwrap();
            assert_eq!(count("games_left_out") as usize, many().len() - expected.len(), "{name}");
            let skipped = |games: &[GameRecord]| {
                games.iter().flat_map(|game| &game.plies).filter(|ply| ply.flags.is_skipped()).count()
            };
            if by_positions {
                let before: Vec<_> =
                    expected.iter().map(|game| many()[game.number as usize].clone()).collect();
                assert_eq!(
                    count("positions_marked") as usize,
                    skipped(&expected) - skipped(&before),
                    "{name}"
                );
                assert!(count("positions_marked") > if by_games { 0 } else { 100 }, "{name}");
                let all: usize = expected.iter().map(|game| game.plies.len()).sum();
                assert_eq!(count("positions_for_training") as usize, all - skipped(&expected), "{name}");
            }
            assert_eq!(
                count("positions_marked_before") as usize,
                if by_positions { skipped(many()) } else { 0 }
            );
            let again =
                format!("dedup many.rec --out again-{name} --by {by} {flag} --memory 1024 --threads 8");
            good(folder, &again);
            let bytes = |name: &str| std::fs::read(folder.join(name)).unwrap();
            assert!(bytes(&name) == bytes(&format!("again-{name}")), "memory and threads have an influence");
        }
    }
    let left = names(folder);
    assert!(left.iter().all(|name| !name.contains("partial")), "{left:?}");
}

#[test]
fn filter_takes_what_it_should() {
    let folder = many_file();
    let folder = folder.path();
    let plies = || many().iter().flat_map(|game| &game.plies);
    let all = plies().count() as u64;
    let marked = plies().filter(|ply| ply.flags.is_skipped()).count() as u64;
    let mut by_hand: HashMap<&str, u64> = HashMap::new();
    for game in many() {
        let mut walk = game.positions().unwrap();
        let mut seen = HashSet::new();
        while let Some(step) = walk.next() {
            let (position, ply) = step.unwrap();
            let again = !seen.insert(position.key());
            let Some((score, flags)) = ply.scored else { continue };
            let mut count =
                |name, is: bool| *by_hand.entry(name).or_default() += u64::from(is && !flags.is_skipped());
            count("early", ply.number < 20);
            count("mates", score.mate_plies().is_some());
            count("scores", score.0.abs() > 100);
            count("not_best", flags.is_not_best());
            count("captures", position.piece_on(ply.mv.to()).is_some());
            count("in_check", position.in_check());
            count("repetitions", again);
        }
    }
    let options = [
        ("early", "--early-plies 20"),
        ("mates", "--mates"),
        ("scores", "--max-score 100"),
        ("not_best", "--not-best"),
        ("captures", "--captures"),
        ("in_check", "--in-check"),
        ("repetitions", "--repetitions"),
    ];
    for (name, option) in options {
        let report = good(folder, &format!("filter many.rec --out {name}.rec {option}"));
        let (count, taken) = (|name: &str| report["counts"][name].as_u64().unwrap(), by_hand[name]);
        assert!(taken > 5, "{name}: {taken}");
        assert_eq!((count(name), count("marked_before")), (taken, marked), "{name}");
        assert_eq!(count("positions_for_training"), all - marked - taken, "{name}");
        let games = games_of(folder.join(format!("{name}.rec")));
        let skipped =
            games.iter().flat_map(|game| &game.plies).filter(|ply| ply.flags.is_skipped()).count() as u64;
        assert_eq!((games.len(), skipped), (many().len(), marked + taken), "{name}");
    }
    let report = good(folder, "filter many.rec --out kept.rec --keep 25% --drop-marks");
    assert_eq!(report["counts"]["marks_removed"], marked);
    let kept = report["counts"]["positions_for_training"].as_u64().unwrap();
    assert!((all * 24 / 100..all * 26 / 100).contains(&kept), "{kept} of {all}");
    // Marks removed from what was only marked give the games as they were.
    good(folder, "filter many.rec --out plain.rec --drop-marks");
    good(folder, "filter kept.rec --out unmarked.rec --drop-marks");
    assert_eq!(games_of(folder.join("plain.rec")), games_of(folder.join("unmarked.rec")));
    // Threads have no influence.
    let line = "filter many.rec --captures --in-check --keep 0.5 --seed 3";
    good(folder, &format!("{line} --out one.rec --threads 1"));
    good(folder, &format!("{line} --out eight.rec --threads 8"));
    let bytes = |name: &str| std::fs::read(folder.join(name)).unwrap();
    assert!(bytes("one.rec") == bytes("eight.rec"));
}

#[test]
fn filter_drops_games() {
    let folder = many_file();
    let folder = folder.path();
    let check = |option: &str, counter: &str, keeps: &dyn Fn(&GameRecord) -> bool| {
        let name = format!("{}.rec", option.split(' ').next().unwrap());
        let report = good(folder, &format!("filter many.rec --out ./{name} {option}"));
        let expected: Vec<_> = many().iter().filter(|game| keeps(game)).cloned().collect();
        assert!(!expected.is_empty() && expected.len() < many().len(), "{option}: {}", expected.len());
        assert!(bare(&games_of(folder.join(&name))) == bare(&expected), "{option}");
        assert_eq!(report["counts"][counter], many().len() - expected.len(), "{option}");
    };
    check("--drop-outcomes red_loses,black_loses", "games_dropped_by_outcome", &|game| {
        game.outcome == Outcome::Draw
    });
    check("--drop-reasons ply_limit", "games_dropped_by_reason", &|game| game.reason != Reason::PlyLimit);
    check("--min-plies 100", "games_too_short", &|game| game.len() >= 100);
    check("--max-plies 100", "games_too_long", &|game| game.len() <= 100);
    let report = good(folder, "filter many.rec --out empty.rec --drop-empty --early-plies 100");
    let left = games_of(folder.join("empty.rec"));
    assert!(left.iter().all(|game| game.plies.iter().any(|ply| !ply.flags.is_skipped())));
    assert_eq!(report["counts"]["games_without_positions"], many().len() - left.len());
    assert!(bad(folder, "filter many.rec --out x.rec --drop-outcomes lost").contains("red_loses"));
}

#[test]
fn inputs_that_do_not_fit_are_refused_by_name() {
    let (folder, mut games) = two_files();
    let folder = folder.path();
    games.iter_mut().for_each(|game| game.rules = RuleSet::Asian);
    write(&folder.join("asian.rec"), &games, 9);
    let error = bad(folder, "merge a.rec asian.rec --out x.rec");
    assert!(error.contains("asian.rec") && error.contains("competition"), "{error}");
    assert!(bad(folder, "merge a.rec --out a.rec --force").contains("a.rec is an input and the output"));
    assert!(bad(folder, "merge a.rec none.rec --out x.rec").contains("none.rec"));
    std::fs::write(folder.join("text.rec"), "no records, but long enough for a header".repeat(9)).unwrap();
    assert!(bad(folder, "merge a.rec text.rec --out x.rec --skip-damaged").contains("text.rec"));
    assert!(bad(folder, "merge a.rec --out none/x.rec").contains("none/x.rec.partial"));
    #[cfg(target_os = "linux")]
    assert!(bad(folder, "merge a.rec --out /sys/x.rec").contains("/sys/x.rec.partial"));
}

#[test]
fn damage_is_told_with_its_place_and_costs_a_block() {
    let (folder, games) = two_files();
    let folder = folder.path();
    let good_bytes = std::fs::read(folder.join("a.rec")).unwrap();
    let lines = ["merge", "shuffle", "dedup", "filter --mates", "split --games 100"];
    for (i, at) in
        [20, 120, good_bytes.len() / 2, good_bytes.len() - 300, good_bytes.len() - 10].into_iter().enumerate()
    {
        let mut bytes = good_bytes.clone();
        bytes[at] ^= 0x10;
        std::fs::write(folder.join("d.rec"), &bytes).unwrap();
        let error = bad(folder, &format!("{} d.rec b.rec --out x.rec", lines[i]));
        assert!(
            error.contains("d.rec") && error.contains("at byte") && error.contains("--skip-damaged"),
            "{error}"
        );
        let report = good(folder, &format!("{} d.rec b.rec --out x{i}.rec --skip-damaged", lines[i]));
        assert!(report["damaged_parts_left_out"].as_u64() > Some(0));
        let name =
            if lines[i].starts_with("split") { format!("x{i}-00001.rec") } else { format!("x{i}.rec") };
        let left = games_of(folder.join(&name)).len();
        assert!((games.len() - 6..=games.len()).contains(&left), "byte {at}: {left} games");
        let manifest = std::fs::read_to_string(folder.join(format!("{name}.manifest.json"))).unwrap();
        assert!(manifest.contains("\"offset\""), "{manifest}");
    }
    std::fs::write(folder.join("cut.rec"), &good_bytes[..good_bytes.len() / 2]).unwrap();
    assert!(bad(folder, "merge cut.rec --out x.rec").contains("cut off"));
    good(folder, "merge cut.rec --out cut2.rec --skip-damaged");
}

#[test]
fn a_file_that_another_process_writes_is_left_alone() {
    let (folder, _) = two_files();
    let folder = folder.path();
    let partial = std::fs::File::create(folder.join("x.rec.partial")).unwrap();
    partial.lock().unwrap();
    for line in ["merge", "shuffle", "dedup", "filter --mates"] {
        assert!(bad(folder, &format!("{line} a.rec --out x.rec")).contains("another process"));
    }
    drop(partial);
    // An unfinished run of self-play may be gone on with: it is not thrown away unasked.
    std::fs::copy(folder.join("b.rec"), folder.join("x.rec.partial")).unwrap();
    assert!(bad(folder, "merge a.rec --out x.rec").contains("gone on with"));
    good(folder, "merge a.rec --out x.rec --force");
}

#[cfg(unix)]
mod endings {
    use std::time::{Duration, Instant};

    use super::*;

    /// Starts a line and stops it by `signal` as soon as it writes. False if it was over before.
    fn stopped(folder: &Path, line: &str, signal: &str, out: &str) -> bool {
        let mut child =
            command(folder, &format!("{line} --quiet")).stderr(std::process::Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        while !folder.join(format!("{out}.partial")).exists() && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(1));
        }
        // Another moment for each run, as the machine has it.
        std::thread::sleep(Duration::from_millis(u64::from(child.id() % 7) * 20));
        let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        let status = child.wait().unwrap();
        kill.success() && !status.success()
    }

    #[test]
    fn killed_or_interrupted_runs_leave_no_half_file() {
        let folder = many_file();
        let folder = folder.path();
        for (i, line) in
            ["merge", "shuffle --memory 1", "dedup --memory 1", "filter --captures"].iter().enumerate()
        {
            let (line, out) = (format!("{line} many.rec --out {i}.rec"), format!("{i}.rec"));
            let before = names(folder);
            if stopped(folder, &line, "-INT", &out) {
                assert_eq!(names(folder), before, "{line}: interrupted");
            }
            if stopped(folder, &line, "-KILL", &out) {
                assert!(!folder.join(&out).exists(), "{line}: killed, and published");
            }
            good(folder, &line);
            good(folder, &line.replace(&out, &format!("again-{i}.rec")));
            let bytes = |name: &str| std::fs::read(folder.join(name)).unwrap();
            assert!(bytes(&out) == bytes(&format!("again-{i}.rec")), "{line}");
            let left = names(folder);
            assert!(left.iter().all(|name| !name.contains("partial")), "{left:?}");
        }
    }

    /// A limit on the length of files stands for a full disk: the same call fails, with another error.
    #[test]
    fn what_cannot_be_written_is_told_and_leaves_nothing() {
        let folder = many_file();
        let folder = folder.path();
        for line in ["merge", "shuffle", "dedup", "filter --captures", "split --parts 2"] {
            let before = names(folder);
            let script =
                format!("ulimit -f 8; trap '' XFSZ; exec '{PROGRAM}' {line} many.rec --out x.rec --quiet");
            let output = Command::new("sh").args(["-c", &script]).current_dir(folder).output().unwrap();
            let error = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{line}: {error}");
            assert!(error.contains("File too large") && error.contains("partial"), "{line}: {error}");
            assert!(error.contains("no unfinished file is left"), "{line}: {error}");
            assert_eq!(names(folder), before, "{line}");
        }
    }
}
