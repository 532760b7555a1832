//! What every dialect acts on: the game on the board, the searcher, the options, the search that may be running.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use xiangqi::{Game, Move, Position};

use super::board::{BoardError, GameText};
use super::errand::Errand;
use super::machine;
use super::options::{Change, Names, OptionError};
use super::output::Output;
use super::ranks::FirstRank;
use super::running::{Order, Running, Voice};
use super::values::{HASH_MIB, Options};
use crate::eval::{EvalSource, LoadedNet, SourceError, backend_named, load_net};
use crate::numa::{NumaPolicy, PolicyError};
use crate::search::tt::TableView;
use crate::search::{Limits, Searcher};

/// A search for a mate, which need not be there, goes on for so long when something else is wanted.
const PATIENCE: Duration = Duration::from_secs(10);

/// What could not be done, in words for whoever asked.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// A position that is none.
    #[error("{0}; the old position stays")]
    Board(#[from] BoardError),
    /// An option that cannot be set so.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// A net that cannot be used.
    #[error("{0}; the old net stays")]
    Net(Box<SourceError>),
    /// More memory than there is.
    #[error("a table of {asked} MiB: {free} MiB of memory are free; the old table of {old} MiB stays")]
    Memory {
        /// MiB asked for.
        asked: usize,
        /// MiB free.
        free: usize,
        /// MiB of the table in use.
        old: usize,
    },
    /// CPUs that cannot be used.
    #[error("{0}; the old policy stays")]
    Numa(#[from] PolicyError),
    /// A log that cannot be written.
    #[error("log file {path}: {error}; the log stays as it was")]
    Log {
        /// The file.
        path: String,
        /// The system's word.
        error: std::io::Error,
    },
    /// A root move that is not legal.
    #[error("{mv} is not legal here; {consequence}")]
    Illegal {
        /// The move, as it was given.
        mv: String,
        /// What follows.
        consequence: &'static str,
    },
    /// A search is running already.
    #[error("a search is running; send stop first")]
    Busy,
    /// No thread.
    #[error("no thread could be started ({0})")]
    Thread(std::io::Error),
}

impl From<SourceError> for SessionError {
    fn from(error: SourceError) -> SessionError {
        SessionError::Net(Box::new(error))
    }
}

/// A net file byte for byte.
type FileBytes = Arc<Vec<u8>>;

/// What a net's name and a backend's stand for, and the net file.
fn source_and_file(net: &str, backend: &str) -> Result<(EvalSource, Option<FileBytes>), SourceError> {
    Ok(match load_net(net, backend_named(backend)?)? {
        Some(LoadedNet { net, bytes, .. }) => (EvalSource::Net(net), Some(bytes)),
        None => (EvalSource::Hce, None),
    })
}

/// The state of a conversation.
pub(crate) struct Core {
    pub(crate) out: Output,
    pub(crate) options: Options,
    pub(crate) game: Game,
    pub(crate) source: EvalSource,
    pub(crate) threads: usize,
    pub(crate) hash_mib: usize,
    numa: NumaPolicy,
    /// Where search threads run, in words.
    pub(crate) binding: String,
    /// The net file in use.
    pub(crate) net_file: Option<FileBytes>,
    searcher: Option<Searcher>,
    running: Option<Running>,
    /// Perft, bench or speedtest, begun and perhaps not yet done.
    errand: Option<Errand>,
    view: TableView,
    /// Of the choices of weakened play.
    seed: u64,
    /// How the dialect that is spoken says that something is wrong.
    pub(crate) complain: fn(&Output, &dyn std::fmt::Display),
}

impl Core {
    /// A conversation about nothing yet, evaluating by the net that `net` names.
    ///
    /// # Errors
    /// Where there is no such net.
    pub(crate) fn new(out: Output, net: &str) -> Result<Core, SourceError> {
        let hash_mib = HASH_MIB as usize;
        let options = Options { eval_file: net.to_owned(), ..Options::default() };
        let (source, net_file) = source_and_file(net, &options.backend)?;
        let mut searcher = Searcher::new(hash_mib, source.clone());
        searcher.set_rules(options.judge());
        let view = searcher.table_view();
        let binding = searcher.binding().to_string();
        // Weak play shall vary from day to day; the clock is all the chance there is.
        let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_nanos() as u64);
        Ok(Core {
            out,
            options,
            game: Game::new(Position::start()),
            source,
            threads: 1,
            hash_mib,
            numa: NumaPolicy::default(),
            binding,
            net_file,
            searcher: Some(searcher),
            running: None,
            errand: None,
            view,
            seed,
            complain: crate::uci::complain,
        })
    }

    /// Is a search running that has not answered yet?
    pub(crate) fn is_thinking(&self) -> bool {
        self.running.as_ref().is_some_and(|running| !running.is_over())
    }

    /// Ends a running search or errand as soon as possible.
    pub(crate) fn stop(&mut self) {
        if let Some(errand) = &self.errand {
            errand.stop();
        }
        self.stop_search();
    }

    /// The end of the conversation: a search is stopped, an errand waited for. Scripts send `perft 6` and `quit` in one
    /// piece, and want the count.
    pub(crate) fn quit(&mut self) {
        self.stop_search();
        self.wait();
    }

    fn stop_search(&self) {
        if let Some(running) = &self.running {
            running.stop();
        }
    }

    /// The opponent played the expected move. False where nothing is pondering.
    pub(crate) fn ponder_hit(&mut self) -> bool {
        self.running.as_ref().is_some_and(Running::ponder_hit)
    }

    /// Waits for the running search and errand to end by themselves.
    pub(crate) fn wait(&mut self) {
        if self.errand.take().is_some_and(|errand| !errand.join()) {
            (self.complain)(&self.out, &"perft, bench or speedtest failed; please report this");
        }
        let Some(running) = self.running.take() else { return };
        self.searcher = running.join();
        if self.searcher.is_none() {
            (self.complain)(&self.out, &"the search failed; starting again with empty tables");
            self.searcher = Some(self.fresh());
        }
    }

    /// A searcher as the options have it.
    fn fresh(&mut self) -> Searcher {
        let mut searcher = Searcher::new(self.hash_mib, self.source.clone());
        searcher.set_threads(self.threads);
        searcher.set_rules(self.options.judge());
        // It could be followed when it was set; where that has changed, the default policy serves.
        let _ = searcher.set_numa_policy(self.numa.clone());
        self.view = searcher.table_view();
        self.binding = searcher.binding().to_string();
        searcher
    }

    /// The searcher, idle: a search that ends by itself is waited for (lines may come in one piece), any other is
    /// stopped.
    fn idle(&mut self) -> Option<&mut Searcher> {
        if let Some(running) = &self.running {
            running.stop_after(PATIENCE);
        }
        self.wait();
        self.searcher.as_mut()
    }

    /// Begins work that is no search, when nothing else runs; no search is begun before it has ended.
    ///
    /// # Errors
    /// Where the system gives no thread.
    pub(crate) fn run_errand(
        &mut self,
        work: impl FnOnce(&Output, &Arc<AtomicBool>) + Send + 'static,
    ) -> Result<(), SessionError> {
        self.settle();
        self.errand = Some(Errand::start(self.out.clone(), work).map_err(SessionError::Thread)?);
        Ok(())
    }

    /// No search runs after this: one that ends by itself is waited for, any other stopped.
    pub(crate) fn settle(&mut self) {
        self.idle();
    }

    pub(crate) fn new_game(&mut self) {
        if let Some(searcher) = self.idle() {
            searcher.new_game();
        }
        self.game = Game::new(Position::start());
    }

    /// Sets the game on the board, from moves with these ranks.
    ///
    /// # Errors
    /// Where it is none; the old one stays.
    pub(crate) fn set_game(&mut self, text: &GameText, ranks: FirstRank) -> Result<(), SessionError> {
        self.game = text.game(ranks)?;
        Ok(())
    }

    /// Sets an option, and does what follows from it. Gives what is to be told of it, if anything is.
    ///
    /// # Errors
    /// Where it cannot be set so; the old value stays.
    pub(crate) fn set_option(
        &mut self,
        names: Names,
        name: &str,
        value: &str,
    ) -> Result<Option<String>, SessionError> {
        match self.options.set(names, name, value)? {
            Change::Kept => {}
            Change::Threads(count) => {
                self.set_threads(if count == 0 { machine::processors() } else { count });
            }
            Change::Hash(mib) => self.set_hash(if mib == 0 { HASH_MIB as usize } else { mib })?,
            Change::ClearHash => {
                if let Some(searcher) = self.idle() {
                    searcher.clear_hash();
                }
            }
            Change::NewGame => self.new_game(),
            Change::Rules { set } => {
                self.set_rules();
                return Ok(self.options.rules.set.caution().filter(|_| set));
            }
            Change::Net { file, backend } => {
                self.load(file, backend)?;
                return Ok(Some(format!("evaluation: {}", self.source)));
            }
            Change::Numa(policy) => {
                self.set_numa(policy.parse()?)?;
                return Ok(Some(self.binding.clone()));
            }
            Change::Log(path) => {
                let file = (!path.is_empty()).then(|| Path::new(&path));
                self.out.log_to(file).map_err(|error| SessionError::Log { path: path.clone(), error })?;
            }
        }
        Ok(None)
    }

    fn set_threads(&mut self, count: usize) {
        if let Some(searcher) = self.idle() {
            searcher.set_threads(count);
            self.binding = searcher.binding().to_string();
            self.threads = count;
        }
    }

    fn set_rules(&mut self) {
        let rules = self.options.judge();
        if let Some(searcher) = self.idle() {
            searcher.set_rules(rules);
        }
    }

    fn set_numa(&mut self, policy: NumaPolicy) -> Result<(), SessionError> {
        if let Some(searcher) = self.idle() {
            searcher.set_numa_policy(policy.clone())?;
            self.binding = searcher.binding().to_string();
            self.numa = policy;
        }
        Ok(())
    }

    fn set_hash(&mut self, mib: usize) -> Result<(), SessionError> {
        let old = self.hash_mib;
        // The old table is given back before the new one is made.
        if let Some(free) = machine::free_mib().filter(|free| mib > free + old) {
            return Err(SessionError::Memory { asked: mib, free: free + old, old });
        }
        if let Some(searcher) = self.idle() {
            searcher.set_hash(mib);
            self.view = searcher.table_view();
            self.hash_mib = mib;
        }
        Ok(())
    }

    fn load(&mut self, file: String, backend: String) -> Result<(), SessionError> {
        let (source, bytes) = source_and_file(&file, &backend)?;
        (self.options.eval_file, self.options.backend) = (file, backend);
        (self.source, self.net_file) = (source.clone(), bytes);
        if let Some(searcher) = self.idle() {
            searcher.set_source(source);
        }
        Ok(())
    }

    /// What the search knows of the position at the end of a game; it may be thinking.
    pub(crate) fn probe(&self, game: &Game) -> Option<crate::search::tt::Entry> {
        self.view.probe(game.position())
    }

    /// Limits as the options have them, with nothing that ends the search.
    pub(crate) fn limits(&mut self) -> Limits {
        self.seed = self.seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let options = &self.options;
        Limits {
            overhead_ms: options.overhead_ms,
            multi_pv: options.multi_pv,
            skill: options.skill(self.seed ^ self.game.position().key()),
            nodes_per_ms: (options.nodes_per_ms > 0).then_some(options.nodes_per_ms),
            ..Limits::default()
        }
    }

    /// Begins a search of the game on the board.
    ///
    /// # Errors
    /// Where one is running that does not end by itself, or the system gives no thread.
    pub(crate) fn start(&mut self, order: Order, voice: impl Voice) -> Result<(), SessionError> {
        if self.running.as_ref().is_some_and(|running| !running.may_end()) {
            return Err(SessionError::Busy);
        }
        self.idle();
        let searcher = match self.searcher.take() {
            Some(searcher) => searcher,
            None => self.fresh(),
        };
        match Running::start(searcher, self.game.clone(), order, voice) {
            Ok(running) => self.running = Some(running),
            Err(error) => {
                self.searcher = Some(self.fresh());
                return Err(SessionError::Thread(error));
            }
        }
        Ok(())
    }

    /// The first of these moves that is not legal on the board.
    pub(crate) fn first_illegal(&self, moves: &[Move]) -> Option<Move> {
        moves.iter().copied().find(|&mv| self.game.position().why_illegal(mv).is_some())
    }
}
