//! Cheap ways to refute a node before its moves are searched: passing, and captures against a raised beta.

use xiangqi::{Move, Score};

use super::order::{Hints, MovePicker};
use super::parameters as p;
use super::see::see_at_least;
use super::thread::Thread;
use super::tt::{Bound, Entry, NO_EVAL};

impl Thread<'_> {
    /// A reduced search after passing; `Some` if it reaches beta (verified at great depth).
    pub(crate) fn null_move(
        &mut self,
        beta: i32,
        depth: i32,
        ply: i32,
        eval: i32,
        cut_node: bool,
    ) -> Option<i32> {
        let reduced = depth
            - p::null_move_reduction()
            - depth / p::null_move_divisor()
            - ((eval - beta) / p::null_move_eval_step()).min(3);
        self.make_null(ply);
        let score = -self.negamax::<false>(-beta, -beta + 1, reduced, ply + 1, !cut_node);
        self.unmake_null();
        if self.stopped || score < beta {
            return None;
        }
        // A win found after passing is not proven by it.
        let score = if Score(score).is_decided() { beta } else { score };
        if depth < p::null_verification_depth() || self.no_null_before > 0 {
            return Some(score);
        }
        self.no_null_before = ply + reduced.max(1) * 3 / 4;
        let verified = self.negamax::<false>(beta - 1, beta, reduced.max(1), ply, false);
        self.no_null_before = 0;
        (!self.stopped && verified >= beta).then_some(score)
    }

    /// A capture that reaches the `raised` beta, first in quiescence and then at less depth; the score it reaches.
    pub(crate) fn probcut(
        &mut self,
        raised: i32,
        depth: i32,
        ply: i32,
        static_eval: i32,
        cut_node: bool,
        table_move: Option<Move>,
    ) -> Option<i32> {
        let hints = Hints { table_move, killers: [None; 2], counter: None, context: self.context(ply) };
        let mut picker = MovePicker::captures(self.position(), hints);
        let key = self.table_key();
        while let Some(mv) = picker.next(self.game.position(), &self.state.history) {
            if !self.position().is_legal(mv) || !see_at_least(self.position(), mv, raised - static_eval) {
                continue;
            }
            self.make(mv, ply);
            let mut score = -self.quiescence::<false>(-raised, -raised + 1, ply + 1, 0);
            if score >= raised {
                score = -self.negamax::<false>(-raised, -raised + 1, depth - 4, ply + 1, !cut_node);
            }
            self.unmake();
            if self.stopped {
                return None;
            }
            if score >= raised && !Score(score).is_rule_win() {
                let eval = NO_EVAL;
                let entry =
                    Entry { mv: Some(mv), score, eval, depth: depth - 3, bound: Bound::Lower, pv: false };
                if !self.frame(ply).judged {
                    self.shared.table.store(key, ply, &entry);
                }
                return Some(score);
            }
        }
        None
    }
}
