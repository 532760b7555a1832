//! How fast data are read: what `bench-data` shows.

use super::error::DataError;
use super::filter::FilterCounts;
use super::loader::Loader;
use super::packed::Packed;
use super::plan::Plan;
use serde::Serialize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

/// How fast something was.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Speed {
    /// Scored positions read, before the filters.
    pub positions_read: u64,
    /// Positions they left.
    pub positions_kept: u64,
    /// Seconds on the wall clock.
    pub seconds: f64,
    /// Seconds of all cores, where the system tells.
    pub cpu_seconds: Option<f64>,
    /// Positions read a second of wall time.
    pub positions_read_per_second: f64,
    /// The same a second of one core.
    pub positions_read_per_cpu_second: Option<f64>,
}

/// What [`measure`] found.
#[derive(Clone, Debug, Serialize)]
pub struct DataSpeed {
    /// Decoding threads.
    pub threads: usize,
    /// Lanes of all sets.
    pub lanes: usize,
    /// Decompression, replay, filters and features alone, of each data set: every block once, no window, no batches.
    pub decode: Vec<Speed>,
    /// The whole loader, behind its first batch: the same, shuffled, in batches.
    pub load: Speed,
    /// How many batches that were: about one epoch.
    pub batches: u64,
    /// What the filters did to every block.
    pub filters: FilterCounts,
}

/// Times reading as a run does it.
///
/// # Errors
/// [`DataError`] with the file.
pub fn measure(plan: &Plan) -> Result<DataSpeed, DataError> {
    let (mut filters, mut decode) = (FilterCounts::default(), Vec::new());
    for set in plan.sets.iter() {
        let clock = Clock::start();
        let counts = decode_all(plan, &set.blocks)?;
        let read = set.blocks.iter().map(|&block| u64::from(plan.source.blocks()[block as usize].positions));
        decode.push(clock.speed(read.sum(), counts.kept));
        filters.add(&counts);
    }
    let read: u64 = decode.iter().map(|speed| speed.positions_read).sum();
    if filters.kept == 0 {
        let files = plan.source.files().len();
        return Err(DataError::Empty { files, counts: filters.to_string() });
    }
    let batches = filters.kept.div_ceil(plan.batch_size as u64);
    let mut loader = Loader::start(plan, 0);
    // The first batch waits for whole windows; from then on as much is decoded as is taken.
    loader.next_batch()?;
    let clock = Clock::start();
    for _ in 0..batches {
        loader.next_batch()?;
    }
    let kept = batches * plan.batch_size as u64;
    let load = clock.speed((u128::from(read) * u128::from(kept) / u128::from(filters.kept)) as u64, kept);
    Ok(DataSpeed { threads: plan.threads, lanes: plan.lanes().len(), decode, load, batches, filters })
}

fn decode_all(plan: &Plan, blocks: &[u32]) -> Result<FilterCounts, DataError> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut decoder = plan.decoder();
        let (mut packed, mut counts) = (Packed::new(), FilterCounts::default());
        while let Some(&block) = blocks.get(next.fetch_add(1, Ordering::Relaxed)) {
            packed.clear();
            decoder.pack(block as usize, 0, &mut packed, &mut counts)?;
        }
        Ok(counts)
    };
    let results: Vec<Result<FilterCounts, DataError>> = thread::scope(|scope| {
        let workers: Vec<_> = (0..plan.threads.max(1)).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or(Err(DataError::Stopped))).collect()
    });
    let mut counts = FilterCounts::default();
    for result in results {
        counts.add(&result?);
    }
    Ok(counts)
}

struct Clock {
    wall: Instant,
    cpu: Option<f64>,
}

impl Clock {
    fn start() -> Clock {
        Clock { wall: Instant::now(), cpu: cpu_seconds() }
    }

    fn speed(&self, positions_read: u64, positions_kept: u64) -> Speed {
        let seconds = self.wall.elapsed().as_secs_f64();
        let cpu_seconds = cpu_seconds().zip(self.cpu).map(|(now, then)| now - then);
        let rate = |seconds: f64| positions_read as f64 / seconds.max(1e-3);
        Speed {
            positions_read,
            positions_kept,
            seconds,
            cpu_seconds,
            positions_read_per_second: rate(seconds),
            positions_read_per_cpu_second: cpu_seconds.map(rate),
        }
    }
}

/// Seconds of processor time this process has used, by Linux's word; ticks are of 1/100 s on all its platforms.
fn cpu_seconds() -> Option<f64> {
    const TICKS_A_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Behind the name in brackets, which may hold blanks: state and ten numbers, then user and system ticks.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks: Vec<f64> = fields.split_whitespace().skip(11).take(2).filter_map(|n| n.parse().ok()).collect();
    (ticks.len() == 2).then(|| ticks.iter().sum::<f64>() / TICKS_A_SECOND)
}
