//! Every count of the perft vectors, and the speed of counting in passing.

use serde_json::Value;
use xiangqi::Position;
use xiangqi::perft::{divide, perft};

fn vectors(name: &str) -> Value {
    let path = format!("{}/../../tests/data/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(&path).expect(&path)).expect(&path)
}

#[test]
fn every_count() {
    let cases = vectors("perft.json");
    let cases = cases.as_array().expect("a list");
    assert!(cases.len() >= 33, "only {} cases", cases.len());
    for case in cases {
        let id = &case["id"];
        let mut position = Position::from_fen(case["fen"].as_str().expect("fen")).expect("a position");
        let before = position.clone();
        for (i, nodes) in case["nodes"].as_array().expect("nodes").iter().enumerate() {
            let depth = i as u32 + 1;
            assert_eq!(Some(perft(&mut position, depth)), nodes.as_u64(), "{id} depth {depth}");
            assert!(position == before, "{id}: make and undo left a trace");
        }
        let sum: u64 = divide(&mut position, 2).iter().map(|&(_, nodes)| nodes).sum();
        assert_eq!(sum, perft(&mut position, 2), "{id}: divide");
    }
}
