//! Signs of life: a thread of each rank leaves one in the store at short intervals and looks for those of others.
//!
//! A second thread does not touch the store: it notices when the store itself falls silent, and ends the process when the
//! training thread hangs as well.
//!
//! Rank 0 looks at everybody, everybody at rank 0. Who finds that another has gone leaves a verdict in the store, once;
//! all ranks read it there. A rank that ends with an error of its own leaves that as the verdict.
//!
//! ```text
//! who/R      "process 12 on node3"                     set once
//! beat/R     "BEAT OPERATION TICK ACTIVITY"            set again and again
//! verdict    why the run ends, in words                set once by whoever comes first
//! suspect    a connection broke: look more closely     set once
//! ```

use super::c10d::{Failure, Store};
use super::late::Late;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Called when a rank is lost and the training thread does not come back to hear of it: ends the process.
pub type OnLost = Arc<dyn Fn(&str) + Send + Sync>;

/// Signs missed, after a connection broke, before a rank counts as gone; and the least time for that.
const SUSPECT_BEATS: u32 = 5;
const SUSPECT_LEAST: Duration = Duration::from_secs(2);

/// Time between two signs: a sixtieth of the time limit, within bounds.
pub(super) fn interval(timeout: Duration) -> Duration {
    (timeout / 60).clamp(Duration::from_millis(100), Duration::from_secs(1))
}

/// How long a rank may be silent after a connection broke.
pub(super) fn suspect_limit(timeout: Duration) -> Duration {
    (SUSPECT_BEATS * interval(timeout)).max(SUSPECT_LEAST).min(timeout)
}

/// What a rank's sign of life says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Beat {
    /// Operations over all ranks that it has begun.
    pub(super) operation: u64,
    /// Rises while its training thread gets on.
    pub(super) tick: u64,
    /// What keeps it from the next operation, empty for ordinary training.
    pub(super) activity: String,
}

impl Beat {
    pub(super) fn parse(text: &str) -> Option<Beat> {
        let mut words = text.splitn(4, ' ');
        let _beat = words.next()?;
        let operation = words.next()?.parse().ok()?;
        let tick = words.next()?.parse().ok()?;
        Some(Beat { operation, tick, activity: words.next()?.to_owned() })
    }
}

/// What the threads share.
struct Shared {
    operation: AtomicU64,
    /// The operation in which the training thread waits; 0 for none.
    waiting: AtomicU64,
    /// When the store last answered everything.
    answered: Mutex<Instant>,
    /// It has not for the time limit: whoever calls it now may wait for ever.
    silent: AtomicBool,
    tick: AtomicU64,
    activity: Mutex<&'static str>,
    verdict: Mutex<Option<String>>,
    /// The training thread knows the verdict.
    told: AtomicBool,
    stop: Mutex<bool>,
    wake: Condvar,
}

impl Shared {
    fn new() -> Shared {
        Shared {
            operation: AtomicU64::new(0),
            waiting: AtomicU64::new(0),
            answered: Mutex::new(Instant::now()),
            silent: AtomicBool::new(false),
            tick: AtomicU64::new(0),
            activity: Mutex::new(""),
            verdict: Mutex::new(None),
            told: AtomicBool::new(false),
            stop: Mutex::new(false),
            wake: Condvar::new(),
        }
    }

    /// Sleeps; true when the threads are to stop.
    fn sleep(&self, time: Duration) -> bool {
        let waited = self.wake.wait_timeout_while(lock(&self.stop), time, |stop| !*stop);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn end(&self, verdict: String) {
        lock(&self.verdict).get_or_insert(verdict);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The watching threads; they end when this is dropped.
pub(super) struct Watch {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// What the thread needs to know.
pub(super) struct Watched {
    /// A connection of the thread's own: the training thread may be waiting on its one.
    pub(super) store: Store,
    pub(super) rank: usize,
    pub(super) world: usize,
    pub(super) timeout: Duration,
    /// Who serves the store, in words.
    pub(super) server: String,
    pub(super) on_lost: Option<OnLost>,
}

impl Watch {
    pub(super) fn start(watched: Watched) -> Watch {
        let shared = Arc::new(Shared::new());
        let guard = Guard {
            timeout: watched.timeout,
            server: watched.server.clone(),
            on_lost: watched.on_lost.clone(),
            shared: shared.clone(),
        };
        let watcher = Watcher { watched, shared: shared.clone(), beat: 0, peers: Vec::new(), late: None };
        let thread = |name: &str| std::thread::Builder::new().name(name.to_owned());
        // Without a thread there are no signs, and the others will say so.
        let threads =
            [thread("ranks").spawn(move || watcher.run()), thread("guard").spawn(move || guard.run())];
        Watch { shared, threads: threads.into_iter().flatten().collect() }
    }

    /// The training thread begins the next operation over all ranks.
    pub(super) fn operation_begins(&self) {
        let number = self.shared.operation.fetch_add(1, Ordering::Relaxed) + 1;
        self.shared.waiting.store(number, Ordering::Relaxed);
    }

    /// It has ended.
    pub(super) fn operation_ended(&self) {
        self.shared.waiting.store(0, Ordering::Relaxed);
    }

    /// The store does not answer: no use, and no return, in calling it.
    pub(super) fn store_is_silent(&self) -> bool {
        self.shared.silent.load(Ordering::Relaxed)
    }

    pub(super) fn tick(&self) {
        self.shared.tick.fetch_add(1, Ordering::Relaxed);
    }

    /// Names what the training thread is at, or with an empty text, that it trains.
    pub(super) fn set_activity(&self, activity: &'static str) {
        *lock(&self.shared.activity) = activity;
    }

    /// Why the run must end, if it must. Whoever asks is expected to end it.
    pub(super) fn verdict(&self) -> Option<String> {
        let verdict = lock(&self.shared.verdict).clone();
        if verdict.is_some() {
            self.shared.told.store(true, Ordering::Relaxed);
        }
        verdict
    }

    /// Ends the threads: there are no more signs of this rank.
    pub(super) fn stop(&mut self) {
        *lock(&self.shared.stop) = true;
        self.shared.wake.notify_all();
        for thread in self.threads.drain(..) {
            // One that waits for a silent store does not come back.
            if !self.shared.silent.load(Ordering::Relaxed) {
                // A panic in there has been reported on standard error.
                let _ = thread.join();
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop();
    }
}

struct Peer {
    rank: usize,
    text: Option<String>,
    since: Instant,
}

struct Watcher {
    watched: Watched,
    shared: Arc<Shared>,
    beat: u64,
    peers: Vec<Peer>,
    late: Option<Late>,
}

impl Watcher {
    fn run(mut self) {
        let others = if self.watched.rank == 0 { 1..self.watched.world } else { 0..1 };
        let since = Instant::now();
        self.peers = others.map(|rank| Peer { rank, text: None, since }).collect();
        let every = interval(self.watched.timeout);
        let mut failures = 0;
        loop {
            match self.round() {
                Ok(None) => failures = 0,
                Ok(Some(verdict)) => return self.shared.end(verdict),
                Err(Failure(why)) => {
                    failures += 1;
                    if failures == 2 {
                        return self.shared.end(format!("{} cannot be reached: {why}", self.watched.server));
                    }
                }
            }
            *lock(&self.shared.answered) = Instant::now();
            if self.shared.sleep(every) {
                return;
            }
        }
    }

    /// A sign of our own, and a look at the others'; a verdict if there is one.
    fn round(&mut self) -> Result<Option<String>, Failure> {
        let (store, shared) = (&self.watched.store, &self.shared);
        self.beat += 1;
        let (operation, tick) = (&shared.operation, &shared.tick);
        let beat = format!(
            "{} {} {} {}",
            self.beat,
            operation.load(Ordering::Relaxed),
            tick.load(Ordering::Relaxed),
            lock(&shared.activity)
        );
        store.set(&format!("beat/{}", self.watched.rank), beat.as_bytes())?;
        if let Some(verdict) = store.text("verdict")? {
            return Ok(Some(verdict));
        }
        let suspect = store.get("suspect")?.is_some();
        let timeout = self.watched.timeout;
        let limit = if suspect { suspect_limit(timeout) } else { timeout };
        for peer in &mut self.peers {
            let text = store.text(&format!("beat/{}", peer.rank))?;
            if text != peer.text {
                (peer.text, peer.since) = (text, Instant::now());
            } else if text.is_some() && peer.since.elapsed() > limit {
                let verdict = format!(
                    "{} has given no sign of life for {:.0} s: it was killed or stopped, or its host is down or cut off",
                    name(store, peer.rank),
                    peer.since.elapsed().as_secs_f64()
                );
                store.claim("verdict", verdict.as_bytes())?;
            }
        }
        let waiting = shared.waiting.load(Ordering::Relaxed);
        if self.late.as_ref().is_none_or(|late| late.operation != waiting) {
            self.late = (waiting != 0).then(|| Late::new(self.watched.world, waiting, timeout));
        }
        if let Some(late) = &mut self.late
            && let Some(verdict) = late.check(store)?
        {
            store.claim("verdict", verdict.as_bytes())?;
        }
        store.text("verdict")
    }
}

/// The thread that waits for nobody.
struct Guard {
    timeout: Duration,
    server: String,
    on_lost: Option<OnLost>,
    shared: Arc<Shared>,
}

impl Guard {
    fn run(self) {
        let mut ended: Option<Instant> = None;
        while !self.shared.sleep(interval(self.timeout)) {
            let verdict = lock(&self.shared.verdict).clone();
            let Some(verdict) = verdict else {
                if lock(&self.shared.answered).elapsed() > self.timeout {
                    self.shared.silent.store(true, Ordering::Relaxed);
                    let seconds = self.timeout.as_secs();
                    self.shared.end(format!(
                        "{} has not answered for {seconds} s: it was stopped, or its host is down or cut off",
                        self.server
                    ));
                }
                continue;
            };
            // The training thread takes the verdict when it waits for others; if it does not come to that, it hangs.
            let since = *ended.get_or_insert_with(Instant::now);
            if self.shared.told.load(Ordering::Relaxed) {
                return;
            }
            if since.elapsed() > self.timeout {
                if let Some(on_lost) = &self.on_lost {
                    on_lost(&verdict);
                }
                return;
            }
        }
    }
}

/// A rank with its process and host, if it has said so.
pub(super) fn name(store: &Store, rank: usize) -> String {
    match store.text(&format!("who/{rank}")) {
        Ok(Some(who)) => format!("rank {rank} ({who})"),
        _ => format!("rank {rank}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beats_are_read_as_written() {
        let beat = |activity: &str| Beat { operation: 12, tick: 30, activity: activity.to_owned() };
        assert_eq!(Beat::parse("7 12 30 "), Some(beat("")));
        assert_eq!(Beat::parse("7 12 30 writing a checkpoint"), Some(beat("writing a checkpoint")));
        for text in ["", "7", "7 12", "7 x 30 ", "7 12 30"] {
            assert_eq!(Beat::parse(text), None, "{text}");
        }
    }

    #[test]
    fn limits_follow_from_the_time_limit() {
        let s = Duration::from_secs;
        assert_eq!((interval(s(60)), suspect_limit(s(60))), (s(1), s(5)));
        assert_eq!((interval(s(6)), suspect_limit(s(6))), (Duration::from_millis(100), s(2)));
        assert_eq!((interval(s(3600)), suspect_limit(s(1))), (s(1), s(1)));
    }
}
