//! The search: iterative-deepening principal variation search, one for play and for data.
//!
//! No floating point and no clock takes part in what it finds: with one thread, a limit of nodes or depth and
//! cleared tables, the result is the same on every machine and with every backend.

mod check_mates;
mod correction;
mod history;
mod learning;
pub mod limits;
mod mates;
mod natural_limit;
mod node;
mod order;
pub mod parameters;
mod quiescence;
mod reductions;
mod refutations;
mod root;
pub mod see;
mod skill;
mod thread;
mod time;
pub mod tt;
mod vote;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use xiangqi::judge::Rules;
use xiangqi::{Game, Move, Position, Score};

pub use limits::{Clock, Info, Limits, Line, ScoreBound, SearchResult};
pub use skill::Skill;

use crate::eval::{EvalSource, Evaluation};
use crate::numa::{Binding, NumaPolicy, PinGuard, PolicyError, Topology, copies};
use natural_limit::NaturalLimit;
use thread::{Progress, Shared, Thread, ThreadState};
use time::{NodeClocks, Timer};
use tt::{Table, TableView};
use vote::Ballot;

/// The most threads a search takes.
pub const MAX_THREADS: usize = 1024;
/// The largest table, in MiB.
pub const MAX_HASH_MIB: usize = 1 << 20;

/// Searches positions; keeps its tables from one search to the next.
pub struct Searcher {
    table: Arc<Table>,
    /// Has anything been searched since the table was empty? Emptying costs more than a short search.
    table_used: bool,
    source: EvalSource,
    /// Of each node, where they are several.
    copies: Vec<Option<EvalSource>>,
    rules: Rules,
    threads: Vec<ThreadState>,
    policy: NumaPolicy,
    binding: Binding,
    node_clocks: NodeClocks,
}

impl Searcher {
    /// A searcher with one thread, a table of `hash_mib` MiB (1 to [`MAX_HASH_MIB`]) and the competition rules.
    pub fn new(hash_mib: usize, source: EvalSource) -> Searcher {
        let threads = vec![ThreadState::new(Evaluation::new(&source))];
        let policy = NumaPolicy::default();
        let binding = Binding::automatic(&Topology::here(), threads.len()).tried();
        Searcher {
            table: Arc::new(Table::new(hash_mib.clamp(1, MAX_HASH_MIB))),
            table_used: false,
            source,
            copies: Vec::new(),
            rules: Rules::default(),
            threads,
            policy,
            binding,
            node_clocks: NodeClocks::default(),
        }
    }

    /// A new game: forgets all that was learned.
    pub fn new_game(&mut self) {
        self.clear_hash();
        self.node_clocks = NodeClocks::default();
        for thread in &mut self.threads {
            thread.history.clear();
        }
    }

    /// By which rules games are judged. Other rules than before empty the table: its scores are the old rules'.
    pub fn set_rules(&mut self, rules: impl Into<Rules>) {
        let rules = rules.into();
        if rules != self.rules {
            self.rules = rules;
            self.clear_hash();
            self.table.set_natural_limit(rules.natural_limit);
        }
    }

    /// By which rules games are judged.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// On which CPUs threads run.
    ///
    /// # Errors
    /// Where the policy names CPUs that this process cannot use; the old policy stays then.
    pub fn set_numa_policy(&mut self, policy: NumaPolicy) -> Result<(), PolicyError> {
        self.binding = Binding::new(&policy, &Topology::here(), self.threads.len())?.tried();
        self.policy = policy;
        self.spread_nets();
        Ok(())
    }

    /// Where threads run, to be told at the start of a search: how many there are, how many CPUs the process may
    /// use, the nodes, and who is bound where.
    pub fn binding(&self) -> &Binding {
        &self.binding
    }

    /// How many threads search (1 to [`MAX_THREADS`]). Only one thread gives the same result every time.
    pub fn set_threads(&mut self, count: usize) {
        let count = count.clamp(1, MAX_THREADS);
        self.threads.resize_with(count, || ThreadState::new(Evaluation::new(&self.source)));
        let here = Topology::here();
        // CPUs that were there when the policy was set may have been taken away.
        let binding = Binding::new(&self.policy, &here, count);
        self.binding = binding.unwrap_or_else(|_| Binding::automatic(&here, count)).tried();
        self.spread_nets();
    }

    /// Threads on several nodes evaluate by copies of the net, each by its node's.
    fn spread_nets(&mut self) {
        let copies = copies::for_nodes(&self.source, &self.binding);
        if copies.is_empty() && self.copies.is_empty() {
            return;
        }
        self.copies = copies;
        for (i, thread) in self.threads.iter_mut().enumerate() {
            let copy = self.binding.node_of(i).and_then(|node| self.copies.get(node)?.as_ref());
            thread.evaluation = Evaluation::new(copy.unwrap_or(&self.source));
        }
    }

    /// A table of another size, empty.
    pub fn set_hash(&mut self, hash_mib: usize) {
        // The old one first, so that not both are held.
        self.table = Arc::new(Table::new(1));
        self.table = Arc::new(Table::new(hash_mib.clamp(1, MAX_HASH_MIB)));
        self.table.set_natural_limit(self.rules.natural_limit);
        self.table_used = false;
    }

    /// Empties the table, keeping histories.
    pub fn clear_hash(&mut self) {
        if std::mem::take(&mut self.table_used) {
            self.table.clear();
        }
    }

    /// A look into the table that works during a search; after [`Searcher::set_hash`] ask anew.
    pub fn table_view(&self) -> TableView {
        TableView::new(Arc::downgrade(&self.table))
    }

    /// Evaluates by another source from now on. Tables are cleared: their scores are the old source's.
    pub fn set_source(&mut self, source: EvalSource) {
        for thread in &mut self.threads {
            thread.evaluation = Evaluation::new(&source);
        }
        self.source = source;
        self.spread_nets();
        self.new_game();
    }

    /// What it evaluates with.
    pub fn source(&self) -> &EvalSource {
        &self.source
    }

    /// Searches the game's current position until a limit is reached. `on_info` hears of each finished
    /// iteration's lines, and last of the line that the search ends with, also when it is stopped at once.
    pub fn search(&mut self, game: &Game, limits: &Limits, on_info: &mut dyn FnMut(&Info)) -> SearchResult {
        let moves = root_moves(game, limits);
        if moves.is_empty() {
            return self.nothing_to_search(game.position());
        }
        self.table.next_generation();
        self.table_used = true;
        let side = game.position().side_to_move();
        let shared = Shared {
            table: &self.table,
            rules: self.rules,
            natural_limit: NaturalLimit::of(self.rules.natural_limit),
            limits,
            timer: Timer::new(limits, self.node_clocks.left(limits, side)),
            over: AtomicBool::new(false),
            progress: self.threads.iter().map(|_| Progress::default()).collect(),
        };
        let found = search_on_threads(&mut self.threads, &shared, &self.binding, game, &moves, on_info);
        self.node_clocks.spend(limits, side, found.nodes);
        found
    }

    /// The result where there is no move, or none that may be searched.
    fn nothing_to_search(&mut self, position: &Position) -> SearchResult {
        let score = if position.has_legal_move() {
            let mut evaluation = Evaluation::new(&self.source);
            evaluation.reset(position);
            Score(evaluation.evaluate(position))
        } else {
            Score::mated_in(0)
        };
        let bound = ScoreBound::Exact;
        SearchResult { best: None, score, bound, depth: 0, nodes: 0, pv: Vec::new(), lines: Vec::new() }
    }
}

/// Searches on the first thread, which is the caller's, with the help of the others.
fn search_on_threads(
    states: &mut [ThreadState],
    shared: &Shared<'_>,
    binding: &Binding,
    game: &Game,
    moves: &[Move],
    on_info: &mut dyn FnMut(&Info),
) -> SearchResult {
    let (main_state, helpers) = states.split_at_mut(1);
    let mut main = Thread::new(0, &mut main_state[0], shared, game.clone(), moves);
    let mut depth = 0;
    let ballots: Vec<Ballot> = std::thread::scope(|scope| {
        let mut handles = Vec::new();
        for (i, state) in helpers.iter_mut().enumerate() {
            let work = move || {
                let _bound = bind(binding, i + 1);
                let mut helper = Thread::new(i + 1, state, shared, game.clone(), moves);
                let depth = helper.iterate(&mut |_| {});
                Ballot { depth, root: helper.root_moves.swap_remove(0) }
            };
            // Where the system gives no more threads, those that there are search.
            handles.extend(std::thread::Builder::new().spawn_scoped(scope, work));
        }
        let _bound = bind(binding, 0);
        depth = main.iterate(on_info);
        shared.over.store(true, Relaxed);
        let ended = handles.into_iter().map(|handle| handle.join());
        ended.map(|ballot| ballot.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    if shared.limits.trusts_helpers() {
        depth = vote::take_best(&mut main.root_moves, depth, ballots);
    }
    finish(&mut main, shared, depth, on_info)
}

/// Binds the current thread to the CPUs that are its own. Where the system refuses (CPUs taken away meanwhile) it
/// runs unbound: a slower search is better than none.
fn bind(binding: &Binding, thread: usize) -> Option<PinGuard> {
    PinGuard::bind(binding.cpus_of(thread)?).ok()
}

/// The legal moves asked for, captures of the greatest value first.
fn root_moves(game: &Game, limits: &Limits) -> Vec<Move> {
    let pos = game.position();
    let asked = &limits.search_moves;
    let mut moves: Vec<Move> = pos
        .legal_moves()
        .iter()
        .copied()
        .filter(|mv| asked.is_empty() || asked.contains(mv))
        .filter(|mv| !limits.banned_moves.contains(mv))
        .collect();
    moves.sort_by_key(|mv| {
        -pos.piece_on(mv.to()).map_or(0, |piece| crate::eval::hce::exchange_value(piece, mv.to()))
    });
    moves
}

fn finish(
    main: &mut Thread<'_>,
    shared: &Shared<'_>,
    depth: i32,
    on_info: &mut dyn FnMut(&Info),
) -> SearchResult {
    if main.root_moves[0].score == -Score::INFINITE {
        // Not even one move was searched: say what the position looks like.
        let eval = if main.position().in_check() { 0 } else { main.raw_eval() };
        main.root_moves[0].score = eval;
    }
    main.complete_mates(shared.limits.lines());
    main.report_end(depth, on_info);
    let lines = main.lines(shared.limits.lines());
    // The iteration that weak play looks at, or all there is.
    let choice = if main.pick_lines.is_empty() { &lines } else { &main.pick_lines };
    let picked = shared.limits.weakening().and_then(|skill| choice.get(skill.pick(choice)));
    let played = picked.or(lines.first()).cloned();
    let Line { score, pv } = played.unwrap_or(Line { score: Score::DRAW, pv: Vec::new() });
    let (bound, nodes) = (main.root_moves[0].bound, shared.all_nodes());
    SearchResult { best: pv.first().copied(), score, bound, depth, nodes, pv, lines }
}
