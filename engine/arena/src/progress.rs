//! Progress on stderr: a bar at a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use arena::runner::Event;
use arena::stats::Sprt;
use arena::tally::Tally;
use indicatif::{ProgressBar, ProgressStyle};

/// Between plain lines.
const LINE_EVERY: Duration = Duration::from_secs(10);

pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    began: Instant,
    last_line: Instant,
    pairs: u64,
    continued: u64,
    sprt: Option<Sprt>,
}

impl Progress {
    pub(crate) fn new(pairs: u64, sprt: Option<Sprt>) -> Progress {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(pairs);
            // The template is constant and right; a plain bar would do as well.
            if let Ok(style) = ProgressStyle::with_template("{bar:20} {pos}/{len} pairs  {msg}") {
                bar.set_style(style);
            }
            bar
        });
        let now = Instant::now();
        Progress { bar, began: now, last_line: now, pairs, continued: 0, sprt }
    }

    /// A line of its own.
    pub(crate) fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None => eprintln!("{line}"),
        }
    }

    pub(crate) fn on_event(&mut self, event: Event<'_>) {
        match event {
            Event::Players(infos) => {
                for (name, info) in ["A", "B"].iter().zip(infos) {
                    let base = info.rank_base;
                    self.say(&format!(
                        "{name}: {} ({}, ranks {base}-{})",
                        info.name,
                        info.protocol,
                        base + 9
                    ));
                    for warning in &info.warnings {
                        self.say(&format!("{name}: warning: {warning}"));
                    }
                }
                (self.began, self.last_line) = (Instant::now(), Instant::now());
            }
            Event::Continued(pairs) => {
                self.continued = pairs;
                self.say(&format!("continued: {pairs} pairs counted from the journal"));
            }
            Event::Pair(record, tally) => {
                for game in &record.games {
                    if let Some((side, kind)) = game.failure() {
                        let detail = game.detail.as_deref().unwrap_or("");
                        let (side, kind) = (side.name(), kind.name());
                        self.say(&format!("pair {}: {kind} of {side}: {detail}", record.pair));
                    }
                }
                self.show(tally, tally.pairs() == self.pairs);
            }
            Event::Tick(tally) => self.show(tally, false),
        }
    }

    fn show(&mut self, tally: &Tally, now: bool) {
        if let Some(bar) = &self.bar {
            bar.set_position(tally.pairs());
            bar.set_message(self.line(tally));
        } else if now || self.last_line.elapsed() >= LINE_EVERY {
            self.last_line = Instant::now();
            eprintln!("{}/{} pairs  {}", tally.pairs(), self.pairs, self.line(tally));
        }
    }

    fn line(&self, tally: &Tally) -> String {
        let [losses, draws, wins] = tally.trinomial;
        let estimate = tally.estimate();
        let mut line =
            format!("+{wins} ={draws} -{losses}  Elo {:+.1} ± {:.1}", estimate.elo, estimate.elo_error);
        if let Some(sprt) = &self.sprt {
            let (lower, upper) = sprt.bounds();
            line += &format!("  LLR {:.2} ({lower:.2}, {upper:.2})", tally.test(sprt).0);
        }
        let seconds = self.began.elapsed().as_secs_f64();
        let played = tally.pairs().saturating_sub(self.continued);
        if played > 0 && seconds > 0.0 {
            let rate = 2.0 * played as f64 / seconds;
            let left = 2.0 * self.pairs.saturating_sub(tally.pairs()) as f64 / rate;
            line += &format!("  {rate:.2} games/s  ETA {}", clock(left as u64));
        }
        line
    }

    pub(crate) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// `h:mm:ss`
pub(crate) fn clock(seconds: u64) -> String {
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}
