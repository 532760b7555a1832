//! The rule set `asian` against verdicts of public judges and of the rule book's diagrams.
//!
//! The cases are read in place, for their project has no licence. Where we differ by design, the
//! case stands in `tests/data/asian_differences.json` with the reason.

use std::collections::BTreeMap;

use serde_json::Value;
use xiangqi::judge::{self, RuleSet};
use xiangqi::{Game, Position};

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/vectors/repetition_asian.json");
const DIFFERENCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/asian_differences.json");

/// Tiers on which no Asian verdict is agreed.
const NOT_GATED: [&str; 2] = ["sources_disagree", "competition_only"];

/// By case and source: what we say and what they say.
type Differences = BTreeMap<(String, String), (String, String)>;

fn word<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_else(|| panic!("{value}: expected a text in {field}"))
}

/// The verdict at the second occurrence.
fn ours(case: &Value) -> String {
    let id = word(case, "id");
    let mut game = Game::new(Position::from_fen(word(case, "fen")).expect(id));
    let second = case["loop"]["second"].as_u64().expect(id) as usize;
    for mv in &case["moves"].as_array().expect(id)[..second] {
        let status = judge::status(&game, RuleSet::Asian);
        assert!(!status.is_over(), "{id}: over before {mv}: {status:?}");
        game.try_play(mv.as_str().expect(id).parse().expect(id)).expect(id);
    }
    let status = judge::status(&game, RuleSet::Asian);
    assert!(status.repetition.is_some(), "{id}: no repetition: {status:?}");
    status.result.to_string()
}

fn found(cases: &[Value]) -> Differences {
    let mut found = Differences::new();
    for case in cases.iter().filter(|case| !NOT_GATED.contains(&word(case, "tier"))) {
        let ours = ours(case);
        for (source, theirs) in case["asian"].as_object().expect("sources") {
            let theirs = theirs.as_str().expect("a verdict");
            if theirs != ours {
                let key = (word(case, "id").to_owned(), source.clone());
                found.insert(key, (ours.clone(), theirs.to_owned()));
            }
        }
    }
    found
}

#[test]
fn asian_verdicts_differ_only_where_it_is_written_down() {
    let text = std::fs::read_to_string(DIFFERENCES).expect(DIFFERENCES);
    let listed: Vec<Value> = serde_json::from_str(&text).expect(DIFFERENCES);
    let wanted: Differences = listed
        .iter()
        .map(|entry| {
            assert!(!word(entry, "reason").is_empty(), "{entry}");
            let key = (word(entry, "id").to_owned(), word(entry, "source").to_owned());
            (key, (word(entry, "ours").to_owned(), word(entry, "theirs").to_owned()))
        })
        .collect();
    assert_eq!(wanted.len(), listed.len(), "{DIFFERENCES}: an entry stands twice");
    let Ok(text) = std::fs::read_to_string(CASES) else {
        eprintln!("SKIPPED: {CASES} is not here; 107 cases of the rule set asian were not tried");
        return;
    };
    let cases: Vec<Value> = serde_json::from_str(&text).expect(CASES);
    assert!(cases.len() >= 107);
    // An entry that no longer differs fails too.
    assert_eq!(found(&cases), wanted, "left: found now; right: {DIFFERENCES}");
}
