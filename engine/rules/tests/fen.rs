//! Every case of the FEN vectors.

use serde_json::Value;
use xiangqi::{FenError, Position};

fn input(case: &Value) -> String {
    match case["input"].as_str() {
        Some(text) => text.to_owned(),
        None => {
            let repeat = &case["input_repeat"];
            let times = repeat["times"].as_u64().expect("times") as usize;
            repeat["text"].as_str().expect("text").repeat(times)
        }
    }
}

#[test]
fn every_case() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/vectors/fen.json");
    let cases: Value = serde_json::from_str(&std::fs::read_to_string(path).expect(path)).expect(path);
    let cases = cases.as_array().expect("a list");
    assert!(cases.len() >= 106, "only {} cases", cases.len());
    for case in cases {
        let id = &case["id"];
        let result = Position::from_fen(&input(case));
        match (case["expect"].as_str().expect("expect"), &result) {
            ("accept", Ok(position)) => {
                assert_eq!(position.fen(), case["canonical"].as_str().expect("canonical"), "{id}");
                assert_eq!(
                    Position::from_fen(&position.fen()).as_ref(),
                    Ok(position),
                    "{id}: print and parse"
                );
            }
            ("reject", Err(error)) => {
                let syntax = case["level"] == "syntax";
                assert_eq!(!matches!(error, FenError::Setup(_)), syntax, "{id}: {error}");
                assert!(error.to_string().len() < 400, "{id}: the message repeats the input");
            }
            (expected, got) => panic!("{id}: expected {expected}, got {got:?} ({})", case["why"]),
        }
    }
}
