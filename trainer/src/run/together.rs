//! What several processes of one run do in common. Each has the net, the data and the plan; rank 0 alone has the run's
//! folder. They part in the positions of a batch that each computes, and meet in the sum of the gradients.
//!
//! ```text
//! start    all: facts ─ agree ─► rank 0: manifest, state ─ tell ─► all: net ◄─ spread ─ rank 0's weights
//! a step   all: gradients of their share ─ sum with loss, positions and wishes to stop ─► all: the same update
//! the end  rank 0: checkpoint ─► all: finish together
//! ```

use super::RunError;
use super::session::Session;
use crate::checkpoint::{self, RunManifest, State};
use crate::data::batch::Place;
use crate::data::source::InputFile;
use crate::data::{Batch, Share};
use crate::loss::Loss;
use crate::model::ModelError;
use crate::model::net::{Gathered, Net};
use crate::model::weights::{Parameter, StateTensor};
use crate::ranks::{Facts, Ranks, RanksError};
use crate::run::{Conduct, Outcome};
use crate::validate;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::atomic::Ordering;
use tch::{Device, Tensor};

/// What rank 0 tells before the first step.
#[derive(Serialize, Deserialize)]
pub(super) enum Told {
    /// There is nothing left to do.
    Complete(Box<Outcome>),
    /// A run of this plan, after these steps.
    Run {
        /// The plan.
        manifest: Box<RunManifest>,
        /// The counters, as in a checkpoint.
        state: Vec<u8>,
    },
}

const BEGIN: &str = "begin";
const MANIFEST: &str = "manifest";

fn unreadable(error: impl ToString) -> RunError {
    RanksError::C10d(format!("what rank 0 told cannot be read: {}", error.to_string())).into()
}

impl Told {
    /// A run that begins or goes on with `state`.
    pub(super) fn run(manifest: &RunManifest, state: &State) -> Result<Told, RunError> {
        let state = state.to_bytes().map_err(unreadable)?;
        Ok(Told::Run { manifest: Box::new(manifest.clone()), state })
    }

    /// Tells the other ranks.
    pub(super) fn tell(&self, ranks: &Ranks) -> Result<(), RunError> {
        let json = serde_json::to_vec(self).map_err(unreadable)?;
        Ok(ranks.tell(BEGIN, &json)?)
    }

    /// Waits for what rank 0 tells.
    pub(super) fn hear(ranks: &Ranks) -> Result<Told, RunError> {
        serde_json::from_slice(&ranks.hear(BEGIN)?).map_err(unreadable)
    }
}

/// The counters that rank 0 told.
pub(super) fn state(bytes: &[u8]) -> Result<State, RunError> {
    State::from_bytes(bytes).map_err(unreadable)
}

/// The manifest of the run to go on with: rank 0 reads it, the others hear of it.
pub(super) fn manifest(
    ranks: &Ranks,
    read: impl FnOnce() -> Result<RunManifest, RunError>,
) -> Result<RunManifest, RunError> {
    if !ranks.is_first() {
        return serde_json::from_slice(&ranks.hear(MANIFEST)?).map_err(unreadable);
    }
    let manifest = read()?;
    ranks.tell(MANIFEST, &serde_json::to_vec(&manifest).map_err(unreadable)?)?;
    Ok(manifest)
}

/// What all ranks must have alike before anything is written.
pub(super) fn facts(config: &str, inputs: &[InputFile], out: &Path, conduct: &Conduct) -> Facts {
    let step = match checkpoint::locate(out).and_then(|folder| checkpoint::read_manifest(&folder)) {
        Ok(manifest) => format!("after step {}", manifest.step),
        Err(_) if conduct.ranks.is_first() => "none".to_owned(),
        // The folder of the run may be on a disk that only rank 0 has.
        Err(_) => String::new(),
    };
    let mut facts = Facts::new()
        .with("program", concat!("chuhe-train ", env!("CARGO_PKG_VERSION")))
        .with("commit of the program", &conduct.commit)
        .with("newest checkpoint in the run's folder", step)
        .with_lines("configuration", config)
        .with("number of record files", inputs.len().to_string());
    for (number, input) in inputs.iter().enumerate() {
        // The folders may differ from host to host.
        let path = input.path.to_string();
        let name = path.rsplit('/').next().unwrap_or_default();
        let value = format!("{name}, {:?}, {} bytes, SHA-256 {}", input.role, input.bytes, input.sha256);
        facts = facts.with(format!("record file {}", number + 1), value);
    }
    facts
}

/// Gives every rank the weights of rank 0 and the state of its optimiser, and lets the gradients be summed where they
/// are.
pub(super) fn spread(ranks: &Ranks, net: &mut dyn Net) -> Result<(), RunError> {
    if ranks.world() == 1 {
        return Ok(());
    }
    let device = net.gathered()?.gradients.first().map_or(Device::Cpu, Tensor::device);
    let mut on_gpu = [f64::from(u8::from(device != Device::Cpu))];
    ranks.sum(&mut [], &mut on_gpu)?;
    if on_gpu[0] != 0.0 && on_gpu[0] != ranks.world() as f64 {
        let what = format!("{} of {} ranks train on a GPU, the others on the CPU", on_gpu[0], ranks.world());
        return Err(RanksError::Disagree(what).into());
    }
    ranks.use_device(device)?;
    let mut parameters = if ranks.is_first() {
        let parameters = net.parameters()?;
        let shapes: Vec<_> = parameters.iter().map(Described::of).collect();
        ranks.tell(PARAMETERS, &serde_json::to_vec(&shapes).map_err(unreadable)?)?;
        parameters
    } else {
        let shapes: Vec<Described> = serde_json::from_slice(&ranks.hear(PARAMETERS)?).map_err(unreadable)?;
        shapes.into_iter().map(Described::empty).collect()
    };
    for parameter in &mut parameters {
        let state = parameter.state.iter_mut().map(|state| &mut state.values);
        for values in std::iter::once(&mut parameter.weights).chain(state) {
            let mut tensors = [Tensor::from_slice(values)];
            ranks.spread(&mut tensors)?;
            let [tensor] = tensors;
            let length = values.len();
            tensor.f_copy_data(values, length).map_err(ModelError::from)?;
        }
    }
    Ok(net.set_parameters(&parameters)?)
}

const PARAMETERS: &str = "parameters";

/// What a parameter of rank 0 consists of. An optimiser may remember more or less at different times of a run.
#[derive(Serialize, Deserialize)]
struct Described {
    name: String,
    shape: Vec<usize>,
    state: Vec<String>,
}

impl Described {
    fn of(parameter: &Parameter) -> Described {
        let state = parameter.state.iter().map(|state| state.name.clone()).collect();
        Described { name: parameter.name.clone(), shape: parameter.shape.clone(), state }
    }

    fn empty(self) -> Parameter {
        let zeros = || vec![0.0; self.shape.iter().product()];
        let state = self.state.into_iter().map(|name| StateTensor { name, values: zeros() }).collect();
        Parameter { weights: zeros(), state, name: self.name, shape: self.shape.clone() }
    }
}

impl Session {
    /// Adds up what the ranks gathered in a step.
    pub(super) fn sum_over_ranks(&mut self) -> Result<(), RunError> {
        let ranks = &self.conduct.ranks;
        if ranks.world() == 1 {
            return Ok(());
        }
        // What one rank is told from outside, all must know after the same step.
        let mut stop = [f64::from(u8::from(self.asked_to_stop(self.state.step + 1)))];
        let Gathered { loss, mut gradients, .. } = self.net.gathered()?;
        gradients.push(loss);
        ranks.sum(&mut gradients, &mut stop)?;
        self.agreed_to_stop = stop[0] > 0.0;
        Ok(())
    }

    /// Has somebody asked this process to stop after `step`?
    fn asked_to_stop(&self, step: u64) -> bool {
        self.conduct.interrupted.load(Ordering::Relaxed)
            || self.conduct.stop_after.is_some_and(|last| step >= last)
    }

    /// Does the run stop after the step just done?
    pub(super) fn stops(&self) -> bool {
        if self.conduct.ranks.world() == 1 {
            self.asked_to_stop(self.state.step)
        } else {
            self.agreed_to_stop
        }
    }

    /// The mean validation loss over the parts of all ranks; `None` without a validation set.
    pub(super) fn validation_loss(&mut self, loss: &Loss) -> Result<Option<f64>, RunError> {
        if self.validation.batch.is_empty() {
            return Ok(None);
        }
        let part = self.validation_part.as_ref().unwrap_or(&self.validation.batch);
        let mut sum = [validate::sum(part, &mut *self.net, loss)?];
        self.conduct.ranks.sum(&mut [], &mut sum)?;
        Ok(Some(sum[0] / self.validation.batch.len() as f64))
    }
}

/// This rank's part of a batch that all have; `None` when that is all of it.
pub(super) fn part_of(ranks: &Ranks, batch: &Batch) -> Option<Batch> {
    let share = Share { rank: ranks.rank(), world: ranks.world() };
    (share.world > 1).then(|| {
        let parts = std::slice::from_ref(&batch.samples);
        Batch::gather(parts, &Place::all(parts)[share.slice(batch.len())])
    })
}
