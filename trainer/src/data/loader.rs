//! Batches ahead of the step: threads that decode lanes, one that puts their parts together, bounded queues between.
//!
//! Every batch of `B` positions takes a fixed number from each lane, in lane order: with lanes `0..L` of one set
//! `B * (l + 1) / L - B * l / L` from lane `l`. A lane never runs dry (it begins its next pass), so every batch is
//! full, and batch `t` is a pure function of the seed, the files, the settings and `t`: not of threads or ranks, nor of
//! where a run was resumed. A rank decodes only the lanes that its share of a batch meets.

use super::batch::Batch;
use super::error::DataError;
use super::lane::Lane;
use super::plan::{LanePlace, Plan};
use super::samples::Samples;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// Parts of batches that a lane has ready.
const PARTS_READY: usize = 2;

/// Why a decoding thread ended: the first one's word.
type Failure = Arc<Mutex<Option<DataError>>>;

/// A run's batches from some step on. Dropping it stops its threads.
pub struct Loader {
    queue: Option<Receiver<Result<Batch, DataError>>>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// What a thread needs to make one lane's parts.
struct Task {
    place: LanePlace,
    /// Which of the lane's positions of a batch this rank trains on.
    keep: Range<usize>,
    out: SyncSender<Samples>,
}

impl Loader {
    /// Starts the threads that make this rank's share of the batches of steps `step`, `step + 1`, … (from 0).
    pub fn start(plan: &Plan, step: u64) -> Loader {
        let stop = Arc::new(AtomicBool::new(false));
        let slice = plan.share.slice(plan.batch_size);
        let (mut tasks, mut inputs) = (Vec::new(), Vec::new());
        for place in plan.lanes() {
            let inside = |at: usize| at.clamp(place.slice.start, place.slice.end) - place.slice.start;
            let keep = inside(slice.start)..inside(slice.end);
            if keep.is_empty() {
                continue;
            }
            let (out, input) = sync_channel(PARTS_READY);
            tasks.push(Task { place, keep, out });
            inputs.push(input);
        }
        let workers = plan.threads.clamp(1, tasks.len().max(1));
        let mut of_worker: Vec<Vec<Task>> = (0..workers).map(|_| Vec::new()).collect();
        tasks.into_iter().enumerate().for_each(|(i, task)| of_worker[i % workers].push(task));
        let failure = Failure::default();
        let mut threads: Vec<JoinHandle<()>> = of_worker
            .into_iter()
            .map(|tasks| {
                let (plan, stop, failure) = (plan.clone(), stop.clone(), failure.clone());
                thread::spawn(move || {
                    if let Err(error) = decode(&plan, &tasks, step, &stop)
                        && let Ok(mut failure) = failure.lock()
                    {
                        failure.get_or_insert(error);
                    }
                })
            })
            .collect();
        let (out, queue) = sync_channel(plan.queue);
        threads.push(thread::spawn(move || assemble(&inputs, &failure, &out)));
        Loader { queue: Some(queue), stop, threads }
    }

    /// The next batch.
    ///
    /// # Errors
    /// [`DataError`] with the file it concerns; nothing comes after it.
    pub fn next_batch(&mut self) -> Result<Batch, DataError> {
        match self.queue.as_ref().map(Receiver::recv) {
            Some(Ok(batch)) => batch,
            _ => Err(DataError::Stopped),
        }
    }
}

impl Drop for Loader {
    fn drop(&mut self) {
        // With the receiver gone every send fails, and each thread ends at its next one; one that is filling a window
        // ends before its next block.
        self.stop.store(true, Ordering::Relaxed);
        self.queue = None;
        for thread in self.threads.drain(..) {
            // A panic in there was already reported as `Stopped`.
            let _ = thread.join();
        }
    }
}

/// Makes the parts of some lanes, batch by batch, until an error or until nobody takes them.
fn decode(plan: &Plan, tasks: &[Task], step: u64, stop: &Arc<AtomicBool>) -> Result<(), DataError> {
    // The senders must outlive the word on why there is nothing more to send: they go when the thread does.
    let mut lanes = Vec::new();
    for Task { place, keep, out } in tasks {
        let size = place.slice.len();
        let lane = Lane::new(plan, place.clone(), step * size as u64, stop.clone())?;
        lanes.push((lane, size, keep, out));
    }
    loop {
        for (lane, size, keep, out) in &mut lanes {
            let part = lane.take(*size, keep)?;
            if out.send(part).is_err() {
                return Ok(());
            }
        }
    }
}

/// Puts the parts together. Ends with the first error, or when the loader was dropped.
fn assemble(inputs: &[Receiver<Samples>], failure: &Failure, out: &SyncSender<Result<Batch, DataError>>) {
    loop {
        let parts: Result<Vec<Samples>, RecvError> = inputs.iter().map(Receiver::recv).collect();
        let batch = match parts {
            Ok(parts) => Ok(Batch { samples: Samples::merged(parts) }),
            Err(RecvError) => {
                let told = failure.lock().ok().and_then(|mut failure| failure.take());
                Err(told.unwrap_or(DataError::Stopped))
            }
        };
        let failed = batch.is_err();
        if out.send(batch).is_err() || failed {
            return;
        }
    }
}
