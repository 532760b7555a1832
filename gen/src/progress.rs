//! Progress on stderr: a bar on a terminal, a plain line now and then elsewhere. Nothing but what is shown
//! depends on the clock.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use nnue_format::record::Totals;

use crate::plan::Count;

/// Plain lines come at most this often.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// Shows how far a run is.
#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    count: Count,
    found: Totals,
    begun: Instant,
    last_line: Instant,
    quiet: bool,
}

impl Progress {
    /// For a run that begins with `found`; `quiet` shows nothing.
    pub fn new(count: Count, found: Totals, quiet: bool) -> Progress {
        let total = total(count);
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new(total);
            let template = "{bar:30} {percent:>3} %  {msg}  {eta_precise} left";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            // The time for what was found does not count.
            bar.reset_eta();
            bar
        });
        let now = Instant::now();
        Progress { bar, count, found, begun: now, last_line: now, quiet }
    }

    /// Time since the run began (or went on).
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Positions a second since the run began (or went on).
    pub fn positions_per_second(&self, written: Totals) -> u64 {
        per_second(written.positions - self.found.positions, self.elapsed())
    }

    /// Shows what is written now.
    pub fn show(&mut self, written: Totals) {
        if let Some(bar) = &self.bar {
            bar.set_position(self.done(written));
            bar.set_message(self.message(written));
        } else if !self.quiet && self.last_line.elapsed() >= LINE_INTERVAL {
            self.last_line = Instant::now();
            note(&format!("{}, {} left", self.message(written), self.left(written)));
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn message(&self, written: Totals) -> String {
        let (done, total) = (self.done(written), total(self.count));
        let (what, other) = match self.count {
            Count::Positions(_) => ("positions", format!("{} games", written.games)),
            _ => ("games", format!("{} positions", written.positions)),
        };
        format!("{done}/{total} {what}, {other}, {} positions/s", self.positions_per_second(written))
    }

    const fn done(&self, totals: Totals) -> u64 {
        match self.count {
            Count::Positions(_) => totals.positions,
            _ => totals.games,
        }
    }

    fn left(&self, written: Totals) -> String {
        let total = total(self.count);
        let made = self.done(written).saturating_sub(self.done(self.found));
        let missing = total.saturating_sub(self.done(written));
        let millis = u128::from(missing) * self.elapsed().as_millis();
        match millis.checked_div(u128::from(made)) {
            Some(millis) => format!("{} s", millis / 1000),
            None => "unknown time".to_owned(),
        }
    }
}

/// How many there will be: of games, or of positions.
const fn total(count: Count) -> u64 {
    match count {
        Count::Games(n) | Count::Positions(n) => n,
        // Told as games: see `Plan::greatest_count`.
        Count::WholeBook => 0,
    }
}

/// Shows how many of a known number are done, where the time for each is alike.
#[derive(Debug)]
pub struct LineProgress {
    what: &'static str,
    begun: Instant,
    last_line: Option<Instant>,
    on_terminal: bool,
    quiet: bool,
}

impl LineProgress {
    /// For so-called things; `quiet` shows nothing.
    pub fn new(what: &'static str, quiet: bool) -> LineProgress {
        let on_terminal = std::io::stderr().is_terminal();
        LineProgress { what, begun: Instant::now(), last_line: None, on_terminal, quiet }
    }

    /// Shows what is done, at most once in some seconds.
    pub fn show(&mut self, done: u64, all: u64) {
        let since = self.last_line.unwrap_or(self.begun);
        if self.quiet || since.elapsed() < LINE_INTERVAL / if self.on_terminal { 10 } else { 1 } {
            return;
        }
        self.last_line = Some(Instant::now());
        let left =
            u128::from(all - done.min(all)) * self.begun.elapsed().as_millis() / u128::from(done.max(1));
        let rate = per_second(done, self.begun.elapsed());
        let line = format!("{done}/{all} {}, {rate}/s, {} s left", self.what, left / 1000);
        if self.on_terminal {
            _ = write!(std::io::stderr().lock(), "\r\x1b[K{line}");
        } else {
            note(&line);
        }
    }

    /// Shows what is done where nobody knows how many there are, at most once in some seconds.
    pub fn count(&mut self, done: u64) {
        let since = self.last_line.unwrap_or(self.begun);
        if self.quiet || since.elapsed() < LINE_INTERVAL / if self.on_terminal { 10 } else { 1 } {
            return;
        }
        self.last_line = Some(Instant::now());
        let line = format!("{done} {}, {}/s", self.what, per_second(done, self.begun.elapsed()));
        if self.on_terminal {
            _ = write!(std::io::stderr().lock(), "\r\x1b[K{line}");
        } else {
            note(&line);
        }
    }

    /// Takes the line away from a terminal.
    pub fn finish(&self) {
        if self.on_terminal && self.last_line.is_some() {
            _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}

/// How many a second.
pub fn per_second(count: u64, time: Duration) -> u64 {
    let per_second = u128::from(count) * 1000 / time.as_millis().max(1);
    u64::try_from(per_second).unwrap_or(u64::MAX)
}

/// A line on stderr. That nobody reads it must not end a run.
pub fn note(line: &str) {
    _ = writeln!(std::io::stderr().lock(), "{line}");
}
