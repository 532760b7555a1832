//! How fast steps are on a device: alone, with batches in memory, and through the loader.

use super::choose::Timing;
use super::compute::Engine;
use super::net::DeviceNet;
use super::transformer::Transformer;
use crate::backend::cpu::kernel::AdamStep;
use crate::chance::{Purpose, below, generator, shuffle};
use crate::config::Config;
use crate::data::batch::Place;
use crate::data::samples::Encoder;
use crate::data::source::Source;
use crate::data::synthetic::random_play;
use crate::data::{Batch, Loader, Plan};
use crate::loss::Loss;
use crate::model::ModelError;
use crate::model::net::Net;
use anyhow::{Context, Result};
use nnue_format::Architecture;
use nnue_format::record::{GameRecord, Header, Outcome, PlyFlags, PlyRecord, Reason, Start, Writer};
use serde::Serialize;
use std::fs::File;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};
use xiangqi::judge::RuleSet;
use xiangqi::{Position, Score};

/// Steps before a measurement.
const WARM_UP: usize = 4;

/// The step alone.
#[derive(Clone, Debug, Serialize)]
pub struct StepSpeed {
    /// The architecture.
    pub architecture: String,
    /// The way of the transformer.
    pub transformer: String,
    /// Positions in a step.
    pub batch_size: usize,
    /// Milliseconds of a step: packing, copies, forward, backward, update.
    pub milliseconds: f64,
    /// Positions a second by that.
    pub positions_per_second: f64,
    /// Milliseconds of forward and backward on the device alone.
    pub pass_milliseconds: f64,
}

/// Batches of random positions in memory.
///
/// # Errors
/// For an architecture that cannot be encoded.
pub fn batches(arch: &Architecture, batch_size: usize) -> Result<Vec<Batch>> {
    const BATCHES: usize = 3;
    let samples = [random_play(&Encoder::new(arch)?, 42, batch_size * BATCHES)];
    let mut order = Place::all(&samples);
    shuffle(&mut generator(42, Purpose::Window, 0, 0), &mut order);
    Ok(order.chunks_exact(batch_size).map(|chosen| Batch::gather(&samples, chosen)).collect())
}

/// Takes steps for about so long.
///
/// # Errors
/// [`ModelError`].
pub fn step(
    engine: &Rc<Engine>,
    arch: &Architecture,
    way: Transformer,
    batches: &[Batch],
    time: Duration,
) -> Result<StepSpeed, ModelError> {
    let mut net = DeviceNet::new(arch, true, 1, engine.clone(), Some(way))?;
    let batch_size = batches[0].len();
    let passes = net.time_passes(&batches[0], &Loss::default(), &[way])?;
    let mut number = 0;
    let mut step = |net: &mut DeviceNet| -> Result<(), ModelError> {
        take(net, &batches[number % batches.len()], number)?;
        number += 1;
        Ok(())
    };
    for _ in 0..WARM_UP {
        step(&mut net)?;
    }
    net.synchronise();
    let began = Instant::now();
    let mut steps = 0;
    while began.elapsed() < time || steps < 2 {
        step(&mut net)?;
        steps += 1;
    }
    net.synchronise();
    let seconds = began.elapsed().as_secs_f64() / f64::from(steps);
    Ok(StepSpeed {
        architecture: arch.to_string(),
        transformer: way.to_string(),
        batch_size,
        milliseconds: seconds * 1e3,
        positions_per_second: batch_size as f64 / seconds,
        pass_milliseconds: passes.of(way) * 1e3,
    })
}

fn take(net: &mut dyn Net, batch: &Batch, number: usize) -> Result<(), ModelError> {
    net.gradients(batch, &Loss::default(), batch.len())?;
    let step = AdamStep::at(number as u64 + 1, 1e-3, (0.9, 0.999), 1e-8, 0.0, f32::INFINITY);
    net.update(&step.into())?;
    net.losses(false)?;
    Ok(())
}

/// Through the loader.
#[derive(Clone, Debug, Serialize)]
pub struct LoadSpeed {
    /// The architecture.
    pub architecture: String,
    /// The way of the transformer.
    pub transformer: String,
    /// Positions in a step.
    pub batch_size: usize,
    /// Decoding threads.
    pub threads: usize,
    /// Positions trained on a second.
    pub positions_per_second: f64,
    /// Share of the time spent waiting for the loader.
    pub waiting: f64,
}

/// Trains on a record file for about so long, the first batches left out.
///
/// # Errors
/// What the loader or the net reports.
pub fn through_loader(
    engine: &Rc<Engine>,
    (arch, way): (&Architecture, Transformer),
    file: &Path,
    (batch_size, threads): (usize, usize),
    time: Duration,
) -> Result<LoadSpeed> {
    let text = format!(
        "[net]\narchitecture = '{arch}'\n[training]\nbatch_size = {batch_size}\n[validation]\nfraction = 0.0\n\
         [loader]\nthreads = {threads}\nwindow = {}\n",
        4 * batch_size
    );
    let config = Config::parse(&text)?;
    let source = Source::open(&[file.to_path_buf()], false)?;
    let plan = Plan::new(&config, source, Encoder::new(arch)?)?;
    let mut net = DeviceNet::new(arch, true, 1, engine.clone(), Some(way))?;
    let (mut number, mut positions, mut waiting) = (0, 0, Duration::ZERO);
    let mut began = Instant::now();
    let mut loader = Loader::start(&plan, 0);
    while number < WARM_UP + 2 || began.elapsed() < time {
        let asked = Instant::now();
        let batch = loader.next_batch()?;
        waiting += asked.elapsed();
        take(&mut net, &batch, number)?;
        number += 1;
        positions += batch.len();
        if number == WARM_UP {
            net.synchronise();
            (positions, waiting, began) = (0, Duration::ZERO, Instant::now());
        }
    }
    net.synchronise();
    let seconds = began.elapsed().as_secs_f64();
    Ok(LoadSpeed {
        architecture: arch.to_string(),
        transformer: way.to_string(),
        batch_size,
        threads,
        positions_per_second: positions as f64 / seconds,
        waiting: waiting.as_secs_f64() / seconds,
    })
}

/// Writes a record file of random games with about so many positions.
///
/// # Errors
/// What writing reports.
pub fn write_games(path: &Path, positions: usize) -> Result<()> {
    const GAMES_A_BLOCK: usize = 64;
    const PLIES: u64 = 120;
    let header = Header {
        rules: RuleSet::Competition,
        seed: 1,
        engine_signature: 0,
        run_id: [0; 16],
        net_id: [0; 32],
        plan_len: 0,
        plan_crc: 0,
    };
    let file = File::create(path).with_context(|| path.display().to_string())?;
    let mut writer = Writer::create(std::io::BufWriter::new(file), header, b"")?;
    let (mut number, mut written) = (0u64, 0);
    while written < positions {
        let mut rng = generator(7, Purpose::Synthetic, 2, number);
        let mut position = Position::start();
        let mut plies = Vec::new();
        for _ in 0..PLIES {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            let mv = moves[below(&mut rng, moves.len() as u64) as usize];
            let score = Score(below(&mut rng, 401) as i32 - 200);
            plies.push(PlyRecord { mv, score, flags: PlyFlags::from_bits(false, false) });
            position.make(mv);
        }
        written += plies.len();
        let (start, opening) = (Start::Standard, Vec::new());
        let (outcome, reason, rules) = (Outcome::Draw, Reason::PlyLimit, RuleSet::Competition);
        writer.push(&GameRecord { number, start, opening, plies, outcome, reason, rules })?;
        number += 1;
        if number.is_multiple_of(GAMES_A_BLOCK as u64) {
            writer.end_block()?;
        }
    }
    writer.finish()?;
    Ok(())
}

/// The faster way, as a run would choose it with this batch.
///
/// # Errors
/// [`ModelError`].
pub fn timing(engine: &Rc<Engine>, arch: &Architecture, batch: &Batch) -> Result<Timing, ModelError> {
    let mut net = DeviceNet::new(arch, true, 1, engine.clone(), Some(Transformer::Bucketed))?;
    net.time_passes(batch, &Loss::default(), &super::check::ways(engine))
}
