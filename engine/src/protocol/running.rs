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
    let nodes = limits.nodes.or(limits.soft_nodes);
    limits.depth.is_some() || nodes.is_some() || limits.movetime_ms.is_some() || limits.clock.is_some()
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
    fn ends(&self) -> bool {
        let limited = self.bounded && !self.pondering.load(Relaxed);
        limited || self.stop.load(Relaxed) || self.answered.load(Relaxed)
    }

    /// Does it look for a mate, which need not be there?
    fn looks_for_mate(&self) -> bool {
        self.mate && !self.pondering.load(Relaxed)
    }

    /// May it end without a further word?
    pub(crate) fn may_end(&self) -> bool {
        self.ends() || self.looks_for_mate()
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

    /// Stops it unless it ends by itself. A search for a mate is given so much time to find one.
    pub(crate) fn stop_after(&self, patience: Duration) {
        let start = Instant::now();
        while !self.ends() && self.looks_for_mate() && start.elapsed() < patience {
            std::thread::sleep(WAIT_FOR_STOP);
        }
        if !self.ends() {
            self.stop();
        }
    }

    /// Waits for its end. `None` where the search panicked.
    pub(crate) fn join(self) -> Option<Searcher> {
        self.thread.join().ok()
    }
}

#[cfg(test)]
mod tests {
    use xiangqi::Position;

    use super::*;
    use crate::eval::EvalSource;

    struct Mute;

    impl Voice for Mute {
        fn info(&mut self, _: &Info) {}
        fn answer(&mut self, _: &SearchResult) {}
    }

    fn start(limits: Limits) -> Running {
        let order = Order { limits, infinite: false, ponder: false };
        let game = Game::new(Position::start());
        Running::start(Searcher::new(1, EvalSource::Hce), game, order, Mute).expect("a thread")
    }

    #[test]
    fn a_search_for_a_mate_that_is_not_there_is_stopped() {
        let running = start(Limits { mate: Some(1), ..Limits::default() });
        assert!(running.may_end() && !running.ends());
        running.stop_after(Duration::from_millis(5));
        assert!(running.join().is_some());
    }

    #[test]
    fn a_search_with_a_limit_is_left_to_its_end() {
        let running = start(Limits::depth(3));
        running.stop_after(Duration::ZERO);
        assert!(!running.stop.load(Relaxed), "nobody stopped it");
        assert!(running.join().is_some());
    }

    #[test]
    fn a_search_without_a_limit_is_stopped() {
        let running = start(Limits::default());
        assert!(!running.may_end());
        running.stop_after(Duration::from_secs(3600));
        assert!(running.join().is_some());
    }
}
