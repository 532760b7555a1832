//! A search in a thread of its own, so that input is read while it thinks.
//!
//! The searcher moves into the thread and comes back with it: nothing is shared but three flags.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use xiangqi::Game;

use crate::search::{Info, Limits, SearchResult, Searcher};

/// How long a finished search that must not answer yet sleeps between looks at whether it may.
const WAIT_FOR_STOP: Duration = Duration::from_millis(2);

/// How a dialect says what a search finds.
pub(crate) trait Voice: Send + 'static {
    /// A report during the search.
    fn info(&mut self, info: &Info);
    /// The answer that ends it.
    fn answer(&mut self, result: &SearchResult);
}

/// What to search, and when the answer may be given.
pub(crate) struct Order {
    /// Its flags are set here; whatever they were is lost.
    pub(crate) limits: Limits,
    /// No answer before `stop`.
    pub(crate) infinite: bool,
    /// On the opponent's time: no answer before `ponderhit` or `stop`.
    pub(crate) ponder: bool,
}

/// A search that was begun.
pub(crate) struct Running {
    thread: JoinHandle<Searcher>,
    stop: Arc<AtomicBool>,
    pondering: Arc<AtomicBool>,
    /// Has a limit, and so ends by itself once it is not pondering.
    bounded: bool,
    /// Looks for a mate and has no other limit: it ends by itself if there is one.
    mate: bool,
    /// Its best move is being told or has been: the thread is about to end.
    answered: Arc<AtomicBool>,
}

fn has_limit(limits: &Limits) -> bool {
    limits.depth.is_some() || limits.nodes.is_some() || limits.movetime_ms.is_some() || limits.clock.is_some()
}

impl Running {
    /// Begins a search.
    ///
    /// # Errors
    /// Where the system gives no thread; the searcher is lost then.
    pub(crate) fn start(
        mut searcher: Searcher,
        game: Game,
        order: Order,
        mut voice: impl Voice,
    ) -> std::io::Result<Running> {
        let stop = Arc::new(AtomicBool::new(false));
        let pondering = Arc::new(AtomicBool::new(order.ponder));
        let answered = Arc::new(AtomicBool::new(false));
        let bounded = has_limit(&order.limits) && !order.infinite;
        let mate = order.limits.mate.is_some() && !order.infinite;
        let limits =
            Limits { stop: Some(Arc::clone(&stop)), pondering: Some(Arc::clone(&pondering)), ..order.limits };
        let flags = (Arc::clone(&stop), Arc::clone(&pondering), Arc::clone(&answered));
        let work = move || {
            let result = searcher.search(&game, &limits, &mut |info| voice.info(info));
            // The protocols forbid an answer before it is asked for.
            while !flags.0.load(Relaxed) && (order.infinite || flags.1.load(Relaxed)) {
                std::thread::sleep(WAIT_FOR_STOP);
            }
            flags.2.store(true, Relaxed);
            voice.answer(&result);
            searcher
        };
        let thread = std::thread::Builder::new().name("search".to_owned()).spawn(work)?;
        Ok(Running { thread, stop, pondering, bounded, mate, answered })
    }

    /// Will it end, or has it, without a further word?
    pub(crate) fn ends(&self) -> bool {
        let limited = (self.bounded || self.mate) && !self.pondering.load(Relaxed);
        limited || self.stop.load(Relaxed) || self.answered.load(Relaxed)
    }

    /// Has it given its answer?
    pub(crate) fn is_over(&self) -> bool {
        self.answered.load(Relaxed)
    }

    pub(crate) fn stop(&self) {
        self.pondering.store(false, Relaxed);
        self.stop.store(true, Relaxed);
    }

    /// The opponent played the move that was expected. False where it was not pondering.
    pub(crate) fn ponder_hit(&self) -> bool {
        self.pondering.swap(false, Relaxed)
    }

    /// Waits for its end; after `patience` a search for a mate, which need not have one, is stopped.
    pub(crate) fn wait_at_most(&self, patience: Duration) {
        let start = Instant::now();
        while self.mate && !self.bounded && !self.is_over() && start.elapsed() < patience {
            std::thread::sleep(WAIT_FOR_STOP);
        }
        if !self.bounded || !self.ends() {
            self.stop();
        }
    }

    /// Waits for its end. `None` where the search panicked.
    pub(crate) fn join(self) -> Option<Searcher> {
        self.thread.join().ok()
    }
}
