//! What a step's child left: its answer, or why there is none.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use serde_json::{Value, json};

use super::child;
use super::steps::{self, Step};

/// So many rows of a training's curve are kept in the journal.
const CURVE_ROWS: usize = 200;

/// A child that has ended.
pub(super) struct StepRun<'a> {
    /// The generation.
    pub(super) generation: u32,
    /// The step.
    pub(super) step: &'a Step,
    /// How it ended.
    pub(super) status: ExitStatus,
    /// Time that it took.
    pub(super) seconds: f64,
    /// Its stdout.
    pub(super) answer: PathBuf,
    /// Its stderr.
    pub(super) log: PathBuf,
}

impl StepRun<'_> {
    /// What it said, if it did what it had to.
    pub(super) fn result(&self, folder: &Path) -> Result<Value, String> {
        let said = fs::read(&self.answer).unwrap_or_default();
        if !self.status.success() {
            let tail = child::tail(&self.log);
            let said = String::from_utf8_lossy(&said);
            return Err([tail.trim(), said.trim()].join("\n").trim().to_owned());
        }
        let mut result: Value = serde_json::from_slice(&said)
            .map_err(|error| format!("its answer is not JSON ({error}): {}", self.answer.display()))?;
        if let Some(missing) = self.step.outputs.iter().find(|path| !folder.join(path).exists()) {
            return Err(format!("it says that it is done, and {missing} is not there"));
        }
        if self.step.name == "train" {
            let curve = folder.join(steps::folder(self.generation)).join("model/loss.csv");
            result["curve"] = curve_of(&fs::read_to_string(curve).unwrap_or_default());
        }
        Ok(result)
    }
}

/// Some rows of `loss.csv`: step, loss, validation loss (all rows that have one).
fn curve_of(csv: &str) -> Value {
    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let column = |name: &str| names.iter().position(|&known| known == name);
    let (Some(step), Some(loss), Some(validation)) =
        (column("step"), column("loss"), column("validation_loss"))
    else {
        return json!([]);
    };
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let every = rows.len().div_ceil(CURVE_ROWS).max(1);
    let number = |row: &[&str], at: usize| row.get(at).and_then(|word| word.parse::<f64>().ok());
    let kept = rows.iter().enumerate().filter(|(index, row)| {
        index % every == 0 || index + 1 == rows.len() || number(row, validation).is_some()
    });
    let row = |(_, row): (usize, &Vec<&str>)| {
        json!([number(row, step), number(row, loss), number(row, validation)])
    };
    Value::Array(kept.map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_keeps_validation_and_both_ends() {
        let mut csv = "step,epoch,loss,validation_loss\n".to_owned();
        for step in 1..=1000 {
            let validation = if step % 300 == 0 { "0.5" } else { "" };
            csv += &format!("{step},0,{},{validation}\n", 1.0 / f64::from(step));
        }
        let curve = curve_of(&csv);
        let rows = curve.as_array().expect("rows");
        assert!((200..=210).contains(&rows.len()), "{}", rows.len());
        assert_eq!((&rows[0][0], &rows[rows.len() - 1][0]), (&json!(1.0), &json!(1000.0)));
        assert_eq!(rows.iter().filter(|row| row[2] == 0.5).count(), 3);
        assert_eq!(curve_of("no,curve\n1,2\n"), json!([]));
    }
}
