//! Iterative deepening with aspiration windows over the root's moves, for one thread.

use xiangqi::score::MAX_PLY;
use xiangqi::{MoveList, Score};

use super::limits::{Info, Line, ScoreBound};
use super::reductions::{PLY, reduction};
use super::thread::{RootMove, Thread};
use super::tt::{Bound, Entry, NO_EVAL};

/// Half the first window around the last iteration's score.
const WINDOW: i32 = 22;
/// From this depth on the window is narrowed.
const WINDOW_DEPTH: i32 = 4;
/// A window wider than this is opened wholly.
const WINDOW_MOST: i32 = 900;
/// Root moves up to this number are not reduced.
const UNREDUCED: i32 = 3;
/// How much of its ordinary time a search takes, in percent, by iterations since the best move changed.
const TIME_SCALE: [u64; 6] = [150, 120, 100, 85, 75, 65];
/// Scores outside the window are reported only in searches that take longer than this.
const BOUND_REPORT_MS: u64 = 3000;
/// A proven mate is not searched on for a shorter one once depth passes its length by this (plies).
const MATE_SLACK: i32 = 4;

impl Thread<'_> {
    /// Searches deeper and deeper; returns the depth of the last whole iteration.
    pub(crate) fn iterate(&mut self, report: &mut dyn FnMut(&Info)) -> i32 {
        let limits = self.shared.limits;
        let deepest = limits.depth.unwrap_or(MAX_PLY - 1).clamp(1, MAX_PLY - 1);
        let lines = limits.lines().min(self.root_moves.len());
        let mut completed = 0;
        let mut settled = 0usize;
        let mut whole: Vec<RootMove> = Vec::new();
        for depth in 1..=deepest {
            if !self.shared.takes_up(self.id, depth) {
                continue;
            }
            if self.look_for_mate() {
                whole.clone_from(&self.root_moves);
                self.report_lines(completed, lines, report);
            }
            if self.stopped || self.is_mate_asked_for() {
                break;
            }
            self.root_depth = depth;
            let old_best = self.root_moves[0].mv;
            for root in &mut self.root_moves {
                root.previous_score = root.score;
                root.score = -Score::INFINITE;
            }
            for line in 0..lines {
                self.seldepth = 0;
                if line > 0 || !self.found_mate_asked_for(depth) {
                    self.aspire(depth, line, report);
                }
                // Lines found so far in order; those not searched this time stay behind them.
                self.root_moves[..=line].sort_by_key(|root| -root.score);
                if self.stopped {
                    break;
                }
            }
            if self.stopped {
                self.settle_broken_off(lines, whole);
                break;
            }
            completed = depth;
            if limits.weakening().is_some_and(|skill| skill.pick_depth() == depth) {
                self.pick_lines = self.lines(lines);
            }
            if lines > 1 {
                whole.clone_from(&self.root_moves);
            }
            self.report_lines(depth, lines, report);
            settled = if self.root_moves[0].mv == old_best { settled + 1 } else { 0 };
            if self.id == 0 && self.enough(depth, settled) {
                break;
            }
        }
        self.shared.note_nodes(self.id, self.nodes);
        completed
    }

    /// After a broken-off iteration: moves it searched keep their new scores, others the old ones.
    /// Several lines can be compared only at one depth, so they go back to the last `whole` iteration.
    fn settle_broken_off(&mut self, lines: usize, whole: Vec<RootMove>) {
        if lines > 1 && !whole.is_empty() {
            self.root_moves = whole;
            return;
        }
        for root in &mut self.root_moves {
            if root.score == -Score::INFINITE {
                root.score = root.previous_score;
                root.bound = ScoreBound::Exact;
            }
        }
        if lines > 1 {
            self.root_moves.sort_by_key(|root| -root.score);
        }
    }

    /// Is the best line a mate that is short enough, where one is asked for?
    fn is_mate_asked_for(&self) -> bool {
        let moves = self.best_mate().map(|plies| (plies.abs() + 1) / 2);
        self.shared.limits.mate.zip(moves).is_some_and(|(wanted, moves)| moves <= wanted)
    }

    fn enough(&mut self, depth: i32, settled: usize) -> bool {
        let limits = self.shared.limits;
        if self.is_mate_asked_for() {
            return true;
        }
        let mate_is_near = self.best_mate().is_some_and(|plies| depth >= plies.abs() + MATE_SLACK);
        if limits.stop_at_mate && mate_is_near {
            return true;
        }
        if limits.soft_nodes.is_some_and(|enough| self.shared.all_nodes() >= enough) {
            return true;
        }
        if !self.shared.timer.has_clock() {
            return false;
        }
        let forced = self.root_moves.len() == 1 && depth >= 4;
        let scale = TIME_SCALE[settled.min(TIME_SCALE.len() - 1)];
        let enough = forced || mate_is_near || self.shared.timer.soft_reached(scale, self.shared.all_nodes());
        self.pondered_enough = enough && self.shared.is_pondering();
        enough && !self.pondered_enough
    }

    /// Where a mate in so many moves is asked for: looks for nothing else. In a window above all other scores every
    /// pruning by evaluation is off, and lines that are too long end by themselves.
    fn found_mate_asked_for(&mut self, depth: i32) -> bool {
        let Some(moves) = self.shared.limits.mate else { return false };
        let longest = (2 * i64::from(moves.max(1)) - 1).min(i64::from(MAX_PLY)) as i32;
        let below = Score::mate_in(longest).0 - 1;
        let before = self.root_moves.clone();
        if self.root(below, Score::INFINITE, depth, 0) > below {
            self.root_moves.sort_by_key(|root| -root.score);
            return true;
        }
        // What lies below this window says nothing of the moves.
        self.root_moves = before;
        false
    }

    /// Searches the `line`-th best line at a depth, widening the window until the score fits.
    fn aspire(&mut self, depth: i32, line: usize, report: &mut dyn FnMut(&Info)) {
        let expected = self.root_moves[line..].iter().map(|root| root.previous_score).max().unwrap_or(0);
        let mut delta = WINDOW;
        let (mut alpha, mut beta) = (-Score::INFINITE, Score::INFINITE);
        if depth >= WINDOW_DEPTH && expected.abs() < Score::EVAL_LIMIT {
            (alpha, beta) = (expected - delta, expected + delta);
        }
        loop {
            let score = self.root(alpha, beta, depth, line);
            // Stable: equal scores keep the order in which they were searched.
            self.root_moves[line..].sort_by_key(|root| -root.score);
            if self.stopped {
                return;
            }
            let bound = if score <= alpha {
                beta = (alpha + beta) / 2;
                alpha = (score - delta).max(-Score::INFINITE);
                ScoreBound::Upper
            } else if score >= beta {
                beta = (score + delta).min(Score::INFINITE);
                ScoreBound::Lower
            } else {
                return;
            };
            let slow = self.shared.timer.elapsed_ms() > BOUND_REPORT_MS;
            if slow && self.shared.limits.lines() <= 1 {
                self.report(depth, 0, bound, report);
            }
            delta += delta / 2;
            if delta > WINDOW_MOST || Score(score).is_decided() {
                (alpha, beta) = (-Score::INFINITE, Score::INFINITE);
            }
        }
    }

    fn root(&mut self, mut alpha: i32, beta: i32, depth: i32, line: usize) -> i32 {
        let original_alpha = alpha;
        self.pvs[0].clear();
        let in_check = self.position().in_check();
        let raw = if in_check { NO_EVAL } else { self.raw_eval() };
        let eval = if in_check { 0 } else { self.corrected(raw, 0) };
        let frame = self.frame(0);
        (frame.eval, frame.in_check, frame.excluded, frame.doubles) = (eval, in_check, None, 0);
        self.frame(1).killers = [None; 2];
        let mut best = -Score::INFINITE;
        let mut best_move = None;
        let mut number = 0;
        let (mut quiets, mut captures) = (MoveList::new(), MoveList::new());
        for i in line..self.root_moves.len() {
            if self.should_stop() {
                return best;
            }
            let mv = self.root_moves[i].mv;
            let quiet = self.position().piece_on(mv.to()).is_none();
            number += 1;
            let before = self.seldepth;
            self.seldepth = 0;
            self.frame(1).doubles = 0;
            self.make(mv, 0);
            let checks = self.position().in_check();
            let full = depth - 1;
            let mut score = alpha + 1;
            if number > UNREDUCED && depth >= 3 && quiet && !checks {
                let less = (full - (reduction(depth, number) / PLY - 1).max(0)).max(1);
                score = -self.negamax::<false>(-alpha - 1, -alpha, less, 1, true);
            } else if number > 1 {
                score = -self.negamax::<false>(-alpha - 1, -alpha, full, 1, true);
            }
            if number == 1 || (score > alpha && !self.stopped) {
                score = -self.negamax::<true>(-beta, -alpha, full, 1, false);
            }
            self.unmake();
            let seldepth = self.seldepth;
            self.seldepth = before.max(seldepth);
            if self.stopped {
                return best;
            }
            let score = self.with_proof(mv, score);
            let bound = match score {
                _ if score >= beta => ScoreBound::Lower,
                _ if score <= alpha => ScoreBound::Upper,
                _ => ScoreBound::Exact,
            };
            // Only the first move's upper bound says more than "no better".
            self.note(i, score, bound, number == 1 || score > alpha, seldepth);
            if score > best {
                best = score;
                if score > alpha {
                    best_move = Some(mv);
                    if score >= beta {
                        break;
                    }
                    alpha = score;
                }
            }
            if quiet {
                quiets.push(mv);
            } else {
                captures.push(mv);
            }
        }
        if line == 0 && !Score(best).is_rule_win() {
            let bound = if best >= beta {
                Bound::Lower
            } else if best > original_alpha {
                Bound::Exact
            } else {
                Bound::Upper
            };
            let entry = Entry { mv: best_move, score: best, eval: raw, depth, bound, pv: true };
            self.shared.table.store(self.table_key(), 0, &entry);
        }
        best
    }

    /// Writes down what the search of a root move found, if it `tells` anything of it alone.
    fn note(&mut self, index: usize, score: i32, bound: ScoreBound, tells: bool, seldepth: i32) {
        let line = &self.pvs[1];
        let root = &mut self.root_moves[index];
        if tells {
            root.score = score;
            root.bound = bound;
            root.seldepth = seldepth;
            root.pv.truncate(1);
            root.pv.extend_from_slice(line);
        } else {
            root.score = -Score::INFINITE;
        }
    }

    /// Reports what the search ends with, unless that has been said.
    pub(crate) fn report_end(&mut self, completed: i32, report: &mut dyn FnMut(&Info)) {
        let best = &self.root_moves[0];
        let bound = best.bound;
        if self.told != Some((Score(best.score), bound, best.mv)) {
            let depth = if self.stopped { self.root_depth } else { completed };
            self.report(depth.max(1), 0, bound, report);
        }
    }

    fn report_lines(&mut self, depth: i32, lines: usize, report: &mut dyn FnMut(&Info)) {
        for line in 0..lines {
            self.report(depth, line, ScoreBound::Exact, report);
        }
    }

    fn report(&mut self, depth: i32, line: usize, bound: ScoreBound, report: &mut dyn FnMut(&Info)) {
        let root: &RootMove = &self.root_moves[line];
        self.shared.note_nodes(self.id, self.nodes);
        let score = if root.score == -Score::INFINITE { root.previous_score } else { root.score };
        if line == 0 {
            self.told = Some((Score(score), bound, root.mv));
        }
        report(&Info {
            depth,
            seldepth: root.seldepth.max(1),
            multi_pv: line + 1,
            line: Line { score: Score(score), pv: root.pv.clone() },
            bound,
            nodes: self.shared.all_nodes(),
            time_ms: self.shared.timer.elapsed_ms(),
            hashfull: self.shared.table.permille_full(),
        });
    }
}
