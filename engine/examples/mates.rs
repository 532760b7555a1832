//! What the search makes of mate problems: a line for each, with the nodes and the time until the stated length stood,
//! the length at the end and whether the line ends in mate.
//!
//! ```text
//! cargo run --release -p engine --example mates -- [--ms 20000] [--nodes N] [--go-mate] [--whole] [--only ID] [FILE]
//! ```
//! FILE is JSON as `tests/data/vectors/mates.json`, which is the default. A case ends when its stated length is found;
//! with `--whole` it goes on to its limit, so that a shorter mate claimed later shows. `--go-mate` asks for the mate as
//! `go mate N` does. The exit status is 1 where a case is not as it should be.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use engine::eval::EvalSource;
use engine::examine::mates::{Case, MATES, cases, ends_in_mate, moves_to_mate};
use engine::search::{Info, Limits, ScoreBound, Searcher};
use xiangqi::Game;

/// As protocols have it by default.
const HASH_MIB: usize = 16;

struct Plan {
    ms: u64,
    nodes: Option<u64>,
    go_mate: bool,
    whole: bool,
    only: Option<String>,
    text: String,
}

/// What the reports of a search said.
#[derive(Default)]
struct Heard {
    /// When the stated length stood for the first time: milliseconds and nodes.
    found: Option<(u64, u64)>,
    /// Moves to the mate that was claimed last.
    last: Option<i32>,
    /// A mate shorter than there is.
    too_short: bool,
    /// The line of the last claim ends in mate.
    whole_line: bool,
    lines_cut: u32,
}

fn main() -> ExitCode {
    let plan = match plan() {
        Ok(plan) => plan,
        Err(error) => {
            eprintln!("mates: {error}");
            return ExitCode::from(2);
        }
    };
    let cases = match cases(&plan.text) {
        Ok(cases) => cases,
        Err(error) => {
            eprintln!("mates: {error}");
            return ExitCode::from(2);
        }
    };
    println!("{:8} {:>6} {:>6} {:>8} {:>10}  line", "case", "stated", "found", "ms", "nodes");
    let mut wrong = 0;
    for case in cases.iter().filter(|case| plan.only.as_ref().is_none_or(|id| *id == case.id)) {
        wrong += u32::from(!run(case, &plan));
    }
    println!("{wrong} of {} not as they should be", cases.len());
    ExitCode::from(u8::from(wrong > 0))
}

fn plan() -> Result<Plan, String> {
    let mut plan =
        Plan { ms: 20_000, nodes: None, go_mate: false, whole: false, only: None, text: MATES.to_owned() };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word}: a value is missing"));
        match word.as_str() {
            "--ms" => plan.ms = value()?.parse().map_err(|error| format!("--ms: {error}"))?,
            "--nodes" => plan.nodes = Some(value()?.parse().map_err(|error| format!("--nodes: {error}"))?),
            "--go-mate" => plan.go_mate = true,
            "--whole" => plan.whole = true,
            "--only" => plan.only = Some(value()?),
            file => plan.text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?,
        }
    }
    Ok(plan)
}

/// Searches a case and prints its line; is it as it should be?
fn run(case: &Case, plan: &Plan) -> bool {
    let game = &case.game;
    let stop = Arc::new(AtomicBool::new(false));
    let limits = Limits {
        movetime_ms: plan.nodes.is_none().then_some(plan.ms),
        nodes: plan.nodes,
        mate: case.moves.filter(|_| plan.go_mate),
        stop: Some(Arc::clone(&stop)),
        ..Limits::default()
    };
    let mut heard = Heard::default();
    let mut searcher = Searcher::new(HASH_MIB, EvalSource::Hce);
    let found = searcher.search(game, &limits, &mut |info| {
        heard.hear(info, case, game);
        if heard.found.is_some() && !plan.whole {
            stop.store(true, Relaxed);
        }
    });
    let claimed = moves_to_mate(found.score);
    let whole = claimed.is_none() || ends_in_mate(game, &found.pv, found.score);
    let right = case.is_solved_by(claimed) && whole && !heard.too_short;
    let number = |n: Option<i32>| n.map_or("-".to_owned(), |n| n.to_string());
    let (ms, nodes) = heard
        .found
        .map_or(("-".to_owned(), "-".to_owned()), |(ms, nodes)| (ms.to_string(), nodes.to_string()));
    println!(
        "{:8} {:>6} {:>6} {ms:>8} {nodes:>10}  {}{}{}{}",
        case.id,
        number(case.moves),
        number(claimed),
        if whole { "whole" } else { "cut" },
        if heard.lines_cut > 0 { format!(", {} cut on the way", heard.lines_cut) } else { String::new() },
        if heard.too_short { ", TOO SHORT" } else { "" },
        if right { "" } else { "  <-- wrong" },
    );
    right
}

impl Heard {
    fn hear(&mut self, info: &Info, case: &Case, game: &Game) {
        let Some(moves) = moves_to_mate(info.line.score) else { return };
        if info.bound == ScoreBound::Upper {
            return;
        }
        self.too_short |= moves < case.none_below;
        self.last = Some(moves);
        self.whole_line = ends_in_mate(game, &info.line.pv, info.line.score);
        self.lines_cut += u32::from(info.bound == ScoreBound::Exact && !self.whole_line);
        if self.found.is_none() && case.moves.is_some_and(|stated| moves <= stated) {
            self.found = Some((info.time_ms, info.nodes));
        }
    }
}
