//! What a run writes to be watched by: `loss.csv` and TensorBoard's event files.
//!
//! ```text
//! RUN/loss.csv               a row every few steps
//! RUN/tensorboard/events.*   the same, and at times norms, dead and full neurons, histograms
//! ```
//!
//! One [`Watch`] is the only writer of both; a process that must not write makes none. A resumed run cuts both back to
//! the step of its checkpoint and goes on, so that no step is in them twice, and what a checkpoint's step says is on
//! disk before the checkpoint is.

mod curve;
pub mod event_file;
pub mod proto;
pub mod statistics;

pub use curve::{Row, read as read_curve};
pub use event_file::{EventFileError, Events};
pub use statistics::{Activations, Histogram, Statistics, Weights};

use crate::checkpoint::CheckpointError;
use crate::config::WatchConfig;
use curve::Curve;
use proto::Value;
use std::path::Path;

/// Rows a whole run should about have.
const ROWS: u64 = 2000;

/// The folder of the event files inside a run's folder.
pub const EVENTS: &str = "tensorboard";

/// Steps between two rows of the curve of a run of `total` steps.
pub fn row_every(total: u64) -> u64 {
    total.div_ceil(ROWS).max(1)
}

/// The open files of a run.
pub struct Watch {
    curve: Curve,
    events: Option<Events>,
}

impl Watch {
    /// Opens the files of a run in `run` that has done `step` steps; what is in them of later steps is of a time
    /// that the run lives again, and goes away.
    ///
    /// # Errors
    /// [`CheckpointError::Io`] with the file.
    pub fn open(run: &Path, config: &WatchConfig, step: u64) -> Result<Watch, CheckpointError> {
        let curve = Curve::open(run, step)?;
        let events = if config.tensorboard { Some(Events::open(&run.join(EVENTS), step)?) } else { None };
        Ok(Watch { curve, events })
    }

    /// Writes a row, and what was looked at in its step.
    ///
    /// # Errors
    /// [`CheckpointError::Io`] with the file.
    pub fn add(&mut self, row: &Row, statistics: Option<&Statistics>) -> Result<(), CheckpointError> {
        self.curve.add(row)?;
        let Some(events) = &mut self.events else { return Ok(()) };
        let mut values = scalars(row);
        values.extend(statistics.into_iter().flat_map(statistics_values));
        events.add(row.step, values)
    }

    /// Waits until everything written is on disk.
    ///
    /// # Errors
    /// [`CheckpointError::Io`] with the file.
    pub fn sync(&mut self) -> Result<(), CheckpointError> {
        self.curve.sync()?;
        self.events.as_mut().map_or(Ok(()), Events::sync)
    }
}

/// A row as TensorBoard shows it.
fn scalars(row: &Row) -> Vec<Value> {
    let mut values = vec![
        Value::scalar("loss/training", row.loss),
        Value::scalar("schedule/lambda", row.lambda),
        Value::scalar("schedule/learning_rate", row.learning_rate),
    ];
    let optional = [
        ("loss/validation", row.validation_loss),
        ("norm/weights", row.weight_norm),
        ("norm/gradients", row.gradient_norm),
        ("speed/positions_per_second", row.positions_per_second),
        ("speed/waiting_share", row.waiting),
    ];
    values.extend(optional.iter().filter_map(|(tag, value)| Some(Value::scalar(tag, (*value)?))));
    values
}

fn statistics_values(statistics: &Statistics) -> Vec<Value> {
    let mut values = Vec::new();
    for (name, norm) in &statistics.gradients {
        values.push(Value::scalar(&format!("gradient_norm/{name}"), *norm));
    }
    for weights in &statistics.weights {
        let name = &weights.name;
        values.push(Value::scalar(&format!("weight_norm/{name}"), weights.norm));
        values.push(Value::scalar(&format!("weights_at_limit/{name}"), weights.at_limit));
        values.push(Value::histogram(&format!("weights/{name}"), &weights.histogram));
    }
    for layer in &statistics.activations {
        let name = &layer.name;
        values.push(Value::scalar(&format!("activations_zero/{name}"), layer.zero));
        values.push(Value::scalar(&format!("activations_full/{name}"), layer.full));
        values.push(Value::scalar(&format!("dead_neurons/{name}"), layer.dead as f64));
        values.push(Value::histogram(&format!("activations/{name}"), &layer.histogram));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_about_two_thousand() {
        for (total, every) in [(0, 1), (20, 1), (2000, 1), (2001, 2), (1_000_000, 500)] {
            assert_eq!(row_every(total), every, "{total}");
        }
    }
}
