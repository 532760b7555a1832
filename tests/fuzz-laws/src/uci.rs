use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use engine::protocol::{Output, Session};

/// Lines and `go`s of one session that are acted on: a search takes about a millisecond in a fuzzing build.
const MOST_LINES: usize = 60;
const MOST_SEARCHES: usize = 6;
/// Plies of a perft that is let through.
const DEEPEST_PERFT: u32 = 2;
/// A number in an option that is let through: threads, and MiB of a table.
const GREATEST_NUMBER: u64 = 4;

/// Where a session's lines go.
#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A session of any lines in any of the three dialects, which the first word chooses: it answers, searches come to an end and each gives one best move, and the engine
/// is still there afterwards.
pub fn uci(data: &[u8]) {
    let sink = Sink::default();
    let mut session = Session::new(Output::new(sink.clone()), "none").expect("it needs no net");
    session.handle("setoption name Hash value 1");
    let text = String::from_utf8_lossy(data);
    let mut searches = 0;
    for line in text.lines().take(MOST_LINES) {
        let Some(line) = limited(line) else { continue };
        let searching = line.split_whitespace().next() == Some("go");
        searches += usize::from(searching);
        if searches > MOST_SEARCHES || !session.handle(&line) {
            break;
        }
        if searching {
            session.handle("stop");
            session.wait();
        }
    }
    session.handle("isready");
    session.end_of_input();
    drop(session);
    check_output(&sink.0.lock().unwrap_or_else(PoisonError::into_inner), searches);
}

fn check_output(bytes: &[u8], searches: usize) {
    let text = std::str::from_utf8(bytes).expect("output is UTF-8");
    assert!(!text.contains("the search failed"), "a search panicked:\n{text}");
    let answers = text.lines().filter(|line| line.starts_with("bestmove ")).count();
    assert!(answers <= searches, "{answers} answers to {searches} searches:\n{text}");
    assert!(text.lines().any(|line| line == "readyok"), "no readyok:\n{text}");
}

/// The line as a session of bounded time and memory may have it; `None` where there is no such.
fn limited(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    match words.next()? {
        // Ends the session, takes seconds, writes a file: their own tests have them.
        "quit" | "bench" | "speedtest" | "export_net" => None,
        "perft" if words.next().and_then(|n| n.parse().ok()).is_none_or(|n: u32| n <= DEEPEST_PERFT) => {
            Some(line.to_owned())
        }
        "perft" => None,
        "go" => {
            let deep = |word: &str| word.parse().is_ok_and(|n: u32| n > DEEPEST_PERFT);
            let perft = line.split_whitespace().any(|word| word == "perft");
            if perft && line.split_whitespace().any(deep) {
                return None;
            }
            // What is said last counts.
            Some(format!("{line} nodes 200"))
        }
        "setoption" if line.to_ascii_lowercase().contains("file") => None,
        "setoption" => {
            let small = |word: &str| match word.parse::<u64>() {
                Ok(n) => (n % (GREATEST_NUMBER + 1)).to_string(),
                Err(_) => word.to_owned(),
            };
            Some(line.split_whitespace().map(small).collect::<Vec<_>>().join(" "))
        }
        _ => Some(line.to_owned()),
    }
}
