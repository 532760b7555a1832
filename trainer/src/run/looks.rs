//! What a run looks at while it goes on, for those who watch it.

use crate::checkpoint::{CheckpointError, RunManifest};
use crate::config::Config;
use crate::data::Batch;
use crate::model::ModelError;
use crate::model::net::Net;
use crate::model::weights::{Parameter, WeightsError, float_net};
use crate::watch::{Row, Statistics, Watch, row_every};
use nnue_format::Architecture;
use std::path::Path;
use std::time::Duration;
use thiserror::Error;

/// Positions whose activations are looked at.
const POSITIONS: usize = 1024;

/// Why a look failed.
#[derive(Debug, Error)]
pub(super) enum LookError {
    /// A weight is not a number.
    #[error("parameter {name}[{index}] is {value}")]
    NotFinite { name: String, index: usize, value: f32 },
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Weights(#[from] WeightsError),
}

/// Work and time since a run was started.
#[derive(Clone, Copy, Default)]
pub(super) struct Clock {
    /// Positions trained on.
    pub(super) trained: u64,
    /// Time spent in steps, loading included.
    pub(super) stepping: Duration,
    /// Time of it spent waiting for batches.
    pub(super) waiting: Duration,
}

/// The looks of one process at its run.
pub(super) struct Looks {
    /// `None` in a process that must not write.
    watch: Option<Watch>,
    /// Steps between two rows.
    pub(super) every: u64,
    statistics_every: u64,
    total: u64,
    gradients: Vec<(String, f64)>,
    /// As it was at the last row.
    clock: Clock,
}

impl Looks {
    /// Opens the files of the run in `out`, which has done `step` steps; without a folder, nothing is written.
    pub(super) fn open(
        out: Option<&Path>,
        config: &Config,
        manifest: &RunManifest,
        step: u64,
    ) -> Result<Looks, CheckpointError> {
        let watch = out.map(|out| Watch::open(out, &config.watch, step)).transpose()?;
        let statistics_every = match config.watch.statistics_every_steps {
            0 => config.validation.every_steps,
            every => every,
        };
        let total = manifest.total_steps;
        let (gradients, clock) = (Vec::new(), Clock::default());
        Ok(Looks { watch, every: row_every(total), statistics_every, total, gradients, clock })
    }

    /// Is the net looked at after step number `step`?
    pub(super) fn due(&self, step: u64) -> bool {
        self.watch.is_some() && (step == self.total || step.is_multiple_of(self.statistics_every))
    }

    /// Notes the gradients of a step that is looked at, before the update takes them away.
    pub(super) fn note_gradients(&mut self, net: &mut dyn Net) -> Result<(), ModelError> {
        self.gradients = gradient_norms(net)?;
        Ok(())
    }

    /// Looks at the weights, all of which must be numbers, and at what they do on a part of the batch.
    pub(super) fn look(&mut self, net: &dyn Net, batch: &Batch) -> Result<Statistics, LookError> {
        let parameters = net.parameters()?;
        check_finite(&parameters)?;
        let merged = float_net(net.architecture(), &parameters)?.merge();
        let merged = merged.map_err(|error| WeightsError::Missing(error.to_string()))?;
        let mut statistics = Statistics::of(&merged, &batch.samples, POSITIONS);
        statistics.gradients = std::mem::take(&mut self.gradients);
        Ok(statistics)
    }

    /// Writes a row and what was looked at.
    pub(super) fn add(
        &mut self,
        mut row: Row,
        clock: Clock,
        statistics: Option<&Statistics>,
    ) -> Result<(), CheckpointError> {
        let Some(watch) = &mut self.watch else { return Ok(()) };
        let seconds = (clock.stepping - self.clock.stepping).as_secs_f64();
        if seconds > 0.0 {
            row.positions_per_second = Some((clock.trained - self.clock.trained) as f64 / seconds);
            row.waiting = Some((clock.waiting - self.clock.waiting).as_secs_f64() / seconds);
        }
        row.weight_norm = statistics.map(Statistics::weight_norm);
        row.gradient_norm = statistics.and_then(Statistics::gradient_norm);
        self.clock = clock;
        watch.add(&row, statistics)
    }

    /// Waits until everything written is on disk: a checkpoint must not know of steps that the curve has lost.
    pub(super) fn sync(&mut self) -> Result<(), CheckpointError> {
        self.watch.as_mut().map_or(Ok(()), Watch::sync)
    }
}

/// The norms of the gathered gradients, those of all output stacks together; under one name if the net's tensors are not
/// those of its architecture one by one.
pub(super) fn gradient_norms(net: &mut dyn Net) -> Result<Vec<(String, f64)>, ModelError> {
    let names = names(net.architecture());
    let gathered = net.gathered()?;
    let mut squares: Vec<(String, f64)> = Vec::new();
    let apart = gathered.gradients.len() == names.len();
    for (i, gradient) in gathered.gradients.iter().enumerate() {
        let norm = f64::try_from(gradient.f_norm()?)?;
        let name = if apart { &names[i] } else { "all" };
        match squares.iter_mut().find(|(known, _)| known == name) {
            Some((_, sum)) => *sum += norm * norm,
            None => squares.push((name.to_owned(), norm * norm)),
        }
    }
    squares.iter_mut().for_each(|(_, sum)| *sum = sum.sqrt());
    Ok(squares)
}

/// The names of the tensors of [`Net::gathered`], without the numbers of stacks.
fn names(arch: &Architecture) -> Vec<String> {
    let mut names = vec!["ft.weight".to_owned(), "ft.bias".to_owned()];
    if arch.psqt() {
        names.push("psqt.weight".to_owned());
    }
    for _ in 0..arch.stack_count() {
        names.extend(crate::model::dense::LAYERS.map(str::to_owned));
    }
    names
}

fn check_finite(parameters: &[Parameter]) -> Result<(), LookError> {
    for parameter in parameters {
        if let Some(index) = parameter.weights.iter().position(|value| !value.is_finite()) {
            let (name, value) = (parameter.name.clone(), parameter.weights[index]);
            return Err(LookError::NotFinite { name, index, value });
        }
    }
    Ok(())
}
