//! `loss.csv`: the curve of a run.

use crate::checkpoint::{CheckpointError, write_file};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

const HEADER: &str = "step,epoch,positions,lambda,learning_rate,loss,validation_loss,seconds\n";

/// Rows a whole run should about have.
const ROWS: u64 = 2000;

/// The open file.
pub(super) struct Curve {
    path: PathBuf,
    file: File,
    /// Steps between two rows.
    pub(super) every: u64,
}

/// One row.
pub(super) struct Row {
    pub(super) step: u64,
    pub(super) epoch: u64,
    pub(super) positions: u64,
    pub(super) lambda: f64,
    pub(super) rate: f64,
    pub(super) loss: f64,
    pub(super) validation: Option<f64>,
    pub(super) seconds: f64,
}

impl Curve {
    /// Opens the curve of a run that has done `step` of `total` steps; rows beyond are of a time that a resumed run
    /// lives again and go away.
    pub(super) fn open(run: &Path, step: u64, total: u64) -> Result<Curve, CheckpointError> {
        let path = run.join("loss.csv");
        let old = fs::read_to_string(&path).unwrap_or_default();
        let mut text = HEADER.to_owned();
        for line in old.lines().skip(1) {
            let row_step = line.split(',').next().and_then(|word| word.parse::<u64>().ok());
            if row_step.is_some_and(|row| row <= step) {
                text.push_str(line);
                text.push('\n');
            }
        }
        write_file(&path, text.as_bytes())?;
        let io = |source| CheckpointError::Io { path: path.clone(), source };
        let file = OpenOptions::new().append(true).open(&path).map_err(io)?;
        Ok(Curve { path: path.clone(), file, every: total.div_ceil(ROWS).max(1) })
    }

    pub(super) fn add(&mut self, row: &Row) -> Result<(), CheckpointError> {
        let validation = row.validation.map_or(String::new(), |loss| format!("{loss:.9}"));
        let line = format!(
            "{},{},{},{:.6},{:.9},{:.9},{validation},{:.3}\n",
            row.step, row.epoch, row.positions, row.lambda, row.rate, row.loss, row.seconds
        );
        let io = |source| CheckpointError::Io { path: self.path.clone(), source };
        self.file.write_all(line.as_bytes()).map_err(io)
    }
}
