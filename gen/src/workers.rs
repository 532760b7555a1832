//! Threads that play games by their numbers. Which thread plays which game has no influence on anything.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::plan::Plan;
use crate::play::{Finished, PlayError, play_game};
use crate::player::Player;

/// How far the numbers handed out may run ahead of the number written next, per thread. Games wait in memory
/// (some kilobytes each) for an earlier one to end; with one long game the others go on that far.
const WINDOW_PER_THREAD: u64 = 64;

/// Who is waiting looks at the stop flag this often.
const STOP_POLL: Duration = Duration::from_millis(100);

/// Hands out the numbers of games.
#[derive(Debug)]
pub struct Dispatcher {
    state: Mutex<State>,
    changed: Condvar,
    stop: Arc<AtomicBool>,
    window: u64,
}

#[derive(Debug)]
struct State {
    /// The next number to hand out.
    next: u64,
    /// The number that is written next: all before it are settled.
    wanted: u64,
    /// Numbers from here up are not needed, as far as known.
    limit: u64,
    /// Numbers not to be played: their games are there.
    have: HashSet<u64>,
    /// Keys of positions where games of the run begin, of settled numbers only.
    known: HashSet<u64>,
    done: bool,
}

impl Dispatcher {
    /// For a run whose numbers before `first` are settled, `have` being games that are there beyond them
    /// and `known` the keys after the openings of those written.
    pub fn new(
        first: u64,
        limit: u64,
        have: HashSet<u64>,
        known: HashSet<u64>,
        threads: usize,
        stop: Arc<AtomicBool>,
    ) -> Dispatcher {
        let state = State { next: first, wanted: first, limit, have, known, done: false };
        let window = WINDOW_PER_THREAD * threads as u64;
        Dispatcher { state: Mutex::new(state), changed: Condvar::new(), stop, window }
    }

    /// The next number to play; waits while the window is full, `None` when no more are needed.
    pub fn take(&self) -> Option<u64> {
        let mut state = self.lock();
        loop {
            if state.done || self.stop.load(Ordering::Relaxed) {
                return None;
            }
            while state.have.contains(&state.next) {
                state.next += 1;
            }
            if state.next < state.limit.min(state.wanted.saturating_add(self.window)) {
                let number = state.next;
                state.next += 1;
                return Some(number);
            }
            let waited = self.changed.wait_timeout(state, STOP_POLL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Does a game of a settled number begin at this position?
    pub fn is_known(&self, key: u64) -> bool {
        self.lock().known.contains(&key)
    }

    /// Settles numbers: all before `wanted` are written or unused, those up to `limit` are needed. `keys` are
    /// where the games just settled begin.
    pub fn advance(&self, wanted: u64, limit: u64, keys: impl IntoIterator<Item = u64>) {
        let mut state = self.lock();
        state.wanted = wanted;
        state.limit = limit;
        state.known.extend(keys);
        self.changed.notify_all();
    }

    /// No more games are needed.
    pub fn finish(&self) {
        self.lock().done = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a worker sends: a number and what became of it.
pub type Report = (u64, Result<Finished, PlayError>);

/// Plays in `threads` threads while `sink` takes their reports; ends when the dispatcher is finished or
/// stopped. When `sink` returns, games still being played are abandoned. `new_player` gets the flag that ends
/// searches early.
pub fn run<P: Player, T>(
    plan: &Plan,
    dispatcher: &Dispatcher,
    threads: usize,
    new_player: impl Fn(Arc<AtomicBool>) -> P + Sync,
    sink: impl FnOnce(Receiver<Report>) -> T,
) -> T {
    let stop = &dispatcher.stop;
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(4 * threads.max(1));
        for _ in 0..threads.max(1) {
            let (sender, new_player) = (sender.clone(), &new_player);
            scope.spawn(move || work(plan, dispatcher, new_player(Arc::clone(stop)), &sender));
        }
        drop(sender);
        let result = sink(receiver);
        dispatcher.finish();
        stop.store(true, Ordering::Relaxed);
        result
    })
}

fn work<P: Player>(plan: &Plan, dispatcher: &Dispatcher, mut player: P, sender: &SyncSender<Report>) {
    while let Some(number) = dispatcher.take() {
        let is_known = |key| dispatcher.is_known(key);
        let finished = play_game(plan, number, &mut player, &dispatcher.stop, &is_known);
        if matches!(finished, Ok(Finished::Stopped)) {
            return;
        }
        // Fails when nobody listens any more: the run is complete.
        if sender.send((number, finished)).is_err() {
            return;
        }
    }
}
