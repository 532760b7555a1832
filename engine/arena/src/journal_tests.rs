use super::*;
use crate::outcome::{FailureKind, Outcome, Reason, Side};
use crate::record::GameRecord;
use serde_json::json;

fn record(pair: u64) -> PairRecord {
    let game = |red| GameRecord {
        red,
        result: Outcome::RedLoses,
        reason: Reason::Failure(FailureKind::Crash),
        detail: Some("a \"quoted\" 象 ,\"crc\":\"00000000\"} text".to_owned()),
        time_ms: [1, 2],
        nodes: [3, 4],
        moves: "h2e2 h9g7".to_owned(),
    };
    PairRecord {
        pair,
        players: ["象眼 1.0".to_owned(), "b".to_owned()],
        start: xiangqi::fen::START.to_owned(),
        opening_plies: 2,
        games: [game(Side::A), game(Side::B)],
    }
}

fn plan() -> Value {
    json!({ "a": "hce", "seed": 1 })
}

/// A journal with pairs 0, 2, 1, as bytes.
fn written(path: &Path) -> Vec<u8> {
    let (mut journal, pairs) = Journal::<PairRecord>::open(path, &plan()).expect("begins");
    assert!(pairs.is_empty());
    for pair in [0, 2, 1] {
        journal.write(&record(pair)).expect("written");
    }
    drop(journal);
    std::fs::read(path).expect("read")
}

#[test]
fn cut_anywhere_it_keeps_its_whole_lines() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("对局 journal");
    let bytes = written(&path);
    let ends: Vec<usize> = (0..bytes.len()).filter(|&i| bytes[i] == b'\n').map(|i| i + 1).collect();
    for cut in 0..=bytes.len() {
        std::fs::write(&path, &bytes[..cut]).expect("cut");
        let (journal, pairs) =
            Journal::<PairRecord>::open(&path, &plan()).unwrap_or_else(|e| panic!("cut at {cut}: {e}"));
        drop(journal);
        let lines = ends.iter().filter(|&&end| end <= cut).count();
        assert_eq!(pairs.len(), lines.saturating_sub(1), "cut at {cut}");
        assert!(pairs.iter().all(|(&number, found)| *found == record(number)));
        let kept = std::fs::read(&path).expect("read");
        assert_eq!(kept, bytes[..ends[lines.max(1) - 1]], "cut at {cut}");
    }
}

#[test]
fn a_flipped_byte_is_refused_or_costs_the_last_line() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("journal");
    let bytes = written(&path);
    let last_line = bytes[..bytes.len() - 1].iter().rposition(|&b| b == b'\n').expect("lines") + 1;
    for at in (0..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        std::fs::write(&path, &damaged).expect("written");
        match Journal::<PairRecord>::open(&path, &plan()) {
            Err(error) => assert!(at < last_line - 1, "byte {at}: {error}"),
            // A flipped line end joins the last two lines to one.
            Ok((_, pairs)) if at == last_line - 1 => assert_eq!(pairs.len(), 1),
            Ok((_, pairs)) => assert!(at >= last_line && pairs.len() == 2, "byte {at} goes unseen"),
        }
    }
}

#[test]
fn other_plans_other_files_and_other_runs_are_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("journal");
    let refused = |plan: &Value| Journal::<PairRecord>::open(&path, plan).err().expect("refused").to_string();
    std::fs::write(&path, "a diary without line end").expect("written");
    assert!(refused(&plan()).contains("no journal"));
    std::fs::write(&path, "a diary\nof two lines\n").expect("written");
    assert!(refused(&plan()).contains("line 1"));
    std::fs::remove_file(&path).expect("removed");
    let bytes = written(&path);
    let other = refused(&json!({ "a": "hce", "seed": 2 }));
    assert!(other.contains("seed is 1 there and 2 here"), "{other}");
    assert!(refused(&json!({ "a": "hce" })).contains("seed"));
    assert!(refused(&json!({ "a": "hce", "seed": 1, "b": "hce" })).contains("b is null there"));
    assert_eq!(std::fs::read(&path).expect("read"), bytes, "untouched");
    let mut twice = bytes.clone();
    twice.extend_from_slice(sealed(&serde_json::to_string(&record(1)).expect("JSON")).as_bytes());
    std::fs::write(&path, &twice).expect("written");
    assert!(refused(&plan()).contains("second time"));
    std::fs::write(&path, &bytes).expect("written");
    let _open = Journal::<PairRecord>::open(&path, &plan()).expect("opens");
    assert!(refused(&plan()).contains("in use"));
    // Who only looks at it may do so, whatever its plan.
    let pairs = Journal::<PairRecord>::peek(&path).expect("read");
    assert_eq!(pairs.keys().copied().collect::<Vec<_>>(), [0, 1, 2]);
    std::fs::write(&path, &bytes[..bytes.len() - 9]).expect("written");
    assert_eq!(Journal::<PairRecord>::peek(&path).expect("read").len(), 2);
    std::fs::write(&path, "a diary\nof two lines\n").expect("written");
    assert!(Journal::<PairRecord>::peek(&path).is_err());
}
