//! How fast data are read: what `bench-data` shows.

use super::error::DataError;
use super::filter::FilterCounts;
use super::loader::Loader;
use super::packed::Packed;
use super::plan::Plan;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
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
    /// Seconds of all cores.
    pub cpu_seconds: f64,
    /// Positions read a second of wall time.
    pub positions_read_per_second: f64,
    /// The same a second of one core.
    pub positions_read_per_cpu_second: f64,
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
    let threads = plan.threads.max(1);
    let work = |first: usize| {
        let mut decoder = plan.decoder();
        let (mut packed, mut counts) = (Packed::new(), FilterCounts::default());
        let mine: Vec<u32> = blocks.iter().copied().skip(first).step_by(threads).collect();
        for (i, &block) in mine.iter().enumerate() {
            decoder.will_read(&mine[i..]);
            packed.clear();
            decoder.pack(block as usize, 0, &mut packed, &mut counts)?;
        }
        Ok(counts)
    };
    let work = &work;
    let results: Vec<Result<FilterCounts, DataError>> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|first| scope.spawn(move || work(first))).collect();
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
    cpu: f64,
}

impl Clock {
    fn start() -> Clock {
        Clock { wall: Instant::now(), cpu: cpu_seconds() }
    }

    fn speed(&self, positions_read: u64, positions_kept: u64) -> Speed {
        let seconds = self.wall.elapsed().as_secs_f64();
        let cpu_seconds = cpu_seconds() - self.cpu;
        let rate = |seconds: f64| positions_read as f64 / seconds.max(1e-3);
        Speed {
            positions_read,
            positions_kept,
            seconds,
            cpu_seconds,
            positions_read_per_second: rate(seconds),
            positions_read_per_cpu_second: rate(cpu_seconds),
        }
    }
}

/// Seconds of processor time this process has used.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
