//! `chuhe-gen import` as a program: reports, records, books, other files, exit codes, whole or nothing.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use datagen::import::{Imported, Intake, read_file};
use game_files::ReadGame;
use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_chuhe-gen");

/// A won, a drawn, an unfinished, a broken game, the first again, and one that goes on behind mate by the rules
/// of repetition: nobody may check for ever.
const GAMES: &str = "[Red \"a\"]\n[Result \"1-0\"]\n1. h2e2 h9g7 (1... b9c7 2. h0g2) 2. h0g2 i9h9 1-0\n\n\
    [Red \"b\"]\n1. 炮二平五 马8进7 2. 马二进三 1/2-1/2\n\n[Red \"c\"]\n1. b2e2 b9c7 *\n\n\
    [Red \"d\"]\n1. h2e2 h9g7 2. h2e2 0-1\n\n[Red \"e\"]\n1. h2e2 h9g7 2. h0g2 i9h9 1-0\n\n\
    [FEN \"4k4/9/9/9/9/9/9/9/9/R2K5 w\"]\n1. a0a9 e9e8 2. a9a8 e8e9 3. a8a9 e9e8 4. a9a8 e8e9 5. a8a9 e9e8 \
    6. a9a8 e8e9 1-0\n";

struct Folder(tempfile::TempDir);

impl Folder {
    fn with(name: &str, bytes: impl AsRef<[u8]>) -> (Folder, PathBuf) {
        let folder = Folder(tempfile::tempdir().expect("a folder"));
        let path = folder.path(name);
        std::fs::write(&path, bytes).expect("written");
        (folder, path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("a folder");
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<String> =
            entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

fn import(files: &[&Path], rest: &str, code: i32) -> Output {
    let mut command = Command::new(PROGRAM);
    command.arg("import").args(files).args(rest.split_whitespace());
    let output = command.output().expect("the program starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{command:?}: {stderr}");
    output
}

fn import_to(file: &Path, out: &Path, rest: &str, code: i32) -> Value {
    let mut command = Command::new(PROGRAM);
    command.arg("import").arg(file).arg("--out").arg(out).arg("--json").args(rest.split_whitespace());
    let output = command.output().expect("the program starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{command:?}: {stderr}");
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

fn tool(verb: &str, file: &Path) -> Value {
    let output =
        Command::new(PROGRAM).arg(verb).arg(file).arg("--json").output().expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn a_dry_run_reports_every_game() {
    let (folder, file) = Folder::with("棋谱 a.pgn", GAMES);
    let output = import(&[&file], "--dry-run --json", 1);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON alone on stdout");
    let games = report["games"].as_array().expect("games");
    let plies: Vec<u64> = games.iter().map(|game| game["plies"].as_u64().expect("plies")).collect();
    assert_eq!(plies, [4, 3, 2, 2, 4, 12]);
    assert_eq!(games[3]["error_ply"], 3);
    assert!(games[3]["error"].as_str().expect("an error").contains("line 12"), "{}", games[3]["error"]);
    assert_eq!(games.iter().filter(|game| game["error"].is_null()).count(), 5);
    assert_eq!(
        games[1]["final_fen"],
        "rnbakab1r/9/1c4nc1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C1N2/9/RNBAKAB1R b - - 3 2"
    );
    assert_eq!((&games[0]["tags"]["Red"], &games[0]["variations"]), (&"a".into(), &1.into()));
    let summary = &report["summary"];
    assert_eq!(
        (&summary["games"], &summary["broken_games"], &summary["duplicates"]),
        (&6.into(), &1.into(), &1.into())
    );
    assert_eq!(summary["faults"]["illegal"], 1);
    assert_eq!(folder.names(), ["棋谱 a.pgn"], "nothing is written");
}

#[test]
fn files_that_are_none() {
    let (folder, prose) = Folder::with("a.txt", "only prose");
    import(&[&prose], "--dry-run --json", 2);
    import(&[&folder.path("missing.pgn")], "--dry-run", 2);
    import(&[&prose], "", 2);
    let good = folder.path("b.pgn");
    std::fs::write(&good, "1. h2e2 *").expect("written");
    let output = import(&[&prose, &good], "--dry-run --json", 1);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["games"].as_array().map(Vec::len), Some(1));
    assert_eq!(report["summary"]["file_errors"].as_array().map(Vec::len), Some(1));
    let empty = folder.path("c.pgn");
    std::fs::write(&empty, "").expect("written");
    let output = import(&[&empty], "--dry-run --json", 0);
    assert!(String::from_utf8_lossy(&output.stderr).contains("no game in it"));
    import_to(&empty, &folder.path("c.rec"), "", 2);
}

#[test]
fn records_pass_verify() {
    let (folder, file) = Folder::with("a.pgn", GAMES);
    let out = folder.path("a.rec");
    let report = import_to(&file, &out, "", 1);
    assert_eq!((&report["written"], &report["positions"]), (&4.into(), &0.into()));
    assert_eq!((&report["left_out"]["duplicate"], &report["left_out"]["no_outcome"]), (&1.into(), &1.into()));
    assert_eq!((&report["cut_by_rules"], &report["contradicts_rules"]), (&1.into(), &1.into()));
    assert_eq!(tool("verify", &out)["games"], 4);
    let inspected = tool("inspect", &out);
    assert_eq!(inspected["outcomes"]["black_loses"], 1);
    assert_eq!(inspected["outcomes"]["red_loses"], 2, "the broken game's result, and who checks for ever");
    assert_eq!(inspected["reasons"]["repetition"], 1);
    let manifest = std::fs::read_to_string(folder.path("a.rec.manifest.json")).expect("a manifest");
    let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    assert_eq!(manifest["bytes"], out.metadata().expect("a file").len());
    assert_eq!(manifest["inputs"].as_array().map(Vec::len), Some(1));

    import_to(&file, &out, "", 2);
    assert_eq!(import_to(&file, &out, "--force --unfinished draw --variations", 1)["written"], 6);
    tool("verify", &out);

    let scored = folder.path("s.rec");
    let report = import_to(&file, &scored, "--nodes 50 --unfinished skip", 1);
    let verified = tool("verify", &scored);
    assert_eq!(report["positions"], verified["positions"]);
    assert_eq!(tool("inspect", &scored)["plies"], verified["positions"]);
    let again = folder.path("t.rec");
    import_to(&file, &again, "--nodes 50 --unfinished skip", 1);
    assert_eq!(
        std::fs::read(&scored).expect("bytes"),
        std::fs::read(&again).expect("bytes"),
        "the same every time"
    );
}

#[test]
fn books() {
    let (folder, file) = Folder::with("a.pgn", GAMES);
    let book = folder.path("book.epd");
    let report = import_to(&file, &book, "--plies 2", 1);
    assert_eq!((&report["written"], &report["left_out"]["duplicate"]), (&3.into(), &3.into()));
    let text = std::fs::read_to_string(&book).expect("a book");
    assert_eq!(
        text.lines().next(),
        Some("rnbakab1r/9/1c4nc1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR w - - 2 2")
    );
    let starts = folder.path("starts.fen");
    assert_eq!(import_to(&file, &starts, "", 1)["written"], 2);
    let lines = folder.path("lines.txt");
    let report = import_to(&file, &lines, "--to lines --plies 3 --variations", 1);
    assert_eq!(report["left_out"]["other_start"], 1);
    let text = std::fs::read_to_string(&lines).expect("lines");
    assert_eq!(text, "h2e2 h9g7 h0g2\nh2e2 b9c7 h0g2\nb2e2 b9c7\nh2e2 h9g7\n");
    let problems = folder.path("p.epd");
    std::fs::write(&problems, "4k4/9/9/9/9/9/9/9/R8/3K5 w - - dm 3; id \"x y\";\n").expect("written");
    let out = folder.path("q.epd");
    import_to(&problems, &out, "", 0);
    let text = std::fs::read_to_string(&out).expect("a list");
    assert_eq!(text, "4k4/9/9/9/9/9/9/9/R8/3K5 w - - hmvc 0; fmvn 1; dm 3; id \"x y\";\n");
}

#[test]
fn one_format_into_another_and_back() {
    let (folder, file) =
        Folder::with("a.pgn", "[Red \"许银川\"]\n1. h2e2 {好} h9g7 (1... b9c7 2. h0g2) 2. h0g2 1-0\n");
    let path = |name: &str| folder.path(name);
    import_to(&file, &path("b.xqf"), "", 0);
    import_to(&path("b.xqf"), &path("c.ubb"), "", 0);
    for notation in ["chinese", "iccs", "wxf"] {
        let out = path(&format!("{notation}.pgn"));
        import_to(&path("c.ubb"), &out, &format!("--notation {notation}"), 0);
        let output = import(&[&out], "--dry-run --json", 0);
        let game = serde_json::from_slice::<Value>(&output.stdout).expect("JSON")["games"][0].clone();
        assert_eq!(
            (&game["plies"], &game["variations"], &game["result"]),
            (&3.into(), &1.into(), &"1-0".into())
        );
        assert_eq!(game["tags"]["Red"], "许银川");
        assert!(std::fs::read_to_string(&out).expect("PGN").contains("{好}"));
    }
    let two = path("two.pgn");
    std::fs::write(&two, "1. h2e2 *\n\n1. b2e2 *\n").expect("written");
    import_to(&two, &path("two.xqf"), "", 2);
    assert!(!path("two.xqf").exists() && !path("two.xqf.partial").exists());
    import_to(&two, &path("two.xqf"), "--game 2", 0);
    import_to(&two, &path("no-kind"), "", 2);
}

#[cfg(unix)]
#[test]
fn an_interrupted_import_leaves_nothing() {
    let (folder, file) = Folder::with("a.pgn", GAMES);
    let out = folder.path("a.rec");
    let mut child = Command::new(PROGRAM)
        .arg("import")
        .arg(&file)
        .arg("--out")
        .arg(&out)
        .args(["--nodes", "1000000000000"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // Begun once its unfinished file is there.
    while !folder.path("a.rec.partial").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(killed.success());
    assert_eq!(child.wait().expect("an end").code(), Some(2));
    assert_eq!(folder.names(), ["a.pgn"]);
}

/// A text of more than so many bytes out of pieces by number.
fn long(length: usize, piece: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for i in 0.. {
        text += &piece(i);
        if text.len() > length {
            break;
        }
    }
    text
}

/// What a game was read as, and where.
fn parts(game: &Imported) -> impl PartialEq {
    let ReadGame { tree, faults, warnings, .. } = &game.game;
    let tree = (tree.tags.clone(), tree.start().clone(), tree.main_line(), tree.outcome, tree.len());
    (game.number, tree, faults.clone(), warnings.clone())
}

/// Large files are read piece by piece: the same games, numbers, lines and faults as in one go.
#[test]
fn large_files_in_pieces() {
    let game = |i: usize| match i % 97 {
        5 => format!("[Game \"{i}\"]\n[Red \"许银川\"]\n\n1. 炮二平五 马8进7 2. 炮二平五 0-1\n\n"),
        6 => format!("[Game \"{i}\"]\n[Red \"a\"]\n{{not closed 1. h2e2 h9g7\n\n"),
        7 => format!("[Game \"{i}\"]\n[Red \"a\"]\n1. h2e2 h9g7 (1... b9c7 2. h0g2\n\n"),
        _ => format!(
            "[Game \"{i}\"]\n[Red \"王天一\"]\n[Result \"1-0\"]\n\n1. h2e2 {{好}} h9g7 2. h0g2 i9h9\n 1-0\n\n"
        ),
    };
    let pgn = long(9 << 17, game);
    let ascii = long(9 << 17, |i| game(i).replace(|c: char| !c.is_ascii(), "x"));
    let gbk = encoding_rs::GB18030.encode(&pgn).0.into_owned();
    let fen = "4k4/9/9/9/9/9/9/9/R8/3K5 w";
    let list = long(9 << 17, |i| match i % 31 {
        3 => "# said\n\n".to_owned(),
        4 => format!("{fen} moves a1a9 e9e8 a9b7\n"),
        _ => format!("{fen} - - id \"{i}\";\n"),
    });
    let bad =
        long(9 << 17, |i| if i < 2000 { format!("{fen} - - id \"{i}\";\n") } else { format!("{i}/x w\n") });
    let page = format!("{ascii}\n[DhtmlXQ]\n[DhtmlXQ_movelist]7747[/DhtmlXQ_movelist]\n[/DhtmlXQ]\n");
    for (name, bytes) in [
        ("utf-8", pgn.clone().into_bytes()),
        ("mark", format!("\u{feff}{pgn}\0\0\u{1a}").into_bytes()),
        ("gb18030", gbk.clone()),
        ("line ends", ascii.replace('\n', "\r\n").into_bytes()),
        ("ASCII first", [ascii.as_bytes(), &gbk].concat()),
        ("no tags", long(9 << 17, |_| "1. h2e2 h9g7 2. h0g2 i9h9\n\n".to_owned()).into_bytes()),
        ("list", list.into_bytes()),
        ("bad list", bad.into_bytes()),
        ("page", page.into_bytes()),
    ] {
        let (_folder, file) = Folder::with(name, bytes);
        let files = [file.clone()];
        let mut intake = Intake::new(&files, None, None, true);
        let found: Vec<_> = intake.by_ref().collect();
        let summary = intake.finish();
        match read_file(&file, None) {
            Ok(whole) => {
                assert_eq!(found.len(), whole.len(), "{name}");
                let differs = found.iter().zip(&whole).find(|(a, b)| parts(a) != parts(b));
                assert!(differs.is_none(), "{name}: {differs:?}");
                assert!(summary.file_errors.is_empty(), "{name}");
                assert!(name == "page" || found.len() > 5000, "{name}: {}", found.len());
            }
            Err(error) => {
                assert_eq!((name, &summary.file_errors), ("bad list", &vec![error.to_string()]));
                assert!(found.len() < 7000, "{}: it ends where it is no list any more", found.len());
            }
        }
    }
}
