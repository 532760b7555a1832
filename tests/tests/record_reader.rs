//! `docs/record_reader.py`, written from the format document alone, reads what our reader reads: whole files of
//! all features, damaged ones, and made-up ones with good checksums.
//!
//! numpy and zstandard come from `third_party/tools/python` (`python3 scripts/setup-tools.py`), or from the Python
//! that is there.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use nnue_format::record::{
    BLOCK_HEAD_LEN, BLOCK_MARKER, GameRecord, HEADER_LEN, Header, Outcome, PlyFlags, PlyRecord, Reader,
    Reason, Start, Writer,
};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use seam_tests::tree::root;
use serde_json::{Value, json};
use xiangqi::Score;
use xiangqi::judge::RuleSet;

/// Reads every file named on its standard input with one start of Python: the numbers of the whole games, then the
/// bytes of the damage.
const DRIVER: &str = "
import sys
from record_reader import RecordFile
for path in sys.stdin.read().splitlines():
    damage = []
    with RecordFile(path) as file:
        games = [game.json() for game in file.games(on_damage=damage.append)]
    print(len(games), *games, sep='\\n')
    print(*[error.offset for error in damage])
";

fn python(args: &[&str]) -> Command {
    let own = root().join("third_party/tools/python");
    let mut folders = vec![root().join("docs").into_os_string()];
    folders.extend(own.is_dir().then(|| own.into_os_string()));
    let folders = folders.join(&OsString::from(if cfg!(windows) { ";" } else { ":" }));
    let mut command = Command::new("python3");
    command.args(args).env("PYTHONPATH", folders).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

fn run(command: &mut Command, input: &str) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("python3 is needed, as for scripts/test.sh");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("an end");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!stderr.contains("ModuleNotFoundError"), "{stderr}\nset up by: python3 scripts/setup-tools.py");
    output
}

fn below(rng: &mut Xoshiro256PlusPlus, n: u64) -> u64 {
    rng.next_u64() % n.max(1)
}

fn score(rng: &mut Xoshiro256PlusPlus, last: i32) -> i32 {
    match below(rng, 40) {
        0 => Score::mate_in(below(rng, 100) as i32).0,
        1 => -(Score::RULE_WIN - below(rng, 100) as i32),
        2 => below(rng, 64_001) as i32 - 32_000,
        3..20 => (-last + below(rng, 9) as i32 - 4).clamp(-20_000, 20_000),
        _ => (-last + below(rng, 601) as i32 - 300).clamp(-20_000, 20_000),
    }
}

/// A game of random legal moves; starts, lengths, flags, outcomes and reasons of every kind.
fn random_game(rng: &mut Xoshiro256PlusPlus, number: u64, rules: RuleSet) -> GameRecord {
    const FENS: [&str; 3] = [
        "2bakab2/9/2n1c4/p1p1p1p1p/9/9/P1P1P1P1P/2N1C4/9/2BAKAB2 b - - 3 10",
        "3k5/9/9/9/9/9/9/9/4R4/4K4 w",
        "3akab2/9/4b4/2R1P4/9/6n2/4p4/4c4/3C5/2BAK4 r - - 119 77",
    ];
    let start = match below(rng, 5) {
        0 => Start::Fen(FENS[below(rng, 3) as usize].to_owned()),
        _ => Start::Standard,
    };
    let mut position = start.position().expect("a good start");
    let opening_plies = below(rng, 12);
    let plies = below(rng, 300);
    let (mut opening, mut scored, mut last) = (Vec::new(), Vec::new(), 0);
    for ply in 0..plies {
        let moves = position.legal_moves();
        if moves.is_empty() {
            break;
        }
        let mv = moves[below(rng, moves.len() as u64) as usize];
        if ply < opening_plies {
            opening.push(mv);
        } else {
            last = score(rng, last);
            let flags = PlyFlags::from_bits(below(rng, 9) == 0, below(rng, 7) == 0);
            scored.push(PlyRecord { mv, score: Score(last), flags });
        }
        position.make(mv);
    }
    let outcome = Outcome::ALL[below(rng, Outcome::ALL.len() as u64) as usize];
    let reason = Reason::ALL[below(rng, Reason::ALL.len() as u64) as usize];
    GameRecord { number, start, opening, plies: scored, outcome, reason, rules }
}

/// A file of random games, several blocks.
fn random_file(seed: u64, games: u64, per_block: u64) -> (Vec<GameRecord>, Vec<u8>) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let rules = RuleSet::ALL[seed as usize % RuleSet::ALL.len()];
    let header = Header {
        rules,
        seed,
        engine_signature: 1,
        run_id: *b"sixteen bytes ..",
        net_id: [7; 32],
        plan_len: 0,
        plan_crc: 0,
    };
    let mut writer = Writer::create(Vec::new(), header, b"a plan").expect("a writer");
    let (mut made, mut number) = (Vec::new(), below(&mut rng, 1000));
    for i in 0..games {
        let game = random_game(&mut rng, number, rules);
        number = match below(&mut rng, 6) {
            0 => rng.next_u64(),
            _ => number.wrapping_add(1),
        };
        writer.push(&game).expect("a possible game");
        made.push(game);
        if (i + 1) % per_block == 0 {
            writer.end_block().expect("written to memory");
        }
    }
    (made, writer.finish().expect("written to memory").0)
}

/// The game as the Python reader prints it, and `chuhe-gen export`.
fn json_of(game: &GameRecord) -> String {
    let opening = game.opening.len();
    let moves: Vec<String> = game.moves().map(|mv| mv.to_string()).collect();
    let scores: Vec<i32> = game.plies.iter().map(|ply| ply.score.0).collect();
    let places = |has: fn(PlyFlags) -> bool| -> Vec<usize> {
        let plies = game.plies.iter().enumerate();
        plies.filter(|(_, ply)| has(ply.flags)).map(|(i, _)| i + opening).collect()
    };
    let mut value = json!({ "number": game.number });
    match &game.start {
        Start::Standard => value["start"] = "startpos".into(),
        Start::Fen(fen) => value["fen"] = fen.as_str().into(),
    }
    let rest = json!({
        "opening_plies": opening,
        "moves": moves.join(" "),
        "scores": scores,
        "not_best": places(PlyFlags::is_not_best),
        "skips": places(PlyFlags::is_skipped),
        "outcome": game.outcome.word(),
        "reason": game.reason.word(),
        "rules": game.rules.to_string(),
    });
    if let (Value::Object(value), Value::Object(rest)) = (&mut value, rest) {
        value.extend(rest);
    }
    value.to_string()
}

/// What the driver must print for a file: our reader's games and damage.
fn expected(bytes: &[u8]) -> String {
    let (mut games, mut offsets) = (Vec::new(), Vec::new());
    for item in Reader::new(Cursor::new(bytes)).expect("memory can be read").games() {
        match item {
            Ok(game) => games.push(json_of(&game)),
            Err(error) => offsets.push(error.offset().to_string()),
        }
    }
    let mut text = format!("{}\n", games.len());
    games.iter().for_each(|game| _ = writeln!(text, "{game}"));
    text + &offsets.join(" ") + "\n"
}

/// Holds the Python reader against ours on files.
fn check(files: &[Vec<u8>]) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |i: usize| -> PathBuf { folder.path().join(format!("棋 {i}.rec")) };
    let mut list = String::new();
    for (i, bytes) in files.iter().enumerate() {
        std::fs::write(path(i), bytes).expect("written");
        _ = writeln!(list, "{}", path(i).display());
    }
    let output = run(&mut python(&["-X", "utf8", "-c", DRIVER]), &list);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found = String::from_utf8(output.stdout).expect("UTF-8");
    let mut rest = found.as_str();
    for (i, bytes) in files.iter().enumerate() {
        let expected = expected(bytes);
        let Some(behind) = rest.strip_prefix(expected.as_str()) else {
            let differs = |(found, expected): &(&str, &str)| found != expected;
            let first = rest.lines().zip(expected.lines()).find(differs);
            panic!("file {i} of {} bytes: (Python, ours) differ in {first:#?}", bytes.len());
        };
        rest = behind;
    }
    assert_eq!(rest, "");
}

#[test]
fn whole_files_are_read_as_by_us() {
    let long = if std::env::var_os("CHUHE_FULL").is_some() { 10 } else { 1 };
    let mut files: Vec<Vec<u8>> = (0..6 * long).map(|seed| random_file(seed, 16, 5).1).collect();
    files.push(random_file(7, 0, 1).1);
    files.push(std::fs::read(golden()).expect("the golden file"));
    check(&files);
}

fn golden() -> PathBuf {
    root().join("nnue-format/tests/golden/two_games.rec")
}

#[test]
fn damage_is_found_as_by_us() {
    let count = if std::env::var_os("CHUHE_FULL").is_some() { 600 } else { 60 };
    let (_, good) = random_file(21, 6, 2);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(22);
    let mut files = vec![Vec::new(), b"not records".to_vec(), good.clone()];
    for i in 0..count {
        let mut bytes = good.clone();
        let at = below(&mut rng, bytes.len() as u64) as usize;
        match i % 6 {
            0 => bytes.truncate(at),
            1 => bytes[at % HEADER_LEN] ^= 1 << below(&mut rng, 8),
            2 => bytes.extend_from_slice(&good[..at]),
            3 => _ = bytes.drain(at..(at + 300).min(good.len())),
            _ => bytes[at] ^= 1 << below(&mut rng, 8),
        }
        files.push(bytes);
    }
    // The footer, byte by byte.
    for at in (good.len() - 150..good.len()).step_by(7) {
        let mut bytes = good.clone();
        bytes[at] ^= 0x10;
        files.push(bytes);
    }
    check(&files);
}

/// Flipped bits with checksums set right again: what the decoders do must be the same, too.
#[test]
fn made_up_columns_are_refused_as_by_us() {
    let count = if std::env::var_os("CHUHE_FULL").is_some() { 1500 } else { 150 };
    let (_, good) = random_file(31, 3, 3);
    let block = HEADER_LEN + "a plan".len();
    let number =
        |at: usize| u32::from_le_bytes([good[at], good[at + 1], good[at + 2], good[at + 3]]) as usize;
    assert!(good[block..].starts_with(&BLOCK_MARKER));
    let payload = block + BLOCK_HEAD_LEN;
    let length = number(block + 8);
    // Starts are left as they are: the Python reader does not look for checks and facing kings.
    let starts = number(block + 44 + 4)..number(block + 44 + 4) + number(block + 44 + 12);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(32);
    let mut files = Vec::new();
    while files.len() < count {
        let (at, bit) = match files.len() {
            // The first frame's descriptor: it decodes to the same bytes still, and no longer tells how many.
            0 => (4, 5),
            _ => (below(&mut rng, length as u64) as usize, below(&mut rng, 8)),
        };
        if starts.contains(&at) {
            continue;
        }
        let mut bytes = good.clone();
        bytes[payload + at] ^= 1 << bit;
        let crc = crc32c::crc32c(&bytes[payload..payload + length]);
        bytes[payload + length..payload + length + 4].copy_from_slice(&crc.to_le_bytes());
        files.push(bytes);
    }
    check(&files);
}

#[test]
fn the_command_line_has_three_forms_and_exit_codes() {
    let reader = root().join("docs/record_reader.py");
    let reader = reader.to_str().expect("a path of UTF-8");
    let golden = golden();
    let form = |file: &Path, form: &str| {
        let file = file.to_str().expect("a path of UTF-8");
        run(&mut python(&[reader, file, form]), "")
    };
    let stats: Value = serde_json::from_slice(&form(&golden, "--stats").stdout).expect("JSON");
    assert_eq!((&stats["games"], &stats["positions"]), (&2.into(), &7.into()));
    let plain = String::from_utf8(form(&golden, "--plain").stdout).expect("UTF-8");
    let first = "fen rnbakab1r/9/1c4nc1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR w - - 2 2\n\
                 move h1g3\nscore 35\nply 2\nresult 0\ne\n";
    assert!(plain.starts_with(first), "{plain}");
    let kept = stats["positions"].as_u64().zip(stats["skipped"].as_u64()).map(|(all, skipped)| all - skipped);
    assert_eq!(plain.matches("\ne\n").count() as u64, kept.expect("counts"));

    let folder = tempfile::tempdir().expect("a folder");
    let cut = folder.path().join("cut.rec");
    let bytes = std::fs::read(&golden).expect("the golden file");
    std::fs::write(&cut, &bytes[..bytes.len() - 9]).expect("written");
    let output = form(&cut, "--json");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 2);
    assert!(String::from_utf8_lossy(&output.stderr).contains("cut off"));
    assert_eq!(form(&folder.path().join("none.rec"), "--json").status.code(), Some(2));
}
