//! First weights from an earlier net or checkpoint, also of another shape.
//!
//! Where the new net can say everything the old one could, it begins as the same function: features, neurons and stacks
//! that both have are copied, and what is new has no say at first. Where it cannot, that is an error.

mod shape;

use crate::checkpoint::{self, Checkpoint, CheckpointError};
use crate::model::weights::{Parameter, WeightsError, float_net};
use nnue_format::quant::clip;
use nnue_format::{ArchError, Architecture, FloatNet, NetFileError, ShapeError};
use serde::{Deserialize, Serialize};
use shape::Map;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a run cannot begin with these weights.
#[derive(Debug, Error)]
pub enum InitError {
    /// The net file.
    #[error("--init: {0}")]
    Net(#[from] NetFileError),
    /// The checkpoint.
    #[error("--init: {0}")]
    Checkpoint(#[from] CheckpointError),
    /// Its architecture.
    #[error("--init: {0}")]
    Arch(#[from] ArchError),
    /// A parameter is missing or misshapen.
    #[error("--init: {0}")]
    Weights(#[from] WeightsError),
    /// A matrix is misshapen.
    #[error("--init: {0}")]
    Shape(#[from] ShapeError),
    /// The new architecture lacks something that the old one has.
    #[error(
        "--init: {from} cannot become {to}: {what}. Feature sets can grow (half-kp, half-kp-hm, half-ka-hm, \
         half-ka-hm-ab), and so can widths, stacks and PSQT, but nothing can shrink or change its activation"
    )]
    Undefined {
        /// The old architecture.
        from: String,
        /// The new one.
        to: String,
        /// What stands in the way.
        what: String,
    },
    /// A weight beyond what training keeps.
    #[error(
        "--init: {name}[{index}] is {value}, beyond ±{limit}, to which training would clip it at its first step"
    )]
    Limit {
        /// The parameter.
        name: String,
        /// Row-major place in the new net.
        index: usize,
        /// The weight.
        value: f32,
        /// What an exported net can hold.
        limit: f32,
    },
    /// The file is another one than when the run began.
    #[error("--init: {} is {found}, the run began with {expected}; put that back, or begin another run", path.display())]
    Changed {
        /// Where it is looked for.
        path: PathBuf,
        /// Digest found.
        found: String,
        /// Digest of the manifest.
        expected: String,
    },
}

/// Where the first weights of a run come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// Net file or checkpoint.
    pub path: PathBuf,
    /// Is it a net file?
    pub net: bool,
    /// Id of the net file, or SHA-256 of the checkpoint's weights.
    pub sha256: String,
    /// Its architecture.
    pub architecture: String,
}

/// Reads a net file, or a checkpoint (or the newest of a run) when `path` is a folder.
///
/// # Errors
/// [`InitError`] with what the reader found.
pub fn read(path: &Path) -> Result<(FloatNet, Origin), InitError> {
    if path.is_dir() {
        let folder = checkpoint::locate(path)?;
        let Checkpoint { run, parameters, .. } = Checkpoint::read(&folder)?;
        let net = float_net(&run.architecture.parse()?, &parameters)?;
        let sha256 = checkpoint::weights_digest(&folder)?;
        return Ok((net, Origin { path: folder, net: false, sha256, architecture: run.architecture }));
    }
    let (file, id) = nnue_format::net::read(path)?;
    let merged = file.net.dequantise();
    let net = FloatNet { layers: merged.layers, ..FloatNet::zeros(&merged.arch) };
    let (path, architecture) = (path.to_path_buf(), merged.arch.to_string());
    Ok((net, Origin { path, net: true, sha256: id.to_string(), architecture }))
}

/// Reads again what a run began with.
///
/// # Errors
/// [`InitError::Changed`] when it is something else by now.
pub fn reread(origin: &Origin) -> Result<FloatNet, InitError> {
    let (net, found) = read(&origin.path)?;
    if found.sha256 == origin.sha256 {
        return Ok(net);
    }
    let (path, expected) = (origin.path.clone(), origin.sha256.clone());
    Err(InitError::Changed { path, found: found.sha256, expected })
}

/// The parameters of a net of `arch` that begins as `source`. `fresh` are those of a new net of that architecture,
/// factorised or not: what the source has nothing for stays as it is in there. No optimiser's state.
///
/// # Errors
/// [`InitError::Undefined`] and [`InitError::Limit`].
pub fn parameters(
    source: &FloatNet,
    arch: &Architecture,
    fresh: Vec<Parameter>,
) -> Result<Vec<Parameter>, InitError> {
    let map = Map::new(&source.arch, arch)?;
    let factorised = fresh.iter().any(|parameter| parameter.name == "ft.factor");
    // Factors are kept apart where both nets have the same ones.
    let kept = factorised && source.ft_factor.is_some() && source.arch.features() == arch.features();
    let source = if kept {
        source.clone()
    } else {
        let merged = source.clone().merge()?;
        FloatNet { layers: merged.layers, ..FloatNet::zeros(&merged.arch) }
    };
    let mut parameters = fresh;
    for parameter in &mut parameters {
        parameter.state.clear();
        map.fill(&source, parameter);
        check_limit(parameter)?;
    }
    Ok(parameters)
}

/// Refuses what the first step would clip. Factors have no limit but that of the sum, which is looked at when it is
/// merged again.
fn check_limit(parameter: &Parameter) -> Result<(), InitError> {
    let limit = match parameter.name.rsplit_once('.') {
        Some(("ft", "weight")) => clip::FT_WEIGHT,
        Some(("ft", "bias")) => clip::FT_BIAS,
        Some(("psqt", "weight")) => clip::PSQT,
        Some((layer, "weight")) if layer.ends_with("dense1") => clip::DENSE1_WEIGHT,
        Some((layer, "weight")) if layer.ends_with("dense2") => clip::DENSE2_WEIGHT,
        Some((layer, "weight")) if layer.ends_with("out") => clip::OUT_WEIGHT,
        Some((_, "bias")) => clip::DENSE_BIAS,
        _ => return Ok(()),
    };
    match parameter.weights.iter().position(|weight| weight.abs() > limit * SLACK) {
        Some(index) => {
            let (name, value) = (parameter.name.clone(), parameter.weights[index]);
            Err(InitError::Limit { name, index, value, limit })
        }
        None => Ok(()),
    }
}

/// A merged weight at its limit may be off by what adding a factor rounds.
const SLACK: f32 = 1.000_001;
