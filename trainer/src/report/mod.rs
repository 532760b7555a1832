//! A run as one page: curves, what the net looks like inside, how well it predicts, what quantising costs it.
//!
//! ```text
//! RUN ── manifest, loss.csv, result, diverged ─► RunView ─┐
//!  └─ newest checkpoint ─► MergedNet ─► NetView ──────────┼─► Report ─► page (HTML) or JSON
//!  └─ record files ─► validation games ─► DataView ───────┘
//! ```
//!
//! Works on a run in progress: it reads whole files only, and a checkpoint is put in place whole.

pub mod boards;
pub mod buckets;
pub mod data;
pub mod matches;
pub mod net;
pub mod page;
pub mod pictures;
pub mod run;

pub use buckets::Buckets;
pub use data::DataView;
pub use matches::MatchRow;
pub use net::NetView;
pub use run::RunView;

use crate::checkpoint::CheckpointError;
use crate::config::ConfigError;
use crate::data::DataError;
use crate::model::ModelError;
use crate::model::weights::WeightsError;
use nnue_format::{NetFileError, ShapeError};
use serde::Serialize;
use std::path::PathBuf;
use thiserror::Error;

/// What can go wrong on the way to a report.
#[derive(Debug, Error)]
pub enum ReportError {
    /// A folder that is no run, or holds files of another kind.
    #[error("{}: {what}", path.display())]
    Run {
        /// Which folder or file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The run's configuration.
    #[error("configuration: {0}")]
    Config(#[from] ConfigError),
    /// Record files.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Weights that do not fit.
    #[error("checkpoint: {0}")]
    Weights(#[from] WeightsError),
    /// Weights that do not fit.
    #[error("checkpoint: {0}")]
    Shape(#[from] ShapeError),
    /// A net file.
    #[error(transparent)]
    Net(#[from] NetFileError),
    /// The net's outputs.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A plot, which is a fault of this program.
    #[error(transparent)]
    Plot(#[from] pages::PlotError),
}

/// Everything a page shows.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The runs whose curves are laid over each other; the first is the one whose net is looked at.
    pub runs: Vec<RunView>,
    /// The net of the first run's newest checkpoint, if it has one.
    pub net: Option<NetView>,
    /// The same net on validation games, if record files were at hand.
    pub data: Option<DataView>,
    /// Why there is no `data`.
    pub no_data: Option<String>,
    /// Results of matches.
    pub matches: Vec<MatchRow>,
}
