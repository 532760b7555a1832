//! `docs/protocols.md` names every option that is announced, with its default and range.

mod common;

use common::Engine;
use engine::eval::embedded::EMBEDDED;

/// The table's row that has this name in a column (1: UCI, 2: UCCI).
fn row<'a>(document: &'a str, column: usize, name: &str) -> Vec<&'a str> {
    let wanted = format!("`{name}`");
    let cells =
        |line: &'a str| line.split(" | ").map(|cell| cell.trim_matches(['|', ' '])).collect::<Vec<_>>();
    let mut rows = document.lines().filter(|line| line.starts_with("| ")).map(cells);
    let found = rows.find(|cells| cells.len() == 4 && cells.get(column - 1) == Some(&wanted.as_str()));
    found.unwrap_or_else(|| panic!("docs/protocols.md has no option {wanted} in column {column}"))
}

fn after<'a>(words: &[&'a str], key: &str) -> Option<&'a str> {
    words.iter().position(|word| *word == key).and_then(|at| words.get(at + 1)).copied()
}

#[test]
fn every_announced_option_is_documented() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/protocols.md");
    let document = std::fs::read_to_string(path).expect("docs/protocols.md");
    let mut seen = 0;
    for (greeting, prefix, column) in [("uci", "option name ", 1), ("ucci", "option ", 2)] {
        let mut engine = Engine::start();
        engine.say(greeting);
        for line in engine.until(&format!("{greeting}ok")) {
            let Some((name, kind)) = line.strip_prefix(prefix).and_then(|line| line.split_once(" type "))
            else {
                continue;
            };
            // The search's numbers, in a build for tuning.
            if engine::search::parameters::ALL.iter().any(|parameter| parameter.name == name) {
                continue;
            }
            seen += 1;
            let row = row(&document, column, name);
            let words: Vec<&str> = kind.split(' ').collect();
            assert!(row[2].starts_with(words[0]), "{name}: {kind} but {:?}", row[2]);
            let default = match after(&words, "default").unwrap_or("button") {
                name if EMBEDDED.is_some_and(|net| net.name == name) => "the net in the program",
                value => value,
            };
            assert!(row[2].contains(default), "{name}: default {default} but {:?}", row[2]);
            if let (Some(min), Some(max)) = (after(&words, "min"), after(&words, "max")) {
                let told =
                    row[2].contains(&format!("{min}–{max}")) || row[2].contains(&format!("UCCI: {min} ="));
                assert!(told, "{name}: {min} to {max} but {:?}", row[2]);
            }
            for value in
                words.iter().zip(words.iter().skip(1)).filter(|(key, _)| **key == "var").map(|(_, v)| v)
            {
                assert!(row[2].contains(value), "{name}: {value} but {:?}", row[2]);
            }
        }
        engine.say("quit");
        engine.finish();
    }
    assert!(seen > 40, "only {seen} options");
}
