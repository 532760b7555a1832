//! What UCI has not, and people want: a look at the board, an evaluation, counts, speeds, the net as a file.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use xiangqi::judge;
use xiangqi::{Color, Game, Position};

use super::command::SpeedTest;
use crate::bench;
use crate::eval::Evaluation;
use crate::protocol::options::{Names, rows};
use crate::protocol::session::{Core, SessionError};
use crate::protocol::{Output, flipped, machine};
use crate::search::Limits;
use crate::speedtest;

/// A perft deeper than this would not end.
const PERFT_DEEPEST: u32 = 12;
/// A bench deeper than this would not end.
const BENCH_DEEPEST: i32 = 64;

/// An extra that cannot be done.
#[derive(Debug, thiserror::Error)]
pub(super) enum ExtraError {
    /// Too deep, or not deep at all.
    #[error("{what}: expected a depth from {least} to {most}, found {found}")]
    Depth { what: &'static str, least: i64, most: i64, found: i64 },
    /// More memory than there is.
    #[error("speedtest: a table of {asked} MiB: {free} MiB of memory are free; give a smaller hash")]
    Memory { asked: usize, free: usize },
    /// The position with sides changed is none.
    #[error("flip: {0}")]
    Flip(xiangqi::setup::SetupError),
    /// It cannot be begun.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// There is no net.
    #[error("export_net: the hand-crafted evaluation is in use and is no net; set EvalFile first")]
    NoNet,
    /// The file cannot be written.
    #[error("export_net: {0}")]
    Net(nnue_format::NetFileError),
}

/// `perft N` and `go perft N`. Each move is told when it has been counted; `stop` ends it.
pub(super) fn perft(core: &mut Core, depth: u32) -> Result<(), ExtraError> {
    if depth > PERFT_DEEPEST {
        let (most, found) = (PERFT_DEEPEST.into(), depth.into());
        return Err(ExtraError::Depth { what: "perft", least: 0, most, found });
    }
    let mut pos = core.game.position().clone();
    let ranks = core.options.first_rank;
    core.run_errand(move |out, stop| {
        let mut total = u64::from(depth == 0);
        let stopped = || stop.load(Relaxed);
        let whole = xiangqi::perft::divide_until(&mut pos, depth, &stopped, &mut |mv, nodes| {
            out.line(&format!("{}: {nodes}", ranks.text(mv)));
            total += nodes;
        });
        if whole {
            out.line("");
            out.line(&format!("Nodes searched: {total}"));
        } else {
            out.line("info string perft: stopped; the moves above are whole, the others were not counted");
        }
    })?;
    Ok(())
}

/// `d`
pub(super) fn display(core: &Core) {
    let pos = core.game.position();
    let text = pos.to_string();
    let fen = pos.fen();
    for line in text.lines().filter(|&line| line != fen) {
        core.out.line(line);
    }
    core.out.line(&format!("Fen: {fen}"));
    core.out.line(&format!("Key: {:016X}", pos.key()));
    let checkers: Vec<String> = pos.checkers().map(|square| core.options.first_rank.square(square)).collect();
    core.out.line(&format!("Checkers: {}", checkers.join(" ")));
    let rules = core.options.judge();
    let status = judge::status(&core.game, rules);
    let reason = status.reason.map_or(String::new(), |reason| format!(" by {reason}"));
    core.out.line(&format!("Rules: {}", rules.set));
    core.out.line(&format!("Occurrences: {}", core.game.occurrences()));
    core.out.line(&format!("Result: {}{reason}", status.result));
}

/// `eval`
pub(super) fn eval(core: &Core) {
    let pos = core.game.position();
    let mut evaluation = Evaluation::new(&core.source);
    evaluation.reset(pos);
    let value = evaluation.evaluate(pos);
    let red = if pos.side_to_move() == Color::Red { value } else { -value };
    core.out.line(&format!(
        "info string evaluation {}: cp {value} for the side to move, cp {red} for Red",
        core.source
    ));
}

/// `bench [depth]`
pub(super) fn bench(core: &mut Core, depth: Option<i32>) -> Result<(), ExtraError> {
    let depth = depth.unwrap_or(bench::DEFAULT_DEPTH);
    if !(1..=BENCH_DEEPEST).contains(&depth) {
        let (most, found) = (BENCH_DEEPEST.into(), depth.into());
        return Err(ExtraError::Depth { what: "bench", least: 1, most, found });
    }
    let (source, threads) = (core.source.clone(), core.threads);
    core.run_errand(move |out, stop| {
        let limits = Limits { stop: Some(Arc::clone(stop)), ..Limits::depth(depth) };
        let plan = bench::Plan { threads, limits, ..bench::Plan::default() };
        let result = bench::run(source, &plan, &mut |_, _| {});
        let (done, all) = (result.all.positions, bench::POSITIONS.len());
        if done < all {
            out.line(&format!("info string bench: stopped after {done} of {all} positions"));
        }
        out.line(&format!("Nodes searched: {}", result.all.nodes));
        out.line(&format!("Nodes/second: {}", result.all.nps()));
    })?;
    Ok(())
}

/// `flip`
pub(super) fn flip(core: &mut Core) -> Result<(), ExtraError> {
    let setup = flipped(&core.game.position().to_setup());
    core.game = Game::new(Position::try_from_setup(&setup).map_err(ExtraError::Flip)?);
    Ok(())
}

/// `export_net FILE`
pub(super) fn export_net(core: &Core, path: &Path) -> Result<(), ExtraError> {
    let Some(bytes) = &core.net_file else { return Err(ExtraError::NoNet) };
    nnue_format::net::put_in_place(path, bytes, nnue_format::Overwrite::No).map_err(ExtraError::Net)?;
    core.out.line(&format!("info string the net in use was written to {}", path.display()));
    Ok(())
}

/// `speedtest [threads] [hash] [seconds]`
pub(super) fn speed_test(core: &mut Core, asked: SpeedTest) -> Result<(), ExtraError> {
    let seconds = asked.seconds.unwrap_or(speedtest::DEFAULT_SECONDS);
    let plan = speedtest::Plan::new(asked.threads, asked.hash_mib, seconds);
    if let Some(free) = machine::free_mib().filter(|&free| plan.hash_mib > free) {
        return Err(ExtraError::Memory { asked: plan.hash_mib, free });
    }
    core.out.line(&format!("info string speedtest: {plan}"));
    let source = core.source.clone();
    core.run_errand(move |out: &Output, stop: &Arc<AtomicBool>| {
        let summary = speedtest::run(source, &plan, stop, &mut |_, _| {});
        if stop.load(Relaxed) {
            out.line("info string speedtest: stopped; what was measured until then:");
        }
        for line in summary.to_string().lines() {
            out.line(line);
        }
    })?;
    Ok(())
}

const COMMANDS: &[(&str, &str)] = &[
    ("uci", "name, options, uciok"),
    ("isready", "readyok, while thinking too"),
    ("ucinewgame", "forget all that was learned"),
    ("setoption name NAME [value VALUE]", "set an option; the names are below"),
    ("position startpos|fen FEN [moves M…]", "set the board; the word position may be left out"),
    (
        "go [LIMITS]",
        "think: depth N, nodes N, movetime MS, wtime MS btime MS [winc MS binc MS] [movestogo N], mate N, infinite, ponder, searchmoves M…",
    ),
    ("stop", "answer now; break off perft, bench or speedtest"),
    ("ponderhit", "the expected move was played: the clock runs"),
    ("d", "the board, the FEN, and how the game stands"),
    ("eval", "the evaluation of the board, without search"),
    ("flip", "change the sides"),
    ("perft N, go perft N", "count the leaves of the move tree"),
    ("bench [DEPTH]", "nodes and speed of fixed searches"),
    ("speedtest [THREADS] [HASH] [SECONDS]", "speed in games as they are played"),
    ("export_net FILE", "write the net in use to a file"),
    ("help", "this list"),
    ("quit", "end"),
    ("ucci", "speak UCCI from now on"),
];

/// `help`
pub(super) fn help(out: &Output) {
    out.line(&format!("Chuhe {}: UCI, UCI_Cyclone and UCCI. Commands:", crate::VERSION));
    for (command, about) in COMMANDS {
        out.line(&format!("  {command:<38} {about}"));
    }
    out.line("Options:");
    for row in rows(Names::Uci) {
        out.line(&format!("  {:<38} {}", row.uci, row.about));
    }
}
