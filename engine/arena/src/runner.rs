//! Playing a match: threads take pairs, results count in pair order.
//!
//! Threads finish pairs in any order. Each is written to the journal when it finishes, and counted
//! when all pairs before it are counted; a sequential test is looked at after each counted pair, and
//! what was played beyond the pair that decided it does not count. At fixed nodes the result is
//! therefore the same with any number of threads and however often the run was interrupted.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::game::{GameSettings, NoGame, play};
use crate::journal::{Journal, JournalError};
use crate::openings::OpeningError;
use crate::pgn::PgnWriter;
use crate::plan::Match;
use crate::player::{Player, PlayerInfo, StartError};
use crate::record::PairRecord;
use crate::stats::State;
use crate::tally::Tally;

/// Between two looks at the sign to stop.
const LOOK: Duration = Duration::from_millis(100);

/// Where a match leaves its files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outputs {
    /// The journal; without one a run cannot be continued.
    pub journal: Option<PathBuf>,
    /// The games.
    pub pgn: Option<PathBuf>,
}

/// Why a match cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A player does not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// There is no opening.
    #[error(transparent)]
    Opening(#[from] OpeningError),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The games' file.
    #[error("{path}: {source}")]
    Pgn {
        /// The file.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// A game that cannot be played, through no fault of a player.
    #[error("pair {pair}: {what}")]
    Game {
        /// The pair, from 0.
        pair: u64,
        /// What is wrong.
        what: String,
    },
    /// A thread ended without a word.
    #[error("a playing thread ended unexpectedly; the journal holds what was finished")]
    Thread,
}

/// What happens in a match.
pub enum Event<'a> {
    /// The first players run.
    Players(&'a [PlayerInfo; 2]),
    /// Pairs were counted from the journal.
    Continued(u64),
    /// A pair was counted.
    Pair(&'a PairRecord, &'a Tally),
    /// Time went by.
    Tick(&'a Tally),
}

/// How a match stands when a run of it ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// What counts.
    pub tally: Tally,
    /// Names of A and B.
    pub names: [String; 2],
    /// Was the run interrupted before the match's end?
    pub interrupted: bool,
    /// Pairs counted from the journal.
    pub continued: u64,
    /// Pairs played beyond the one that decided the test.
    pub surplus: u64,
    /// Seconds that this run took.
    pub seconds: f64,
}

/// What threads send.
type Finished = Result<PairRecord, RunError>;

/// Plays a match, or goes on with it. `stop` may be set at any time: unfinished pairs are dropped.
///
/// # Errors
/// When the match cannot go on; what was finished is in the journal.
pub fn run(
    game: &Match,
    outputs: &Outputs,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<Summary, RunError> {
    let began = Instant::now();
    let (journal, kept) = match &outputs.journal {
        Some(path) => {
            Journal::open(path, &game.description()).map(|(journal, kept)| (Some(journal), kept))?
        }
        None => (None, BTreeMap::new()),
    };
    let done: BTreeSet<u64> = kept.keys().copied().collect();
    let mut scorer = Scorer::new(game, journal, outputs.pgn.as_deref())?;
    scorer.pending = kept;
    scorer.count(&mut |_| {})?;
    let continued = scorer.next;
    if continued > 0 {
        on_event(Event::Continued(continued));
    }
    let interrupted =
        if scorer.over() { false } else { play_rest(game, &done, &mut scorer, stop, on_event)? };
    if !interrupted {
        scorer.finish_pgn()?;
    }
    Ok(Summary {
        names: scorer.names.unwrap_or_else(|| game.plan().players.each_ref().map(|spec| spec.name())),
        tally: scorer.tally,
        interrupted,
        continued,
        surplus: scorer.pending.len() as u64,
        seconds: began.elapsed().as_secs_f64(),
    })
}

/// Counts pairs in order.
struct Scorer<'a> {
    game: &'a Match,
    journal: Option<Journal<PairRecord>>,
    pgn: Option<(PgnWriter, PathBuf)>,
    pending: BTreeMap<u64, PairRecord>,
    next: u64,
    decided: bool,
    tally: Tally,
    names: Option<[String; 2]>,
}

impl<'a> Scorer<'a> {
    fn new(
        game: &'a Match,
        journal: Option<Journal<PairRecord>>,
        pgn: Option<&Path>,
    ) -> Result<Scorer<'a>, RunError> {
        let pgn = match pgn {
            Some(path) => Some((PgnWriter::create(path).map_err(|e| pgn_error(path, e))?, path.to_owned())),
            None => None,
        };
        Ok(Scorer {
            game,
            journal,
            pgn,
            pending: BTreeMap::new(),
            next: 0,
            decided: false,
            tally: Tally::default(),
            names: None,
        })
    }

    /// Is there nothing more to play?
    fn over(&self) -> bool {
        self.decided || self.next >= self.game.plan().pairs
    }

    /// Takes in a pair that was just finished.
    fn take(&mut self, record: PairRecord, on_event: &mut dyn FnMut(Event<'_>)) -> Result<(), RunError> {
        if let Some(journal) = &mut self.journal {
            journal.write(&record)?;
        }
        self.pending.insert(record.pair, record);
        self.count(on_event)
    }

    /// Counts pairs as far as there is no gap, until the test is decided.
    fn count(&mut self, on_event: &mut dyn FnMut(Event<'_>)) -> Result<(), RunError> {
        while !self.over() {
            let Some(record) = self.pending.remove(&self.next) else { break };
            self.next += 1;
            self.tally.add(&record);
            if let Some((pgn, path)) = &mut self.pgn {
                pgn.write(&record).map_err(|e| pgn_error(path, e))?;
            }
            self.names = Some(record.players.clone());
            if let Some(sprt) = &self.game.plan().sprt {
                self.decided = self.tally.test(sprt).1 != State::Continue;
            }
            on_event(Event::Pair(&record, &self.tally));
        }
        Ok(())
    }

    fn finish_pgn(&mut self) -> Result<(), RunError> {
        match self.pgn.take() {
            Some((pgn, path)) => pgn.finish().map_err(|e| pgn_error(&path, e)),
            None => Ok(()),
        }
    }
}

fn pgn_error(path: &Path, source: io::Error) -> RunError {
    RunError::Pgn { path: path.display().to_string(), source }
}

/// What threads share.
struct Shared<'a> {
    game: &'a Match,
    done: &'a BTreeSet<u64>,
    next: AtomicU64,
    halt: Arc<AtomicBool>,
}

/// Plays what is missing; says whether it was interrupted.
fn play_rest(
    game: &Match,
    done: &BTreeSet<u64>,
    scorer: &mut Scorer<'_>,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<bool, RunError> {
    let halt = Arc::new(AtomicBool::new(false));
    let shared = Shared { game, done, next: AtomicU64::new(0), halt: Arc::clone(&halt) };
    let mut first = [0, 1].map(|side| game.player(side, Arc::clone(&halt)));
    for player in &mut first {
        player.begin_game()?;
    }
    on_event(Event::Players(&[first[0].info().clone(), first[1].info().clone()]));
    let missing = game.plan().pairs - done.len() as u64;
    let threads = (game.plan().concurrency as u64).clamp(1, missing.max(1));
    thread::scope(|scope| {
        let (sink, results) = channel();
        let mut first = Some(first);
        for _ in 0..threads {
            let players = first.take();
            let (shared, sink) = (&shared, sink.clone());
            scope.spawn(move || {
                let players =
                    players.unwrap_or_else(|| [0, 1].map(|side| game.player(side, Arc::clone(&shared.halt))));
                work(shared, players, &sink);
            });
        }
        drop(sink);
        let interrupted = collect(scorer, &results, stop, on_event);
        halt.store(true, Ordering::Relaxed);
        interrupted
    })
}

/// Takes in results until the match is over or `stop` is set.
fn collect(
    scorer: &mut Scorer<'_>,
    results: &Receiver<Finished>,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<bool, RunError> {
    while !scorer.over() {
        if stop.load(Ordering::Relaxed) {
            return Ok(true);
        }
        match results.recv_timeout(LOOK) {
            Ok(finished) => scorer.take(finished?, on_event)?,
            Err(RecvTimeoutError::Timeout) => on_event(Event::Tick(&scorer.tally)),
            Err(RecvTimeoutError::Disconnected) => return Err(RunError::Thread),
        }
    }
    Ok(false)
}

/// One thread: takes the next missing pair until there is none.
fn work(shared: &Shared<'_>, mut players: [Box<dyn Player>; 2], sink: &Sender<Finished>) {
    let pairs = shared.game.plan().pairs;
    loop {
        let pair = shared.next.fetch_add(1, Ordering::Relaxed);
        if pair >= pairs || shared.halt.load(Ordering::Relaxed) {
            return;
        }
        if shared.done.contains(&pair) {
            continue;
        }
        let finished = match play_pair(shared, pair, &mut players) {
            Ok(record) => Ok(record),
            Err(PairError::Interrupted) => return,
            Err(PairError::Run(error)) => Err(error),
        };
        let failed = finished.is_err();
        if sink.send(finished).is_err() || failed {
            return;
        }
    }
}

enum PairError {
    Interrupted,
    Run(RunError),
}

fn play_pair(
    shared: &Shared<'_>,
    pair: u64,
    players: &mut [Box<dyn Player>; 2],
) -> Result<PairRecord, PairError> {
    let opening = shared.game.openings().of_pair(pair).map_err(|error| PairError::Run(error.into()))?;
    let settings: GameSettings = shared.game.plan().settings;
    let [a, b] = players;
    let no_game = |error| match error {
        NoGame::Interrupted => PairError::Interrupted,
        NoGame::Start(error) => PairError::Run(error.into()),
        NoGame::Opening(_) => PairError::Run(RunError::Game { pair, what: error.to_string() }),
    };
    let first = play([a.as_mut(), b.as_mut()], &opening, &settings).map_err(no_game)?;
    let second = play([b.as_mut(), a.as_mut()], &opening, &settings).map_err(no_game)?;
    let names = [a.info().name.clone(), b.info().name.clone()];
    Ok(PairRecord::new(pair, names, &opening, [first, second]))
}
