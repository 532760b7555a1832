//! What is kept of a run that diverged, so that its reason can be found.
//!
//! ```text
//! RUN/diverged/step-000000001234/
//!     diverged.json         step, loss, seed, epoch and batch, norms of weights and gradients, the last good checkpoint
//!     positions.tsv         the batch, a position a line
//!     weights.safetensors   the weights that gave this loss, numbers or not
//! ```
//!
//! It is no checkpoint: nothing goes on from it, and no checkpoint is touched.

use crate::checkpoint::{CheckpointError, RunManifest, State, to_json, weights_bytes, write_synced};
use crate::data::Batch;
use crate::data::restore::Restorer;
use crate::model::weights::Parameter;
use crate::watch::statistics::norm;
use nnue_format::Architecture;
use serde::Serialize;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder inside a run's folder.
const FOLDER: &str = "diverged";

/// A run that stops because something in it is no number.
pub(super) struct Divergence<'a> {
    pub(super) run: &'a Path,
    pub(super) manifest: &'a RunManifest,
    pub(super) state: &'a State,
    /// The step, counted from 1.
    pub(super) step: u64,
    pub(super) what: String,
    pub(super) lambda: f64,
    pub(super) learning_rate: f64,
    pub(super) last_good: Option<PathBuf>,
    /// The step's positions, where they are still at hand.
    pub(super) batch: Option<&'a Batch>,
    pub(super) architecture: &'a Architecture,
    pub(super) parameters: &'a [Parameter],
    /// Names and norms.
    pub(super) gradients: Vec<(String, f64)>,
}

/// `diverged.json`
#[derive(Serialize)]
struct Report<'a> {
    what: &'a str,
    step: u64,
    total_steps: u64,
    seed: u64,
    epoch: u64,
    /// Number of the batch in the run, from 0: with seed, files and settings it says what is in it.
    batch: u64,
    batch_positions: Option<usize>,
    /// Positions trained on before it.
    positions: u64,
    lambda: f64,
    learning_rate: f64,
    last_good_checkpoint: Option<PathBuf>,
    gradients: Vec<Part<'a>>,
    weights: Vec<Part<'a>>,
    architecture: &'a str,
    program: &'a str,
    commit: &'a str,
    advice: &'a str,
}

/// One parameter or its gradient.
#[derive(Serialize)]
struct Part<'a> {
    name: &'a str,
    /// Text, since JSON has no word for what is no number.
    norm: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_finite: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_not_finite: Option<usize>,
}

const ADVICE: &str = "The same run diverges again at the same step. A lower learning rate, a longer warm-up, clipping \
                      of gradients or another filter may help; begin a new run, with --init from the last good \
                      checkpoint if it is worth keeping.";

impl Divergence<'_> {
    /// Writes the folder, in place of one that an earlier try has left, and gives its path.
    pub(super) fn write(&self) -> Result<PathBuf, CheckpointError> {
        let parent = self.run.join(FOLDER);
        let folder = parent.join(format!("step-{:012}", self.step));
        let partial = parent.join(format!("step-{:012}.partial", self.step));
        let io = |path: &Path| {
            let path = path.to_path_buf();
            move |source| CheckpointError::Io { path, source }
        };
        for old in [&partial, &folder] {
            if old.exists() {
                fs::remove_dir_all(old).map_err(io(old))?;
            }
        }
        fs::create_dir_all(&partial).map_err(io(&partial))?;
        let path = partial.join("diverged.json");
        write_synced(&path, &to_json(&self.report(), &path)?)?;
        if let Some(batch) = self.batch {
            write_synced(&partial.join("positions.tsv"), self.positions(batch).as_bytes())?;
        }
        let path = partial.join("weights.safetensors");
        let weights = weights_bytes(self.parameters)
            .map_err(|error| CheckpointError::Content { path: path.clone(), what: error.to_string() })?;
        write_synced(&path, &weights)?;
        fs::rename(&partial, &folder).map_err(io(&folder))?;
        Ok(folder)
    }

    fn report(&self) -> Report<'_> {
        let weights = self.parameters.iter().map(|parameter| {
            let bad = |value: &&f32| !value.is_finite();
            let count = parameter.weights.iter().filter(bad).count();
            Part {
                name: &parameter.name,
                norm: norm(&parameter.weights).to_string(),
                not_finite: Some(count),
                first_not_finite: parameter.weights.iter().position(|value| !value.is_finite()),
            }
        });
        let gradients = self.gradients.iter().map(|(name, norm)| Part {
            name,
            norm: norm.to_string(),
            not_finite: None,
            first_not_finite: None,
        });
        Report {
            what: &self.what,
            step: self.step,
            total_steps: self.manifest.total_steps,
            seed: self.manifest.seed,
            epoch: self.state.epoch,
            batch: self.step - 1,
            batch_positions: self.batch.map(Batch::len),
            positions: self.state.positions,
            lambda: self.lambda,
            learning_rate: self.learning_rate,
            last_good_checkpoint: self.last_good.clone(),
            gradients: gradients.collect(),
            weights: weights.collect(),
            architecture: &self.manifest.architecture,
            program: &self.manifest.program,
            commit: &self.manifest.commit,
            advice: ADVICE,
        }
    }

    /// The batch as the net saw it.
    fn positions(&self, batch: &Batch) -> String {
        let restorer = Restorer::new(self.architecture.features());
        let samples = &batch.samples;
        // Score and outcome are the side to move's, which is shown as Red.
        let mut text = "fen\tscore\toutcome_half_points\tstack\n".to_owned();
        for i in 0..batch.len() {
            let fen = restorer.fen(samples, i).unwrap_or_else(|| "unknown".to_owned());
            let (score, outcome, stack) = (samples.scores[i], samples.outcomes[i], samples.stacks[i]);
            let _ = writeln!(text, "{fen}\t{score}\t{outcome}\t{stack}");
        }
        text
    }
}
