//! What a checkpoint's net looks like inside, and what quantising costs it.

use super::ReportError;
use super::pictures::{PictureSet, chosen_neurons, psqt, strengths};
use crate::calibrate::correct_biases;
use crate::checkpoint::Checkpoint;
use crate::data::Samples;
use crate::data::samples::Encoder;
use crate::export::BOUND;
use crate::model::weights::float_net;
use crate::watch::{Histogram, Statistics};
use nnue_format::quant::{OUTPUT_CP, RAW_ONE};
use nnue_format::{Architecture, MergedNet, QuantisedNet};
use rayon::prelude::*;
use serde::Serialize;
use xiangqi::Position;

/// Positions with the largest errors that are named.
const WORST: usize = 10;
/// Bins of errors.
const BINS: usize = 41;

/// A net.
#[derive(Debug, Serialize)]
pub struct NetView {
    /// Its architecture.
    pub architecture: String,
    /// Steps of training behind it.
    pub step: u64,
    /// Weights and activations, these on the checkpoint's own positions.
    pub statistics: Statistics,
    /// The errors of its integers; `None` when it cannot be quantised.
    pub quantisation: Option<Quantisation>,
    /// Why it cannot be.
    pub not_quantised: Option<String>,
    /// Pictures of its feature transformer.
    #[serde(skip)]
    pub pictures: Pictures,
}

/// Pictures of a feature transformer.
#[derive(Debug, Default)]
pub struct Pictures {
    /// All buckets, and then each king bucket.
    pub strengths: Vec<PictureSet>,
    /// Some neurons.
    pub neurons: Vec<PictureSet>,
    /// Piece-square values.
    pub psqt: Option<PictureSet>,
}

/// Float net against the reference evaluator on its integers, on positions that did not settle the biases.
#[derive(Debug, Serialize)]
pub struct Quantisation {
    /// Positions.
    pub positions: usize,
    /// Mean absolute error, centipawns.
    pub mean: f64,
    /// The error that 99 % stay below.
    pub percentile_99: f64,
    /// The greatest.
    pub worst: f64,
    /// Mean error with its sign, integers less floats.
    pub shift: f64,
    /// What an export allows: mean and worst.
    pub bound: [f64; 2],
    /// Errors with their sign.
    pub histogram: Histogram,
    /// The worst ones first.
    pub worst_positions: Vec<WorstPosition>,
}

/// A position with a large error.
#[derive(Clone, Debug, Serialize)]
pub struct WorstPosition {
    /// The position.
    pub fen: String,
    /// What the floats say, centipawns.
    pub float: f64,
    /// What the integers say.
    pub integer: f64,
}

impl WorstPosition {
    fn error(&self) -> f64 {
        self.integer - self.float
    }
}

impl NetView {
    /// Looks at the net of a checkpoint.
    ///
    /// # Errors
    /// [`ReportError`] for a checkpoint that is of no net; one that cannot be quantised is not an error.
    pub fn of(checkpoint: &Checkpoint) -> Result<NetView, ReportError> {
        let text = &checkpoint.run.architecture;
        let wrong = |what: String| ReportError::Run { path: "checkpoint".into(), what };
        let arch: Architecture = text.parse().map_err(|error| wrong(format!("{text:?}: {error}")))?;
        let net = float_net(&arch, &checkpoint.parameters)?.merge()?;
        let positions: Result<Vec<Position>, ReportError> = checkpoint
            .positions
            .iter()
            .map(|fen| Position::from_fen(fen).map_err(|error| wrong(format!("position {fen:?}: {error}"))))
            .collect();
        let positions = positions?;
        let mut samples = Samples::new();
        let encoder = Encoder::new(&arch)?;
        positions.iter().for_each(|position| encoder.push(&mut samples, position, 0, 1));
        let statistics = Statistics::of(&net, &samples, positions.len());
        let (quantisation, not_quantised) = match quantised(&net, &positions) {
            Ok(found) => (Some(found), None),
            Err(error) => (None, Some(error)),
        };
        let pictures =
            Pictures { strengths: strengths(&net), neurons: chosen_neurons(&net), psqt: psqt(&net) };
        let step = checkpoint.state.step;
        Ok(NetView { architecture: text.clone(), step, statistics, quantisation, not_quantised, pictures })
    }
}

/// Quantises as an export does: the biases are settled on every other position, the errors measured on the rest.
fn quantised(net: &MergedNet, positions: &[Position]) -> Result<Quantisation, String> {
    let mut integers = net.quantise().map_err(|error| error.to_string())?;
    let settling: Vec<Position> = positions.iter().step_by(2).cloned().collect();
    let proving: Vec<Position> = positions.iter().skip(1).step_by(2).cloned().collect();
    if proving.is_empty() {
        return Err("the checkpoint holds too few positions to measure errors on".to_owned());
    }
    correct_biases(net, &mut integers, &settling);
    integers.check().map_err(|error| error.to_string())?;
    Ok(errors(net, &integers, &proving))
}

fn errors(net: &MergedNet, integers: &QuantisedNet, positions: &[Position]) -> Quantisation {
    let mut found: Vec<WorstPosition> = positions
        .par_iter()
        .map(|position| {
            let raw = f64::from(nnue_format::reference::evaluate(integers, position).raw);
            WorstPosition {
                fen: position.fen(),
                float: f64::from(net.evaluate(position)) * f64::from(OUTPUT_CP),
                integer: raw * f64::from(OUTPUT_CP) / f64::from(RAW_ONE),
            }
        })
        .collect();
    found.sort_by(|a, b| b.error().abs().total_cmp(&a.error().abs()));
    let count = found.len() as f64;
    let at = |share: f64| found[((1.0 - share) * count) as usize].error().abs();
    let reach = at(0.999).max(1e-3);
    let mut histogram = Histogram::new(-reach, reach, BINS);
    found.iter().for_each(|position| histogram.add(position.error()));
    Quantisation {
        positions: found.len(),
        mean: found.iter().map(|position| position.error().abs()).sum::<f64>() / count,
        percentile_99: at(0.99),
        worst: found[0].error().abs(),
        shift: histogram.sum / count,
        bound: [BOUND.mean, BOUND.worst],
        histogram,
        worst_positions: found.into_iter().take(WORST).collect(),
    }
}
