//! A net on the validation games of record files.

use super::{Buckets, ReportError};
use crate::config::{Config, ConfigError};
use crate::data::restore::Restorer;
use crate::data::samples::Encoder;
use crate::data::source::Source;
use crate::data::{Batch, FilterCounts, Plan};
use crate::loss::Loss;
use crate::material;
use crate::model::net::Net;
use crate::validate::ValidationSet;
use nnue_format::QuantisedNet;
use nnue_format::quant::RAW_ONE;
use rayon::prelude::*;
use serde::Serialize;
use xiangqi::Position;

/// What was found.
#[derive(Debug, Serialize)]
pub struct DataView {
    /// The record files.
    pub files: Vec<String>,
    /// Positions judged.
    pub positions: usize,
    /// Mean loss, λ as at the end of the run.
    pub loss: Option<f64>,
    /// The loss of the best fit of material alone.
    pub material_loss: Option<f64>,
    /// Mean distance of predicted winning chances from outcomes.
    pub calibration_error: Option<f64>,
    /// By kinds of positions.
    pub buckets: Buckets,
    /// What the filters did.
    pub filters: FilterCounts,
}

/// Gives the outputs for a batch in its order, 1.0 being 600 centipawns.
pub type Judge<'a> = dyn FnMut(&Batch) -> Result<Vec<f32>, ReportError> + 'a;

impl DataView {
    /// Reads the validation games that a run of `config` would set aside of `source`, and asks `judge` for them.
    ///
    /// # Errors
    /// [`ReportError`].
    pub fn of(config: &Config, source: Source, judge: &mut Judge<'_>) -> Result<DataView, ReportError> {
        let arch = config.architecture()?;
        let files = source.files().iter().map(|file| file.path.to_string()).collect();
        let plan = Plan::new(config, source, Encoder::new(&arch)?)?;
        let set = ValidationSet::read(&plan, config.validation.max_positions)?;
        let outputs = if set.batch.is_empty() { Vec::new() } else { judge(&set.batch)? };
        let scale = config.loss.score_scale.fixed().ok_or_else(|| ConfigError::Range {
            name: "loss.score_scale",
            found: "\"fit\"".to_owned(),
            expected: "a number here; the run that fitted one keeps it in its checkpoints, so name one of those",
        })?;
        let loss = Loss::new(&config.loss, scale, config.loss.lambda_end);
        let buckets = Buckets::of(&set.batch.samples, &outputs, &loss, arch.features());
        Ok(DataView {
            files,
            positions: set.batch.len(),
            loss: buckets.loss(),
            material_loss: material::fit(&set.batch.samples, &loss).map(|fit| fit.loss),
            calibration_error: buckets.calibration_error(),
            buckets,
            filters: set.counts,
        })
    }
}

/// The outputs of a net in training.
///
/// # Errors
/// [`ReportError::Model`].
pub fn by_net(net: &mut dyn Net, batch: &Batch) -> Result<Vec<f32>, ReportError> {
    Ok(net.outputs(batch)?)
}

/// The outputs of a net file, by the reference evaluator.
///
/// # Errors
/// [`ReportError::Run`] for a batch that is of no positions, which does not come from record files.
pub fn by_reference(net: &QuantisedNet, batch: &Batch) -> Result<Vec<f32>, ReportError> {
    let restorer = Restorer::new(net.arch.features());
    let output = |i: usize| {
        let position = restorer.fen(&batch.samples, i).and_then(|fen| Position::from_fen(&fen).ok());
        position.map(|position| nnue_format::reference::evaluate(net, &position).raw as f32 / RAW_ONE as f32)
    };
    let outputs: Option<Vec<f32>> = (0..batch.len()).into_par_iter().map(output).collect();
    outputs.ok_or_else(|| ReportError::Run {
        path: "record files".into(),
        what: "hold a position that does not come back from its features; please report this".to_owned(),
    })
}
