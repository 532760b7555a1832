//! A run: workers play, the sink takes.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use nnue_format::record::Totals;

use crate::openings::Starts;
use crate::plan::Plan;
use crate::play::PlayError;
use crate::player::Player;
use crate::sink::{Sink, SinkError};
use crate::workers::{self, Dispatcher, Report};

/// How often progress is shown when no game ends.
const TICK: Duration = Duration::from_millis(200);

/// Why a run ended before it was stopped or complete.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A game cannot be played.
    #[error(transparent)]
    Play(#[from] PlayError),
    /// A game cannot be written.
    #[error(transparent)]
    Sink(#[from] SinkError),
}

/// Plays in `threads` threads until the sink is complete or `stop` is set; `progress` hears what is written.
/// Games being played when it ends are abandoned; everything whole is in the sink's files. Gives the time that the threads
/// spent in games, all together.
pub fn play<P: Player>(
    plan: &Plan,
    starts: &Starts,
    threads: usize,
    sink: &mut Sink,
    stop: &Arc<AtomicBool>,
    new_player: impl Fn(Arc<AtomicBool>) -> P + Sync,
    progress: &mut dyn FnMut(Totals),
) -> Result<Duration, RunError> {
    let mut busy = Duration::ZERO;
    if !sink.is_complete() {
        let known = Arc::clone(sink.known());
        let (next, limit, have) = (sink.next_number(), sink.limit(), sink.waiting());
        let dispatcher = Dispatcher::new(next, limit, have, known, threads, Arc::clone(stop));
        workers::run(plan, starts, &dispatcher, threads, new_player, |reports| {
            gather(&dispatcher, &reports, sink, progress)
        })?;
        busy = dispatcher.busy();
    }
    sink.suspend()?;
    Ok(busy)
}

/// Takes the workers' reports until the sink is complete or no more come.
fn gather(
    dispatcher: &Dispatcher,
    reports: &Receiver<Report>,
    sink: &mut Sink,
    progress: &mut dyn FnMut(Totals),
) -> Result<(), RunError> {
    while !sink.is_complete() {
        match reports.recv_timeout(TICK) {
            Ok((number, finished)) => {
                sink.accept(number, finished?)?;
                dispatcher.advance(sink.next_number(), sink.limit());
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        progress(sink.written());
    }
    Ok(())
}
