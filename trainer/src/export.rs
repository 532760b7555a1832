//! From a checkpoint to a net file, with proof.
//!
//! Folds the factors, quantises, settles the biases ([`crate::calibrate`]), writes, reads back, and holds the float net against the reference evaluator of
//! nnue-format on real positions. Nothing is written unless the error is within the bound.

use crate::calibrate::correct_biases;
use crate::checkpoint::{Checkpoint, CheckpointError};
use crate::data::source::hex;
use crate::model::weights::float_net;
use nnue_format::bound::enclose;
use nnue_format::net::{Description, NetFile, Overwrite};
use nnue_format::quant::{OUTPUT_CP, RAW_ONE};
use nnue_format::{
    ArchError, Architecture, MergedNet, NetFileError, QuantiseError, QuantisedNet, ShapeError,
};
use rayon::prelude::*;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use thiserror::Error;
use xiangqi::Position;

/// How far the integers may be from the floats, in centipawns over the positions looked at.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bound {
    /// Greatest mean of absolute errors.
    pub mean: f64,
    /// Greatest absolute error.
    pub worst: f64,
}

/// Measured on nets of this project: mean errors of 1 to 4 and worst of 10 to 40 centipawns. Wrong scales or a
/// saturated layer miss these by an order of magnitude.
pub const BOUND: Bound = Bound { mean: 10.0, worst: 100.0 };

/// What can go wrong in an export.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// Its configuration.
    #[error("checkpoint: {0}")]
    Config(#[from] crate::config::ConfigError),
    /// Its architecture.
    #[error("checkpoint: {0}")]
    Arch(#[from] ArchError),
    /// Its weights.
    #[error("checkpoint: {0}")]
    Shape(#[from] ShapeError),
    /// A parameter is missing or misshapen.
    #[error("checkpoint: {0}")]
    Weights(#[from] crate::model::weights::WeightsError),
    /// A weight that does not fit: the message names layer, index and value.
    #[error(transparent)]
    Quantise(#[from] QuantiseError),
    /// The net file.
    #[error(transparent)]
    File(#[from] NetFileError),
    /// What was read back is not what was written.
    #[error("the net read back differs from the net written; please report this")]
    ReadBack,
    /// A position that cannot be used.
    #[error("position {fen:?}: {what}")]
    Position {
        /// Its text.
        fen: String,
        /// What is wrong.
        what: String,
    },
    /// No position to prove the net on.
    #[error("the checkpoint holds no positions to prove the net on")]
    NoPositions,
    /// The floats are not what these integers stand for: one of the evaluations is wrong.
    #[error(
        "quantised and float net differ by {error:.2} cp at {fen}, where roundings alone can make {proved:.2}; please \
         report this. Nothing was written"
    )]
    Proof {
        /// Where.
        fen: String,
        /// How much, centipawns.
        error: f64,
        /// What roundings can make, centipawns.
        proved: f64,
    },
    /// The integers are too far from the floats.
    #[error(
        "quantised and float net differ by {mean:.2} cp in the mean and {worst:.2} cp at worst (at {fen}); the bound is \
         {} and {}. Nothing was written", bound.mean, bound.worst
    )]
    Error {
        /// Mean of absolute errors.
        mean: f64,
        /// Worst absolute error.
        worst: f64,
        /// Where the worst is.
        fen: String,
        /// What was allowed.
        bound: Bound,
    },
}

/// What an export came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Exported {
    /// SHA-256 of the file.
    pub id: String,
    /// The file.
    pub file: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// The architecture.
    pub architecture: String,
    /// Mean of absolute errors, centipawns.
    pub mean_error: f64,
    /// Worst absolute error, centipawns.
    pub worst_error: f64,
    /// Where it is.
    pub worst_fen: String,
    /// Positions the errors are measured on, other ones than those that settled the biases.
    pub positions: usize,
    /// What was allowed.
    pub bound: Bound,
    /// Steps of training behind it.
    pub step: u64,
}

/// The distance of a quantised net from its float net over positions.
#[derive(Clone, Debug, PartialEq)]
pub struct Parity {
    /// Mean of absolute errors, centipawns.
    pub mean: f64,
    /// Worst absolute error, centipawns.
    pub worst: f64,
    /// Where it is.
    pub fen: String,
}

/// Exports a checkpoint (or the newest of a run) to `out`.
///
/// # Errors
/// [`ExportError`]; the file is written only when everything is proved.
pub fn export(path: &Path, out: &Path, bound: Bound, overwrite: Overwrite) -> Result<Exported, ExportError> {
    let checkpoint = Checkpoint::read(path)?;
    let arch: Architecture = checkpoint.run.architecture.parse()?;
    let merged = float_net(&arch, &checkpoint.parameters)?.merge()?;
    let mut quantised = merged.quantise()?;
    let positions = read_positions(&checkpoint.positions)?;
    // Biases are settled on one half of the positions and the net is proved on the other.
    let (settling, proving): (Vec<_>, Vec<_>) = positions.chunks(2).map(|two| (&two[0], two.last())).unzip();
    let settling: Vec<Position> = settling.into_iter().cloned().collect();
    let proving: Vec<Position> = proving.into_iter().flatten().cloned().collect();
    // A net that was not trained since it was read is exported as it is: its biases are settled.
    if !checkpoint.is_untrained_net() {
        correct_biases(&merged, &mut quantised, &settling);
    }
    quantised.check()?;
    let parity = parity(&merged, &quantised, &proving)?;
    if !(parity.mean <= bound.mean && parity.worst <= bound.worst) {
        let Parity { mean, worst, fen } = parity;
        return Err(ExportError::Error { mean, worst, fen, bound });
    }
    let file = NetFile { net: quantised, description: description(&checkpoint)? };
    let (bytes, id) = file.to_bytes()?;
    let (read_back, read_id) = NetFile::from_bytes(&bytes)?;
    if read_back.net != file.net || read_id != id || file.write(out, overwrite)? != id {
        return Err(ExportError::ReadBack);
    }
    let (on_disk, disk_id) = nnue_format::net::read(out)?;
    if on_disk.net != file.net || disk_id != id {
        return Err(ExportError::ReadBack);
    }
    Ok(Exported {
        id: id.to_string(),
        file: out.to_path_buf(),
        bytes: bytes.len() as u64,
        architecture: arch.to_string(),
        mean_error: parity.mean,
        worst_error: parity.worst,
        worst_fen: parity.fen,
        positions: proving.len(),
        bound,
        step: checkpoint.state.step,
    })
}

/// The same checkpoint gives the same bytes: nothing here depends on time or place.
fn description(checkpoint: &Checkpoint) -> Result<Description, ExportError> {
    let run = &checkpoint.run;
    let mut digest = Sha256::new();
    for input in &run.inputs {
        digest.update(format!("{} {}\n", input.sha256, input.bytes));
    }
    Ok(Description {
        author: String::new(),
        program: format!("{} {}", run.program, run.commit),
        data_digest: hex(&digest.finalize()),
        config: run.settled_text()?,
        parent: run.init.as_ref().filter(|origin| origin.net).map_or(String::new(), |o| o.sha256.clone()),
        comment: format!("step {} of {}", checkpoint.state.step, run.total_steps),
    })
}

fn read_positions(fens: &[String]) -> Result<Vec<Position>, ExportError> {
    fens.iter()
        .map(|fen| {
            Position::from_fen(fen)
                .map_err(|error| ExportError::Position { fen: fen.clone(), what: error.to_string() })
        })
        .collect()
}

/// Compares the raw outputs, before they are rounded to centipawns.
///
/// # Errors
/// [`ExportError::NoPositions`]; [`ExportError::Proof`] when a float output is outside the interval that its integers
/// allow.
pub fn parity(merged: &MergedNet, net: &QuantisedNet, positions: &[Position]) -> Result<Parity, ExportError> {
    let errors: Vec<f64> = positions
        .par_iter()
        .map(|position| {
            let float = f64::from(merged.evaluate(position)) * f64::from(OUTPUT_CP);
            let raw = nnue_format::reference::evaluate(net, position).raw;
            let integer = f64::from(raw) * f64::from(OUTPUT_CP) / f64::from(RAW_ONE);
            let error = (float - integer).abs();
            let proved = enclose(merged, net, position);
            if proved.holds(float / f64::from(OUTPUT_CP)) {
                return Ok(error);
            }
            let (fen, proved) = (position.fen(), proved.distance_cp(raw));
            Err(ExportError::Proof { fen, error, proved })
        })
        .collect::<Result<_, _>>()?;
    let worst =
        errors.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).ok_or(ExportError::NoPositions)?;
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    Ok(Parity { mean, worst: *worst.1, fen: positions[worst.0].fen() })
}
