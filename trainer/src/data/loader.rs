//! Batches ahead of the step: decoding threads, a shuffled window, a bounded queue.
//!
//! Decoder `k` of `n` takes blocks `k, k + n, …` of the epoch's order and sends them through a queue of its own; the
//! assembler reads the queues in turn, so that the order of blocks is the epoch's order whatever the threads do.
//! The window is full when it holds `window` positions *after* the filters; it is then shuffled and cut into
//! batches, and what is left over goes into the next window. The last batch of an epoch may be short.

use super::batch::{Batch, Place};
use super::error::DataError;
use super::filter::{Filter, FilterCounts};
use super::samples::{Encoder, Samples};
use super::source::{BlockDecoder, Part, Source};
use super::split::Split;
use crate::chance::{Purpose, generator, shuffle};
use crate::config::Config;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Everything that decides the batches of an epoch.
#[derive(Clone)]
pub struct Plan {
    /// The files.
    pub source: Source,
    /// Which games are trained on.
    pub split: Split,
    /// Which positions are.
    pub filter: Filter,
    /// How they become samples.
    pub encoder: Encoder,
    /// Seed of the shuffles.
    pub seed: u64,
    /// Positions in a batch.
    pub batch_size: usize,
    /// Positions in a window.
    pub window: usize,
    /// Leave damaged blocks out.
    pub skip_damage: bool,
    /// Show half of the positions in a mirror, the other half in the next epoch.
    pub mirror: bool,
    /// Decoding threads.
    pub threads: usize,
    /// Batches kept ready.
    pub queue: usize,
}

impl Plan {
    /// The plan of a configuration.
    pub fn new(config: &Config, source: Source, encoder: Encoder) -> Plan {
        let seed = config.training.seed;
        Plan {
            source,
            split: Split::new(seed, config.validation.fraction),
            filter: Filter::new(&config.filters, seed),
            encoder,
            seed,
            batch_size: config.training.batch_size,
            window: config.loader.window,
            skip_damage: config.loader.skip_damage,
            mirror: config.loader.mirror,
            threads: config.loader.threads,
            queue: config.loader.queue,
        }
    }

    /// A decoder of single blocks.
    pub fn decoder(&self) -> BlockDecoder {
        let (source, encoder) = (self.source.clone(), self.encoder.clone());
        let mirror = self.mirror.then_some(self.seed);
        BlockDecoder::new(source, self.split, self.filter.clone(), encoder, self.skip_damage, mirror)
    }

    /// The order of the blocks in an epoch.
    pub fn block_order(&self, epoch: u64) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.source.blocks().len()).collect();
        shuffle(&mut generator(self.seed, Purpose::Blocks, epoch, 0), &mut order);
        order
    }
}

/// What the queue carries.
pub enum Item {
    /// The next batch.
    Batch(Batch),
    /// The epoch is over; what its filters did.
    End(FilterCounts),
}

/// One epoch's batches. Dropping it stops its threads.
pub struct Loader {
    queue: Option<Receiver<Result<Item, DataError>>>,
    threads: Vec<JoinHandle<()>>,
}

type Decoded = Result<(Samples, FilterCounts), DataError>;

impl Loader {
    /// Starts the threads of epoch `epoch`.
    pub fn start(plan: &Plan, epoch: u64) -> Loader {
        let order = plan.block_order(epoch);
        let workers = plan.threads.clamp(1, order.len().max(1));
        let mut threads = Vec::new();
        let mut inputs = Vec::new();
        for worker in 0..workers {
            let (sender, receiver) = sync_channel(2);
            let blocks: Vec<usize> = order.iter().copied().skip(worker).step_by(workers).collect();
            let decoder = plan.decoder();
            threads.push(thread::spawn(move || decode(decoder, &blocks, epoch, &sender)));
            inputs.push(receiver);
        }
        let (sender, queue) = sync_channel(plan.queue);
        let assembler = Assembler::new(plan, epoch, sender);
        let blocks = order.len();
        threads.push(thread::spawn(move || assembler.run(&inputs, blocks)));
        Loader { queue: Some(queue), threads }
    }

    /// The next batch, or the end of the epoch with its counts.
    ///
    /// # Errors
    /// [`DataError`] with the file it concerns; nothing comes after it.
    pub fn next_item(&mut self) -> Result<Item, DataError> {
        match self.queue.as_ref().map(Receiver::recv) {
            Some(Ok(item)) => item,
            _ => Err(DataError::Stopped),
        }
    }
}

impl Drop for Loader {
    fn drop(&mut self) {
        // With the receiver gone every send fails, and each thread ends at its next one.
        self.queue = None;
        for thread in self.threads.drain(..) {
            // A panic in there was already reported as `Stopped`.
            let _ = thread.join();
        }
    }
}

fn decode(mut decoder: BlockDecoder, blocks: &[usize], epoch: u64, out: &SyncSender<Decoded>) {
    for &block in blocks {
        let (mut samples, mut counts) = (Samples::new(), FilterCounts::default());
        let result = decoder.decode(block, Part::Training, epoch, &mut samples, &mut counts, |_| {});
        let failed = result.is_err();
        if out.send(result.map(|()| (samples, counts))).is_err() || failed {
            return;
        }
    }
}

struct Assembler {
    seed: u64,
    epoch: u64,
    batch_size: usize,
    window_size: usize,
    out: SyncSender<Result<Item, DataError>>,
    /// The blocks of the window, as they were decoded: a position is copied once, into its batch.
    window: Vec<Samples>,
    windows: u64,
    counts: FilterCounts,
}

/// The receiver has gone: the loader was dropped.
struct Gone;

impl Assembler {
    fn new(plan: &Plan, epoch: u64, out: SyncSender<Result<Item, DataError>>) -> Assembler {
        Assembler {
            seed: plan.seed,
            epoch,
            batch_size: plan.batch_size,
            window_size: plan.window.max(plan.batch_size),
            out,
            window: Vec::new(),
            windows: 0,
            counts: FilterCounts::default(),
        }
    }

    fn run(mut self, inputs: &[Receiver<Decoded>], blocks: usize) {
        // When the loader was dropped there is nobody to tell.
        let _ = self.assemble(inputs, blocks);
    }

    fn assemble(&mut self, inputs: &[Receiver<Decoded>], blocks: usize) -> Result<(), Gone> {
        for block in 0..blocks {
            match inputs[block % inputs.len()].recv() {
                Ok(Ok((samples, counts))) => {
                    self.counts.add(&counts);
                    self.window.push(samples);
                }
                Ok(Err(error)) => return self.out.send(Err(error)).map_err(|_| Gone),
                Err(_) => return self.out.send(Err(DataError::Stopped)).map_err(|_| Gone),
            }
            if self.window.iter().map(Samples::len).sum::<usize>() >= self.window_size {
                self.flush(false)?;
            }
        }
        self.flush(true)?;
        self.out.send(Ok(Item::End(self.counts))).map_err(|_| Gone)
    }

    /// Shuffles the window and sends its batches; what is left over stays, unless this is the end.
    fn flush(&mut self, last: bool) -> Result<(), Gone> {
        let mut order = Place::all(&self.window);
        shuffle(&mut generator(self.seed, Purpose::Window, self.epoch, self.windows), &mut order);
        self.windows += 1;
        let mut batches = order.chunks_exact(self.batch_size);
        for chosen in &mut batches {
            let batch = Batch::gather(&self.window, chosen);
            self.out.send(Ok(Item::Batch(batch))).map_err(|_| Gone)?;
        }
        let rest = batches.remainder();
        if last && !rest.is_empty() {
            let batch = Batch::gather(&self.window, rest);
            return self.out.send(Ok(Item::Batch(batch))).map_err(|_| Gone);
        }
        let mut kept = Samples::new();
        for place in rest {
            kept.push_from(&self.window[place.part as usize], place.position as usize);
        }
        self.window = vec![kept];
        Ok(())
    }
}
