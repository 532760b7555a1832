//! One search thread: its tables, its game, and what every node needs.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering::Relaxed};

use xiangqi::judge::{self, EndReason, GameResult, Rules, SearchVerdict};
use xiangqi::score::MAX_PLY;
use xiangqi::{Game, Move, PieceKind, Position, Score};

use super::correction::{Node, Structure};
use super::history::{Context, History, NO_PLACE, place_index};
use super::limits::{Limits, Line, ScoreBound};
use super::mates::MateWork;
use super::natural_limit::NaturalLimit;
use super::time::Timer;
use super::tt::Table;
use crate::eval::Evaluation;

/// Frames before the root, so that every node has six predecessors.
const FRAMES_BEFORE: usize = 6;
/// Stop flags and clocks are looked at every so many nodes (a power of two).
const POLL_NODES: u64 = 256;

/// What a thread keeps between searches.
pub(crate) struct ThreadState {
    pub(crate) history: History,
    pub(crate) evaluation: Evaluation,
}

impl ThreadState {
    pub(crate) fn new(evaluation: Evaluation) -> ThreadState {
        ThreadState { history: History::new(), evaluation }
    }
}

/// What all threads of a search share.
pub(crate) struct Shared<'a> {
    pub(crate) table: &'a Table,
    pub(crate) rules: Rules,
    pub(crate) natural_limit: NaturalLimit,
    pub(crate) limits: &'a Limits,
    pub(crate) timer: Timer,
    /// Set by the main thread when the search is over.
    pub(crate) over: AtomicBool,
    /// How far each thread is.
    pub(crate) progress: Vec<Progress>,
}

/// How far a thread is, brought up to date now and then. On cache lines of its own (two: processors fetch pairs), so
/// that no thread waits for another's writing.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Progress {
    nodes: AtomicU64,
    /// The depth that it searches.
    depth: AtomicI32,
}

impl Shared<'_> {
    pub(crate) fn all_nodes(&self) -> u64 {
        self.progress.iter().map(|thread| thread.nodes.load(Relaxed)).sum()
    }

    /// Notes a thread's nodes.
    pub(crate) fn note_nodes(&self, thread: usize, nodes: u64) {
        self.progress[thread].nodes.store(nodes, Relaxed);
    }

    /// Shall a thread search this depth? Helpers leave out what half of the threads or more are at already: deeper
    /// ones fill the table with what the others will need. The first thread leaves nothing out.
    pub(crate) fn takes_up(&self, thread: usize, depth: i32) -> bool {
        let others = self.progress.iter().enumerate().filter(|&(id, _)| id != thread);
        let there = others.filter(|(_, other)| other.depth.load(Relaxed) >= depth).count();
        let takes = thread == 0 || 2 * there < self.progress.len();
        if takes {
            self.progress[thread].depth.store(depth, Relaxed);
        }
        takes
    }

    pub(crate) fn is_pondering(&self) -> bool {
        self.limits.pondering.as_ref().is_some_and(|flag| flag.load(Relaxed))
    }

    /// The nodes at which a thread ends by itself: exact where there is but one.
    fn node_limit(&self) -> u64 {
        if self.progress.len() > 1 {
            return u64::MAX;
        }
        let asked = self.limits.nodes.unwrap_or(u64::MAX);
        let timed = self.timer.hard_nodes().filter(|_| !self.is_pondering());
        asked.min(timed.unwrap_or(u64::MAX))
    }
}

/// A ply of the line being searched.
#[derive(Clone)]
pub(crate) struct Frame {
    /// Where the move made here arrived, as history sees it.
    pub(crate) place: usize,
    /// The static evaluation; meaningless in check.
    pub(crate) eval: i32,
    pub(crate) in_check: bool,
    pub(crate) null_move: bool,
    /// By how many plies the move being searched here was reduced.
    pub(crate) reduction: i32,
    /// How often nodes at this ply failed high since their grandparent began.
    pub(crate) cutoffs: i32,
    /// The node is or was part of a principal variation.
    pub(crate) was_pv: bool,
    pub(crate) killers: [Option<Move>; 2],
    /// The move that a singular search leaves out.
    pub(crate) excluded: Option<Move>,
    /// Double extensions on the way here.
    pub(crate) doubles: i32,
    /// The window has been fitted to the rules' verdict; the node's score belongs to this line alone.
    pub(crate) judged: bool,
    /// Keys of parts of the position.
    pub(crate) structure: Structure,
}

const EMPTY_FRAME: Frame = Frame {
    place: NO_PLACE,
    eval: 0,
    in_check: false,
    null_move: false,
    reduction: 0,
    cutoffs: 0,
    was_pv: false,
    killers: [None; 2],
    excluded: None,
    doubles: 0,
    judged: false,
    structure: Structure::EMPTY,
};

/// What the rules say of a node before it is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing.
    Open,
    /// The game is over, with this score.
    Score(i32),
    /// The other side is at fault in a cycle that may be closed again: going round once more gives at least this.
    AtLeast(i32),
    /// The side to move is at fault: it has at most this.
    AtMost(i32),
}

/// A move of the root with what is known of it.
#[derive(Clone, Debug)]
pub(crate) struct RootMove {
    pub(crate) mv: Move,
    /// Of this iteration; `-INFINITE` until it has been searched.
    pub(crate) score: i32,
    pub(crate) previous_score: i32,
    pub(crate) pv: Vec<Move>,
    pub(crate) seldepth: i32,
    /// What `score` says.
    pub(crate) bound: ScoreBound,
}

/// A thread at work.
pub(crate) struct Thread<'a> {
    pub(crate) id: usize,
    pub(crate) state: &'a mut ThreadState,
    pub(crate) shared: &'a Shared<'a>,
    pub(crate) game: Game,
    pub(crate) root_len: usize,
    pub(crate) root_moves: Vec<RootMove>,
    /// The lines of the iteration from which weak play picks; empty until then.
    pub(crate) pick_lines: Vec<Line>,
    /// The best line as it was reported last.
    pub(crate) told: Option<(Score, ScoreBound, Move)>,
    pub(crate) root_depth: i32,
    pub(crate) frames: Vec<Frame>,
    pub(crate) pvs: Vec<Vec<Move>>,
    pub(crate) nodes: u64,
    pub(crate) node_limit: u64,
    pub(crate) seldepth: i32,
    pub(crate) stopped: bool,
    /// Pondering has given the move all the time that it would get: it is made when the opponent plays as expected.
    pub(crate) pondered_enough: bool,
    /// Below this ply no null move is tried (verification).
    pub(crate) no_null_before: i32,
    pub(crate) mates: MateWork,
}

impl<'a> Thread<'a> {
    pub(crate) fn new(
        id: usize,
        state: &'a mut ThreadState,
        shared: &'a Shared<'a>,
        game: Game,
        moves: &[Move],
    ) -> Thread<'a> {
        state.evaluation.reset(game.position());
        state.history.new_search();
        let root_len = game.len();
        let mut frames = vec![EMPTY_FRAME; MAX_PLY as usize + FRAMES_BEFORE + 2];
        frames[FRAMES_BEFORE].structure = Structure::of(game.position());
        let root_moves = moves
            .iter()
            .map(|&mv| RootMove {
                mv,
                score: -Score::INFINITE,
                previous_score: -Score::INFINITE,
                pv: vec![mv],
                seldepth: 0,
                bound: ScoreBound::Exact,
            })
            .collect();
        Thread {
            id,
            state,
            shared,
            game,
            root_len,
            root_moves,
            pick_lines: Vec::new(),
            told: None,
            root_depth: 0,
            frames,
            pvs: vec![Vec::with_capacity(32); MAX_PLY as usize + 2],
            nodes: 0,
            node_limit: shared.node_limit(),
            seldepth: 0,
            stopped: false,
            pondered_enough: false,
            no_null_before: 0,
            mates: MateWork::default(),
        }
    }

    #[inline]
    pub(crate) fn position(&self) -> &Position {
        self.game.position()
    }

    #[inline]
    pub(crate) fn frame(&mut self, ply: i32) -> &mut Frame {
        &mut self.frames[ply as usize + FRAMES_BEFORE]
    }

    /// The frame `back` plies before `ply`; those before the root are empty.
    #[inline]
    pub(crate) fn frame_before(&self, ply: i32, back: usize) -> &Frame {
        &self.frames[ply as usize + FRAMES_BEFORE - back]
    }

    /// Where the last two moves arrived.
    #[inline]
    pub(crate) fn previous(&self, ply: i32) -> [usize; 2] {
        [self.frame_before(ply, 1).place, self.frame_before(ply, 2).place]
    }

    /// What histories know of the node at `ply` besides its moves.
    #[inline]
    pub(crate) fn context(&self, ply: i32) -> Context {
        let place = |back| self.frame_before(ply, back).place;
        Context {
            previous: [place(1), place(2), place(4), place(6)],
            pawns: History::pawn_row(self.frame_before(ply, 0).structure.pawns),
            ply,
        }
    }

    /// The best lines so far, at most so many, of those that have been searched.
    pub(crate) fn lines(&self, most: usize) -> Vec<Line> {
        let searched = self.root_moves.iter().take(most).take_while(|root| root.score != -Score::INFINITE);
        searched.map(|root| Line { score: Score(root.score), pv: root.pv.clone() }).collect()
    }

    /// Makes a legal move at `ply`.
    #[inline]
    pub(crate) fn make(&mut self, mv: Move, ply: i32) {
        let change = self.game.play(mv);
        self.shared.table.prefetch(self.table_key());
        let frame = self.frame(ply);
        frame.null_move = false;
        let mut structure = frame.structure;
        if let Some(change) = change {
            frame.place = place_index(change.piece, change.to);
            structure.apply(&change);
            self.state.evaluation.push(&change);
        }
        self.frame(ply + 1).structure = structure;
        self.state.history.correction.prefetch(&self.node(ply + 1));
        self.nodes += 1;
    }

    #[inline]
    pub(crate) fn unmake(&mut self) {
        self.game.undo();
        self.state.evaluation.pop();
    }

    pub(crate) fn make_null(&mut self, ply: i32) {
        self.game.play_null();
        self.shared.table.prefetch(self.table_key());
        let frame = self.frame(ply);
        frame.null_move = true;
        frame.place = NO_PLACE;
        let structure = frame.structure;
        self.frame(ply + 1).structure = structure;
        self.nodes += 1;
    }

    pub(crate) fn unmake_null(&mut self) {
        self.game.undo();
    }

    /// Must the search end? Node limits of a single thread hold to the node; the rest is polled.
    #[inline]
    pub(crate) fn should_stop(&mut self) -> bool {
        if self.nodes >= self.node_limit {
            self.stopped = true;
        } else if self.nodes.is_multiple_of(POLL_NODES) {
            self.poll();
        }
        self.stopped
    }

    #[cold]
    fn poll(&mut self) {
        let shared = self.shared;
        shared.note_nodes(self.id, self.nodes);
        let limits = shared.limits;
        let asked = limits.stop.as_ref().is_some_and(|stop| stop.load(Relaxed));
        let pondering = shared.is_pondering();
        if pondering && self.id == 0 {
            shared.timer.stand();
        }
        let out_of_time = self.id == 0
            && !pondering
            && (self.pondered_enough || shared.timer.hard_reached(shared.all_nodes()));
        let out_of_nodes = self.id == 0
            && shared.progress.len() > 1
            && limits.nodes.is_some_and(|nodes| shared.all_nodes() >= nodes);
        // The first iteration takes a moment and makes the difference between a searched move and a guess.
        let broken_off = (asked || out_of_time) && self.root_depth > 1;
        if broken_off || out_of_nodes || shared.over.load(Relaxed) {
            self.stopped = true;
        }
    }

    /// The key under which the table knows this position.
    #[inline]
    pub(crate) fn table_key(&self) -> u64 {
        self.shared.natural_limit.key(self.position())
    }

    /// The static evaluation without regard to the natural limit.
    #[inline]
    pub(crate) fn raw_eval(&mut self) -> i32 {
        self.state.evaluation.evaluate(self.game.position())
    }

    /// A raw evaluation as the search uses it: nearer to a draw as the natural limit draws near, then corrected by
    /// what was learned.
    #[inline]
    pub(crate) fn corrected(&self, raw: i32, ply: i32) -> i32 {
        let damped = self.shared.natural_limit.damped(raw, self.position());
        let correction = self.state.history.correction.of(&self.node(ply));
        (damped + correction).clamp(-Score::EVAL_LIMIT, Score::EVAL_LIMIT)
    }

    /// The current position as the correction history knows it.
    #[inline]
    pub(crate) fn node(&self, ply: i32) -> Node {
        let structure = self.frame_before(ply, 0).structure;
        Node { side: self.position().side_to_move(), structure, previous: self.previous(ply) }
    }

    /// What the rules say of a node: a repetition, the natural limit, too little material.
    #[inline]
    pub(crate) fn verdict(&self, ply: i32) -> Verdict {
        let rules = &self.shared.rules;
        let pos = self.position();
        if let Some(repetition) = judge::search_repetition(&self.game, rules, self.root_len) {
            return match repetition {
                SearchVerdict::Decided(result) => {
                    Verdict::Score(self.rule_score(result, EndReason::Repetition, ply))
                }
                SearchVerdict::AtFault(side) => {
                    let draw = self.rule_score(GameResult::Draw, EndReason::Repetition, ply);
                    if side == pos.side_to_move() { Verdict::AtMost(draw) } else { Verdict::AtLeast(draw) }
                }
            };
        }
        if judge::insufficient_material(pos) {
            return Verdict::Score(self.rule_score(GameResult::Draw, EndReason::InsufficientMaterial, ply));
        }
        if judge::natural_limit_reached(pos, rules) {
            if !pos.has_legal_move() {
                return Verdict::Score(Score::mated_in(ply).0);
            }
            return Verdict::Score(self.rule_score(GameResult::Draw, EndReason::NaturalLimit, ply));
        }
        Verdict::Open
    }

    /// A verdict as a score. A draw counts as the rules have it: it may be a win by rule.
    fn rule_score(&self, verdict: GameResult, reason: EndReason, ply: i32) -> i32 {
        let result = if verdict == GameResult::Draw { self.shared.rules.draw_by(reason) } else { verdict };
        let Some(loser) = result.loser() else { return Score::DRAW.0 };
        let size = Score::RULE_WIN - ply;
        if loser == self.position().side_to_move() { -size } else { size }
    }

    /// Does the side to move have a piece that makes passing a fair test?
    #[inline]
    pub(crate) fn has_attackers(&self) -> bool {
        let pos = self.position();
        let us = pos.side_to_move();
        let set = pos.pieces(us, PieceKind::Rook)
            | pos.pieces(us, PieceKind::Knight)
            | pos.pieces(us, PieceKind::Cannon);
        !set.is_empty()
    }

    /// The line of `ply` becomes `mv` followed by the line of the next ply.
    pub(crate) fn extend_pv(&mut self, ply: i32, mv: Move) {
        let (upper, lower) = self.pvs.split_at_mut(ply as usize + 1);
        let line = &mut upper[ply as usize];
        line.clear();
        line.push(mv);
        line.extend_from_slice(&lower[0]);
    }
}
