//! Which format a content has; lists of positions and lines; JSON lines.

mod common;

use game_files::{FaultKind, Format, Place, detect, fen_list, json_lines, read};
use proptest::prelude::*;

const START: &str = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1";

#[test]
fn formats_by_content() {
    let check = |text: &str, format| assert_eq!(detect(text.as_bytes()), format, "{text}");
    check("[Red \"a\"]\n1. h2e2 *", Some(Format::Pgn));
    check("1. 炮二平五 马8进7", Some(Format::Pgn));
    check("h2e2\nh9g7\nh0g2\n", Some(Format::Pgn));
    check("h2e2 h9g7\nb2e2 b9c7 b0c2\n", Some(Format::FenList));
    check("# book\n\nposition startpos moves h2e2 h9g7\n", Some(Format::FenList));
    check(START, Some(Format::FenList));
    check("9/9/9/9/9/9/9/9/9/9 w", Some(Format::FenList));
    check("<html>[DhtmlXQ]\n[DhtmlXQ_movelist]7747[/DhtmlXQ_movelist]", Some(Format::DhtmlXq));
    check("{\"fen\": \"9/9\"}", Some(Format::JsonLines));
    check("{a comment} 1. h2e2", Some(Format::Pgn));
    check("prose / with slashes", None);
    check("", None);
    for format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(format));
    }
    assert!("doc".parse::<Format>().is_err());
    assert!(read(b"", None).expect("nothing").is_empty());
    assert!(read(b"prose", None).is_err());
}

#[test]
fn positions_operations_and_moves() {
    let fen = "2Rckab1C/4a4/4R3n/p5p2/9/2N6/2P5P/C5r2/4K4/2B2A3 w";
    let text = format!(
        "\u{feff}# comment\r\n\r\n{START}\r\n{fen} - - dm 1; id \"w; 0\";\r\n{fen}; id x\r\n{fen} moves e7e8\r\n\
         h2e2 h9g7 h0h5\r\nnot/a/fen w\r\n{fen} - - 5 9\r\n{fen} - - hmvc 7; fmvn 12;\r\n// end\r\n炮二平五\r\n"
    );
    let games = fen_list::read(text.as_bytes()).expect("a list");
    let starts: Vec<String> = games.iter().map(|game| game.tree.start().fen()).collect();
    let with = |counters: &str| format!("{fen} - - {counters}");
    assert_eq!(starts[0], START);
    assert_eq!(starts[1..4], [with("0 1"), with("0 1"), with("0 1")]);
    assert_eq!(starts[6..8], [with("5 9"), with("7 12")]);
    assert_eq!((games[1].tree.tag("dm"), games[1].tree.tag("id")), (Some("1"), Some("w; 0")));
    assert_eq!(games[2].tree.tag("id"), Some("x"));
    let plies: Vec<usize> = games.iter().map(|game| game.tree.main_line().len()).collect();
    assert_eq!(plies, [0, 0, 0, 1, 2, 0, 0, 0, 1]);
    let faults: Vec<_> = games.iter().flat_map(|game| &game.faults).collect();
    assert_eq!((faults[0].kind, faults[0].ply, faults[0].place), (FaultKind::Illegal, 3, Place::Line(7)));
    assert_eq!((faults[1].kind, faults[1].ply, faults[1].place), (FaultKind::Start, 0, Place::Line(8)));
    assert_eq!(faults.len(), 2);
    let list = games.iter().map(|game| (game.tree.start(), game.tree.tags.as_slice()));
    let again = fen_list::read(fen_list::write(list).as_bytes()).expect("a list");
    for (game, again) in games.iter().zip(&again) {
        assert_eq!(game.tree.start(), again.tree.start());
        let id = |game: &game_files::ReadGame| game.tree.tag("id").map(str::to_owned);
        assert_eq!(id(game), id(again));
    }
}

#[test]
fn no_list_at_all() {
    assert!(fen_list::read(b"nothing\nof the kind\n").is_err());
    assert!(fen_list::read("x\n".repeat(100_000).as_bytes()).is_err());
    assert!(fen_list::read(b"").expect("nothing").is_empty());
}

#[test]
fn lines_of_json() {
    let text = format!(
        "{{\"id\": 7, \"fen\": \"{START}\", \"moves\": [\"h2e2\", \"h2e2\"]}}\n\n{{\"moves\": \"h2e2 h9g7\", \"result\": \"1-0\"}}\n"
    );
    let games = json_lines::read(text.as_bytes()).expect("lines");
    assert_eq!(games[0].tree.tag("id"), Some("7"));
    assert_eq!(games[0].main_fault().map(|fault| fault.ply), Some(2));
    assert_eq!((games[1].tree.main_line().len(), games[1].tree.outcome.text()), (2, "1-0"));
    let error = json_lines::read(b"{\"fen\": 1}\n{}").expect_err("no game");
    assert_eq!(error.place, Place::Line(2));
}

/// The public books and problem sets: as many positions as the index says, each of them one.
#[test]
fn books_and_problems() {
    for entry in [common::index("books/"), common::index("problems/")].concat() {
        let name = entry["file"].as_str().expect("a name");
        let Some(path) = common::shared(name) else { return };
        let bytes = std::fs::read(path).expect("readable");
        let games = read(&bytes, None).unwrap_or_else(|error| panic!("{name}: {error}"));
        let expected = entry.get("positions").or(entry.get("lines")).and_then(serde_json::Value::as_u64);
        assert_eq!(Some(games.len() as u64), expected, "{name}");
        let faults: Vec<_> = games.iter().flat_map(|game| &game.faults).collect();
        assert!(faults.is_empty(), "{name}: {faults:?}");
        if name.ends_with("mate_puzzles.epd") {
            let count = |name| games.iter().filter(|game| game.tree.tag(name).is_some()).count();
            assert_eq!((count("id"), count("dm")), (games.len(), games.len() - 121));
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
        let _ = read(&bytes, None);
        for format in Format::ALL {
            let _ = read(&bytes, Some(format));
        }
    }

    #[test]
    fn any_lines_do_no_harm(text in "([a-i0-9rnbakcpRNBAKCP/ ;\"wm-]{0,60}\n){0,5}") {
        let _ = read(text.as_bytes(), Some(Format::FenList));
    }
}
