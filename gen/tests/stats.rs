//! `chuhe-gen stats`: every figure against a slow count of another make, the page, and the names of the JSON's fields.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use datagen::stats::html::SECTIONS;
use nnue_format::record::{GameRecord, Outcome, PlyFlags, Reader, Writer};
use serde_json::{Value, json};
use xiangqi::{Color, Game, Square};

const PROGRAM: &str = env!("CARGO_BIN_EXE_chuhe-gen");

fn program(words: &[&str], files: &[&Path], code: i32) -> Output {
    let output = Command::new(PROGRAM).args(words).args(files).output().expect("the program starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{words:?}: {stderr}");
    output
}

fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("JSON alone on stdout")
}

/// Plays a few games.
fn play(folder: &Path, seed: u32) -> PathBuf {
    let out = folder.join(format!("{seed}.rec"));
    let seed = seed.to_string();
    let words =
        ["play", "--games", "7", "--nodes", "60", "--balance-nodes", "20", "--hash", "1", "--seed", &seed];
    program(&[&words[..], &["--threads", "1", "--quiet", "--out"]].concat(), &[&out], 0);
    out
}

fn games(path: &Path) -> Vec<GameRecord> {
    Reader::open(path).expect("the file").games().map(|game| game.expect("a whole game")).collect()
}

/// The board as text: what stands on square (rank from below, file), read from the FEN by hand.
fn board(fen: &str) -> HashMap<(usize, usize), char> {
    let mut board = HashMap::new();
    for (row, line) in fen.split(' ').next().expect("a board").split('/').enumerate() {
        let mut file = 0;
        for c in line.chars() {
            match c.to_digit(10) {
                Some(empty) => file += empty as usize,
                None => {
                    board.insert((9 - row, file), c);
                    file += 1;
                }
            }
        }
    }
    board
}

fn place(square: Square) -> (usize, usize) {
    (usize::from(square.rank()), usize::from(square.file()))
}

/// Counts by name: a sum for every figure that the program gives.
#[derive(Default)]
struct Slow(BTreeMap<String, i64>);

impl Slow {
    fn add(&mut self, name: impl Into<String>, n: i64) {
        *self.0.entry(name.into()).or_default() += n;
    }

    fn get(&self, name: &str) -> i64 {
        self.0.get(name).copied().unwrap_or(0)
    }
}

const WORTH: [(char, i64); 6] = [('r', 10), ('n', 5), ('c', 5), ('p', 1), ('a', 1), ('b', 1)];

/// Counts all games in the plainest way.
fn slow(games: &[GameRecord]) -> Slow {
    let mut slow = Slow::default();
    let mut seen: HashMap<&str, Vec<String>> = HashMap::new();
    for record in games {
        slow.add("games", 1);
        slow.add(format!("end {} {}", record.outcome, record.reason), 1);
        slow.add("plies", record.moves().count() as i64);
        slow.add("opening plies", record.opening.len() as i64);
        seen.entry("games").or_default().push(format!(
            "{:?} {:?}",
            record.start,
            record.moves().collect::<Vec<_>>()
        ));
        let mut game = Game::new(record.start.position().expect("a start"));
        for (number, mv) in record.moves().enumerate() {
            let fen = game.position().fen();
            let mut words = fen.split(' ');
            let key = format!("{:?} {:?}", words.next(), words.next());
            if number == 8 {
                seen.entry("after 8").or_default().push(key.clone());
            }
            if number == record.opening.len() {
                seen.entry("starts").or_default().push(key.clone());
            }
            if number >= record.opening.len() {
                let ply = record.plies[number - record.opening.len()];
                seen.entry("positions").or_default().push(key);
                position(&mut slow, record, &game, number);
                scored(&mut slow, record, &game, ply.score.0);
                slow.add("not best", i64::from(ply.flags.is_not_best()));
            }
            game.play(mv);
        }
    }
    for (what, keys) in seen {
        let different: BTreeSet<&String> = keys.iter().collect();
        slow.add(format!("different {what}"), different.len() as i64);
        slow.add(format!("of {what}"), keys.len() as i64);
    }
    slow
}

fn position(slow: &mut Slow, record: &GameRecord, game: &Game, number: usize) {
    let mv = record.moves().nth(number).expect("a move");
    let position = game.position();
    let board = board(&position.fen());
    let red = position.side_to_move() == Color::Red;
    let is_own = |c: char| c.is_ascii_uppercase() == red;
    slow.add("positions", 1);
    slow.add("position plies", number as i64);
    slow.add("red to move", i64::from(red));
    slow.add("pieces", board.len() as i64);
    let mut surplus = 0;
    let mut counts: BTreeMap<char, usize> = "KABNRCPkabnrcp".chars().map(|c| (c, 0)).collect();
    for (&(rank, file), &c) in &board {
        *counts.entry(c).or_default() += 1;
        if c.eq_ignore_ascii_case(&'k') {
            slow.add(format!("king {c} {}", rank * 9 + file), 1);
        }
        let worth = WORTH.iter().find(|(kind, _)| *kind == c.to_ascii_lowercase()).map_or(0, |pair| pair.1);
        surplus += if is_own(c) { worth } else { -worth };
    }
    for (c, count) in counts {
        slow.add(format!("kind {c} {count}"), 1);
    }
    let result = result(record, red);
    slow.add(format!("surplus {surplus} {result}"), 1);
    // Moves in the order of ranks: by square of origin, then of destination.
    let mut moves = Vec::new();
    for from in Square::all().filter(|&from| board.get(&place(from)).is_some_and(|&c| is_own(c))) {
        for to in Square::all() {
            let there = xiangqi::Move::new(from, to);
            if position.is_pseudo_legal(there) {
                moves.push(there);
            }
        }
    }
    slow.add("choices", moves.len() as i64);
    let rank = moves.iter().position(|&found| found == mv).expect("the move is one of them");
    slow.add(format!("rank {rank}"), 1);
    slow.add(format!("from {}", mv.from().index()), 1);
    slow.add(format!("to {}", mv.to().index()), 1);
    slow.add(format!("moved {}", board[&place(mv.from())].to_ascii_uppercase()), 1);
    let captured = board.get(&place(mv.to()));
    if let Some(c) = captured {
        slow.add(format!("captured {}", c.to_ascii_uppercase()), 1);
    }
    // In check: some piece of the other side attacks the king.
    let king = position.king(position.side_to_move());
    let checked = !position.attackers_to(king, !position.side_to_move(), position.occupied()).is_empty();
    slow.add("in check", i64::from(checked));
    slow.add("captures", i64::from(captured.is_some()));
    slow.add("neither", i64::from(!checked && captured.is_none()));
}

fn result(record: &GameRecord, red: bool) -> &'static str {
    match (record.outcome, red) {
        (Outcome::Draw, _) => "draw",
        (Outcome::RedLoses, true) | (Outcome::BlackLoses, false) => "loss",
        _ => "win",
    }
}

fn scored(slow: &mut Slow, record: &GameRecord, game: &Game, score: i32) {
    let result = result(record, game.position().side_to_move() == Color::Red);
    let class = match score {
        31_508..=32_000 => "mates",
        -32_000..=-31_508 => "mated",
        30_508..=31_000 => "rule_wins",
        -31_000..=-30_508 => "rule_losses",
        _ => {
            slow.add("undecided", 1);
            slow.add("score sum", score.into());
            // Bins of ten, centred on tens; rows of fifty from their lowest ten on.
            if (-2005..=2004).contains(&score) {
                let ten = i64::from(score + 2005) / 10 * 10 - 2000;
                slow.add(format!("score {ten}"), 1);
                slow.add(format!("row {} {result}", ten.div_euclid(50) * 50), 1);
            }
            return;
        }
    };
    slow.add(format!("{class} {result}"), 1);
}

#[test]
fn every_figure_as_counted_slowly() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [play(folder.path(), 1), play(folder.path(), 2)];
    let paths = [files[0].as_path(), files[1].as_path(), files[0].as_path()];
    let all: Vec<GameRecord> = paths.iter().flat_map(|path| games(path)).collect();
    let slow = slow(&all);
    let found = json_of(&program(&["stats", "--json", "--quiet"], &paths, 0));
    let n = |name: &str| json!(slow.get(name));
    for (field, name) in [
        ("games", "games"),
        ("plies", "plies"),
        ("positions", "positions"),
        ("scored_plies", "positions"),
        ("not_best", "not best"),
        ("red_to_move", "red to move"),
    ] {
        assert_eq!(found[field], n(name), "{field}");
    }
    let mean = |histogram: &Value, sum: &str, count: &str| {
        assert_eq!(histogram["count"], n(count), "{sum}");
        let expected = slow.get(sum) as f64 / slow.get(count) as f64;
        assert!((histogram["mean"].as_f64().expect("a mean") - expected).abs() < 1e-9, "{sum}");
    };
    mean(&found["game_plies"], "plies", "games");
    mean(&found["opening_plies"], "opening plies", "games");
    mean(&found["position_plies"], "position plies", "positions");
    mean(&found["pieces"], "pieces", "positions");
    mean(&found["pseudo_legal_moves"], "choices", "positions");
    mean(&found["scores"], "score sum", "undecided");
    for (outcome, reasons) in found["outcomes"].as_object().expect("outcomes") {
        for (reason, count) in reasons["by_reason"].as_object().expect("reasons") {
            assert_eq!(*count, n(&format!("end {outcome} {reason}")), "{outcome} {reason}");
        }
    }
    let bins = |histogram: &Value, name: &str| {
        let (low, width) =
            (histogram["low"].as_i64().expect("low"), histogram["width"].as_i64().expect("width"));
        for (i, count) in (0..).zip(histogram["counts"].as_array().expect("counts")) {
            // Bins of scores are named by their middle.
            let value = low + i * width + if name == "score" { 5 } else { 0 };
            assert_eq!(*count, n(&format!("{name} {value}")), "{name} {value}");
        }
    };
    bins(&found["scores"], "score");
    bins(&found["move_ranks"], "rank");
    for (field, name) in [("origins", "from"), ("destinations", "to")] {
        for (i, count) in (0..).zip(found[field].as_array().expect("squares")) {
            assert_eq!(*count, n(&format!("{name} {i}")), "{name} {i}");
        }
    }
    for (color, king) in [("red", 'K'), ("black", 'k')] {
        for (i, count) in (0..).zip(found["king_squares"][color].as_array().expect("squares")) {
            assert_eq!(*count, n(&format!("king {king} {i}")), "{king} {i}");
        }
        for (kind, counts) in found["pieces_by_kind"][color].as_object().expect("kinds") {
            let c = if color == "red" { kind.clone() } else { kind.to_lowercase() };
            for (i, count) in (0..).zip(counts.as_array().expect("counts")) {
                assert_eq!(*count, n(&format!("kind {c} {i}")), "kind {c} {i}");
            }
        }
    }
    for kind in "KABNRCP".chars() {
        assert_eq!(found["moved"][kind.to_string()], n(&format!("moved {kind}")));
        assert_eq!(found["captured"][kind.to_string()], n(&format!("captured {kind}")));
    }
    for share in ["in_check", "captures", "neither"] {
        let expected = slow.get(&share.replace('_', " ")) as f64 / slow.get("positions") as f64;
        assert!((found["shares"][share].as_f64().expect("a share") - expected).abs() < 1e-12, "{share}");
    }
    let results = |value: &Value, name: &str| {
        for result in ["win", "draw", "loss"] {
            assert_eq!(value[result], n(&format!("{name} {result}")), "{name} {result}");
        }
    };
    for class in ["mates", "mated", "rule_wins", "rule_losses"] {
        results(&found["decided_scores"][class], class);
    }
    let rows = found["results_by_score"].as_array().expect("rows");
    rows.iter().for_each(|row| results(row, &format!("row {}", row["from"])));
    let rows = found["results_by_material"].as_array().expect("rows");
    rows.iter().for_each(|row| results(row, &format!("surplus {}", row["surplus"])));
    let diversity = &found["diversity"];
    let after_8 = diversity["after_plies"].as_array().expect("depths");
    let after_8 = after_8.iter().find(|depth| depth["plies"] == 8).expect("eight plies");
    for (distinct, name) in [
        (&diversity["games"], "games"),
        (&diversity["positions"], "positions"),
        (&diversity["starts"], "starts"),
        (&after_8["positions"], "after 8"),
    ] {
        assert_eq!(distinct["distinct"], n(&format!("different {name}")), "{name}");
        assert_eq!(distinct["total"], n(&format!("of {name}")), "{name}");
        assert_eq!(distinct["exact"], true);
    }
    sizes(&found, &paths);
}

/// Bytes of columns against the heads of blocks, entropies by the definition.
fn sizes(found: &Value, paths: &[&Path]) {
    let (mut packed, mut bytes, mut blocks) = (0, 0, 0);
    let mut entropy = 0.0;
    for path in paths {
        let mut reader = Reader::open(path).expect("the file");
        bytes += reader.file_len();
        while let Some(block) = reader.next_block() {
            let block = block.expect("a whole block");
            blocks += 1;
            packed += block.head.columns.iter().map(|column| u64::from(column.1)).sum::<u64>();
            for column in block.column_bytes().expect("columns") {
                for value in 0..=255 {
                    let count = column.iter().filter(|&&byte| byte == value).count() as f64;
                    if count > 0.0 {
                        entropy -= count * (count / column.len() as f64).log2();
                    }
                }
            }
        }
    }
    let size = &found["size"];
    assert_eq!((&size["bytes"], &size["blocks"]), (&json!(bytes), &json!(blocks)));
    let sum = |part: &str, field: &str| -> f64 {
        let columns = size[part].as_object().expect("columns").values();
        columns.map(|column| column[field].as_f64().expect("a number")).sum()
    };
    let positions = found["scored_plies"].as_u64().expect("a number") as f64;
    for part in ["columns", "parts"] {
        assert_eq!(sum(part, "packed"), packed as f64);
        assert!((sum(part, "entropy_bits_per_position") * positions - entropy).abs() < 1e-3);
    }
    assert_eq!(size["bytes_per_position"].as_f64().expect("a number"), bytes as f64 / positions);
}

#[test]
fn damage_is_reported_and_the_rest_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let [good, bad] = [play(folder.path(), 3), play(folder.path(), 4)];
    let mut bytes = std::fs::read(&bad).expect("the file");
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    std::fs::write(&bad, bytes).expect("written");
    let found = json_of(&program(&["stats", "--json", "--quiet"], &[&bad, &good], 1));
    assert_eq!((&found["games"], &found["fault_count"]), (&json!(7), &json!(1)));
    let fault = &found["faults"][0];
    assert!(fault["file"].as_str().is_some_and(|file| Path::new(file) == bad), "{fault}");
    assert!(fault["offset"].as_u64().is_some_and(|offset| offset > 0 && offset <= at as u64), "{fault}");
    let text = program(&["stats", "--quiet"], &[&bad], 1);
    assert!(String::from_utf8_lossy(&text.stdout).contains("fault: "), "{text:?}");
    program(&["stats", "--quiet"], &[&folder.path().join("none.rec")], 2);
}

/// Positions that are marked as not for training are left out, unless they are asked for.
#[test]
fn skipped_positions_are_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = play(folder.path(), 8);
    let reader = Reader::open(&file).expect("the file");
    let header = reader.header().expect("a header").clone();
    let mut all: Vec<GameRecord> = reader.games().map(|game| game.expect("a whole game")).collect();
    let mut skipped = 0;
    for (i, ply) in all.iter_mut().flat_map(|game| &mut game.plies).enumerate() {
        if i % 3 == 0 {
            ply.flags = ply.flags.with(PlyFlags::SKIP);
            skipped += 1;
        }
    }
    let marked = folder.path().join("marked.rec");
    let out = std::fs::File::create(&marked).expect("created");
    let mut writer = Writer::create(out, header, b"").expect("written");
    all.iter().for_each(|game| _ = writer.push(game).expect("written"));
    writer.finish().expect("written");
    let count = |words: &[&str], path: &Path| {
        let found = json_of(&program(&[&["stats", "--json", "--quiet"], words].concat(), &[path], 0));
        let number = |field: &str| found[field].as_u64().expect("a number");
        assert_eq!(found["diversity"]["positions"]["total"], found["positions"]);
        assert_eq!(found["pieces"]["count"], found["positions"]);
        (number("scored_plies"), number("left_out"), number("positions"))
    };
    let (scored, _, _) = count(&[], &file);
    assert_eq!(count(&[], &marked), (scored, skipped, scored - skipped));
    assert_eq!(count(&["--all"], &marked), (scored, skipped, scored));
}

#[test]
fn threads_have_no_influence() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = play(folder.path(), 5);
    let found = ["1", "3"].map(|threads| {
        let words = ["stats", "--json", "--quiet", "--threads", threads];
        program(&words, &[&file, &file], 0).stdout
    });
    assert_eq!(found[0], found[1]);
}

/// Every tag is closed, in its order: the page is XML but for its first line.
fn well_formed(page: &str) {
    let body = page.strip_prefix("<!DOCTYPE html>").expect("a page");
    let mut open: Vec<&str> = Vec::new();
    let mut rest = body;
    while let Some(at) = rest.find('<') {
        assert!(!rest[..at].contains('>'), "a stray >: {}", &rest[..at]);
        let end = at + rest[at..].find('>').expect("a tag ends");
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        assert_eq!(tag.matches('"').count() % 2, 0, "<{tag}>");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "</{name}>");
        } else if !tag.ends_with('/') {
            open.push(tag.split([' ', '\n']).next().expect("a name"));
        }
        for part in rest[..rest.find('<').unwrap_or(rest.len())].split('&').skip(1) {
            let entities = ["amp;", "lt;", "gt;", "quot;", "apos;"];
            assert!(entities.iter().any(|entity| part.starts_with(entity)), "&{part:.20}");
        }
    }
    assert_eq!(open, [""; 0]);
}

#[test]
fn the_page_is_whole_and_needs_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = play(folder.path(), 6);
    let name = folder.path().join("a <b> & \"c\".rec");
    std::fs::rename(&file, &name).expect("renamed");
    let page = folder.path().join("page.html");
    let page_word = page.to_str().expect("a path");
    program(&["stats", "--quiet", "--html", page_word], &[&name], 0);
    let refused = program(&["stats", "--quiet", "--html", page_word], &[&name], 2);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--force"), "{refused:?}");
    program(&["stats", "--quiet", "--force", "--html", page_word], &[&name], 0);
    let text = std::fs::read_to_string(&page).expect("the page");
    well_formed(&text);
    for (id, heading) in SECTIONS {
        assert!(text.contains(&format!("<section id=\"{id}\">\n<h2>{heading}</h2>")), "{id}");
        assert!(text.contains(&format!("href=\"#{id}\"")), "{id}");
    }
    let outside = text.replace("http://www.w3.org/2000/svg", "");
    for word in ["http:", "https:", "<script", "src=", "@import", "url("] {
        assert!(!outside.contains(word), "{word}");
    }
    assert!(text.matches("<svg ").count() >= 14, "plots are missing");
    assert!(text.contains("prefers-color-scheme:dark") && text.contains("width=device-width"));
    assert!(text.contains("a &lt;b&gt; &amp; &quot;c&quot;.rec"), "names are escaped");
}

/// Names of all fields, those of things in lists once.
fn fields(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                fields(value, &format!("{path}.{name}"), found);
            }
        }
        Value::Array(list) => {
            list.iter().for_each(|value| fields(value, &format!("{path}[]"), found));
        }
        _ => _ = found.insert(path.to_owned()),
    }
}

/// `tests/stats/fields.txt` lists the JSON's fields. After an intended change: `CHUHE_UPDATE_SNAPSHOTS=1`, and a new
/// `SCHEMA` if a field went or means something else.
#[test]
fn fields_of_the_json_stay() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = play(folder.path(), 7);
    let found = json_of(&program(&["stats", "--json", "--quiet"], &[&file], 0));
    let mut names = BTreeSet::new();
    fields(&found, "", &mut names);
    // The plan's fields are the plan's affair, columns and reasons those of the record format. Histograms of what did
    // not happen here are empty, and what cannot be fitted to so few games is null.
    let others =
        [".plan", ".columns.", ".by_reason.", ".counts[]", ".win_model.a", ".win_model.b", ".score_scale"];
    names.retain(|name| !others.iter().any(|other| name.contains(other)));
    for estimate in ["a", "b", "score_scale"] {
        assert!(found["win_model"].get(estimate).is_some(), "{estimate}");
    }
    let text: String = names.iter().map(|name| format!("{name}\n")).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stats/fields.txt");
    if std::env::var_os("CHUHE_UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &text).expect("written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{}", path.display());
}
