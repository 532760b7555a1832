//! States of a run on disk.
//!
//! ```text
//! RUN/manifest.json            what the run is: configuration, inputs with digests, program
//! RUN/loss.csv                 the curve; what else there is to be watched: docs/watching.md
//! RUN/checkpoints/step-000000001000/
//!     weights.safetensors      every parameter, row-major f32
//!     optimiser.safetensors    what the optimiser remembers of each: `NAME.first`, `NAME.second`, `NAME.slow`
//!     state.bin                counters (bincode 2, little-endian, fixed integers)
//!     positions.fen            positions an export is proved on
//!     manifest.json            the run's manifest, the step, and the SHA-256 of the files above
//! RUN/checkpoints/best/        the same, of the lowest validation loss so far
//! ```
//!
//! A checkpoint is written beside its place, flushed, and put there by one rename: a killed run leaves whole ones.

use crate::config::{Config, ConfigError, ScoreScale};
use crate::data::source::{InputFile, hex};
use crate::init::Origin;
use crate::model::weights::{Parameter, StateTensor};
use crate::optim::Plateau;
use bincode::{Decode, Encode};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Version of the layout above.
pub const FORMAT: u32 = 2;

const WEIGHTS: &str = "weights.safetensors";
const OPTIMISER: &str = "optimiser.safetensors";
/// Between the names of a parameter and of a tensor of its state.
const STATE_OF: char = '.';
const STATE: &str = "state.bin";
const POSITIONS: &str = "positions.fen";
const MANIFEST: &str = "manifest.json";

/// What can be wrong with a checkpoint.
#[derive(Debug, Error)]
pub enum CheckpointError {
    /// The system's word.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// No checkpoint where one was looked for.
    #[error("{} is neither a checkpoint nor a run with checkpoints", .0.display())]
    NotFound(PathBuf),
    /// A file is not what the manifest says.
    #[error("{}: SHA-256 is {found}, the manifest says {expected}; take another checkpoint", path.display())]
    Digest {
        /// Which file.
        path: PathBuf,
        /// Digest found.
        found: String,
        /// Digest expected.
        expected: String,
    },
    /// A file cannot be understood.
    #[error("{}: {what}", path.display())]
    Content {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A weight is not a number; writing it would bury the last good state.
    #[error("parameter {name}[{index}] is {value}; the run has diverged, the checkpoint is not written")]
    NotFinite {
        /// Its name.
        name: String,
        /// Row-major place.
        index: usize,
        /// The value.
        value: f32,
    },
}

/// What a run is. Everything that decides its numbers is in here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunManifest {
    /// [`FORMAT`].
    pub format: u32,
    /// Program and version.
    pub program: String,
    /// Commit it was built from.
    pub commit: String,
    /// Canonical text of the architecture.
    pub architecture: String,
    /// Its id.
    pub architecture_id: String,
    /// The seed of all chance.
    pub seed: u64,
    /// Steps in all.
    pub total_steps: u64,
    /// Positions in an epoch: what the filters leave of all data sets, counted or estimated when the run began.
    #[serde(default)]
    pub epoch_positions: u64,
    /// Centipawns of a score per unit of the loss's sigmoid: the configuration's, or as fitted when the run began.
    pub score_scale: f64,
    /// Where the first weights come from, if not from chance.
    pub init: Option<Origin>,
    /// The configuration file, as given.
    pub config: String,
    /// The record files.
    pub inputs: Vec<InputFile>,
}

impl RunManifest {
    /// The run's configuration, with the score scale that it found where it was to find one.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn settled_config(&self) -> Result<Config, ConfigError> {
        let mut config = Config::parse(&self.config)?;
        config.loss.score_scale = ScoreScale::Fixed(self.score_scale);
        Ok(config)
    }

    /// The same as text, for a net's description: the file as given, or, where the score scale was fitted, its keys with
    /// the number in that place.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn settled_text(&self) -> Result<String, ConfigError> {
        if matches!(Config::parse(&self.config)?.loss.score_scale, ScoreScale::Fixed(_)) {
            return Ok(self.config.clone());
        }
        let mut keys: toml::Table = toml::from_str(&self.config)?;
        if let Some(toml::Value::Table(loss)) = keys.get_mut("loss") {
            loss.insert("score_scale".to_owned(), self.score_scale.into());
        }
        Ok(format!("# loss.score_scale was \"fit\"\n{keys}"))
    }
}

/// A checkpoint's own manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckpointManifest {
    /// The run.
    pub run: RunManifest,
    /// Steps done.
    pub step: u64,
    /// The last validation loss, if there was one.
    pub validation_loss: Option<f64>,
    /// SHA-256 of the other files, by name.
    pub files: BTreeMap<String, String>,
}

/// Counters and the little else a resumed run needs to go on exactly.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct State {
    /// Steps done.
    pub step: u64,
    /// The epoch the next batch is of.
    pub epoch: u64,
    /// Positions trained on.
    pub positions: u64,
    /// Mean losses of the last steps, oldest first.
    pub recent: Vec<f64>,
    /// The last validation loss and its step.
    pub validation: Option<(u64, f64)>,
    /// The best one, and how long ago it was.
    pub plateau: Plateau,
}

impl State {
    /// As in a checkpoint's `state.bin`.
    ///
    /// # Errors
    /// What bincode reports, which does not happen for this type.
    pub fn to_bytes(&self) -> Result<Vec<u8>, bincode::error::EncodeError> {
        bincode::encode_to_vec(self, bincode_config())
    }

    /// Reads what [`State::to_bytes`] gives.
    ///
    /// # Errors
    /// What bincode reports of bytes that are not a state.
    pub fn from_bytes(bytes: &[u8]) -> Result<State, bincode::error::DecodeError> {
        Ok(bincode::decode_from_slice(bytes, bincode_config())?.0)
    }
}

/// A checkpoint in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// What it is.
    pub run: RunManifest,
    /// Where it is.
    pub state: State,
    /// The weights with their optimiser's state.
    pub parameters: Vec<Parameter>,
    /// Positions an export is proved on, FEN.
    pub positions: Vec<String>,
}

fn io_at(path: &Path) -> impl Fn(io::Error) -> CheckpointError + '_ {
    move |source| CheckpointError::Io { path: path.to_path_buf(), source }
}

fn content(path: &Path, what: impl ToString) -> CheckpointError {
    CheckpointError::Content { path: path.to_path_buf(), what: what.to_string() }
}

fn bincode_config() -> impl bincode::config::Config {
    bincode::config::standard().with_little_endian().with_fixed_int_encoding().with_limit::<{ 1 << 24 }>()
}

/// Writes a whole file beside its place and renames it there.
///
/// # Errors
/// [`CheckpointError::Io`].
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), CheckpointError> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".partial");
    let partial = path.with_file_name(name);
    write_synced(&partial, bytes)?;
    fs::rename(&partial, path).map_err(io_at(path))?;
    // A bare file name has an empty parent.
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    sync_folder(parent.unwrap_or(Path::new(".")))
}

/// Writes a file and waits until it is on disk.
pub(crate) fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), CheckpointError> {
    let mut file = File::create(path).map_err(io_at(path))?;
    file.write_all(bytes).map_err(io_at(path))?;
    file.sync_all().map_err(io_at(path))
}

fn sync_folder(path: &Path) -> Result<(), CheckpointError> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(io_at(path))
}

/// A manifest as it is written: readable JSON with a line feed at its end.
///
/// # Errors
/// [`CheckpointError::Content`], which does not happen for the types of this module.
pub fn to_json(value: &impl Serialize, path: &Path) -> Result<Vec<u8>, CheckpointError> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(|error| content(path, error))?;
    bytes.push(b'\n');
    Ok(bytes)
}

impl Checkpoint {
    /// Writes the checkpoint into `run/checkpoints` and deletes all but the `keep` newest. Returns its folder.
    ///
    /// # Errors
    /// [`CheckpointError::NotFinite`] when a weight is not a number; nothing is written or deleted then.
    pub fn write(&self, run: &Path, keep: usize) -> Result<PathBuf, CheckpointError> {
        self.check_finite()?;
        let parent = run.join("checkpoints");
        fs::create_dir_all(&parent).map_err(io_at(&parent))?;
        let folder = parent.join(format!("step-{:012}", self.state.step));
        remove_partial(&parent)?;
        if !folder.join(MANIFEST).exists() {
            let partial = parent.join(format!("step-{:012}.partial", self.state.step));
            let written = fs::create_dir(&partial)
                .map_err(io_at(&partial))
                .and_then(|()| self.write_files(&partial))
                .and_then(|()| fs::rename(&partial, &folder).map_err(io_at(&folder)));
            if let Err(error) = written {
                // As on a full disk, where what was begun only takes up room. The first error is the one to tell.
                let _ = fs::remove_dir_all(&partial);
                return Err(error);
            }
            sync_folder(&parent)?;
        }
        let all = list(run)?;
        for old in &all[..all.len().saturating_sub(keep)] {
            // Under a name that the next write clears away: killed in the middle of this, half a folder stays.
            let partial = old.with_extension("partial");
            fs::rename(old, &partial).map_err(io_at(old))?;
            fs::remove_dir_all(&partial).map_err(io_at(&partial))?;
        }
        Ok(folder)
    }

    /// Writes the checkpoint as the best of a run, in place of an earlier one.
    ///
    /// # Errors
    /// As [`Checkpoint::write`].
    pub fn write_best(&self, run: &Path) -> Result<PathBuf, CheckpointError> {
        self.check_finite()?;
        let folder = best_of(run);
        let [partial, old] = ["best.partial", "best-old.partial"].map(|name| folder.with_file_name(name));
        let parent = run.join("checkpoints");
        fs::create_dir_all(&parent).map_err(io_at(&parent))?;
        remove_partial(&parent)?;
        let written =
            fs::create_dir(&partial).map_err(io_at(&partial)).and_then(|()| self.write_files(&partial));
        if let Err(error) = written {
            let _ = fs::remove_dir_all(&partial);
            return Err(error);
        }
        // Killed between these two, a run has no best state until the next; it lives through this step again.
        if folder.exists() {
            fs::rename(&folder, &old).map_err(io_at(&folder))?;
        }
        fs::rename(&partial, &folder).map_err(io_at(&folder))?;
        if old.exists() {
            fs::remove_dir_all(&old).map_err(io_at(&old))?;
        }
        sync_folder(&parent)?;
        Ok(folder)
    }

    fn check_finite(&self) -> Result<(), CheckpointError> {
        for Parameter { name, weights, state, .. } in &self.parameters {
            let state = state.iter().map(|tensor| (format!("{name}.{}", tensor.name), &tensor.values));
            for (name, values) in [(name.clone(), weights)].into_iter().chain(state) {
                if let Some(index) = values.iter().position(|value| !value.is_finite()) {
                    return Err(CheckpointError::NotFinite { name, index, value: values[index] });
                }
            }
        }
        Ok(())
    }

    fn write_files(&self, folder: &Path) -> Result<(), CheckpointError> {
        let states = self.parameters.iter().flat_map(|p| {
            p.state
                .iter()
                .map(|tensor| (format!("{}{STATE_OF}{}", p.name, tensor.name), &p.shape, &tensor.values[..]))
        });
        let mut positions = self.positions.join("\n");
        positions.push('\n');
        let state = self.state.to_bytes().map_err(|error| content(&folder.join(STATE), error))?;
        let files = [
            (WEIGHTS, weights_bytes(&self.parameters).map_err(|e| content(&folder.join(WEIGHTS), e))?),
            (OPTIMISER, safetensors_bytes(states).map_err(|e| content(&folder.join(OPTIMISER), e))?),
            (STATE, state),
            (POSITIONS, positions.into_bytes()),
        ];
        let mut digests = BTreeMap::new();
        for (name, bytes) in &files {
            write_synced(&folder.join(name), bytes)?;
            digests.insert((*name).to_owned(), hex(&Sha256::digest(bytes)));
        }
        let manifest = CheckpointManifest {
            run: self.run.clone(),
            step: self.state.step,
            validation_loss: self.state.validation.map(|(_, loss)| loss),
            files: digests,
        };
        let path = folder.join(MANIFEST);
        write_synced(&path, &to_json(&manifest, &path)?)?;
        sync_folder(folder)
    }

    /// Is it the beginning of a run from a net file?
    pub fn is_untrained_net(&self) -> bool {
        self.state.step == 0 && self.run.init.as_ref().is_some_and(|origin| origin.net)
    }

    /// Reads a checkpoint, or the newest of a run. Every file must have the digest its manifest says.
    ///
    /// # Errors
    /// [`CheckpointError`] names the file and what was found.
    pub fn read(path: &Path) -> Result<Checkpoint, CheckpointError> {
        let folder = locate(path)?;
        let manifest = read_manifest(&folder)?;
        let weights_path = folder.join(WEIGHTS);
        let weights = read_checked(&folder, WEIGHTS, &manifest)?;
        let states = read_checked(&folder, OPTIMISER, &manifest)?;
        let parameters = read_parameters(&weights, &states).map_err(|what| content(&weights_path, what))?;
        let state = read_checked(&folder, STATE, &manifest)?;
        let state = State::from_bytes(&state).map_err(|error| content(&folder.join(STATE), error))?;
        let positions = read_checked(&folder, POSITIONS, &manifest)?;
        let positions =
            String::from_utf8(positions).map_err(|error| content(&folder.join(POSITIONS), error))?;
        let positions = positions.lines().map(str::to_owned).collect();
        Ok(Checkpoint { run: manifest.run, state, parameters, positions })
    }
}

/// The manifest of a checkpoint folder.
///
/// # Errors
/// [`CheckpointError`].
pub fn read_manifest(folder: &Path) -> Result<CheckpointManifest, CheckpointError> {
    let path = folder.join(MANIFEST);
    let bytes = fs::read(&path).map_err(io_at(&path))?;
    manifest_of(&bytes, |value| value.get("run")?.get("format")).map_err(|what| content(&path, what))
}

/// A manifest of this layout. The layout is looked at before anything else, since another one may have other fields.
pub(crate) fn manifest_of<T: DeserializeOwned>(
    bytes: &[u8],
    format: impl FnOnce(&serde_json::Value) -> Option<&serde_json::Value>,
) -> Result<T, String> {
    let value: serde_json::Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    match format(&value) {
        Some(found) if *found == FORMAT => serde_json::from_value(value).map_err(|error| error.to_string()),
        Some(found) => {
            Err(format!("layout {found}, this program reads {FORMAT}; use the program it was written by"))
        }
        None => Err(format!("says no layout; this program reads {FORMAT}")),
    }
}

/// SHA-256 of the weights of a checkpoint folder, as its manifest says.
///
/// # Errors
/// [`CheckpointError`].
pub fn weights_digest(folder: &Path) -> Result<String, CheckpointError> {
    let manifest = read_manifest(folder)?;
    let missing = || content(&folder.join(MANIFEST), format!("no digest of {WEIGHTS}"));
    manifest.files.get(WEIGHTS).cloned().ok_or_else(missing)
}

/// The checkpoint folder that `path` means: itself, or the newest of a run.
///
/// # Errors
/// [`CheckpointError::NotFound`].
pub fn locate(path: &Path) -> Result<PathBuf, CheckpointError> {
    if path.join(WEIGHTS).exists() {
        return Ok(path.to_path_buf());
    }
    list(path)?.pop().ok_or_else(|| CheckpointError::NotFound(path.to_path_buf()))
}

/// Takes away what killed runs have left half written.
fn remove_partial(parent: &Path) -> Result<(), CheckpointError> {
    for entry in fs::read_dir(parent).map_err(io_at(parent))? {
        let path = entry.map_err(io_at(parent))?.path();
        if path.extension().is_some_and(|extension| extension == "partial") {
            fs::remove_dir_all(&path).map_err(io_at(&path))?;
        }
    }
    Ok(())
}

/// Where the best state of a run is kept.
pub fn best_of(run: &Path) -> PathBuf {
    run.join("checkpoints").join("best")
}

/// The whole checkpoints of a run, oldest first.
fn list(run: &Path) -> Result<Vec<PathBuf>, CheckpointError> {
    let parent = run.join("checkpoints");
    let entries = match fs::read_dir(&parent) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io_at(&parent)(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(io_at(&parent))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("step-") && !name.ends_with(".partial") && path.join(MANIFEST).exists() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn read_checked(
    folder: &Path,
    name: &str,
    manifest: &CheckpointManifest,
) -> Result<Vec<u8>, CheckpointError> {
    let path = folder.join(name);
    let bytes = fs::read(&path).map_err(io_at(&path))?;
    let found = hex(&Sha256::digest(&bytes));
    let expected = manifest.files.get(name).cloned().unwrap_or_default();
    if found == expected { Ok(bytes) } else { Err(CheckpointError::Digest { path, found, expected }) }
}

/// The weights of some parameters as a safetensors file.
pub(crate) fn weights_bytes(parameters: &[Parameter]) -> Result<Vec<u8>, safetensors::SafeTensorError> {
    safetensors_bytes(parameters.iter().map(|p| (p.name.clone(), &p.shape, &p.weights[..])))
}

fn safetensors_bytes<'a>(
    tensors: impl Iterator<Item = (String, &'a Vec<usize>, &'a [f32])>,
) -> Result<Vec<u8>, safetensors::SafeTensorError> {
    let tensors: Vec<(String, &Vec<usize>, Vec<u8>)> = tensors
        .map(|(name, shape, values)| (name, shape, values.iter().flat_map(|v| v.to_le_bytes()).collect()))
        .collect();
    let views: Vec<(&str, TensorView<'_>)> = tensors
        .iter()
        .map(|(name, shape, bytes)| {
            Ok((name.as_str(), TensorView::new(Dtype::F32, (*shape).clone(), bytes)?))
        })
        .collect::<Result<_, safetensors::SafeTensorError>>()?;
    safetensors::tensor::serialize(views, None)
}

/// The parameters in the order of their names, the state of each likewise.
fn read_parameters(weights: &[u8], states: &[u8]) -> Result<Vec<Parameter>, String> {
    let weights = SafeTensors::deserialize(weights).map_err(|error| error.to_string())?;
    let states = SafeTensors::deserialize(states).map_err(|error| error.to_string())?;
    let mut names = weights.names();
    names.sort_unstable();
    let mut parameters = Vec::new();
    for name in names {
        let view = weights.tensor(name).map_err(|error| error.to_string())?;
        let (shape, weights) = (view.shape().to_vec(), floats(&view)?);
        parameters.push(Parameter { name: name.to_owned(), shape, weights, state: Vec::new() });
    }
    let mut names = states.names();
    names.sort_unstable();
    for full_name in names {
        let view = states.tensor(full_name).map_err(|error| error.to_string())?;
        let (of, name) = full_name.rsplit_once(STATE_OF).unwrap_or((full_name, ""));
        let place = parameters.binary_search_by(|parameter| parameter.name.as_str().cmp(of));
        let place = place.map_err(|_| format!("{full_name}: a state of no parameter in {WEIGHTS}"))?;
        let values = floats(&view)?;
        parameters[place].state.push(StateTensor { name: name.to_owned(), values });
    }
    Ok(parameters)
}

fn floats(view: &TensorView<'_>) -> Result<Vec<f32>, String> {
    if view.dtype() != Dtype::F32 {
        return Err(format!("elements of type {:?}, expected F32", view.dtype()));
    }
    Ok(view.data().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}
