//! Running a tuning: threads take pairs, results move the middle in iteration order.
//!
//! At fixed nodes the way of the middle is the same with any number of threads and however often the run was
//! interrupted: which pairs are played about which middle follows from the settings alone.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::contest::{ContestError, Contestant, NoPair, PairPoints};
use super::gains::{Settings, Trajectory};
use crate::journal::{Entry, Journal, JournalError};

/// Between two looks at the sign to stop.
const LOOK: Duration = Duration::from_millis(100);

/// A finished pair in the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PairResult {
    /// Its number, from 0.
    pair: u64,
    /// Half points of the upper side in each game.
    points: [u8; 2],
    /// A game lost by a failure.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    note: Option<String>,
}

impl Entry for PairResult {
    const FORMAT: &'static str = "chuhe-spsa/1";

    fn number(&self) -> u64 {
        self.pair
    }
}

/// Why a tuning cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum SpsaError {
    /// Pairs cannot be played.
    #[error(transparent)]
    Contest(#[from] ContestError),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A thread ended without a word.
    #[error("a playing thread ended unexpectedly; the journal holds what was finished")]
    Thread,
}

/// How a tuning stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuned {
    /// The way of the middle.
    pub trajectory: Trajectory,
    /// Games that the upper sides lost, drew and won.
    pub games: [u64; 3],
    /// Games lost by a failure.
    pub failures: u64,
    /// Pairs taken from the journal.
    pub continued: u64,
    /// Was the run interrupted before its end?
    pub interrupted: bool,
}

/// What happens in a tuning.
pub enum Event<'a> {
    /// Results were taken from the journal: so many pairs.
    Continued(u64),
    /// A pair was finished; what went wrong in it.
    Pair(u64, Option<&'a str>),
    /// An iteration moved the middle.
    Iteration(&'a Tuned),
    /// Time went by.
    Tick,
}

/// Makes somebody to play pairs on one thread, who looks at the flag to know when to stop.
pub type MakeContestant<'a> = dyn Fn(&Arc<AtomicBool>) -> Box<dyn Contestant> + Sync + 'a;

/// A pair to play.
struct Task {
    pair: u64,
    sides: [Vec<i32>; 2],
}

/// What has to stay the same for a run to continue another one.
fn plan(settings: &Settings, contest: &Value) -> Value {
    let lines: Vec<String> =
        settings.parameters.iter().map(|parameter| parameter.line(parameter.value)).collect();
    json!({
        "contest": contest,
        "parameters": lines,
        "iterations": settings.iterations,
        "batch": settings.batch,
        "ahead": settings.ahead,
        "seed": settings.seed,
        "alpha": settings.alpha,
        "gamma": settings.gamma,
        "stability": settings.stability,
        "program": env!("CARGO_PKG_VERSION"),
    })
}

/// Tunes, or goes on with it. `contest` says what is played, `contestant` makes a player of pairs for each of
/// `concurrency` threads (told by its flag when to stop). `stop` may be set at any time: unfinished pairs are dropped.
///
/// # Errors
/// When it cannot go on; what was finished is in the journal.
pub fn run(
    settings: &Settings,
    contest: &Value,
    journal: &Path,
    (contestant, concurrency): (&MakeContestant<'_>, usize),
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<Tuned, SpsaError> {
    let (journal, kept) = Journal::open(journal, &plan(settings, contest))?;
    let continued = kept.len() as u64;
    let tuned = Tuned {
        trajectory: Trajectory::new(settings),
        games: [0; 3],
        failures: 0,
        continued,
        interrupted: false,
    };
    let mut state = State { settings, journal, waiting: kept, tuned, given_out: 0 };
    if continued > 0 {
        on_event(Event::Continued(continued));
    }
    state.count(on_event);
    if state.is_over() {
        return Ok(state.tuned);
    }
    let halt = Arc::new(AtomicBool::new(false));
    thread::scope(|scope| {
        let (give, tasks) = channel();
        let tasks = Mutex::new(tasks);
        let (sink, results) = channel();
        // The scope ends when its threads have: they borrow the queue from this frame's tasks.
        let tasks = Arc::new(tasks);
        for _ in 0..concurrency.max(1) {
            let (tasks, sink, halt) = (Arc::clone(&tasks), sink.clone(), Arc::clone(&halt));
            scope.spawn(move || work(contestant(&halt), &tasks, &sink));
        }
        drop(sink);
        let done = state.go_on(&give, &results, stop, on_event);
        halt.store(true, Ordering::Relaxed);
        drop(give);
        done
    })?;
    Ok(state.tuned)
}

/// One thread: plays what it is given until there is no more.
fn work(
    mut contestant: Box<dyn Contestant>,
    tasks: &Mutex<Receiver<Task>>,
    sink: &Sender<Result<PairResult, ContestError>>,
) {
    loop {
        let task = tasks.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Task { pair, sides }) = task else { return };
        let finished = match contestant.play(pair, &sides) {
            Ok(PairPoints { points, note }) => Ok(PairResult { pair, points, note }),
            Err(NoPair::Interrupted) => return,
            Err(NoPair::Error(error)) => Err(error),
        };
        let failed = finished.is_err();
        if sink.send(finished).is_err() || failed {
            return;
        }
    }
}

struct State<'a> {
    settings: &'a Settings,
    journal: Journal<PairResult>,
    /// Finished pairs whose iteration is not complete, or was not yet counted.
    waiting: BTreeMap<u64, PairResult>,
    tuned: Tuned,
    /// Pairs below this were given to threads, or were in the journal.
    given_out: u64,
}

impl State<'_> {
    fn is_over(&self) -> bool {
        self.tuned.trajectory.iterations() >= self.settings.iterations
    }

    /// Gives out what can be played, and takes in results, until all is done or `stop` is set.
    fn go_on(
        &mut self,
        give: &Sender<Task>,
        results: &Receiver<Result<PairResult, ContestError>>,
        stop: &AtomicBool,
        on_event: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), SpsaError> {
        self.give_out(give);
        while !self.is_over() {
            if stop.load(Ordering::Relaxed) {
                self.tuned.interrupted = true;
                return Ok(());
            }
            match results.recv_timeout(LOOK) {
                Ok(finished) => {
                    let finished = finished?;
                    self.journal.write(&finished)?;
                    on_event(Event::Pair(finished.pair, finished.note.as_deref()));
                    self.waiting.insert(finished.pair, finished);
                    self.count(on_event);
                    self.give_out(give);
                }
                Err(RecvTimeoutError::Timeout) => on_event(Event::Tick),
                Err(RecvTimeoutError::Disconnected) => return Err(SpsaError::Thread),
            }
        }
        Ok(())
    }

    /// Gives the pairs of all iterations whose middle is known to the threads, but for those that are finished.
    fn give_out(&mut self, give: &Sender<Task>) {
        let settings = self.settings;
        while self.given_out < settings.pairs() {
            let iteration = self.given_out / settings.batch.max(1);
            let Some(middle) = self.tuned.trajectory.middle(settings, iteration) else { return };
            let pair = self.given_out;
            let counted = iteration < self.tuned.trajectory.iterations();
            if !counted && !self.waiting.contains_key(&pair) {
                // Threads that are gone have told why.
                let _ = give.send(Task { pair, sides: settings.sides(middle, pair) });
            }
            self.given_out += 1;
        }
    }

    /// Moves the middle by every iteration that is complete, in order.
    fn count(&mut self, on_event: &mut dyn FnMut(Event<'_>)) {
        let batch = self.settings.batch;
        while !self.is_over() {
            let first = self.tuned.trajectory.iterations() * batch;
            let pairs = first..first + batch;
            if !pairs.clone().all(|pair| self.waiting.contains_key(&pair)) {
                return;
            }
            let mut result = 0;
            for pair in pairs.filter_map(|pair| self.waiting.remove(&pair)) {
                for points in pair.points {
                    self.tuned.games[usize::from(points.min(2))] += 1;
                    result += i64::from(points.min(2)) - 1;
                }
                self.tuned.failures += u64::from(pair.note.is_some());
            }
            self.tuned.trajectory.add(self.settings, result);
            on_event(Event::Iteration(&self.tuned));
        }
    }
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
