//! Signs of life: a thread of each rank leaves one in the store at short intervals and looks for those of others.
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

/// What the training thread and the watching thread share.
#[derive(Default)]
struct Shared {
    operation: AtomicU64,
    tick: AtomicU64,
    activity: Mutex<&'static str>,
    verdict: Mutex<Option<String>>,
    /// The training thread knows the verdict.
    told: AtomicBool,
    stop: Mutex<bool>,
    wake: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The watching thread; it ends when this is dropped.
pub(super) struct Watch {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
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
        let shared = Arc::new(Shared::default());
        let watcher = Watcher { watched, shared: shared.clone(), beat: 0, peers: Vec::new() };
        let thread = std::thread::Builder::new().name("ranks".to_owned()).spawn(move || watcher.run());
        // Without a thread there are no signs, and the others will say so.
        Watch { shared, thread: thread.ok() }
    }

    /// The training thread begins the next operation over all ranks; its number, from 1.
    pub(super) fn next_operation(&self) -> u64 {
        self.shared.operation.fetch_add(1, Ordering::Relaxed) + 1
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

    /// Ends the thread: there are no more signs of this rank.
    pub(super) fn stop(&mut self) {
        *lock(&self.shared.stop) = true;
        self.shared.wake.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic in there has been reported on standard error.
            let _ = thread.join();
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
                Ok(Some(verdict)) => return self.end(verdict),
                Err(Failure(why)) => {
                    failures += 1;
                    if failures == 2 {
                        return self.end(format!("{} cannot be reached: {why}", self.watched.server));
                    }
                }
            }
            if self.sleep(every) {
                return;
            }
        }
    }

    /// Sleeps; true when the thread is to stop.
    fn sleep(&self, time: Duration) -> bool {
        let stop = lock(&self.shared.stop);
        let waited = self.shared.wake.wait_timeout_while(stop, time, |stop| !*stop);
        *waited.unwrap_or_else(PoisonError::into_inner).0
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
        store.text("verdict")
    }

    /// Leaves the verdict to the training thread, and ends the process if that does not come to take it.
    fn end(&self, verdict: String) {
        *lock(&self.shared.verdict) = Some(verdict.clone());
        let began = Instant::now();
        while !self.shared.told.load(Ordering::Relaxed) {
            if self.sleep(interval(self.watched.timeout)) {
                return;
            }
            if began.elapsed() > self.watched.timeout {
                if let Some(on_lost) = &self.watched.on_lost {
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
