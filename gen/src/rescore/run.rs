//! A run: games to threads, new scores to the output, in any order.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nnue_format::record::GameRecord;

use super::game::{GameError, Rescored, rescore};
use super::games::Games;
use super::output::Output;
use super::scorer::Scorer;
use crate::derived::DerivedError;
use crate::sink::SinkError;

/// How far games may run ahead of the one that is written next, per thread.
pub const WINDOW: u64 = 64;

/// How often progress is shown when no game ends.
const TICK: Duration = Duration::from_millis(200);

/// Why a run ended before it was stopped or complete.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The input.
    #[error(transparent)]
    Source(#[from] DerivedError),
    /// A game.
    #[error(transparent)]
    Game(#[from] GameError),
    /// The output.
    #[error(transparent)]
    Sink(#[from] SinkError),
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Are all games done?
    pub complete: bool,
    /// Positions that got a new score in this run.
    pub positions: u64,
    /// Nodes searched for them.
    pub nodes: u64,
}

/// What threads send back.
type Done = Result<Rescored, GameError>;

/// Rescores all games in `threads` threads, each with a scorer of its own, going on behind what the output holds.
/// `progress` hears how many positions are done, those of earlier runs included.
///
/// # Errors
/// [`RunError`]; whatever is whole is in the output's files.
pub fn run<S: Scorer>(
    games: &mut Games<'_>,
    output: &mut Output,
    threads: usize,
    blend: u8,
    stop: &Arc<AtomicBool>,
    new_scorer: impl Fn() -> S + Sync,
    progress: &mut dyn FnMut(u64),
) -> Result<Ended, RunError> {
    let threads = threads.max(1);
    let ended = std::thread::scope(|scope| {
        let (jobs, queue) = sync_channel::<GameRecord>(threads);
        let (sender, results) = channel();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..threads {
            let (queue, sender, new_scorer) = (Arc::clone(&queue), sender.clone(), &new_scorer);
            scope.spawn(move || work(&queue, &sender, new_scorer(), blend));
        }
        drop((queue, sender));
        let run = Run { games, output, stop, progress, window: WINDOW * threads as u64, in_work: 0 };
        let ended = run.go(threads as u64, &jobs, &results);
        if ended.is_err() {
            // Searches still running are worth nothing any more.
            stop.store(true, Ordering::Relaxed);
        }
        drop(jobs);
        ended
    });
    output.suspend()?;
    ended
}

fn work<S: Scorer>(queue: &Mutex<Receiver<GameRecord>>, sender: &Sender<Done>, mut scorer: S, blend: u8) {
    loop {
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(game) = job else { return };
        if sender.send(rescore(&game, &mut scorer, blend)).is_err() {
            return;
        }
    }
}

struct Run<'a, 'g> {
    games: &'a mut Games<'g>,
    output: &'a mut Output,
    stop: &'a AtomicBool,
    progress: &'a mut dyn FnMut(u64),
    window: u64,
    in_work: u64,
}

impl Run<'_, '_> {
    fn go(
        mut self,
        threads: u64,
        jobs: &SyncSender<GameRecord>,
        results: &Receiver<Done>,
    ) -> Result<Ended, RunError> {
        let have = self.output.have();
        let first = self.output.next();
        let mut ended = Ended { complete: false, positions: 0, nodes: 0 };
        let mut number = 0;
        let mut exhausted = false;
        loop {
            let stopped = self.stop.load(Ordering::Relaxed);
            // One more than there are threads, so that none waits for us.
            while !exhausted
                && !stopped
                && self.in_work <= threads
                && number < self.output.next() + self.window
            {
                let Some(game) = self.games.next() else {
                    exhausted = true;
                    break;
                };
                let mut game = game?;
                if number >= first && !have.contains(&number) {
                    game.number = number;
                    self.in_work += 1;
                    // The queue has a place for each that is not in work.
                    _ = jobs.send(game);
                }
                number += 1;
            }
            if self.in_work == 0 {
                ended.complete = exhausted && !stopped;
                return Ok(ended);
            }
            match results.recv_timeout(TICK) {
                Ok(done) => self.take(done, &mut ended)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(ended),
            }
            (self.progress)(self.output.found().positions + ended.positions);
        }
    }

    fn take(&mut self, done: Done, ended: &mut Ended) -> Result<(), RunError> {
        self.in_work -= 1;
        match done {
            Ok(Rescored { record, nodes }) => {
                ended.positions += record.plies.len() as u64;
                ended.nodes += nodes;
                Ok(self.output.accept(record)?)
            }
            // An engine that is stopped may say that it does not start.
            Err(_) if self.stop.load(Ordering::Relaxed) => Ok(()),
            Err(GameError::Stopped) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
