//! Conversations with the real program, checked against the transcripts in `tests/transcripts`.
//!
//! ```text
//! # a remark
//! > a line that is said to the engine
//! < a line that it answers next; * is any text, {n} a whole number, {move} a move,
//!   {net} the name of the net in the program, or <empty> without one
//! ... any number of lines up to the next expected one
//! ```
//! At the end the input is closed; nothing more may be said then unless the last line is `...`, and the process must
//! end with status 0.

mod common;

use std::time::{Duration, Instant};

use common::{Engine, fits};
use engine::eval::embedded::EMBEDDED;

fn converse(transcript: &str) {
    let mut engine = Engine::start();
    let mut skipping = false;
    let net = EMBEDDED.map_or("<empty>", |net| net.name);
    for line in transcript.replace("{net}", net).lines() {
        if let Some(said) = line.strip_prefix("> ") {
            engine.say(said);
        } else if let Some(pattern) = line.strip_prefix("< ") {
            if skipping {
                engine.until(pattern);
            } else {
                engine.expect(pattern);
            }
            skipping = false;
        } else if line == "..." {
            skipping = true;
        } else {
            assert!(line.trim().is_empty() || line.starts_with('#'), "{line:?} is neither > nor < nor ...");
        }
    }
    let rest = engine.finish();
    assert!(skipping || rest.is_empty(), "more was said: {rest:?}");
}

#[test]
fn transcripts() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/transcripts");
    let mut seen = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the transcripts' folder") {
        let path = entry.expect("an entry").path();
        println!("{}", path.display());
        converse(&std::fs::read_to_string(&path).expect("a transcript"));
        seen.push(path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default());
    }
    for dialect in ["uci", "ucci", "cyclone"] {
        assert!(seen.iter().any(|name| name.starts_with(dialect)), "no transcript of {dialect}: {seen:?}");
    }
}

#[test]
fn patterns_fit_what_they_say() {
    for (pattern, text, expected) in [
        ("a", "a", true),
        ("a", "ab", false),
        ("*", "", true),
        ("a*c", "abbc", true),
        ("a*c", "abb", false),
        ("depth {n} score {n}", "depth 3 score -12", true),
        ("depth {n}", "depth x", false),
        ("bestmove {move}", "bestmove h2e2", true),
        ("bestmove {move}", "bestmove h2e2 ponder h9g7", false),
        ("bestmove {move}*", "bestmove h2e2 ponder h9g7", true),
        ("bestmove {move}", "bestmove z2e2", false),
        ("炮*", "炮二平五", true),
    ] {
        assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
    }
}

#[test]
fn the_conversation_is_logged() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log 日志.txt");
    std::fs::write(&path, "what was there stays\n").expect("a file");
    let mut engine = Engine::start();
    engine.say(&format!("setoption name Debug Log File value {}", path.display()));
    engine.ask("isready", "readyok");
    engine.say("foo");
    engine.expect("info string error: *");
    engine.say("setoption name Debug Log File value <empty>");
    engine.ask("isready", "readyok");
    engine.finish();
    let log = std::fs::read_to_string(&path).expect("the log");
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines[..4], ["what was there stays", ">> isready", "<< readyok", ">> foo"]);
    assert!(fits("<< info string error: unknown command *", lines[4]), "{log}");
    assert_eq!(lines[5..], [">> setoption name Debug Log File value <empty>"]);
}

/// The clock of a pondering engine stands: a short one does not run out.
#[test]
fn a_pondering_clock_stands_until_the_hit() {
    for (greeting, go) in [("uci", "go ponder movetime 40"), ("ucci", "go ponder time 1 movestogo 1")] {
        let mut engine = Engine::greeted(greeting);
        engine.say("position startpos");
        engine.say(go);
        engine.until("info depth 4 *");
        engine.say("isready");
        let lines = engine.until("readyok");
        assert!(!lines.iter().any(|line| line.starts_with("bestmove")), "{lines:#?}");
        engine.say("ponderhit");
        engine.until("bestmove {move}*");
        engine.say("quit");
        engine.finish();
    }
}

/// A move that was pondered for longer than it would be thought of is made at once.
#[test]
fn a_long_ponder_is_answered_at_once() {
    let mut engine = Engine::greeted("uci");
    engine.say("position startpos");
    // The move's share is 2 s, 3 s at the most when its best move has just changed.
    engine.say("go ponder wtime 100000 btime 100000 movestogo 50");
    let began = Instant::now();
    // Whether it was enough is looked at when an iteration ends.
    loop {
        let line = engine.until("info depth *").pop().unwrap_or_default();
        if began.elapsed() > Duration::from_millis(3100) && !line.contains("bound") {
            break;
        }
    }
    let began = Instant::now();
    engine.say("ponderhit");
    engine.until("bestmove {move}*");
    // On its own time alone it would think for 1.3 s at the least.
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    engine.say("quit");
    engine.finish();
}

/// Work that would take days ends at the word, and `readyok` comes meanwhile.
#[test]
fn long_work_is_broken_off() {
    for (work, told) in [
        ("go perft 12", "info string perft: stopped; *"),
        ("perft 12", "info string perft: stopped; *"),
        ("bench 64", "info string bench: stopped after {n} of {n} positions"),
        ("speedtest 1 1 1000", "info string speedtest: stopped*"),
    ] {
        let mut engine = Engine::greeted("uci");
        engine.say(work);
        engine.ask("isready", "readyok");
        engine.say("stop");
        engine.until(told);
        engine.say("go depth 1");
        engine.until("bestmove {move}*");
        engine.say("quit");
        engine.finish();
    }
}

/// A script says `quit` at once, and wants the count all the same.
#[test]
fn quit_waits_for_a_count() {
    let mut engine = Engine::greeted("uci");
    engine.say("perft 4");
    engine.say("quit");
    let lines = engine.finish();
    assert_eq!(lines.last().map(String::as_str), Some("Nodes searched: 3290240"), "{lines:#?}");
}
