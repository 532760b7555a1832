//! How fast the parts are, on positions of random play.

use crate::backend::cpu::kernel::Kernel;
use crate::chance::{Purpose, generator, shuffle};
use crate::clock::{Lap, Spent};
use crate::config::OptimiserConfig;
use crate::data::batch::Place;
use crate::data::samples::Encoder;
use crate::data::synthetic::random_play;
use crate::data::{Batch, DataError};
use crate::loss::Loss;
use crate::model::{Model, ModelError};
use crate::optim::UpdateStep;
use nnue_format::Architecture;
use serde::Serialize;
use std::time::Instant;
use thiserror::Error;

/// What can go wrong.
#[derive(Debug, Error)]
pub enum BenchError {
    /// The architecture cannot be encoded.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A step.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// Result of [`step`].
#[derive(Clone, Debug, Serialize)]
pub struct StepBench {
    /// The architecture.
    pub architecture: String,
    /// The kernel.
    pub kernel: String,
    /// Rayon's threads.
    pub threads: usize,
    /// Positions in a step.
    pub batch_size: usize,
    /// Steps measured, after two to warm up.
    pub steps: usize,
    /// Positions trained on a second: forward, backward and update, no loading; median step.
    pub positions_per_second: f64,
    /// Milliseconds of the median step.
    pub milliseconds: f64,
    /// Positions a second of processor time, all threads together; mean step.
    pub positions_per_cpu_second: f64,
    /// Milliseconds of processor time of the mean step.
    pub cpu_milliseconds: f64,
    /// Milliseconds on the wall clock of the parts of a mean step: feature transformer forward, dense layers with
    /// sorting by feature, sorting by bucket, feature transformer backward, update.
    pub parts: [f64; 5],
    /// The same by processor time of all threads.
    pub cpu_parts: [f64; 5],
    /// Mean loss of the first and of the last batch, to see that it learns.
    pub losses: [f64; 2],
}

/// Names of [`StepBench::parts`].
pub const PARTS: [&str; 5] = ["ft forward", "dense", "sort", "ft backward", "update"];

/// Times `steps` training steps of `batch_size` positions.
///
/// # Errors
/// [`BenchError`].
pub fn step(
    arch: &Architecture,
    kernel: Box<dyn Kernel>,
    batch_size: usize,
    steps: usize,
    optimiser: &OptimiserConfig,
) -> Result<StepBench, BenchError> {
    const BATCHES: usize = 4;
    let encoder = Encoder::new(arch)?;
    let samples = [random_play(&encoder, 42, batch_size * BATCHES)];
    let mut order = Place::all(&samples);
    shuffle(&mut generator(42, Purpose::Window, 0, 0), &mut order);
    let batches: Vec<Batch> =
        order.chunks_exact(batch_size).map(|chosen| Batch::gather(&samples, chosen)).collect();
    let name = kernel.name().to_owned();
    let mut model = Model::new(arch, true, 1, kernel);
    let loss = Loss::default();
    let mut times = Vec::new();
    let mut losses = [0.0; 2];
    const WARM_UP: usize = 2;
    let mut clock = Lap::start();
    for number in 0..steps + WARM_UP {
        if number == WARM_UP {
            model.parts = Default::default();
            clock = Lap::start();
        }
        let batch = &batches[number % BATCHES];
        let began = Instant::now();
        let sum = model.gradients(batch, &loss, batch_size)?;
        let mut update = Lap::start();
        model.update(&UpdateStep::at(optimiser, number as u64 + 1, 1e-3))?;
        update.end(&mut model.parts.update);
        times.push(began.elapsed().as_secs_f64());
        losses[usize::from(number > 0)] = sum / batch_size as f64;
    }
    let mut whole = Spent::default();
    clock.end(&mut whole);
    let parts = &model.parts;
    let parts = [parts.forward, parts.dense, parts.sort, parts.backward, parts.update];
    let cpu = whole.cpu.as_secs_f64();
    let mut times = times.split_off(WARM_UP);
    times.sort_by(f64::total_cmp);
    let median = times[times.len() / 2];
    Ok(StepBench {
        architecture: arch.to_string(),
        kernel: name,
        threads: rayon::current_num_threads(),
        batch_size,
        steps,
        positions_per_second: batch_size as f64 / median,
        milliseconds: median * 1e3,
        positions_per_cpu_second: (batch_size * steps) as f64 / cpu.max(1e-9),
        cpu_milliseconds: cpu * 1e3 / steps as f64,
        parts: parts.map(|part| part.wall.as_secs_f64() * 1e3 / steps as f64),
        cpu_parts: parts.map(|part| part.cpu.as_secs_f64() * 1e3 / steps as f64),
        losses,
    })
}
