//! What the generator costs beside its searches: the same searches in a bare loop.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::eval::EvalSource;
use nnue_format::record::{GameError, GameRecord, ReadError, Reader};
use xiangqi::Game;

use crate::commands::play::header_of;
use crate::openings::{Starts, StartsError};
use crate::plan::{Plan, PlanError};
use crate::player::{EnginePlayer, Player};
use crate::run::{self, RunError};
use crate::sink::{Opened, Sink, SinkError};

/// Why there is no measurement.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The plan is not possible.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Neither are its starts.
    #[error(transparent)]
    Starts(#[from] StartsError),
    /// Games cannot be written.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// The run ended early.
    #[error(transparent)]
    Run(#[from] RunError),
    /// What was written cannot be read.
    #[error("{0}")]
    Read(#[from] ReadError),
    /// A game cannot be walked.
    #[error("{0}")]
    Game(#[from] GameError),
    /// A bare search found something else than the recorded one: a fault of the engine.
    #[error(
        "game {number}, ply {ply}: the same search gave another result; this is a fault, please report it"
    )]
    Differs {
        /// The game.
        number: u64,
        /// The ply after the opening, from 0.
        ply: usize,
    },
    /// The run was interrupted.
    #[error("interrupted")]
    Stopped,
}

/// Time and nodes of a run and of its searches alone, both of one thread or summed over threads.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    /// Games played.
    pub games: u64,
    /// Their positions.
    pub positions: u64,
    /// Nodes of the run, those of the searches for balance included.
    pub nodes: u64,
    /// CPU time of the run, of all its threads.
    pub spent: Duration,
    /// Nodes of the bare searches.
    pub bare_nodes: u64,
    /// CPU time within them.
    pub bare: Duration,
}

impl Measured {
    /// The shorter times of this and of another measurement of the same.
    pub fn take_least(&mut self, other: &Measured) {
        self.spent = self.spent.min(other.spent);
        self.bare = self.bare.min(other.bare);
    }

    /// Nodes per second of CPU time of the run.
    pub fn nodes_per_second(&self) -> u64 {
        crate::progress::per_second(self.nodes, self.spent)
    }

    /// The same of the bare searches.
    pub fn bare_nodes_per_second(&self) -> u64 {
        crate::progress::per_second(self.bare_nodes, self.bare)
    }

    /// Positions per second of CPU time of the run: of one thread.
    pub fn positions_per_second(&self) -> u64 {
        crate::progress::per_second(self.positions, self.spent)
    }

    /// The run's nodes per second in thousandths of the bare loop's.
    pub fn permille(&self) -> u64 {
        self.nodes_per_second() * 1000 / self.bare_nodes_per_second().max(1)
    }
}

/// Plays the plan into `folder` with this many threads, then its searches again in a bare loop.
///
/// # Errors
/// Where the plan cannot be played, or a search does not repeat itself.
pub fn measure(
    plan: &Plan,
    threads: usize,
    source: &EvalSource,
    folder: &Path,
    stop: &Arc<AtomicBool>,
) -> Result<Measured, BenchError> {
    let out = folder.join(format!("bench {}.rec", plan.limit.nodes.unwrap_or_default()));
    let starts = Starts::new(plan, None)?;
    let rules = plan.rule_set()?;
    let new_player = |stop| EnginePlayer::new(plan.hash_mib, source.clone(), rules, stop);
    let begun = cpu_time();
    let Opened::Run(mut sink) = Sink::open(&out, &header_of(plan)?, plan)? else {
        return Err(BenchError::Stopped);
    };
    // A run sets its flag at its end; ours must outlive it.
    let run_stop = Arc::new(AtomicBool::new(false));
    run::play(plan, &starts, threads, &mut sink, &run_stop, new_player, &mut |_| {
        if stop.load(std::sync::atomic::Ordering::Relaxed) {
            run_stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    })?;
    if !sink.is_complete() {
        return Err(BenchError::Stopped);
    }
    let nodes = sink.nodes();
    let totals = sink.publish(|_, _| Ok::<(), SinkError>(()))?;
    let mut measured = Measured { nodes, spent: cpu_time() - begun, ..Measured::default() };
    (measured.games, measured.positions) = (totals.games, totals.positions);
    let mut player = new_player(Arc::clone(stop));
    for game in Reader::open(&out)?.games() {
        bare(plan, &game?, &mut player, &mut measured)?;
    }
    Ok(measured)
}

/// The searches of a game, timed alone.
fn bare(
    plan: &Plan,
    record: &GameRecord,
    player: &mut EnginePlayer,
    sum: &mut Measured,
) -> Result<(), BenchError> {
    let mut game = Game::new(record.start.position()?);
    record.opening.iter().for_each(|&mv| _ = game.play(mv));
    player.new_game();
    for (ply, recorded) in record.plies.iter().enumerate() {
        let begun = cpu_time();
        let choice = player.search(&game, plan.limit);
        sum.bare += cpu_time() - begun;
        sum.bare_nodes += choice.nodes;
        if (choice.best, choice.score) != (Some(recorded.mv), recorded.score) {
            return Err(BenchError::Differs { number: record.number, ply });
        }
        game.play(recorded.mv);
    }
    Ok(())
}

/// CPU time that this process has taken, all threads together; where the system does not tell, the time since
/// the first call.
#[cfg(unix)]
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// See above.
#[cfg(not(unix))]
fn cpu_time() -> Duration {
    static BEGUN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    BEGUN.get_or_init(std::time::Instant::now).elapsed()
}
