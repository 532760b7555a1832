//! Conversations, checked against transcripts in `tests/data/uci`.
//!
//! ```text
//! > a line that is said to the engine
//! < a line that it answers; * stands for any text
//! ... any number of lines up to the next expected one
//! ```
//! After `go` the test waits for the search to end before the next line is said, unless that line is `stop`
//! or `ponderhit`, or the mark `!` stands before the line (`>! isready`).

use std::io::Write;
use std::sync::{Arc, Mutex};

use engine::eval::EvalSource;
use engine::uci::{Output, Session};

#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<u8>>>);

impl Write for Heard {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no panic while writing").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Does `text` fit `pattern`, in which `*` stands for any text?
fn fits(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, rest)) => text.strip_prefix(head).is_some_and(|tail| {
            (0..=tail.len()).filter(|&i| tail.is_char_boundary(i)).any(|i| fits(rest, &tail[i..]))
        }),
    }
}

fn converse(name: &str, transcript: &str) {
    let heard = Heard::default();
    let mut session = Session::new(Output::new(heard.clone()), EvalSource::Hce);
    let mut expected = Vec::new();
    for line in transcript.lines() {
        if let Some(said) = line.strip_prefix(">! ") {
            session.handle(said);
        } else if let Some(said) = line.strip_prefix("> ") {
            if !matches!(said, "stop" | "ponderhit") {
                session.wait();
            }
            session.handle(said);
        } else if !line.trim().is_empty() && !line.starts_with('#') {
            expected.push(line);
        }
    }
    session.end_of_input();
    let bytes = heard.0.lock().expect("no panic while writing").clone();
    let said = String::from_utf8(bytes).expect("UTF-8");
    let mut lines = said.lines();
    let mut skipping = false;
    for want in expected {
        let Some(pattern) = want.strip_prefix("< ") else {
            assert_eq!(want, "...", "{name}: a line that is neither > nor < nor ...");
            skipping = true;
            continue;
        };
        let found = if skipping { lines.find(|line| fits(pattern, line)) } else { lines.next() };
        assert!(
            found.is_some_and(|line| fits(pattern, line)),
            "{name}: expected {pattern:?}, found {found:?} in\n{said}"
        );
        skipping = false;
    }
    let rest: Vec<&str> = lines.collect();
    assert!(skipping || rest.is_empty(), "{name}: more was said: {rest:?}");
}

#[test]
fn transcripts() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/uci");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).expect("the transcripts' folder") {
        let path = entry.expect("an entry").path();
        let transcript = std::fs::read_to_string(&path).expect("a transcript");
        converse(&path.display().to_string(), &transcript);
        seen += 1;
    }
    assert!(seen >= 4, "only {seen} transcripts");
}

#[test]
fn random_text_never_ends_the_engine() {
    use rand_core::{Rng, SeedableRng};
    let words = [
        "position",
        "startpos",
        "fen",
        "moves",
        "go",
        "depth",
        "nodes",
        "1",
        "-1",
        "99999999999999999999",
        "h2e2",
        "setoption",
        "name",
        "value",
        "Hash",
        "EvalFile",
        "MultiPV",
        "uci",
        "stop",
        "ponderhit",
        "d",
        "eval",
        "flip",
        "searchmoves",
        "mate",
        "w",
        "-",
        "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR",
        "帅",
        "\u{0}",
        "perft",
        "ucinewgame",
        "infinite",
        "movetime",
        "wtime",
        "9/9/9",
        "0",
    ];
    let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(3);
    let mut session = Session::new(Output::new(std::io::sink()), EvalSource::Hce);
    for _ in 0..1500 {
        let count = 1 + rng.next_u64() % 7;
        let line: Vec<&str> =
            (0..count).map(|_| words[(rng.next_u64() % words.len() as u64) as usize]).collect();
        let line = line.join(" ");
        // Limits that would take long are stopped by the next line that needs the searcher.
        if line.starts_with("perft") || line.contains("go perft") {
            continue;
        }
        assert!(session.handle(&line));
        session.handle("stop");
    }
    session.end_of_input();
}
