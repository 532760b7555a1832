//! Which rank keeps the others waiting, and whether it hangs.

use super::c10d::{Failure, Store};
use super::watch::{Beat, name, suspect_limit};
use std::time::{Duration, Instant};

/// A rank that says what it is busy with may be silent for this many time limits.
const BUSY: u32 = 10;

/// Looks after the ranks that have not come to an operation in which this one waits.
pub(super) struct Late {
    /// Its number.
    pub(super) operation: u64,
    timeout: Duration,
    /// By rank.
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

impl Late {
    pub(super) fn new(world: usize, operation: u64, timeout: Duration) -> Late {
        let now = Instant::now();
        let sign = Sign { text: String::new(), alive: now, beat: None, since: now };
        Late { operation, timeout, signs: vec![sign; world] }
    }

    /// Called again and again while waiting: a verdict when a rank that has not come has made no progress for the time
    /// limit.
    pub(super) fn check(&mut self, store: &Store) -> Result<Option<String>, Failure> {
        let now = Instant::now();
        for rank in 0..self.signs.len() {
            let Some(text) = store.text(&format!("beat/{rank}"))? else { continue };
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
                return Ok(Some(verdict(&name(store, rank), &beat, now - since)));
            }
        }
        Ok(None)
    }
}

fn verdict(name: &str, beat: &Beat, silent: Duration) -> String {
    let busy = if beat.activity.is_empty() { String::new() } else { format!(" (it is {})", beat.activity) };
    format!(
        "{name} hangs: its process is alive, but it has not come to a sum that others wait in, nor got on with its data, \
         for {:.0} s{busy}; --rank-timeout sets this limit",
        silent.as_secs_f64()
    )
}
