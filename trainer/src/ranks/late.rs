//! Which rank keeps the others waiting, and whether it hangs.

use super::RanksError;
use super::c10d::Store;
use super::watch::{Beat, interval, name, suspect_limit};
use std::time::{Duration, Instant};

/// A rank that says what it is busy with may be silent for this many time limits.
const BUSY: u32 = 10;

/// Looks after the ranks that have not come to an operation in which this one waits.
pub(super) struct Late<'a> {
    store: &'a Store,
    world: usize,
    operation: u64,
    timeout: Duration,
    looked: Instant,
    /// By rank; empty until the first look.
    signs: Vec<Sign>,
}

/// What a rank said last.
#[derive(Clone)]
struct Sign {
    /// Its sign of life, and since when it is the last: that of its watching thread.
    text: String,
    alive: Instant,
    /// What it said of its training thread, and since when it has said nothing else.
    beat: Option<Beat>,
    since: Instant,
}

impl<'a> Late<'a> {
    pub(super) fn new(store: &'a Store, world: usize, operation: u64, timeout: Duration) -> Late<'a> {
        Late { store, world, operation, timeout, looked: Instant::now(), signs: Vec::new() }
    }

    /// Called again and again while waiting.
    ///
    /// # Errors
    /// [`RanksError::Lost`] when a rank that has not come has made no progress for the time limit.
    pub(super) fn check(&mut self) -> Result<(), RanksError> {
        let now = Instant::now();
        if now - self.looked < interval(self.timeout) {
            return Ok(());
        }
        if self.signs.is_empty() {
            let since = self.looked;
            self.signs = vec![Sign { text: String::new(), alive: since, beat: None, since }; self.world];
        }
        self.looked = now;
        for rank in 0..self.world {
            // A store that fails is noticed by the watch, which has the words for it.
            let Ok(Some(text)) = self.store.text(&format!("beat/{rank}")) else { return Ok(()) };
            let sign = &mut self.signs[rank];
            if sign.text != text {
                let beat = Beat::parse(&text);
                if sign.beat != beat {
                    // The first look finds what was there when the waiting began.
                    let since = if sign.beat.is_some() { now } else { sign.since };
                    (sign.beat, sign.since) = (beat, since);
                }
                (sign.text, sign.alive) = (text, now);
            }
            let Sign { beat: Some(beat), since, alive, .. } = sign.clone() else { continue };
            let limit = if beat.activity.is_empty() { self.timeout } else { BUSY * self.timeout };
            // One that says nothing at all any more is the watch's business.
            let is_alive = now - alive < suspect_limit(self.timeout);
            if is_alive && beat.operation < self.operation && now - since > limit {
                let verdict = self.verdict(rank, &beat, now - since);
                // If the store is gone, the others notice by themselves.
                let _ = self.store.claim("verdict", verdict.as_bytes());
                return Err(RanksError::Lost(verdict));
            }
        }
        Ok(())
    }

    fn verdict(&self, rank: usize, beat: &Beat, silent: Duration) -> String {
        let busy =
            if beat.activity.is_empty() { String::new() } else { format!(" (it is {})", beat.activity) };
        format!(
            "{} hangs: its process is alive, but it has not come to a sum that others wait in, nor got on with its \
             data, for {:.0} s{busy}; --rank-timeout sets this limit",
            name(self.store, rank),
            silent.as_secs_f64()
        )
    }
}
