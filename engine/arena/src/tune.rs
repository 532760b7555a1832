//! `chuhe-match spsa`: runs a tuning, tells how it goes, leaves its files.

use std::fs;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use arena::spsa::{self, Event, Settings, Tuned};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use crate::cli::SpsaArgs;
use crate::progress::clock;
use crate::{DONE, NOT_RUN, stop_at_interrupt};

/// Between plain lines.
const LINE_EVERY: Duration = Duration::from_secs(10);
/// So many numbers are shown in a line of progress.
const SHOWN: usize = 4;

pub(crate) fn run(args: &SpsaArgs) -> anyhow::Result<u8> {
    let settings = args.settings()?;
    let contest = args.contest(settings.pairs())?;
    let engine = contest.check(&settings.parameters)?;
    let description = contest.description();
    eprintln!(
        "tuning {} numbers of {engine}: {} iterations of {} pairs at {}, seed {}, {} at once",
        settings.parameters.len(),
        settings.iterations,
        settings.batch,
        description["limit"].as_str().unwrap_or_default(),
        settings.seed,
        args.concurrency()
    );
    let stop = stop_at_interrupt()?;
    let mut progress = Progress::new(&settings);
    let contestant = |halt: &_| contest.contestant(&settings.parameters, halt);
    let tuned = spsa::run(
        &settings,
        &description,
        &args.journal,
        (&contestant, args.concurrency()),
        &stop,
        &mut |event| progress.on_event(&event),
    );
    progress.finish();
    let tuned = tuned?;
    if let Some(path) = &args.csv {
        put(path, &spsa::csv(&settings, &tuned.trajectory))?;
    }
    if let Some(path) = &args.html {
        put(path, &spsa::html(&settings, &tuned.trajectory))?;
    }
    if args.json {
        println!("{}", summary(args, &settings, &tuned));
    } else {
        print!("{}", spsa::text(&settings, &tuned.trajectory));
    }
    if !tuned.interrupted {
        return Ok(DONE);
    }
    let (done, path) = (tuned.trajectory.iterations(), args.journal.display());
    eprintln!("interrupted after {done} iterations; the same command goes on from {path}");
    Ok(NOT_RUN)
}

fn summary(args: &SpsaArgs, settings: &Settings, tuned: &Tuned) -> Value {
    let parameters = settings.parameters.iter().zip(tuned.trajectory.now()).map(|(parameter, now)| {
        json!({ "name": parameter.name, "start": parameter.value, "now": now, "value": now.round() as i64 })
    });
    let path = |path: &Option<std::path::PathBuf>| path.as_ref().map(|path| path.display().to_string());
    json!({
        "iterations": tuned.trajectory.iterations(),
        "pairs": tuned.trajectory.iterations() * settings.batch,
        "complete": !tuned.interrupted,
        "continued": tuned.continued,
        "games": { "losses": tuned.games[0], "draws": tuned.games[1], "wins": tuned.games[2] },
        "failures": tuned.failures,
        "parameters": parameters.collect::<Vec<_>>(),
        "files": { "journal": args.journal.display().to_string(), "csv": path(&args.csv), "html": path(&args.html) },
    })
}

/// Puts a file in place whole.
fn put(path: &Path, text: &str) -> anyhow::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    let partial = path.with_file_name(name);
    let written = fs::File::create(&partial)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&partial, path));
    written.with_context(|| path.display().to_string())
}

/// A bar at a terminal, plain lines elsewhere.
struct Progress<'a> {
    settings: &'a Settings,
    bar: Option<ProgressBar>,
    began: Instant,
    last_line: Instant,
    /// Pairs played by this run.
    played: u64,
    finished: u64,
    line: String,
}

impl Progress<'_> {
    fn new(settings: &Settings) -> Progress<'_> {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(settings.pairs());
            // The template is constant and right; a plain bar would do as well.
            if let Ok(style) = ProgressStyle::with_template("{bar:20} {pos}/{len} pairs  {msg}") {
                bar.set_style(style);
            }
            bar
        });
        let now = Instant::now();
        Progress { settings, bar, began: now, last_line: now, played: 0, finished: 0, line: String::new() }
    }

    fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None => eprintln!("{line}"),
        }
    }

    fn on_event(&mut self, event: &Event<'_>) {
        match *event {
            Event::Continued(pairs) => {
                self.finished += pairs;
                self.say(&format!("continued: {pairs} pairs from the journal"));
            }
            Event::Pair(pair, note) => {
                self.played += 1;
                self.finished += 1;
                if let Some(note) = note {
                    self.say(&format!("pair {pair}: {note}"));
                }
                self.show(false);
            }
            Event::Iteration(tuned) => {
                self.line = self.numbers(tuned);
                self.show(tuned.trajectory.iterations() == self.settings.iterations);
            }
            Event::Tick => self.show(false),
        }
    }

    fn numbers(&self, tuned: &Tuned) -> String {
        let [losses, draws, wins] = tuned.games;
        let mut line = format!("iteration {}  +{wins} ={draws} -{losses}", tuned.trajectory.iterations());
        let now = self.settings.parameters.iter().zip(tuned.trajectory.now());
        for (parameter, now) in now.take(SHOWN) {
            line += &format!("  {} {now:.1}", parameter.name);
        }
        line + if self.settings.parameters.len() > SHOWN { " …" } else { "" }
    }

    fn show(&mut self, now: bool) {
        let seconds = self.began.elapsed().as_secs_f64();
        let mut line = self.line.clone();
        if self.played > 0 && seconds > 0.0 {
            let rate = self.played as f64 / seconds;
            let left = self.settings.pairs().saturating_sub(self.finished) as f64 / rate;
            line += &format!("  {rate:.2} pairs/s  ETA {}", clock(left as u64));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.finished);
            bar.set_message(line);
        } else if now || self.last_line.elapsed() >= LINE_EVERY {
            self.last_line = Instant::now();
            eprintln!("{}/{} pairs  {line}", self.finished, self.settings.pairs());
        }
    }

    fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
