//! PGN: the vectors, every public collection, round trips, hostile texts.

mod common;

use std::path::{Path, PathBuf};

use game_files::pgn::{Notation, games, games_at, last_beginning, read, read_text, write_game};
use game_files::text::{Charset, decode};
use game_files::{FaultKind, GameTree, NodeId, Outcome, ReadGame};
use proptest::prelude::*;
use serde_json::Value;
use xiangqi::Position;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).expect("JSON")
}

fn line(tree: &GameTree) -> Vec<String> {
    tree.main_line().iter().map(ToString::to_string).collect()
}

fn one(text: &str) -> ReadGame {
    let mut games = read_text(text).expect("PGN");
    assert_eq!(games.len(), 1, "{text}");
    games.remove(0)
}

fn encoded(text: &str, encoding: &str) -> Vec<u8> {
    match encoding {
        "utf-8" => text.as_bytes().to_vec(),
        "utf-8-bom" => ["\u{feff}", text].concat().into_bytes(),
        "utf-16-le-bom" => {
            [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
        }
        "gb18030" => encoding_rs::GB18030.encode(text).0.into_owned(),
        "big5" => encoding_rs::BIG5.encode(text).0.into_owned(),
        other => panic!("unknown encoding {other}"),
    }
}

#[test]
fn robust_vectors() {
    let cases = json(&root().join("tests/data/vectors/pgn_robust.json"));
    for case in cases.as_array().expect("an array") {
        let id = case["id"].as_str().expect("id");
        let text = case["text"].as_str().expect("text");
        let expected = &case["expected"];
        let games = read(&encoded(text, case["encoding"].as_str().expect("encoding")))
            .unwrap_or_else(|error| panic!("{id}: {error}"));
        assert_eq!(games.len() as u64, expected["games"].as_u64().expect("games"), "{id}");
        let Some(game) = games.first() else { continue };
        assert_eq!(game.tree.start().fen(), expected["start"], "{id}");
        assert_eq!(serde_json::json!(line(&game.tree)), expected["moves"], "{id}");
        let ply = game.main_fault().map(|fault| fault.ply as u64);
        assert_eq!(ply, expected["error_ply"].as_u64(), "{id}: {:?}", game.faults);
        if expected["result"] == "conflict" {
            assert_eq!(game.contradiction, Some((Outcome::Draw, Outcome::RedWins)), "{id}");
            assert_eq!(game.warnings.len(), 1, "{id}");
        } else {
            assert_eq!(game.tree.outcome.text(), expected["result"], "{id}");
            assert_eq!(game.warnings, [""; 0], "{id}");
        }
        if let Some(red) = expected["red"].as_str() {
            assert_eq!(game.tree.tag("Red"), Some(red), "{id}");
        }
        if let Some(second) = expected.get("second_moves") {
            assert_eq!(&serde_json::json!(line(&games[1].tree)), second, "{id}");
        }
    }
}

#[test]
fn variations_comments_and_glyphs() {
    let text = "[Red \"a\"]\n{before} 1. h2e2 $14 {one} h9g7 (1... b9c7 {two} 2. h0g2 (2. b0c2! a9b9) 2... c6c5) \
                ({three} 1... c6c5?!) 2. h0g2 ; four\n1/2-1/2";
    let game = one(text);
    assert!(game.faults.is_empty(), "{:?}", game.faults);
    let tree = &game.tree;
    assert_eq!(line(tree), ["h2e2", "h9g7", "h0g2"]);
    assert_eq!((tree.len(), tree.variations(), tree.outcome), (9, 3, Outcome::Draw));
    assert_eq!(tree.comment(GameTree::ROOT), "before");
    let first = tree.children(GameTree::ROOT)[0];
    assert_eq!((tree.comment(first), tree.nags(first)), ("one", &[14][..]));
    let [main, two, three] = *tree.children(first) else { panic!("three moves") };
    assert_eq!((tree.comment(two), tree.comment(three), tree.nags(three)), ("two", "three", &[6][..]));
    let last = tree.children(main)[0];
    assert_eq!(tree.comment(last), "four");
    let inner: Vec<_> =
        tree.line_to(tree.children(tree.children(two)[1])[0]).iter().map(|mv| mv.to_string()).collect();
    assert_eq!(inner, ["h2e2", "b9c7", "b0c2", "a9b9"]);
}

#[test]
fn a_variation_that_begins_like_its_line_is_one_still() {
    let game = one("1. h2e2 (1. h2e2 h9g7) *");
    assert_eq!((line(&game.tree), game.tree.variations()), (vec!["h2e2".to_owned()], 1));
}

#[test]
fn faults_cost_what_they_break() {
    let check = |text: &str, plies: usize, kind: FaultKind, variation: usize, ply: usize| {
        let game = one(text);
        assert_eq!(line(&game.tree).len(), plies, "{text}");
        let fault = game.faults.first().unwrap_or_else(|| panic!("{text}: no fault"));
        assert_eq!((fault.kind, fault.variation, fault.ply), (kind, variation, ply), "{text}: {fault}");
        assert_eq!(game.faults.len(), 1, "{text}");
    };
    use FaultKind::*;
    check("1. h2e2 h9g7 2. h2e2 i9h9 *", 2, Illegal, 0, 3);
    check("1. 炮二平五 马8进7 2. 炮二平五 车9平8", 2, Illegal, 0, 3);
    check("1. h2e2 nonsense 2. h0g2", 1, Unreadable, 0, 2);
    check("1. h2e2 h9g7 (1... h9h2 2. h0g2 (2. x) h9h1) 2. h0g2 *", 3, Illegal, 1, 2);
    check("1. h2e2 h9g7 (1... b9c7 2. h2h3 (2. h0g2)) 2. h0g2 *", 3, Illegal, 1, 3);
    check("1. h2e2 h9g7 (1... b9c7 2. h0g2", 2, Cut, 0, 3);
    check("1. h2e2 {never closed h9g7", 1, Cut, 0, 2);
    check("1. 炮二平五 马8进7 2. 马二", 2, Cut, 0, 3);
    check("[Red \"a\"]\n[FEN \"9/9/9/9/9/9/9/9/9/9 w\"]\n1. h2e2", 0, Start, 0, 0);
    check("[Red \"a", 0, Cut, 0, 1);
}

#[test]
fn the_rest_of_the_file_is_read() {
    let text = "[Red \"a\"]\n1. h2e2 h2e2 1-0\n\n[Red \"b\"]\n1. h2e2 {open\n\n[Red \"c\"]\n[Black \"d\"]\n1. h2e2 (1. b2e2\n\n\
                [Red \"e\"]\n1. h2e2 h9g7 0-1\nvisit [our] site (http://example.invalid/)\n\n[Red \"f\"]\n[Black \"g\"]\n*\n";
    let games = read_text(text).expect("PGN");
    let found: Vec<_> =
        games.iter().map(|game| (game.tree.tag("Red"), game.tree.main_line().len())).collect();
    assert_eq!(found, [(Some("a"), 1), (Some("b"), 1), (Some("c"), 1), (Some("e"), 2), (Some("f"), 0)]);
    let kinds: Vec<_> = games.iter().map(|game| game.main_fault().map(|fault| fault.kind)).collect();
    assert_eq!(kinds, [Some(FaultKind::Illegal), Some(FaultKind::Cut), Some(FaultKind::Cut), None, None]);
    assert_eq!(games[0].faults[0].place, game_files::Place::Line(2));
}

#[test]
fn games_without_tags() {
    let games =
        read_text("1. h2e2 h9g7 2. h0g2 1-0\n1. b2e2 0-1\n\n1. 炮二平五 马8进7 2. 马二进三\n\n1.c3c4\n")
            .expect("PGN");
    let plies: Vec<_> = games.iter().map(|game| game.tree.main_line().len()).collect();
    assert_eq!(plies, [3, 1, 3, 1]);
    assert!(games.iter().all(|game| game.faults.is_empty()));
}

#[test]
fn oddities() {
    let moves = |text: &str| {
        let game = one(text);
        assert!(game.faults.is_empty(), "{text}: {:?}", game.faults);
        line(&game.tree).join(" ")
    };
    assert_eq!(moves("1.炮二平五马８进７ 2.马二进三，车９平８；"), "h2e2 h9g7 h0g2 i9h9");
    assert_eq!(moves("１．炮二平五　马８进７　２．马二进三"), "h2e2 h9g7 h0g2");
    assert_eq!(moves("% private\n1. h2e2+ H9-G7# 2. h0g2"), "h2e2 h9g7 h0g2");
    assert_eq!(
        moves("1. 炮二平五 （好棋！） 马8进7 (好棋，红优) 2. 马二进三 欢迎访问 本站"),
        "h2e2 h9g7 h0g2"
    );
    assert_eq!(moves("[Red \"a\"]\n[FEN \"4k4/9/9/9/9/9/4p4/9/9/3K5\"]\n1. ... e3e2"), "e3e2");
    assert_eq!(one("1. 炮二平五 (好棋，红优) 马8进7").tree.variations(), 0);
    assert_eq!(one("[Red \"a]\n[Black \"x \"y\" z\"] [Date “1999”]\n*").tree.tags.len(), 3);
}

#[test]
fn neither_tag_nor_move_is_an_error() {
    assert!(read(b"").expect("nothing").is_empty());
    let error = read("some prose, 12 of it\nand more".as_bytes()).expect_err("no PGN");
    assert!(error.to_string().starts_with("line 1: expected PGN"), "{error}");
}

/// Hostile texts are read in time that grows with their length: with `CHUHE_FULL=1` ten megabytes each.
#[test]
fn long_texts() {
    let pieces = [
        "(",
        ")",
        "{",
        "}",
        "[",
        "\"",
        "x",
        "=",
        ";",
        "$",
        "!",
        "\\",
        "%\n",
        "\n",
        "[A \"x\"]\n",
        "{\n[A \"x\"]\n[B \"y\"]\n",
        "1. ",
        "h2e2 ",
        "(h2e2 ",
        "1. h2e2 (",
        "炮二平五",
        "[A \"",
        "[Red ",
        "\r",
        "*\n",
        "{}",
        "炮",
        "(h2e2)",
        "1. h2e2 (1. h9h8) ",
        "[a1 \"\"]",
    ];
    let bytes = if common::amount(10) == 10 { 10 << 20 } else { 1 << 17 };
    for piece in pieces {
        let text = format!("[Red \"a\"]\n1. h2e2 {}", piece.repeat(bytes / piece.len()));
        let _ = read(text.as_bytes());
        let _ = read(piece.repeat(bytes / piece.len()).as_bytes());
    }
    let tags: String = (0..50_000).map(|i| format!("[T{i} \"\"]\n")).collect();
    assert_eq!(read_text(&tags).expect("PGN").len(), 1);
}

/// Variations in variations: each level answers the move before.
#[test]
fn deep_variations() {
    let cycle = ["h0g2", "h9g7", "g2h0", "g7h9"];
    let levels = 20_000;
    let deep: String = (0..levels).map(|ply| format!("{} ({} ", cycle[ply % 4], cycle[ply % 4])).collect();
    let game = one(&format!("{deep}{} *", ")".repeat(levels)));
    assert!(game.faults.is_empty(), "{:?}", game.faults);
    assert_eq!(game.tree.variations(), levels);
    let again = one(&write_game(&game.tree, Notation::Iccs));
    assert_eq!(shape(&again.tree), shape(&game.tree));
}

/// A tree without its node numbers: per node its parent's place, move, comment and glyphs, in line order.
fn shape(tree: &GameTree) -> Vec<(usize, String, String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut ahead = vec![(0, GameTree::ROOT)];
    while let Some((parent, node)) = ahead.pop() {
        let mv = tree.mv(node).map(|mv| mv.to_string()).unwrap_or_default();
        found.push((parent, mv, tree.comment(node).to_owned(), tree.nags(node).to_vec()));
        let place = found.len() - 1;
        ahead.extend(tree.children(node).iter().rev().map(|&child| (place, child)));
    }
    found
}

/// A random tree: each step adds a legal move behind a random node.
fn random_tree(start: &str, steps: &[(u16, u16, String, u8)]) -> GameTree {
    let mut tree = GameTree::new(Position::from_fen(start).expect("a position"));
    for (which, what, comment, nag) in steps {
        // Mostly at the end, so that lines grow long.
        let last = tree.len() as NodeId;
        let node = if which % 4 == 0 { NodeId::from(*which) % (last + 1) } else { last };
        let mut position = tree.start().clone();
        tree.line_to(node).into_iter().for_each(|mv| _ = position.make(mv));
        let legal = position.legal_moves();
        if !legal.is_empty() {
            let node = tree.add(node, legal[usize::from(*what) % legal.len()]);
            tree.add_comment(node, comment);
            if *nag > 250 {
                tree.add_nag(node, *nag);
            }
        }
    }
    tree
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if common::amount(10) == 10 { 400 } else { 40 }))]

    #[test]
    fn reading_undoes_writing(
        steps in prop::collection::vec((any::<u16>(), any::<u16>(), "([a-z(\\[{;%\" \n红黑]{0,20})?", any::<u8>()), 0..120),
        black in any::<bool>(),
        tag in "[^\\p{C}]{0,20}",
        outcome in prop::sample::select(vec![Outcome::Unknown, Outcome::RedWins, Outcome::BlackWins, Outcome::Draw]),
    ) {
        let side = if black { 'b' } else { 'w' };
        let start = format!("rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR {side} - - 3 7");
        let mut tree = random_tree(&start, &steps);
        tree.outcome = outcome;
        tree.tags = vec![("Event".to_owned(), tag), ("Red".to_owned(), "\\\"".to_owned())];
        for notation in [Notation::Chinese, Notation::Iccs, Notation::Wxf] {
            let text = write_game(&tree, notation);
            let game = one(&text);
            prop_assert!(game.faults.is_empty(), "{:?}\n{text}", game.faults);
            prop_assert_eq!(shape(&game.tree), shape(&tree), "{}", text);
            prop_assert_eq!(game.tree.start(), tree.start());
            prop_assert_eq!(game.tree.outcome, outcome);
            for (name, value) in &tree.tags {
                prop_assert_eq!(game.tree.tag(name), Some(value.as_str()));
            }
        }
    }

    #[test]
    fn mutated_files_do_no_harm(
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        big in any::<bool>(),
    ) {
        let text = "[Red \"许银川\"]\n[FEN \"\"]\n{x} 1. 炮二平五 马8进7 (1... 马2进3) 2. h0g2 $1 i9h9 1-0\n=====\nad\n[Red \"b\"]\n1.H2-E2\n";
        let mut bytes = encoded(text, if big { "gb18030" } else { "utf-8" });
        for (place, byte) in places {
            let at = place.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = read(&bytes);
    }

    #[test]
    fn random_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let _ = read(&bytes);
    }
}

/// The collections beside the checkout: what their index says is what is read.
#[test]
fn collections() {
    let Some(data) = common::shared("games") else { return };
    let index = [common::index("games/pgn/"), common::index("games/pgn_gbk/")].concat();
    let mut files = 0;
    for entry in &index {
        let file = entry["file"].as_str().expect("a file").trim_start_matches("games/");
        files += 1;
        let bytes = std::fs::read(data.join(file)).expect("readable");
        let is_gbk = entry["encoding"].as_str().is_some_and(|encoding| encoding.starts_with("gb"));
        assert!(!is_gbk || decode(&bytes).charset == Charset::Gb18030, "{file}");
        let games = read(&bytes).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(games.len() as u64, entry["games"].as_u64().expect("games"), "{file}");
        let plies: usize = games.iter().map(|game| game.tree.main_line().len()).sum();
        assert_eq!(plies as u64, entry["total_plies"].as_u64().expect("plies"), "{file}");
        let expected = match entry.get("per_game") {
            Some(games) => games.as_array().expect("an array").clone(),
            None => {
                let lines = data.join(file.replace("_uci.pgn", "_expected.jsonl"));
                let text = std::fs::read_to_string(lines).expect("readable");
                text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
            }
        };
        assert_eq!(expected.len(), games.len(), "{file}");
        for (game, expected) in games.iter().zip(&expected) {
            assert!(game.faults.is_empty(), "{file}: {:?}", game.faults);
            let plies = game.tree.main_line().len() as u64;
            assert_eq!(plies, expected["plies"].as_u64().expect("plies"), "{file}");
            assert_eq!(game.tree.final_fen(), expected["final_fen"], "{file}");
        }
    }
    assert!(files >= 20, "{files} files");
}

/// Lines of which files are made, whole and broken ones.
const LINES: [&str; 22] = [
    "[Game \"Chinese Chess\"]",
    "[Red \"a\"]",
    "[Result \"1-0\"]",
    "[FEN \"4k4/9/9/9/9/9/9/9/9/R2K5 w\"]",
    "[Black \"not closed",
    "Event no tag]",
    "",
    "1. h2e2 h9g7",
    "2. h0g2 i9h9 1-0",
    "1. a0a9 {mate?} e9e8 *",
    "1. 炮二平五 马8进7",
    "2. x9x9 (1... b9c7 2. h0g2)",
    "(1... b9c7",
    "{a comment that is not closed 1. h2e2",
    "goes on } here",
    "%  a line for programs",
    "; a remark [Red",
    "=====",
    "}",
    "0-1",
    "some prose",
    "1. b2e2",
];

proptest! {
    /// A file divided where [`last_beginning`] says gives the games of the whole, with their numbers, lines and faults.
    #[test]
    fn divided_files_give_the_same_games(picks in prop::collection::vec(0..LINES.len(), 0..40)) {
        let text: String = picks.iter().map(|&i| format!("{}\n", LINES[i])).collect();
        let whole: Vec<String> = games(&text).map(|game| format!("{game:?}")).collect();
        let mut ends = vec![text.len()];
        while let Some(at) = last_beginning(&text[..ends[ends.len() - 1]], 0) {
            ends.push(at);
        }
        let (mut found, mut begin, mut line) = (Vec::new(), 0, 1);
        for &end in ends.iter().rev() {
            let part = &text[begin..end];
            let before = found.len();
            found.extend(games_at(part, before, line).map(|game| format!("{game:?}")));
            line += part.matches('\n').count();
            begin = end;
        }
        prop_assert_eq!(whole, found, "{}", text);
    }
}

#[test]
fn files_are_divided_between_games_alone() {
    let text = "[Red \"a\"]\n[Black \"b\"]\n1. h2e2 *\n\n[Red \"c\"]\n[Black \"d\"]\n\n[Date \"e\"]\n[Site \"f\"]\n1. b2e2\n";
    let second = text.find("[Red \"c\"]").expect("the second game");
    assert_eq!(last_beginning(text, 0), Some(second));
    assert_eq!((last_beginning(text, second - 1), last_beginning(text, second)), (Some(second), None));
    assert_eq!(last_beginning("1. h2e2\n[Red \"a\"]\n1. b2e2\n", 0), None, "one tag may be a remark");
}
