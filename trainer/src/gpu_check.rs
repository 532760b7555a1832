//! `chuhe-train gpu-check`: proves and measures the CUDA backend on the GPU of this computer, with data of its own.

use crate::backend::cuda::check::{self, Checked};
use crate::backend::cuda::measure::{self, LoadSpeed, StepSpeed};
use crate::backend::cuda::{DeviceChoice, DeviceError, Engine, Precision};
use anyhow::{Context, Result};
use nnue_format::Architecture;
use serde::Serialize;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Architectures that are checked: every feature set, both activations, one stack and many, with and without PSQT.
const CHECKED: [&str; 5] = [
    "half-kp 2x256-32-32-1",
    "half-kp-hm 2x128-16-32-1 pairwise 8-stacks",
    "half-ka-hm 2x512-16-32-1 crelu 8-stacks psqt",
    "half-ka-hm-ab 2x512-16-32-1 pairwise 16-stacks psqt",
    "half-ka-hm-ab 2x1024-16-32-1 crelu psqt",
];

/// Architectures that are measured, the default first.
const MEASURED: [&str; 5] = [
    "half-ka-hm-ab 2x512-16-32-1 pairwise 16-stacks psqt",
    "half-ka-hm-ab 2x1024-16-32-1 pairwise 16-stacks psqt",
    "half-ka-hm 2x512-16-32-1",
    "half-kp 2x256-32-32-1",
    "half-ka-hm-ab 2x2048-16-32-1 pairwise 16-stacks psqt",
];

/// How much of everything: a GPU's share, and a small one to rehearse on a CPU.
struct Scale {
    /// Architectures that are checked.
    checked: &'static [&'static str],
    positions: usize,
    batch_sizes: &'static [usize],
    each: Duration,
    games: usize,
}

const FULL: Scale = Scale {
    checked: &CHECKED,
    positions: 4096,
    batch_sizes: &[16384, 65536],
    each: Duration::from_secs(2),
    games: 1_000_000,
};

const REHEARSAL: Scale = Scale {
    checked: &["half-kp-hm 2x128-16-32-1 pairwise 8-stacks", "half-ka-hm 2x128-16-32-1 crelu 8-stacks psqt"],
    positions: 150,
    batch_sizes: &[256],
    each: Duration::from_millis(50),
    games: 10_000,
};

/// Everything that was found.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// The device.
    pub device: String,
    /// What could not be had.
    pub notes: Vec<String>,
    /// Comparisons by architecture.
    pub checks: Vec<(String, Vec<Checked>)>,
    /// The step alone.
    pub steps: Vec<StepSpeed>,
    /// Through the loader.
    pub loads: Vec<LoadSpeed>,
    /// What there was no time for.
    pub skipped: Vec<String>,
}

impl Report {
    /// Did every comparison pass?
    pub fn passes(&self) -> bool {
        !self.checks.is_empty() && self.checks.iter().flat_map(|(_, checks)| checks).all(Checked::passes)
    }
}

/// Checks and measures for at most about `seconds`; `say` is told each line as soon as it is known.
///
/// # Errors
/// [`DeviceError::NoGpu`] where there is none; what cannot be computed at all.
pub fn run(device: DeviceChoice, seconds: u64, say: &mut dyn FnMut(&str)) -> Result<Report> {
    let began = Instant::now();
    let budget = Duration::from_secs(seconds);
    let (engines, scale) = match device.gpu(0) {
        Some(index) => (vec![Engine::cuda(index)?], FULL),
        None => {
            say(
                "rehearsal on the CPU: the operations and kernels of a GPU, slowly; no speed in here means anything",
            );
            (vec![Engine::host(Precision::F32, false), Engine::host(Precision::Bf16, true)], REHEARSAL)
        }
    };
    let engines: Vec<Rc<Engine>> = engines.into_iter().map(Rc::new).collect();
    let engine = engines.last().context("no engine")?;
    let mut report = Report { device: engine.name(), notes: engine.notes.clone(), ..Report::default() };
    say(&format!("device  {}", report.device));
    for note in &report.notes {
        say(&format!("note    {note}"));
    }
    for text in scale.checked {
        for engine in &engines {
            check_one(engine, text, &scale, &mut report, say)?;
        }
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let folder = Folder::new()?;
    let games = folder.0.join("games.rec");
    measure::write_games(&games, scale.games)?;
    say(&format!(
        "\n{:<54} {:<9} {:>6} {:>9} {:>11} {:>13} {:>9}",
        "speed", "way", "batch", "step ms", "on device", "positions/s", "waiting"
    ));
    for (number, text) in MEASURED.into_iter().enumerate() {
        // What is left must do for the loader's measurement too.
        if began.elapsed() > budget.mul_f64(0.8) {
            let what = format!("{text}: no time left of {seconds} s");
            say(&format!("SKIPPED {what}"));
            report.skipped.push(what);
            continue;
        }
        measure_steps(engine, text, &scale, &mut report, say)?;
        if number == 0 {
            measure_loader(engine, text, &scale, (&games, threads), &mut report, say)?;
        }
    }
    say(&format!("\ntime    {:.0} s", began.elapsed().as_secs_f64()));
    Ok(report)
}

fn check_one(
    engine: &Rc<Engine>,
    text: &str,
    scale: &Scale,
    report: &mut Report,
    say: &mut dyn FnMut(&str),
) -> Result<()> {
    let arch: Architecture = text.parse()?;
    let checks = check::check(engine, &arch, scale.positions)?;
    say(&format!("\ncheck   {arch}"));
    for checked in &checks {
        let Checked { name, error, tolerance } = checked;
        let word = if checked.passes() { "ok" } else { "FAILED" };
        say(&format!("  {word:<6} {name:<64} {error:9.2e} of {tolerance:.0e}"));
    }
    report.checks.push((arch.to_string(), checks));
    Ok(())
}

fn measure_steps(
    engine: &Rc<Engine>,
    text: &str,
    scale: &Scale,
    report: &mut Report,
    say: &mut dyn FnMut(&str),
) -> Result<()> {
    let arch: Architecture = text.parse()?;
    for &batch_size in scale.batch_sizes {
        let batches = measure::batches(&arch, batch_size)?;
        for way in check::ways(engine) {
            let speed = measure::step(engine, &arch, way, &batches, scale.each)?;
            say(&format!(
                "{:<54} {:<9} {:>6} {:>9.3} {:>8.3} ms {:>13.0} {:>9}",
                arch.to_string(),
                speed.transformer,
                batch_size,
                speed.milliseconds,
                speed.pass_milliseconds,
                speed.positions_per_second,
                "in memory"
            ));
            report.steps.push(speed);
        }
    }
    Ok(())
}

fn measure_loader(
    engine: &Rc<Engine>,
    text: &str,
    scale: &Scale,
    (games, threads): (&std::path::Path, usize),
    report: &mut Report,
    say: &mut dyn FnMut(&str),
) -> Result<()> {
    let arch: Architecture = text.parse()?;
    let batch_size = scale.batch_sizes[0];
    let way = measure::timing(engine, &arch, &measure::batches(&arch, batch_size)?[0])?.faster();
    let size = (batch_size, threads);
    let speed = measure::through_loader(engine, (&arch, way), games, size, 2 * scale.each)?;
    say(&format!(
        "{:<54} {:<9} {:>6} {:>9} {:>11} {:>13.0} {:>7.0} %",
        format!("  through the loader, {threads} threads"),
        speed.transformer,
        batch_size,
        "",
        "",
        speed.positions_per_second,
        100.0 * speed.waiting
    ));
    report.loads.push(speed);
    Ok(())
}

/// Is it the answer that there is no GPU?
pub fn is_no_gpu(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref::<DeviceError>(), Some(DeviceError::NoGpu(_)))
}

/// A folder of this process for the data, deleted at the end.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new() -> Result<Folder> {
        let path = std::env::temp_dir().join(format!("chuhe-gpu-check-{}", std::process::id()));
        std::fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A few megabytes of temporary files: nothing to fail for.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
