//! A run as its folder tells it.

use super::ReportError;
use crate::checkpoint::{self, CheckpointError, RunManifest};
use crate::config::Config;
use crate::run::{Outcome, RunError, read_manifest};
use crate::watch::{Row, read_curve};
use serde::Serialize;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A run.
#[derive(Debug, Serialize)]
pub struct RunView {
    /// The folder's name.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
    /// What it is.
    pub manifest: RunManifest,
    /// Its curve.
    pub rows: Vec<Row>,
    /// What it came to, once it is complete.
    pub outcome: Option<Outcome>,
    /// The newest checkpoint.
    pub checkpoint: Option<PathBuf>,
    /// What is known of steps in which it diverged: `diverged.json`, by step.
    pub diverged: Vec<Value>,
    /// Its configuration.
    #[serde(skip)]
    pub config: Config,
}

impl RunView {
    /// Reads the run in `folder`.
    ///
    /// # Errors
    /// [`ReportError`] when it holds none, or one that cannot be read.
    pub fn read(folder: &Path) -> Result<RunView, ReportError> {
        let wrong = |what: String| ReportError::Run { path: folder.to_path_buf(), what };
        if !folder.join("manifest.json").exists() {
            return Err(wrong("holds no run (there is no manifest.json)".to_owned()));
        }
        let manifest = read_manifest(folder).map_err(|error| match error {
            RunError::Folder { folder, what } => ReportError::Run { path: folder, what },
            other => wrong(other.to_string()),
        })?;
        let config = manifest.settled_config()?;
        let outcome = match fs::read(folder.join("result.json")) {
            Ok(bytes) => {
                Some(serde_json::from_slice(&bytes).map_err(|error| wrong(format!("result.json: {error}")))?)
            }
            Err(_) => None,
        };
        let checkpoint = match checkpoint::locate(folder) {
            Ok(path) => Some(path),
            Err(CheckpointError::NotFound(_)) => None,
            Err(error) => return Err(error.into()),
        };
        let canonical = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
        let name = canonical.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let (rows, diverged) = (read_curve(folder)?, diverged(folder));
        Ok(RunView {
            name,
            folder: folder.to_path_buf(),
            manifest,
            rows,
            outcome,
            checkpoint,
            diverged,
            config,
        })
    }

    /// `complete`, `diverged`, or that it is neither: in progress, or stopped.
    pub fn state(&self) -> &'static str {
        match (&self.outcome, self.diverged.is_empty()) {
            (Some(_), _) => "complete",
            (None, false) => "diverged",
            (None, true) => "in progress or stopped",
        }
    }

    /// The last row.
    pub fn last(&self) -> Option<&Row> {
        self.rows.last()
    }

    /// The last validation loss and the best one.
    pub fn validation(&self) -> Option<(f64, f64)> {
        let losses: Vec<f64> = self.rows.iter().filter_map(|row| row.validation_loss).collect();
        Some((*losses.last()?, losses.iter().copied().fold(f64::INFINITY, f64::min)))
    }
}

/// What is readable of the diagnoses in a run's folder.
fn diverged(folder: &Path) -> Vec<Value> {
    let Ok(entries) = fs::read_dir(folder.join("diverged")) else { return Vec::new() };
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    folders.sort();
    let read = |folder: &PathBuf| {
        let bytes = fs::read(folder.join("diverged.json")).ok()?;
        serde_json::from_slice(&bytes).ok()
    };
    folders.iter().filter_map(read).collect()
}
