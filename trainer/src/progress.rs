//! The progress line, on standard error: one line redrawn on a terminal, else a plain line now and then.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// How often a terminal's line is redrawn.
const REDRAW: Duration = Duration::from_millis(200);
/// How often a plain line is written.
const PLAIN: Duration = Duration::from_secs(10);

/// Draws progress.
pub struct Progress {
    quiet: bool,
    terminal: bool,
    started: Instant,
    /// Steps done when the clock was started: a resumed run does not count its past.
    first_step: u64,
    last: Option<Instant>,
    drawn: bool,
}

/// What the line shows.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// Steps done.
    pub step: u64,
    /// Steps in all.
    pub total: u64,
    /// Mean loss of the last steps.
    pub loss: f64,
    /// The last validation loss.
    pub validation: Option<f64>,
    /// Positions trained a second.
    pub rate: f64,
    /// Share of the time spent waiting for data.
    pub waiting: f64,
}

impl Progress {
    /// Starts the clock; `quiet` shows nothing at all.
    pub fn start(first_step: u64, quiet: bool) -> Progress {
        let terminal = std::io::stderr().is_terminal();
        Progress { quiet, terminal, started: Instant::now(), first_step, last: None, drawn: false }
    }

    /// Shows where the run is, if it is time to.
    pub fn show(&mut self, shown: &Shown) {
        let every = if self.terminal { REDRAW } else { PLAIN };
        let now = Instant::now();
        if self.quiet {
            return;
        }
        if self.last.is_some_and(|last| now - last < every) && shown.step != shown.total {
            return;
        }
        self.last = Some(now);
        let line = self.line(shown);
        let mut err = std::io::stderr().lock();
        // A closed standard error stops no training.
        let _ = if self.terminal { write!(err, "\r\x1b[K{line}") } else { writeln!(err, "{line}") };
        let _ = err.flush();
        self.drawn = self.terminal;
    }

    /// Writes a line of its own.
    pub fn say(&mut self, text: &str) {
        if self.quiet {
            return;
        }
        let mut err = std::io::stderr().lock();
        let start = if std::mem::take(&mut self.drawn) { "\r\x1b[K" } else { "" };
        let _ = writeln!(err, "{start}{text}");
    }

    /// Ends the redrawn line.
    pub fn finish(&mut self) {
        if std::mem::take(&mut self.drawn) {
            let _ = writeln!(std::io::stderr());
        }
    }

    fn line(&self, shown: &Shown) -> String {
        let done = shown.step.saturating_sub(self.first_step);
        let left = shown.total.saturating_sub(shown.step);
        let seconds = self.started.elapsed().as_secs_f64();
        let eta = if done == 0 { String::from("?") } else { clock(seconds / done as f64 * left as f64) };
        let validation = shown.validation.map_or(String::new(), |loss| format!(", validation {loss:.6}"));
        format!(
            "step {}/{} ({:.0} %), loss {:.6}{validation}, {:.0} positions/s, {:.0} % waiting for data, {eta} left",
            shown.step,
            shown.total,
            100.0 * shown.step as f64 / shown.total.max(1) as f64,
            shown.loss,
            shown.rate,
            100.0 * shown.waiting,
        )
    }
}

/// `1:02:03` or `2:03`.
fn clock(seconds: f64) -> String {
    let seconds = seconds.round().clamp(0.0, 1e9) as u64;
    let (h, m, s) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if h > 0 { format!("{h}:{m:02}:{s:02}") } else { format!("{m}:{s:02}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks() {
        for (seconds, text) in [(0.4, "0:00"), (61.0, "1:01"), (3723.0, "1:02:03")] {
            assert_eq!(clock(seconds), text);
        }
    }
}
