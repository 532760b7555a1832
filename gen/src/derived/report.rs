//! What a verb that makes files from files says when it is done.

use std::path::{Path, PathBuf};
use std::time::Instant;

use nnue_format::record::Totals;
use serde_json::{Map, Value, json};

use super::{DerivedError, Sources};

/// Counts with names, in the order they were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters(pub Vec<(&'static str, u64)>);

impl Counters {
    /// As JSON.
    pub fn json(&self) -> Value {
        self.0.iter().map(|&(name, count)| (name.to_owned(), json!(count))).collect::<Map<_, _>>().into()
    }

    /// For people: those that are not zero, one a line.
    pub fn lines(&self) -> Vec<String> {
        let shown = self.0.iter().filter(|(_, count)| *count > 0);
        shown.map(|(name, count)| format!("  {:<28}{count:>14}", name.replace('_', " "))).collect()
    }
}

/// What was read and written.
#[derive(Debug)]
pub struct Report {
    verb: &'static str,
    read: Totals,
    damaged: u64,
    begun: Instant,
    outputs: Vec<Output>,
    counters: Counters,
}

#[derive(Debug)]
struct Output {
    path: PathBuf,
    totals: Totals,
    bytes: u64,
    already: bool,
}

impl Report {
    /// For a verb that begins now.
    pub fn new(verb: &'static str, sources: &Sources) -> Report {
        let (read, damaged) = (sources.totals(), sources.damaged());
        Report {
            verb,
            read,
            damaged,
            begun: Instant::now(),
            outputs: Vec::new(),
            counters: Counters::default(),
        }
    }

    /// Adds a file; `already` if it was there, complete.
    ///
    /// # Errors
    /// When its length cannot be read.
    pub fn output(&mut self, path: &Path, totals: Totals, already: bool) -> Result<(), DerivedError> {
        let bytes = std::fs::metadata(path).map_err(DerivedError::io(path, "read"))?.len();
        self.outputs.push(Output { path: path.to_owned(), totals, bytes, already });
        Ok(())
    }

    /// Sets the counts.
    pub fn count(&mut self, counters: Counters) {
        self.counters = counters;
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        let outputs = self.outputs.iter().map(|Output { path, totals, bytes, already }| {
            json!({
                "file": path.to_string_lossy(),
                "state": state(*already),
                "games": totals.games,
                "plies": totals.plies,
                "positions": totals.positions,
                "bytes": bytes,
            })
        });
        json!({
            "verb": self.verb,
            "read": { "games": self.read.games, "plies": self.read.plies, "positions": self.read.positions },
            "damaged_parts_left_out": self.damaged,
            "counts": self.counters.json(),
            "files": outputs.collect::<Vec<_>>(),
            "seconds": self.begun.elapsed().as_secs_f64(),
        })
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut lines =
            vec![format!("{}: read {} games, {} positions", self.verb, self.read.games, self.read.positions)];
        if self.damaged > 0 {
            lines.push(format!("  {:<28}{:>14}", "damaged parts left out", self.damaged));
        }
        lines.extend(self.counters.lines());
        lines.extend(self.outputs.iter().map(|Output { path, totals, bytes, already }| {
            let Totals { games, positions, .. } = totals;
            format!(
                "{}: {}, {games} games, {positions} positions, {bytes} bytes",
                path.display(),
                state(*already)
            )
        }));
        lines.join("\n") + "\n"
    }
}

const fn state(already: bool) -> &'static str {
    if already { "already complete" } else { "complete" }
}
