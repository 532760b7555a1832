//! The search of a node: principal variation search with its reductions and prunings.
//!
//! One long function in numbered steps; what it prunes and why is said at each step.

use xiangqi::score::MAX_PLY;
use xiangqi::{MoveList, Score};

use super::history::place_index;
use super::learning::history_bonus;
use super::order::{Hints, MovePicker};
use super::parameters as p;
use super::reductions::{PLY, late_move_count, reduction};
use super::see::see_at_least;
use super::thread::{Frame, Thread, Verdict};
use super::tt::{Bound, Entry, NO_DEPTH, NO_EVAL};
use crate::eval::hce::exchange_value;

/// How far below alpha an evaluation is when only captures are looked at.
fn razor_margin(depth: i32) -> i32 {
    match depth {
        ..=1 => p::razor_margin_1(),
        2 => p::razor_margin_2(),
        _ => p::razor_margin_3(),
    }
}

impl Thread<'_> {
    /// The score of the current position within `(alpha, beta)`, fail-soft.
    pub(crate) fn negamax<const PV: bool>(
        &mut self,
        mut alpha: i32,
        mut beta: i32,
        mut depth: i32,
        ply: i32,
        cut_node: bool,
    ) -> i32 {
        // 1. The horizon.
        if depth <= 0 {
            return self.quiescence::<PV>(alpha, beta, ply, 0);
        }
        if PV {
            self.pvs[ply as usize].clear();
            self.seldepth = self.seldepth.max(ply + 1);
        }
        if self.should_stop() {
            return 0;
        }
        let excluded = self.frame(ply).excluded;
        let in_check = self.position().in_check();

        // 2. The rules may have ended the game, or bound the score; the line may be too long.
        let judged = self.frame(ply).judged;
        if excluded.is_none() && !judged {
            match self.verdict(ply) {
                Verdict::Open => {}
                Verdict::Score(score) => return score,
                bound => {
                    return self.within(bound, alpha, beta, ply, |thread, alpha, beta| {
                        thread.negamax::<PV>(alpha, beta, depth, ply, cut_node)
                    });
                }
            }
        }
        if ply >= MAX_PLY - 1 {
            return if in_check {
                Score::DRAW.0
            } else {
                let raw = self.raw_eval();
                self.corrected(raw, ply)
            };
        }

        // 3. No mate found from here can be shorter than one already found.
        alpha = alpha.max(Score::mated_in(ply).0);
        beta = beta.min(Score::mate_in(ply + 1).0);
        if alpha >= beta {
            return alpha;
        }

        // 4. The table.
        self.frame(ply + 2).cutoffs = 0;
        let key = self.table_key();
        let entry = if excluded.is_some() { None } else { self.shared.table.probe(key, ply) };
        let table_move = entry.and_then(|e| e.mv).filter(|&mv| self.position().is_pseudo_legal(mv));
        let was_pv = match excluded {
            Some(_) => self.frame(ply).was_pv,
            None => PV || entry.is_some_and(|e| e.pv),
        };
        self.frame(ply).was_pv = was_pv;
        if let Some(e) = entry
            && !PV
            && e.depth >= depth
            && e.bound.decides(e.score, beta)
            && self.shared.natural_limit.trusts(e.score, ply, self.position())
        {
            if let Some(mv) = table_move.filter(|_| e.score >= beta) {
                self.learn(mv, &[], &[], depth.min(e.depth), ply);
            }
            return e.score;
        }

        // 5. The static evaluation, bettered by what the table knows.
        let raw_eval;
        let mut eval;
        if in_check {
            raw_eval = NO_EVAL;
            eval = -Score::INFINITE;
            let before = self.frame_before(ply, 2).eval;
            self.frame(ply).eval = before;
        } else {
            raw_eval = match entry.filter(|e| e.eval != NO_EVAL) {
                Some(e) => e.eval,
                None if excluded.is_some() => NO_EVAL,
                None => self.evaluated(key, ply, was_pv, entry.is_none()),
            };
            if raw_eval == NO_EVAL {
                eval = self.frame(ply).eval;
            } else {
                eval = self.corrected(raw_eval, ply);
                self.frame(ply).eval = eval;
            }
            if let Some(e) = entry {
                let helps = if e.score > eval { Bound::Lower } else { Bound::Upper };
                if e.bound as u8 & helps as u8 != 0 && !Score(e.score).is_decided() {
                    eval = e.score;
                }
            }
        }
        let static_eval = self.frame(ply).eval;
        self.frame(ply).in_check = in_check;
        // Is the other side's position worse than it thought?
        let worsening = !in_check && static_eval > -self.frame_before(ply, 1).eval;
        let improving = !in_check && ply >= 2 && static_eval > self.frame_before(ply, 2).eval;
        if !in_check && excluded.is_none() && ply > 0 {
            // In hindsight the last move was reduced too much, as it did not help the other side, or not enough.
            let Frame { reduction, eval: their_eval, .. } = *self.frame_before(ply, 1);
            if reduction >= p::hindsight_more() && static_eval <= -their_eval {
                depth += 1;
            } else if reduction >= p::hindsight_less()
                && depth >= 2
                && static_eval + their_eval > p::hindsight_margin()
            {
                depth -= 1;
            }
        }
        self.frame(ply + 1).killers = [None; 2];
        self.frame(ply + 1).excluded = None;
        let decided_beta = Score(beta).is_decided();

        if !PV && !in_check && excluded.is_none() {
            // 6. Razoring: far below alpha only captures can help.
            let hopeless = !Score(alpha).is_decided() && depth <= p::razor_depth();
            if hopeless && eval + razor_margin(depth) < alpha {
                let score = self.quiescence::<false>(alpha, alpha + 1, ply, 1);
                if score <= alpha {
                    return score;
                }
            }

            // 7. Reverse futility: so far above beta that a quiet move of the other side won't matter.
            let margin = p::reverse_futility_margin() * depth
                - i32::from(improving) * p::reverse_futility_improving()
                - i32::from(worsening) * p::reverse_futility_worsening();
            let table_quiet = table_move.is_some_and(|mv| self.position().piece_on(mv.to()).is_none());
            if depth <= p::reverse_futility_depth()
                && !was_pv
                && !table_quiet
                && eval - margin.max(0) >= beta
                && !decided_beta
                && eval < Score::EVAL_LIMIT
            {
                return (eval + 2 * beta) / 3;
            }

            // 8. Null move: if passing is good enough, a move will be. Not in zugzwang-prone endings.
            if depth >= p::null_move_depth()
                && eval >= beta
                && static_eval + p::null_move_slope() * depth >= beta + p::null_move_base()
                && !self.frame_before(ply, 1).null_move
                && !decided_beta
                && ply >= self.no_null_before
                && self.has_attackers()
            {
                if let Some(score) = self.null_move(beta, depth, ply, eval, cut_node) {
                    return score;
                }
                if self.stopped {
                    return 0;
                }
            }

            // 9. ProbCut: a capture that refutes even a raised beta at less depth refutes this node.
            let raised = beta + p::probcut_margin();
            let table_denies =
                entry.is_some_and(|e| e.depth >= depth - 3 && e.bound != Bound::None && e.score < raised);
            if depth >= p::probcut_depth() && !decided_beta && !table_denies {
                if let Some(score) = self.probcut(raised, depth, ply, static_eval, cut_node, table_move) {
                    return score;
                }
                if self.stopped {
                    return 0;
                }
            }
        }

        // 10. The table knows of a score so far above beta that its lesser depth does not matter.
        if let Some(e) = entry
            && !PV
            && matches!(e.bound, Bound::Lower | Bound::Exact)
            && e.depth >= depth - 4
            && !decided_beta
            && !Score(e.score).is_decided()
            && self.shared.natural_limit.trusts(e.score, ply, self.position())
        {
            let raised = beta + p::small_probcut_margin();
            if e.score >= raised {
                return raised;
            }
        }

        // 11. Without a table move this depth would be spent badly: search less, and find one.
        if table_move.is_none()
            && depth >= p::internal_reduction_depth()
            && excluded.is_none()
            && (PV || cut_node)
        {
            depth -= 1;
        }

        // 12. The moves.
        let context = self.context(ply);
        let hints = Hints {
            table_move,
            killers: self.frame(ply).killers,
            counter: self.state.history.counter(context.previous[0]),
            context,
        };
        let table_capture = table_move.is_some_and(|mv| self.position().piece_on(mv.to()).is_some());
        let mut picker = MovePicker::new(self.position(), hints);
        let original_alpha = alpha;
        let mut best = -Score::INFINITE;
        let mut best_move = None;
        let mut number = 0;
        let mut quiets = MoveList::new();
        let mut captures = MoveList::new();
        while let Some(mv) = picker.next(self.game.position(), &self.state.history) {
            if Some(mv) == excluded || !self.position().is_legal(mv) {
                continue;
            }
            number += 1;
            let (Some(piece), captured) =
                (self.position().piece_on(mv.from()), self.position().piece_on(mv.to()))
            else {
                continue;
            };
            let quiet = captured.is_none();
            let history = match captured {
                None => self.state.history.merit(piece, mv, &context),
                Some(captured) => self.state.history.capture(piece, mv.to(), captured.kind()),
            };
            let base_reduction = reduction(depth, number);

            // 13. Shallow pruning, once some move is known not to lose at once, and while no mate is
            // being shortened. Quiet checks are spared.
            if best > -Score::RULE_WIN_FLOOR && alpha < Score::RULE_WIN_FLOOR {
                let left = (depth - base_reduction / PLY).max(0);
                // A quiet move with a good history is pruned as if it were searched deeper.
                let quiet_left = (left + history / p::history_per_pruned_ply()).max(0);
                if quiet {
                    if !in_check {
                        if depth <= p::late_move_depth() && number > late_move_count(depth, improving) {
                            picker.skip_quiets();
                        }
                        let hope = static_eval
                            + p::futility_base()
                            + p::futility_step() * quiet_left
                            + history / p::futility_history();
                        if quiet_left <= p::futility_depth()
                            && hope <= alpha
                            && !self.position().gives_check(mv)
                        {
                            continue;
                        }
                    }
                    if depth <= p::history_pruning_depth() && history < -p::history_pruning_step() * depth {
                        continue;
                    }
                    if quiet_left <= p::see_quiet_depth()
                        && !see_at_least(self.position(), mv, -p::see_quiet_step() * quiet_left * quiet_left)
                    {
                        continue;
                    }
                } else {
                    let worth = captured.map_or(0, |captured| exchange_value(captured, mv.to()));
                    let hope = static_eval
                        + p::capture_futility_base()
                        + p::capture_futility_step() * left
                        + worth
                        + history / p::capture_futility_history();
                    if !in_check
                        && left <= p::capture_futility_depth()
                        && hope <= alpha
                        && !self.position().gives_check(mv)
                    {
                        continue;
                    }
                    let slack = p::see_capture_step() * depth + history / p::see_capture_history();
                    if depth <= p::see_capture_depth() && !see_at_least(self.position(), mv, -slack.max(0)) {
                        continue;
                    }
                }
            }

            // 14. Extensions: a table move without an alternative is looked at more closely.
            let mut extension = 0;
            if let Some(e) = entry.filter(|e| {
                Some(mv) == table_move
                    && depth >= p::singular_depth()
                    && ply > 0
                    && ply < 2 * self.root_depth
                    && e.depth >= depth - 3
                    && matches!(e.bound, Bound::Lower | Bound::Exact)
                    && !Score(e.score).is_decided()
            }) {
                let limit = e.score - p::singular_step() * depth;
                self.frame(ply).excluded = Some(mv);
                let score = self.negamax::<false>(limit - 1, limit, (depth - 1) / 2, ply, cut_node);
                self.frame(ply).excluded = None;
                // The inner search used this node's frames.
                self.frame(ply + 1).killers = [None; 2];
                if self.stopped {
                    return 0;
                }
                if score < limit {
                    extension = 1;
                    if !PV
                        && score < limit - p::double_margin()
                        && self.frame(ply).doubles < p::doubles_most()
                    {
                        extension = 2;
                    }
                } else if limit >= beta {
                    // Several moves reach beta.
                    return limit;
                } else if e.score >= beta {
                    extension = -2;
                } else if cut_node {
                    extension = -1;
                }
            }

            // 15. Make the move.
            let doubles = self.frame(ply).doubles + i32::from(extension == 2);
            self.frame(ply + 1).doubles = doubles;
            self.make(mv, ply);
            let checks = self.position().in_check();
            // Where the other side must answer a check the line is hardly longer by it.
            if checks && extension == 0 && ply < 2 * self.root_depth {
                extension = p::check_extension();
            }
            let mut new_depth = depth - 1 + extension;

            // 16. Late moves are searched less deep first.
            let mut r = base_reduction;
            if cut_node {
                r += p::reduce_cut_node();
            }
            if !improving {
                r += p::reduce_not_improving();
            }
            if table_capture {
                r += p::reduce_table_capture();
            }
            if self.frame(ply + 1).cutoffs > 2 {
                r += p::reduce_cutoffs();
            }
            if was_pv {
                r -= p::spare_pv();
            }
            if checks {
                r -= p::spare_check();
            }
            if !quiet {
                r -= p::spare_capture();
            } else if hints.killers.contains(&Some(mv)) || hints.counter == Some(mv) {
                r -= p::spare_killer();
            }
            r -= history * PLY / p::history_per_ply();

            let mut score;
            if depth >= 2 && number > 1 + i32::from(PV) {
                let less = (new_depth - r / PLY).clamp(1.min(new_depth), new_depth + i32::from(PV));
                self.frame(ply).reduction = new_depth - less;
                score = -self.negamax::<false>(-alpha - 1, -alpha, less, ply + 1, true);
                self.frame(ply).reduction = 0;
                if score > alpha && less < new_depth {
                    // Much better than what there is: look closer; hardly better: less close.
                    new_depth += i32::from(score > best + p::deeper_margin());
                    new_depth -= i32::from(score < best + p::shallower_margin());
                    if less < new_depth {
                        score = -self.negamax::<false>(-alpha - 1, -alpha, new_depth, ply + 1, !cut_node);
                    }
                    if quiet && !self.stopped {
                        let (place, bonus) = (place_index(piece, mv.to()), history_bonus(depth));
                        self.state.history.learn_continuation(place, context.previous, bonus);
                    }
                }
            } else if !PV || number > 1 {
                let lone = i32::from(table_move.is_none()) * p::reduce_unknown();
                let less = new_depth - i32::from(r + lone > p::reduce_unreduced());
                score = -self.negamax::<false>(-alpha - 1, -alpha, less, ply + 1, !cut_node);
            } else {
                score = -Score::INFINITE;
            }
            // 17. The first move of a PV node, and any that beats it, with the whole window.
            if PV && (number == 1 || score > alpha) {
                score = -self.negamax::<true>(-beta, -alpha, new_depth, ply + 1, false);
            }
            self.unmake();
            if self.stopped {
                return 0;
            }

            // 18. What came of it.
            if score > best {
                best = score;
                if score > alpha {
                    best_move = Some(mv);
                    if PV {
                        self.extend_pv(ply, mv);
                    }
                    if score >= beta {
                        self.frame(ply).cutoffs += i32::from(extension < 2 || PV);
                        break;
                    }
                    alpha = score;
                    // Moves that are better still are fewer.
                    if (2..p::raised_depth()).contains(&depth) && !Score(score).is_decided() {
                        depth = (depth - p::raised_reduction()).max(1);
                    }
                }
            }
            if Some(mv) != best_move {
                if quiet {
                    quiets.push(mv);
                } else {
                    captures.push(mv);
                }
            }
        }

        // 19. No legal move loses, in check or not.
        if number == 0 {
            return if excluded.is_some() { alpha } else { Score::mated_in(ply).0 };
        }
        if best == -Score::INFINITE {
            // All moves but the first were pruned and the first was excluded or pruned with them.
            best = original_alpha;
        }

        // 20. A score far above beta by few plies is believed in part only.
        if best >= beta && !Score(best).is_decided() && !decided_beta {
            best = (best * depth + beta) / (depth + 1);
        }
        // What lies under a node of a principal variation and fails belongs to it.
        let was_pv =
            was_pv || (best <= original_alpha && ply > 0 && depth > 3 && self.frame_before(ply, 1).was_pv);

        // 21. Histories learn from a refutation.
        if best >= beta
            && let Some(mv) = best_move
        {
            self.learn(mv, &quiets, &captures, depth, ply);
        } else if best_move.is_none() && excluded.is_none() {
            self.learn_previous(depth, ply);
        }

        // 22. So does the correction of the evaluation, where the score says on which side of it the truth lies.
        let tells = if best >= beta { best > static_eval } else { best_move.is_some() || best < static_eval };
        let quiet_best = best_move.is_none_or(|mv| self.position().piece_on(mv.to()).is_none());
        if tells && quiet_best && !in_check && excluded.is_none() && !judged && !Score(best).is_decided() {
            let node = self.node(ply);
            self.state.history.correction.learn(&node, best - static_eval, depth);
        }

        // 23. The table learns; wins by rule depend on the path and stay out of it.
        if excluded.is_none() && !judged {
            let path_dependent = Score(best).is_rule_win();
            let bound = if path_dependent {
                Bound::None
            } else if best >= beta {
                Bound::Lower
            } else if PV && best > original_alpha {
                Bound::Exact
            } else {
                Bound::Upper
            };
            let (score, stored) = if path_dependent { (0, 0) } else { (best, depth) };
            let entry = Entry { mv: best_move, score, eval: raw_eval, depth: stored, bound, pv: was_pv };
            self.shared.table.store(key, ply, &entry);
        }
        best
    }

    /// Searches a node whose score the rules bound: within that part of the window which they leave.
    pub(crate) fn within(
        &mut self,
        bound: Verdict,
        alpha: i32,
        beta: i32,
        ply: i32,
        search: impl FnOnce(&mut Self, i32, i32) -> i32,
    ) -> i32 {
        let (least, most) = match bound {
            Verdict::AtLeast(score) => (score, Score::INFINITE),
            Verdict::AtMost(score) => (-Score::INFINITE, score),
            Verdict::Open | Verdict::Score(_) => (-Score::INFINITE, Score::INFINITE),
        };
        if least >= beta {
            return least;
        }
        if most <= alpha {
            return most;
        }
        self.frame(ply).judged = true;
        let score = search(self, alpha.max(least), beta.min(most));
        self.frame(ply).judged = false;
        score.clamp(least, most)
    }

    /// The static evaluation; the table keeps it, where it has nothing of the node, for searches that end before they
    /// store anything.
    fn evaluated(&mut self, key: u64, ply: i32, pv: bool, unknown: bool) -> i32 {
        let eval = self.raw_eval();
        if unknown {
            let entry = Entry { mv: None, score: 0, eval, depth: NO_DEPTH, bound: Bound::None, pv };
            self.shared.table.store(key, ply, &entry);
        }
        eval
    }
}
