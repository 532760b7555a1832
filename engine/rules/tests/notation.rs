//! Every notation of the vectors, both ways, and text → move → text on random games.

use serde_json::Value;
use xiangqi::{Position, notation};

fn position(case: &Value) -> Position {
    Position::from_fen(case["fen"].as_str().expect("fen")).expect("a position")
}

fn vectors() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/vectors/notation.json");
    serde_json::from_str(&std::fs::read_to_string(path).expect(path)).expect(path)
}

#[test]
fn every_move() {
    let vectors = vectors();
    let cases = vectors["moves"].as_array().expect("moves");
    assert!(cases.len() >= 114);
    for case in cases {
        let (id, position) = (&case["id"], position(case));
        let text = |field: &str| case[field].as_str().expect(field).to_owned();
        let mv = text("uci").parse().expect("a move");
        assert_eq!(notation::uci(mv), text("uci"), "{id}");
        assert_eq!(notation::iccs(mv), text("iccs"), "{id}");
        assert_eq!(notation::chinese(&position, mv), text("chinese"), "{id}");
        assert_eq!(notation::wxf(&position, mv), text("wxf"), "{id}");
        let also = case["also"].as_array().expect("also").iter();
        let also = also.map(|v| v.as_str().expect("text").to_owned());
        for spelling in also.chain(["uci", "iccs", "chinese", "wxf"].map(text)) {
            assert_eq!(notation::parse(&position, &spelling), Ok(mv), "{id}: {spelling}");
        }
    }
}

#[test]
fn every_refusal() {
    let vectors = vectors();
    let cases = vectors["reject"].as_array().expect("reject");
    assert!(cases.len() >= 18);
    for case in cases {
        let text = case["text"].as_str().expect("text");
        assert!(notation::parse(&position(case), text).is_err(), "{}: {text} ({})", case["id"], case["why"]);
    }
}
