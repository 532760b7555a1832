//! A player in this process: the engine's own searcher with a net or the hand-crafted evaluation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use engine::eval::EvalSource;
use engine::search::{Clock, Limits, Searcher};
use xiangqi::judge::RuleSet;

use crate::limit::Limit;
use crate::outcome::FailureKind;
use crate::player::{Answer, Failure, NoThought, Player, PlayerInfo, StartError, Thought, Turn};

/// Kept back of each move's time for the way to the judge, in ms.
const OVERHEAD_MS: u64 = 5;

/// The engine's searcher as a player. One thread: the same games every time under a limit of nodes
/// or depth.
pub struct InProcessPlayer {
    searcher: Searcher,
    halt: Arc<AtomicBool>,
    info: PlayerInfo,
}

impl InProcessPlayer {
    /// A searcher with a table of `hash_mib` MiB. While `halt` is set it does not think.
    pub fn new(
        name: String,
        source: EvalSource,
        hash_mib: usize,
        rules: RuleSet,
        halt: Arc<AtomicBool>,
    ) -> InProcessPlayer {
        let mut searcher = Searcher::new(hash_mib, source);
        searcher.set_rules(rules);
        let info = PlayerInfo { name, protocol: "in-process", rank_base: 0, warnings: Vec::new() };
        InProcessPlayer { searcher, halt, info }
    }

    fn limits(&self, turn: &Turn<'_>) -> Limits {
        let mut limits = Limits { stop: Some(Arc::clone(&self.halt)), ..Limits::default() };
        match (turn.limit, &turn.clocks) {
            (Limit::Nodes(nodes), _) => limits.nodes = Some(nodes),
            (Limit::Depth(depth), _) => limits.depth = Some(i32::try_from(depth).unwrap_or(i32::MAX)),
            (Limit::MoveTime(ms), _) => limits.movetime_ms = Some(ms),
            (Limit::Clock(control), clocks) => {
                let left = clocks.as_ref().map(|clocks| clocks.left_ms(turn.color()));
                limits.clock = Some(Clock {
                    time_ms: left.unwrap_or(control.base_ms),
                    increment_ms: control.increment_ms,
                    moves_to_go: clocks.as_ref().and_then(|clocks| clocks.moves_to_go(turn.color())),
                });
            }
        }
        limits.overhead_ms = if turn.limit.is_timed() { OVERHEAD_MS } else { 0 };
        limits
    }
}

impl Player for InProcessPlayer {
    fn info(&self) -> &PlayerInfo {
        &self.info
    }

    fn begin_game(&mut self) -> Result<(), StartError> {
        self.searcher.new_game();
        Ok(())
    }

    fn think(&mut self, turn: &Turn<'_>) -> Result<Thought, NoThought> {
        let began = Instant::now();
        let limits = self.limits(turn);
        let found = self.searcher.search(turn.game, &limits, &mut |_| {});
        if self.halt.load(Ordering::Relaxed) {
            return Err(NoThought::Interrupted);
        }
        let elapsed_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let failure = |kind, detail| Err(NoThought::Failure(Failure { kind, detail }));
        if turn.time_ms().is_some_and(|ms| elapsed_ms > ms + turn.margin_ms) {
            return failure(FailureKind::TimeLoss, format!("its move took {elapsed_ms} ms"));
        }
        match found.best {
            Some(mv) => Ok(Thought {
                answer: Answer::Move(mv),
                score: Some(found.score.0),
                nodes: found.nodes,
                elapsed_ms,
            }),
            None => failure(FailureKind::NoMove, "it found no move".to_owned()),
        }
    }
}
