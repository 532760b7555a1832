//! How fast this machine searches: whole games under a clock, with tables and threads as in play.
//!
//! A bench searches single positions to a fixed depth with a small table, and tells builds apart; this tells
//! machines and settings apart. The games are our own, so they are the positions that play meets; each move
//! gets a share of the time as a clock would give it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use serde::Serialize;
use xiangqi::{Game, Move, Position};

use crate::eval::EvalSource;
use crate::numa::Topology;
use crate::protocol::machine;
use crate::search::{Limits, MAX_HASH_MIB, MAX_THREADS, Searcher};

/// Time of all searches together unless another is asked for, in seconds.
pub const DEFAULT_SECONDS: u64 = 150;
/// The longest speed test, in seconds: a day.
pub const MAX_SECONDS: u64 = 86_400;
/// Table for each thread unless a size is asked for, in MiB.
const HASH_MIB_PER_THREAD: usize = 128;
/// The games: moves from the start position, one game a line.
const GAMES: &str = include_str!("games.txt");
/// Every so many plies a position is searched: one side's moves.
const STRIDE: usize = 2;
/// Positions searched first and not counted: caches, pages and the CPU's clock settle.
const WARM_UP_POSITIONS: usize = 3;
/// The warm-up's part of the time.
const WARM_UP_SHARE: u64 = 50;
/// A move's share of the time falls with the move number as a clock with increment lets it:
/// `1 / (number + SHARE_OFFSET)`, in parts of this.
const SHARE_SCALE: u64 = 1_000_000;
const SHARE_OFFSET: u64 = 30;

/// What is to be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Search threads.
    pub threads: usize,
    /// Size of the table, in MiB.
    pub hash_mib: usize,
    /// Time of all searches together, in seconds.
    pub seconds: u64,
}

impl Plan {
    /// A plan; what is not given is one thread per CPU and 128 MiB of table for each. Everything is brought into
    /// its range.
    pub fn new(threads: Option<usize>, hash_mib: Option<usize>, seconds: u64) -> Plan {
        let threads = threads.unwrap_or_else(|| Topology::here().allowed().len()).clamp(1, MAX_THREADS);
        let hash_mib = hash_mib.unwrap_or(threads * HASH_MIB_PER_THREAD).clamp(1, MAX_HASH_MIB);
        Plan { threads, hash_mib, seconds: seconds.clamp(1, MAX_SECONDS) }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} threads, {} MiB of table, {} s", self.threads, self.hash_mib, self.seconds)
    }
}

/// What was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The engine's version and the CPUs that it was built for.
    pub version: &'static str,
    /// The compiler that built it, and for which system.
    pub compiler: &'static str,
    /// What evaluated.
    pub evaluation: String,
    /// Search threads.
    pub threads: usize,
    /// Where they ran.
    pub binding: String,
    /// Size of the table, in MiB.
    pub hash_mib: usize,
    /// Memory of this process on huge pages at the end, in MiB; `None` where the system does not tell.
    pub huge_pages_mib: Option<u64>,
    /// Positions searched, the warm-up's left out.
    pub positions: usize,
    /// Nodes of all threads.
    pub nodes: u64,
    /// Time of the searches, in ms.
    pub time_ms: u64,
    /// Nodes a second.
    pub nps: u64,
    /// Mean depth of the last whole iteration, in plies.
    pub average_depth: f64,
    /// Mean use of the table at the end of a search, in thousandths.
    pub hashfull: u64,
    /// The greatest use of the table, in thousandths.
    pub hashfull_most: u64,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Chuhe {}, evaluation {}", self.version, self.evaluation)?;
        writeln!(f, "Compiled by      {}", self.compiler)?;
        writeln!(f, "Threads          {} ({})", self.threads, self.binding)?;
        writeln!(f, "Hash             {} MiB", self.hash_mib)?;
        match self.huge_pages_mib {
            Some(mib) => writeln!(f, "Huge pages       {mib} MiB in use")?,
            None => writeln!(f, "Huge pages       not known")?,
        }
        writeln!(f, "Positions        {}", self.positions)?;
        writeln!(f, "Time             {} ms", self.time_ms)?;
        writeln!(f, "Average depth    {:.1}", self.average_depth)?;
        writeln!(
            f,
            "Hash use         {} permille on average, {} at most",
            self.hashfull, self.hashfull_most
        )?;
        writeln!(f, "Nodes searched   {}", self.nodes)?;
        write!(f, "Nodes/second     {}", self.nps)
    }
}

/// A position to search: after so many moves of a game.
struct Task {
    game: Game,
    /// Is it the first of its game?
    begins: bool,
    /// Its part of the time; only the ratios matter.
    share: u64,
}

fn tasks() -> Vec<Task> {
    let mut tasks = Vec::new();
    for line in GAMES.lines() {
        let mut game = Game::new(Position::start());
        let mut begins = true;
        for (ply, mv) in line.split_whitespace().enumerate() {
            if ply % STRIDE == 0 {
                let share = SHARE_SCALE / (ply as u64 / STRIDE as u64 + SHARE_OFFSET);
                tasks.push(Task { game: game.clone(), begins, share });
                begins = false;
            }
            // A move that cannot be played ends the game; a test holds that there is none.
            let Ok(mv) = mv.parse::<Move>() else { break };
            if game.try_play(mv).is_err() {
                break;
            }
        }
    }
    tasks
}

/// The games as they stand at each position that is searched, with all moves before it.
pub fn games() -> impl Iterator<Item = Game> {
    tasks().into_iter().map(|task| task.game)
}

/// Runs a speed test. `progress` hears how many positions of how many are done. Setting `stop` ends it soon, with
/// what was measured so far.
pub fn run(
    source: EvalSource,
    plan: &Plan,
    stop: &Arc<AtomicBool>,
    progress: &mut dyn FnMut(usize, usize),
) -> Summary {
    let evaluation = source.to_string();
    let mut searcher = Searcher::new(plan.hash_mib, source);
    searcher.set_threads(plan.threads);
    let binding = searcher.binding().to_string();
    let tasks = tasks();
    let total_ms = plan.seconds.clamp(1, MAX_SECONDS) * 1000;
    let limits =
        |ms: u64| Limits { movetime_ms: Some(ms.max(1)), stop: Some(Arc::clone(stop)), ..Limits::default() };
    let warm_up_ms = total_ms / WARM_UP_SHARE / WARM_UP_POSITIONS as u64;
    for task in tasks.iter().take(WARM_UP_POSITIONS) {
        searcher.search(&task.game, &limits(warm_up_ms), &mut |_| {});
    }
    let mut sums = Sums::default();
    let all_shares: u64 = tasks.iter().map(|task| task.share).sum();
    let mut shares = 0;
    for (i, task) in tasks.iter().enumerate() {
        if stop.load(Relaxed) {
            break;
        }
        if task.begins {
            searcher.new_game();
        }
        // What rounding and short searches leave is given to the next ones.
        shares += task.share;
        let due = total_ms * shares / all_shares.max(1);
        let spent = u64::try_from(sums.time.as_millis()).unwrap_or(u64::MAX);
        sums.search(&mut searcher, &task.game, &limits(due.saturating_sub(spent)));
        progress(i + 1, tasks.len());
    }
    sums.summary(evaluation, plan, binding)
}

#[derive(Default)]
struct Sums {
    positions: usize,
    nodes: u64,
    time: Duration,
    depth: u64,
    hashfull: u64,
    hashfull_most: u64,
}

impl Sums {
    fn search(&mut self, searcher: &mut Searcher, game: &Game, limits: &Limits) {
        let mut hashfull = 0;
        let start = Instant::now();
        let found = searcher.search(game, limits, &mut |info| hashfull = info.hashfull as u64);
        self.time += start.elapsed();
        self.positions += 1;
        self.nodes += found.nodes;
        self.depth += found.depth.max(0).unsigned_abs() as u64;
        self.hashfull += hashfull;
        self.hashfull_most = self.hashfull_most.max(hashfull);
    }

    fn summary(&self, evaluation: String, plan: &Plan, binding: String) -> Summary {
        let count = self.positions.max(1) as u64;
        let nanos = self.time.as_nanos().max(1);
        let nps = u128::from(self.nodes) * 1_000_000_000 / nanos;
        Summary {
            version: crate::twin::version(),
            compiler: crate::twin::COMPILER,
            evaluation,
            threads: plan.threads,
            binding,
            hash_mib: plan.hash_mib,
            huge_pages_mib: machine::huge_pages_mib(),
            positions: self.positions,
            nodes: self.nodes,
            time_ms: u64::try_from(self.time.as_millis()).unwrap_or(u64::MAX),
            nps: u64::try_from(nps).unwrap_or(u64::MAX),
            average_depth: self.depth as f64 / count as f64,
            hashfull: self.hashfull / count,
            hashfull_most: self.hashfull_most,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_game_can_be_played() {
        let moves: usize = GAMES.lines().map(|line| line.split_whitespace().count().div_ceil(STRIDE)).sum();
        let tasks = tasks();
        assert_eq!(tasks.len(), moves);
        assert!(tasks.len() > 150, "{}", tasks.len());
        assert_eq!(tasks.iter().filter(|task| task.begins).count(), GAMES.lines().count());
    }

    #[test]
    fn a_short_test_measures() {
        let stop = Arc::new(AtomicBool::new(false));
        let mut done = 0;
        let plan = Plan::new(Some(1), Some(4), 1);
        let summary = run(EvalSource::Hce, &plan, &stop, &mut |i, all| {
            done = i;
            // No clock decides: the last positions are cut off.
            if i == 10 {
                stop.store(true, Relaxed);
            }
            assert_eq!(all, tasks().len());
        });
        assert_eq!((done, summary.positions, summary.threads, summary.hash_mib), (10, 10, 1, 4));
        assert!(summary.nodes > 0 && summary.nps > 0, "{summary}");
        let text = summary.to_string();
        for line in ["Compiled by      rustc 1.", "Huge pages", "Hash use", "Nodes/second"] {
            assert!(text.contains(line), "{line}: {text}");
        }
    }

    #[test]
    fn plans_fill_in_what_is_missing() {
        let plan = Plan::new(None, None, 0);
        assert!(
            plan.threads >= 1 && plan.hash_mib == plan.threads * HASH_MIB_PER_THREAD && plan.seconds == 1
        );
        assert_eq!(Plan::new(Some(0), Some(0), 9).threads, 1);
    }
}
