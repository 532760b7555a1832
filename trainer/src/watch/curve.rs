//! `loss.csv`: the curve of a run.

use crate::checkpoint::{CheckpointError, write_file};
use serde::Serialize;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The columns, in the order in which new files have them.
const COLUMNS: [&str; 12] = [
    "step",
    "epoch",
    "positions",
    "lambda",
    "learning_rate",
    "loss",
    "validation_loss",
    "weight_norm",
    "gradient_norm",
    "positions_per_second",
    "waiting",
    "seconds",
];

/// One row: a step and how the run stood after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    /// Steps done.
    pub step: u64,
    /// Number of the pass through the data, from 0.
    pub epoch: u64,
    /// Positions trained on, each as often as it was used.
    pub positions: u64,
    /// Weight of the score against the outcome.
    pub lambda: f64,
    /// The learning rate.
    pub learning_rate: f64,
    /// Mean training loss of the last steps, as many as lie between two rows.
    pub loss: f64,
    /// Loss on the validation set, where one was measured.
    pub validation_loss: Option<f64>,
    /// Norm of all weights, where it was looked at.
    pub weight_norm: Option<f64>,
    /// Norm of the step's gradient, where it was looked at.
    pub gradient_norm: Option<f64>,
    /// Positions a second since the row before, loading included.
    pub positions_per_second: Option<f64>,
    /// Share of that time spent waiting for data.
    pub waiting: Option<f64>,
    /// Seconds since the run was started or resumed.
    pub seconds: f64,
}

/// The open file.
pub(super) struct Curve {
    path: PathBuf,
    file: File,
    /// The columns of the file: ours, and behind them those that another version has left in it.
    columns: Vec<String>,
}

impl Curve {
    /// Opens the curve of a run that has done `step` steps. Rows of later steps go away, and so do rows that were cut by
    /// a kill. A file with other columns gets ours, empty where it has no value, and keeps its own.
    pub(super) fn open(run: &Path, step: u64) -> Result<Curve, CheckpointError> {
        let path = run.join("loss.csv");
        let old = fs::read_to_string(&path).unwrap_or_default();
        let (names, rows) = whole_rows(&old);
        let mut columns: Vec<String> = COLUMNS.iter().map(|&name| name.to_owned()).collect();
        let foreign = names.iter().filter(|&&name| !COLUMNS.contains(&name) && !name.is_empty());
        columns.extend(foreign.map(|&name| name.to_owned()));
        let places: Vec<Option<usize>> =
            columns.iter().map(|column| names.iter().position(|name| name == column)).collect();
        let mut text = columns.join(",") + "\n";
        for (_, row) in rows.iter().filter(|(row_step, _)| *row_step <= step) {
            let fields: Vec<&str> = places.iter().map(|place| place.map_or("", |place| row[place])).collect();
            text += &fields.join(",");
            text.push('\n');
        }
        write_file(&path, text.as_bytes())?;
        let io = |source| CheckpointError::Io { path: path.clone(), source };
        let file = OpenOptions::new().append(true).open(&path).map_err(io)?;
        Ok(Curve { path: path.clone(), file, columns })
    }

    pub(super) fn add(&mut self, row: &Row) -> Result<(), CheckpointError> {
        let optional = |value: Option<f64>, places: usize| {
            value.map_or(String::new(), |value| format!("{value:.places$}"))
        };
        let fields = [
            row.step.to_string(),
            row.epoch.to_string(),
            row.positions.to_string(),
            format!("{:.6}", row.lambda),
            format!("{:.9}", row.learning_rate),
            format!("{:.9}", row.loss),
            optional(row.validation_loss, 9),
            optional(row.weight_norm, 6),
            row.gradient_norm.map_or(String::new(), |norm| format!("{norm:.6e}")),
            optional(row.positions_per_second, 0),
            optional(row.waiting, 4),
            format!("{:.3}", row.seconds),
        ];
        let foreign = ",".repeat(self.columns.len() - COLUMNS.len());
        let line = fields.join(",") + &foreign + "\n";
        let io = |source| CheckpointError::Io { path: self.path.clone(), source };
        self.file.write_all(line.as_bytes()).map_err(io)
    }

    pub(super) fn sync(&mut self) -> Result<(), CheckpointError> {
        let io = |source| CheckpointError::Io { path: self.path.clone(), source };
        self.file.sync_data().map_err(io)
    }
}

/// The rows of a run's curve; none when it has no curve yet. Columns are known by their names; those the file lacks are
/// empty.
///
/// # Errors
/// [`CheckpointError::Io`].
pub fn read(run: &Path) -> Result<Vec<Row>, CheckpointError> {
    let path = run.join("loss.csv");
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(CheckpointError::Io { path, source }),
    };
    let (names, rows) = whole_rows(&text);
    let place = |name: &str| names.iter().position(|known| *known == name);
    let places = COLUMNS.map(place);
    let row = |(step, fields): &(u64, Vec<&str>)| {
        let value = |column: usize| fields[places[column]?].parse::<f64>().ok();
        let number = |column: usize| value(column).unwrap_or_default();
        Row {
            step: *step,
            epoch: number(1) as u64,
            positions: number(2) as u64,
            lambda: number(3),
            learning_rate: number(4),
            loss: number(5),
            validation_loss: value(6),
            weight_norm: value(7),
            gradient_norm: value(8),
            positions_per_second: value(9),
            waiting: value(10),
            seconds: number(11),
        }
    };
    Ok(rows.iter().map(row).collect())
}

/// The columns, and the rows with their steps: those that end with a line feed, have as many fields as there are
/// columns, and go on from the row before.
fn whole_rows(text: &str) -> (Vec<&str>, Vec<(u64, Vec<&str>)>) {
    let mut lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    let names: Vec<&str> = lines.next().unwrap_or_default().trim_end_matches('\r').split(',').collect();
    let Some(step_column) = names.iter().position(|name| *name == "step") else {
        return (Vec::new(), Vec::new());
    };
    let mut rows: Vec<(u64, Vec<&str>)> = Vec::new();
    for line in lines {
        let fields: Vec<&str> = line.trim_end_matches('\r').split(',').collect();
        let step = fields.get(step_column).and_then(|word| word.parse().ok());
        if let Some(step) = step
            && fields.len() == names.len()
            && rows.last().is_none_or(|(last, _)| *last < step)
        {
            rows.push((step, fields));
        }
    }
    (names, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(step: u64) -> Row {
        Row { step, loss: 0.25, validation_loss: step.is_multiple_of(2).then_some(0.5), ..Row::default() }
    }

    fn steps(run: &Path) -> Vec<u64> {
        read(run).unwrap().iter().map(|row| row.step).collect()
    }

    #[test]
    fn a_resumed_curve_has_every_step_once() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path();
        assert_eq!(read(run).unwrap(), []);
        let mut curve = Curve::open(run, 0).unwrap();
        (1..=5).for_each(|step| curve.add(&row(step)).unwrap());
        curve.sync().unwrap();
        drop(curve);
        assert_eq!(read(run).unwrap()[3], row(4));
        // A kill cut the row of step 1234 behind its first digits.
        let path = run.join("loss.csv");
        let cut = fs::read_to_string(&path).unwrap() + "1";
        fs::write(&path, cut).unwrap();
        let mut curve = Curve::open(run, 3).unwrap();
        assert_eq!(steps(run), [1, 2, 3]);
        (4..=6).for_each(|step| curve.add(&row(step)).unwrap());
        assert_eq!(steps(run), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn other_columns_are_kept_and_ours_added() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path();
        let old = "step,loss,mood,seconds\n1,0.5,good,1.0\n1,0.4,again,1.0\n2,0.25,bad,2.0\n3,0.1";
        fs::write(run.join("loss.csv"), old).unwrap();
        let mut curve = Curve::open(run, 2).unwrap();
        curve.add(&row(3)).unwrap();
        let rows = read(run).unwrap();
        let found: Vec<(u64, f64, f64)> = rows.iter().map(|row| (row.step, row.loss, row.seconds)).collect();
        assert_eq!(found, [(1, 0.5, 1.0), (2, 0.25, 2.0), (3, 0.25, 0.0)]);
        assert_eq!(rows[0].validation_loss, None);
        let text = fs::read_to_string(run.join("loss.csv")).unwrap();
        assert!(text.lines().next().unwrap().ends_with(",seconds,mood"), "{text}");
        assert!(text.contains(",good\n") && text.ends_with(",\n"), "{text}");
    }
}
