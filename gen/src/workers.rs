//! Threads that play games by their numbers. Which thread plays which game has no influence on anything.
//!
//! No thread waits for another's game, for the sink or for the disk: reports go into a channel without a bound, and what
//! may wait in it is bounded by the window of the numbers handed out.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::openings::Starts;
use crate::plan::Plan;
use crate::play::{Finished, PlayError, play_game};
use crate::player::Player;

/// How far the numbers handed out may run ahead of the number written next, per thread. Games wait in memory
/// (some kilobytes each) for an earlier one to end; with one long game the others go on that far.
const WINDOW_PER_THREAD: u64 = 64;

/// Who is waiting looks at the stop flag this often.
const STOP_POLL: Duration = Duration::from_millis(100);

/// The keys of the positions where the games written begin: 10 to 21 bytes a game, one and a half times that while it
/// grows.
#[derive(Debug, Default)]
pub struct Known(Mutex<HashSet<u64>>);

impl Known {
    /// Notes a key; false if it was there.
    pub fn insert(&self, key: u64) -> bool {
        self.lock().insert(key)
    }

    /// Is the key there?
    pub fn contains(&self, key: u64) -> bool {
        self.lock().contains(&key)
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hands out the numbers of games.
#[derive(Debug)]
pub struct Dispatcher {
    state: Mutex<State>,
    changed: Condvar,
    stop: Arc<AtomicBool>,
    window: u64,
    known: Arc<Known>,
    /// Time that threads spent in games, in ns.
    busy: AtomicU64,
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
    done: bool,
}

impl Dispatcher {
    /// For a run whose numbers before `first` are settled, `have` being games that are there beyond them
    /// and `known` the keys after the openings of those written.
    pub fn new(
        first: u64,
        limit: u64,
        have: HashSet<u64>,
        known: Arc<Known>,
        threads: usize,
        stop: Arc<AtomicBool>,
    ) -> Dispatcher {
        let state = State { next: first, wanted: first, limit, have, done: false };
        let window = WINDOW_PER_THREAD * threads.max(1) as u64;
        let (state, changed, busy) = (Mutex::new(state), Condvar::new(), AtomicU64::new(0));
        Dispatcher { state, changed, stop, window, known, busy }
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

    /// Settles numbers: all before `wanted` are written or unused, those up to `limit` are needed.
    pub fn advance(&self, wanted: u64, limit: u64) {
        let mut state = self.lock();
        state.wanted = wanted;
        state.limit = limit;
        drop(state);
        self.changed.notify_all();
    }

    /// No more games are needed.
    pub fn finish(&self) {
        self.lock().done = true;
        self.changed.notify_all();
    }

    /// Time that threads have spent in games that ended.
    pub fn busy(&self) -> Duration {
        Duration::from_nanos(self.busy.load(Ordering::Relaxed))
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
    starts: &Starts,
    dispatcher: &Dispatcher,
    threads: usize,
    new_player: impl Fn(Arc<AtomicBool>) -> P + Sync,
    sink: impl FnOnce(Receiver<Report>) -> T,
) -> T {
    let stop = &dispatcher.stop;
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        for _ in 0..threads.max(1) {
            let (sender, new_player) = (sender.clone(), &new_player);
            scope.spawn(move || work(plan, starts, dispatcher, new_player(Arc::clone(stop)), &sender));
        }
        drop(sender);
        let result = sink(receiver);
        dispatcher.finish();
        stop.store(true, Ordering::Relaxed);
        result
    })
}

fn work<P: Player>(
    plan: &Plan,
    starts: &Starts,
    dispatcher: &Dispatcher,
    mut player: P,
    sender: &Sender<Report>,
) {
    while let Some(number) = dispatcher.take() {
        let begun = Instant::now();
        let is_known = |key| dispatcher.known.contains(key);
        let finished = play_game(plan, starts, number, &mut player, &dispatcher.stop, &is_known);
        let spent = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        dispatcher.busy.fetch_add(spent, Ordering::Relaxed);
        if matches!(finished, Ok(Finished::Stopped)) {
            return;
        }
        // Fails when nobody listens any more: the run is complete.
        if sender.send((number, finished)).is_err() {
            return;
        }
    }
}
