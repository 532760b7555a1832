//! Records out to other formats and back: round trips of random games, the committed files of each format, and the
//! programs `chuhe-gen export` and `chuhe-gen import` with good and bad input.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::AtomicBool;

use datagen::exchange::jsonl::FileLine;
use datagen::exchange::{Conventions, FirstRank, View};
use datagen::export::{Settings, Target, export};
use datagen::import::data::{DataImport, DataKind, DataSettings, DataTally};
use nnue_format::record::{
    GameRecord, Header, Outcome, PlyFlags, PlyRecord, PositionFilter, Reader, Reason, Start, WriteError,
    Writer,
};
use proptest::prelude::*;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;
use xiangqi::judge::{self, RuleSet};
use xiangqi::{Game, Score};

const PROGRAM: &str = env!("CARGO_BIN_EXE_chuhe-gen");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn golden() -> PathBuf {
    root().join("nnue-format/tests/golden/two_games.rec")
}

fn example(end: &str) -> PathBuf {
    root().join(format!("tests/data/exchange/two_games.{end}"))
}

fn below(rng: &mut Xoshiro256PlusPlus, n: u64) -> u64 {
    rng.next_u64() % n.max(1)
}

/// A game of random legal moves, ended by the rules or by whoever played it.
fn random_game(
    rng: &mut Xoshiro256PlusPlus,
    number: u64,
    rules: RuleSet,
    positions_only: bool,
) -> GameRecord {
    const FEN: &str = "2bakab2/9/2n1c4/p1p1p1p1p/9/9/P1P1P1P1P/2N1C4/9/2BAKAB2 b - - 3 10";
    let start = if below(rng, 3) == 0 { Start::Fen(FEN.to_owned()) } else { Start::Standard };
    let mut game = Game::new(start.position().expect("a position"));
    let opening_plies = if positions_only { 0 } else { below(rng, 8) };
    let (mut opening, mut plies) = (Vec::new(), Vec::new());
    let mut status = judge::status(&game, rules);
    for ply in 0..1 + below(rng, 120) {
        let moves = game.position().legal_moves();
        if status.is_over() {
            break;
        }
        let mv = moves[below(rng, moves.len() as u64) as usize];
        let score = match below(rng, 9) {
            0 => Score::mate_in(below(rng, 90) as i32),
            _ => Score(below(rng, 4001) as i32 - 2000),
        };
        let any = PlyFlags::from_bits(below(rng, 5) == 0, below(rng, 7) == 0);
        if ply < opening_plies {
            opening.push(mv);
        } else {
            plies.push(PlyRecord { mv, score, flags: if positions_only { PlyFlags::NONE } else { any } });
        }
        game.play(mv);
        status = judge::status(&game, rules);
    }
    let ruled = Outcome::from_result(status.result).zip(status.reason.map(Reason::from));
    let stated = (Outcome::ALL[below(rng, 3) as usize], Reason::Stated);
    let (outcome, reason) = ruled.unwrap_or(stated);
    GameRecord { number, start, opening, plies, outcome, reason, rules }
}

fn header(rules: RuleSet) -> Header {
    let run_id = *b"a run of a test.";
    Header { rules, seed: u64::MAX, engine_signature: 9, run_id, net_id: [3; 32], plan_len: 0, plan_crc: 0 }
}

fn write(path: &Path, games: &[GameRecord], rules: RuleSet) {
    let mut writer = Writer::create(Vec::new(), header(rules), b"some plan").expect("a writer");
    games.iter().for_each(|game| _ = writer.push(game).expect("a possible game"));
    std::fs::write(path, writer.finish().expect("written").0).expect("written");
}

fn read(bytes: &[u8]) -> Vec<GameRecord> {
    let reader = Reader::new(std::io::Cursor::new(bytes)).expect("readable");
    reader.games().collect::<Result<_, _>>().expect("good records")
}

fn settings(target: Target, first_rank: FirstRank, view: View) -> Settings {
    Settings {
        target,
        first_rank,
        scores: view,
        results: view,
        filter: PositionFilter { marked: true, ..PositionFilter::default() },
        one_in: 1,
        seed: 1,
        skip_damaged: false,
        file_line: None,
    }
}

fn exported(path: &Path, settings: &Settings) -> Vec<u8> {
    let mut out = Vec::new();
    export(&[path.to_owned()], settings, &mut out, &AtomicBool::new(false), &mut |_| {}).expect("exported");
    out
}

/// The bytes of the records of a file of data, and what was found.
fn imported(path: &Path, settings: DataSettings, header: &Header, plan: &[u8]) -> (Vec<u8>, DataTally) {
    let kind = DataKind::of(path, None).expect("readable").expect("data");
    let mut open = |_: RuleSet, line: Option<&FileLine>| -> Result<Writer<Vec<u8>>, WriteError> {
        match line {
            None => Writer::create(Vec::new(), header.clone(), plan),
            Some(line) => {
                let (header, plan) = line.header().expect("a header");
                Writer::create(Vec::new(), header, &plan)
            }
        }
    };
    let stop = AtomicBool::new(false);
    let mut import = DataImport::new(settings, Some(&mut open), &stop);
    import.file(path, kind, &mut |_| {}).expect("no fault");
    let (writer, tally, _) = import.finish();
    (writer.map_or(Vec::new(), |writer| writer.finish().expect("written").0), tally)
}

fn data_settings(first_rank: Option<FirstRank>, view: View) -> DataSettings {
    DataSettings {
        rules: RuleSet::Competition,
        conventions: Conventions {
            first_rank: first_rank.unwrap_or(FirstRank::Zero),
            scores: view,
            results: view,
        },
        find_ranks: first_rank.is_none(),
        skip_damaged: false,
        keep_numbers: true,
    }
}

fn cases() -> u32 {
    if std::env::var_os("CHUHE_FULL").is_some() { 200 } else { 12 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    /// Whole games to JSON lines and back: the same file, byte by byte, whatever it holds.
    #[test]
    fn games_come_back_byte_by_byte(seed in any::<u64>(), count in 0u64..12) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let rules = RuleSet::ALL[below(&mut rng, 6) as usize];
        let games: Vec<_> =
            (0..count).map(|i| random_game(&mut rng, seed.wrapping_add(7 * i), rules, false)).collect();
        let folder = tempfile::tempdir().expect("a folder");
        let (rec, lines) = (folder.path().join("a.rec"), folder.path().join("a.jsonl"));
        write(&rec, &games, rules);
        let line = FileLine::new("a.rec".into(), String::new(), count, &header(rules), b"some plan");
        let line = Some(datagen::exchange::jsonl::file_line(&line).expect("JSON") + "\n");
        let jsonl = Settings { file_line: line, ..settings(Target::Jsonl, FirstRank::Zero, View::SideToMove) };
        std::fs::write(&lines, exported(&rec, &jsonl)).expect("written");
        let (bytes, tally) =
            imported(&lines, data_settings(None, View::SideToMove), &header(rules), b"another plan");
        prop_assert_eq!(tally.games, count);
        if count > 0 {
            prop_assert_eq!(bytes, std::fs::read(&rec).expect("bytes"));
        }
    }

    /// Scored positions to text and back: joined into the same games, in every convention.
    #[test]
    fn positions_come_back_as_games(seed in any::<u64>(), kind in 0usize..8) {
        let target = [Target::Plain, Target::Csv][kind % 2];
        let first_rank = FirstRank::ALL[kind / 2 % 2];
        let view = [View::SideToMove, View::Red][kind / 4];
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let rules = RuleSet::Competition;
        let games: Vec<_> = (0..6).map(|i| random_game(&mut rng, i, rules, true)).collect();
        let folder = tempfile::tempdir().expect("a folder");
        let rec = folder.path().join("a.rec");
        let text = folder.path().join(format!("a.{}", target.name()));
        write(&rec, &games, rules);
        std::fs::write(&text, exported(&rec, &settings(target, first_rank, view))).expect("written");
        let told = if below(&mut rng, 2) == 0 { None } else { Some(first_rank) };
        let (bytes, tally) = imported(&text, data_settings(told, view), &header(rules), b"");
        prop_assert_eq!(read(&bytes), games);
        prop_assert_eq!(tally.fault_count(), 0);
    }
}

/// The committed files, of which the binary one was packed by other code.
#[test]
fn the_committed_files_are_as_ever() {
    for target in Target::ALL {
        let view = View::SideToMove;
        let found = exported(&golden(), &settings(target, target.first_rank(), view));
        let path = example(target.name());
        if std::env::var_os("CHUHE_BLESS").is_some() {
            std::fs::write(&path, &found).expect("written");
        }
        let expected = std::fs::read(&path).expect("a committed file");
        assert_eq!(String::from_utf8_lossy(&found), String::from_utf8_lossy(&expected), "{}", path.display());
    }
    let golden = read(&std::fs::read(golden()).expect("the golden file"));
    // The marked position between them is left out: the first game comes back as a run of two and a single one.
    let scores: Vec<Vec<i32>> = vec![vec![35, -52], vec![-700], vec![31_997, -31_998, 31_999]];
    for end in ["plain", "csv", "bin"] {
        let (bytes, tally) = imported(
            &example(end),
            data_settings(None, View::SideToMove),
            &header(RuleSet::Competition),
            b"",
        );
        let games = read(&bytes);
        let found: Vec<Vec<i32>> =
            games.iter().map(|game| game.plies.iter().map(|ply| ply.score.0).collect()).collect();
        assert_eq!(found, scores, "{end}");
        assert_eq!((tally.single, tally.fault_count()), (1, 0));
        assert_eq!(
            (&games[2].start, games[2].outcome, games[2].reason),
            (&golden[1].start, golden[1].outcome, golden[1].reason)
        );
        assert_eq!((games[0].outcome, games[0].reason), (Outcome::Draw, Reason::Stated));
    }
    let (bytes, _) = imported(
        &example("jsonl"),
        data_settings(None, View::SideToMove),
        &header(RuleSet::Competition),
        b"",
    );
    assert_eq!(read(&bytes), golden);
}

/// docs/exchange.md shows the committed files as they are.
#[test]
fn the_document_shows_the_committed_files() {
    let document = std::fs::read_to_string(root().join("docs/exchange.md")).expect("the document");
    for end in ["jsonl", "plain", "csv", "fen"] {
        let shown = document.split_once(&format!("```{end}\n")).expect("an example").1;
        let shown = shown.split_once("```").expect("its end").0;
        let whole = std::fs::read_to_string(example(end)).expect("a committed file");
        assert!(whole.starts_with(shown), "docs/exchange.md, {end}: shown\n{shown}\ncommitted\n{whole}");
    }
    let dump = document.split_once("```hexdump\n").expect("a dump").1.split_once("```").expect("its end").0;
    let shown: Vec<u8> = dump
        .lines()
        .flat_map(|line| line.split_whitespace().skip(1))
        .map(|byte| u8::from_str_radix(byte, 16).expect("hexadecimal"))
        .collect();
    assert_eq!(shown, std::fs::read(example("bin")).expect("a committed file")[..72]);
}

fn program(words: &[&str], code: i32) -> Output {
    let output = Command::new(PROGRAM).args(words).output().expect("the program starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{words:?}: {stderr}");
    output
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("JSON alone on stdout")
}

/// A folder and a file of random games in it.
fn folder_with_games(count: u64) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let games: Vec<_> = (0..count).map(|i| random_game(&mut rng, i, RuleSet::Competition, false)).collect();
    let path = folder.path().join("棋 a.rec");
    write(&path, &games, RuleSet::Competition);
    let path = path.to_str().expect("UTF-8").to_owned();
    (folder, path)
}

#[test]
fn the_programs_restore_a_file_and_refuse_what_is_wrong() {
    let (folder, rec) = folder_with_games(9);
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (lines, again) = (path("a.jsonl"), path("b.rec"));
    let report = json(&program(&["export", &rec, "--out", &lines, "--json"], 0));
    assert_eq!((&report["games"], &report["format"]), (&9.into(), &"jsonl".into()));
    assert_eq!(report["bytes"], std::fs::metadata(&lines).expect("a file").len());
    program(&["import", &lines, "--out", &again, "--restore", "--quiet"], 0);
    assert_eq!(std::fs::read(&rec).expect("bytes"), std::fs::read(&again).expect("bytes"));
    assert!(Path::new(&path("b.rec.manifest.json")).is_file());

    // Without --restore it is a file of its own, with the same games.
    let own = path("own.rec");
    let report = json(&program(&["import", &lines, "--out", &own, "--json"], 0));
    assert_eq!(report["written"], 9);
    assert_eq!(read(&std::fs::read(&own).expect("bytes")), read(&std::fs::read(&rec).expect("bytes")));
    assert_ne!(std::fs::read(&rec).expect("bytes"), std::fs::read(&own).expect("bytes"));
    program(&["verify", &own], 0);

    // A line less is another file.
    let text = std::fs::read_to_string(&lines).expect("text");
    let fewer = path("fewer.jsonl");
    std::fs::write(&fewer, text.lines().take(9).map(|line| line.to_owned() + "\n").collect::<String>())
        .expect("written");
    let refused = program(&["import", &fewer, "--out", &path("c.rec"), "--restore"], 2);
    assert!(stderr(&refused).contains("lines were changed, left out or added"), "{}", stderr(&refused));
    assert!(!Path::new(&path("c.rec")).exists() && !Path::new(&path("c.rec.partial")).exists());

    // Existing files, missing words.
    assert!(stderr(&program(&["export", &rec, "--out", &lines], 2)).contains("--force"));
    assert!(stderr(&program(&["export", &rec], 2)).contains("give --to"));
    assert!(
        stderr(&program(&["export", &rec, "--to", "csv", "--json"], 2)).contains("stdout carries the csv")
    );
    assert!(
        stderr(&program(&["export", &rec, "--to", "jsonl", "--no-checks"], 2)).contains("chuhe-gen filter")
    );
}

#[test]
fn filters_and_choices() {
    let (_folder, rec) = folder_with_games(9);
    let count = |words: &[&str]| {
        let words: Vec<&str> =
            ["export", &rec, "--to", "fen", "--quiet"].iter().chain(words).copied().collect();
        String::from_utf8(program(&words, 0).stdout).expect("UTF-8").lines().count()
    };
    let games = read(&std::fs::read(&rec).expect("bytes"));
    let all: usize = games.iter().map(|game| game.plies.len()).sum();
    let marked = games.iter().flat_map(|game| &game.plies).filter(|ply| ply.flags.is_skipped()).count();
    assert_eq!(count(&["--marked"]), all);
    assert_eq!(count(&[]), all - marked);
    let small = games.iter().flat_map(|game| &game.plies).filter(|ply| ply.score.0.abs() <= 500).count();
    assert_eq!(count(&["--marked", "--max-score", "500"]), small);
    let (one_in, other) =
        (count(&["--marked", "--one-in", "3"]), count(&["--marked", "--one-in", "3", "--seed", "2"]));
    assert!(
        (all / 5..all / 2).contains(&one_in) && (all / 5..all / 2).contains(&other),
        "{one_in} {other} of {all}"
    );
    let quiet = count(&[
        "--marked",
        "--no-captures",
        "--no-checks",
        "--no-mates",
        "--no-not-best",
        "--early-plies",
        "9",
    ]);
    assert!(quiet < all * 3 / 4, "{quiet} of {all}");
}

#[test]
fn damage_is_refused_or_left_out() {
    let (folder, rec) = folder_with_games(9);
    let mut bytes = std::fs::read(&rec).expect("bytes");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&rec, &bytes).expect("written");
    let out = folder.path().join("a.plain");
    let refused = program(&["export", &rec, "--out", out.to_str().expect("UTF-8")], 2);
    assert!(
        stderr(&refused).contains("damaged") && stderr(&refused).contains("--skip-damaged"),
        "{}",
        stderr(&refused)
    );
    assert!(!out.exists());
    let words = ["export", &rec, "--out", out.to_str().expect("UTF-8"), "--skip-damaged", "--json"];
    let report = json(&program(&words, 1));
    assert_eq!((&report["damaged"], &report["games"]), (&1.into(), &0.into()));
    assert!(report["damage"][0]["offset"].as_u64().is_some_and(|offset| offset > 88));
    let text = folder.path().join("a.txt");
    std::fs::write(&text, "no records").expect("written");
    program(&["export", text.to_str().expect("UTF-8"), "--to", "fen", "--skip-damaged"], 2);
}

/// What people's files have wrong: each line is told, nothing is written unasked.
#[test]
fn faulty_data() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let good = std::fs::read_to_string(example("plain")).expect("text");
    let (file, out) = (path("a.plain"), path("a.rec"));
    // A king-less board and impossible counters (variant-nnue-tools #20), a score that is none, an illegal move.
    let bad = "fen rnba1abnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1\nmove h3e3\nscore 0\nply 1\nresult 0\ne\n\
               fen rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 99999 17028\nmove h3e3\nscore 0\nply 1\nresult 0\ne\n\
               fen rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1\nmove h3e3\nscore 32002\nply 1\nresult 0\ne\n\
               fen rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1\nmove h3h9\nscore 0\nply 1\nresult 0\ne\n";
    std::fs::write(&file, good.clone() + bad).expect("written");
    let refused = program(&["import", &file, "--out", &out], 2);
    for text in ["line 37: ", "line 43: ", "line 49: ", "line 55: ", "--skip-damaged"] {
        assert!(stderr(&refused).contains(text), "{text}: {}", stderr(&refused));
    }
    assert!(!Path::new(&out).exists());
    let report = json(&program(&["import", &file, "--out", &out, "--skip-damaged", "--json", "--quiet"], 1));
    assert_eq!((&report["written"], &report["positions"]), (&3.into(), &6.into()));
    assert_eq!((&report["faults"]["position"], &report["faults"]["score"]), (&2.into(), &1.into()));
    assert_eq!(report["faults"]["illegal"], 1);
    program(&["verify", &out], 0);

    // Results of Red's view contradict one another in a game, and are told with what to do.
    let red = path("red.csv");
    let text = program(
        &["export", golden().to_str().expect("UTF-8"), "--to", "csv", "--results", "red", "--quiet"],
        0,
    );
    std::fs::write(&red, &text.stdout).expect("written");
    let refused = program(&["import", &red, "--dry-run"], 2);
    assert!(
        stderr(&refused).contains("line 6: ") && stderr(&refused).contains("--results red"),
        "{}",
        stderr(&refused)
    );
    let report = json(&program(&["import", &red, "--dry-run", "--results", "red", "--json"], 0));
    assert_eq!(report["written"], 3);

    // Another variant's positions, and another size.
    let bin = path("a.bin");
    let mut bytes = std::fs::read(example("bin")).expect("bytes");
    bytes[60] = 1;
    std::fs::write(&bin, &bytes).expect("written");
    assert!(stderr(&program(&["import", &bin, "--dry-run"], 2)).contains("position 0: bits behind the end"));
    std::fs::write(&bin, &bytes[..200]).expect("written");
    assert!(stderr(&program(&["import", &bin, "--dry-run"], 2)).contains("200 bytes are no multiple of 72"));
    // Data and games are not mixed.
    let pgn = path("a.pgn");
    std::fs::write(&pgn, "1. h2e2 *").expect("written");
    assert!(stderr(&program(&["import", &red, &pgn, "--dry-run"], 2)).contains("one after the other"));
    assert!(stderr(&program(&["import", &red, "--nodes", "9", "--dry-run"], 2)).contains("rescore"));
}

/// The positions of a game written backwards, as variant-nnue-tools does, are one game too.
#[test]
fn games_written_backwards() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    let games: Vec<_> = (0..3).map(|i| random_game(&mut rng, i, RuleSet::Competition, true)).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let rec = folder.path().join("a.rec");
    write(&rec, &games, RuleSet::Competition);
    let text = exported(&rec, &settings(Target::Csv, FirstRank::Zero, View::SideToMove));
    let text = String::from_utf8(text).expect("UTF-8");
    let (head, rest) = text.split_once('\n').expect("lines");
    let mut lines: Vec<&str> = rest.lines().collect();
    lines.reverse();
    let csv = folder.path().join("a.csv");
    std::fs::write(&csv, format!("{head}\n{}\n", lines.join("\n"))).expect("written");
    let (bytes, _) =
        imported(&csv, data_settings(None, View::SideToMove), &header(RuleSet::Competition), b"");
    let mut found = read(&bytes);
    found.reverse();
    found.iter_mut().zip(&games).for_each(|(game, own)| game.number = own.number);
    assert_eq!(found, games);
}
