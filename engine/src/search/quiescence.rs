//! The search past the horizon: captures that do not lose material, and every reply to a check.

use xiangqi::Score;
use xiangqi::score::MAX_PLY;

use super::order::{Hints, MovePicker};
use super::parameters as p;
use super::thread::{Thread, Verdict};
use super::tt::{Bound, Entry, NO_EVAL};
use crate::eval::hce::EXCHANGE_VALUE;

impl Thread<'_> {
    /// The score of the current position when it has come to rest, `past` plies past the horizon.
    pub(crate) fn quiescence<const PV: bool>(
        &mut self,
        mut alpha: i32,
        beta: i32,
        ply: i32,
        past: i32,
    ) -> i32 {
        if PV {
            self.pvs[ply as usize].clear();
            self.seldepth = self.seldepth.max(ply + 1);
        }
        if self.should_stop() {
            return 0;
        }
        // Past the horizon only captures and replies follow one another, which repeat nothing.
        if past == 0 {
            match self.verdict(ply) {
                Verdict::Open => {}
                Verdict::Score(score) => return score,
                bound => {
                    return self.within(bound, alpha, beta, ply, |thread, alpha, beta| {
                        thread.quiescence::<PV>(alpha, beta, ply, 1)
                    });
                }
            }
        }
        let in_check = self.position().in_check();
        if ply >= MAX_PLY - 1 {
            return if in_check {
                Score::DRAW.0
            } else {
                let raw = self.raw_eval();
                self.corrected(raw, ply)
            };
        }

        let key = self.table_key();
        let entry = self.shared.table.probe(key, ply);
        // A search with quiet checks says more than one without.
        let depth = if in_check || past < p::quiet_check_plies() { 0 } else { -1 };
        if let Some(e) = entry
            && !PV
            && e.depth >= depth
            && e.bound.decides(e.score, beta)
        {
            return e.score;
        }

        let raw_eval;
        let mut best;
        if in_check {
            raw_eval = NO_EVAL;
            best = -Score::INFINITE;
        } else {
            raw_eval = match entry.filter(|e| e.eval != NO_EVAL) {
                Some(e) => e.eval,
                None => self.raw_eval(),
            };
            best = self.corrected(raw_eval, ply);
            if let Some(e) = entry {
                let helps = if e.score > best { Bound::Lower } else { Bound::Upper };
                if e.bound as u8 & helps as u8 != 0 && !Score(e.score).is_decided() {
                    best = e.score;
                }
            }
            if best >= beta {
                if entry.is_none() {
                    let bound = Bound::Lower;
                    let entry = Entry { mv: None, score: best, eval: raw_eval, depth, bound, pv: false };
                    self.shared.table.store(key, ply, &entry);
                }
                return best;
            }
            alpha = alpha.max(best);
        }

        let stand_pat = best;
        let context = self.context(ply);
        let table_move = entry.and_then(|e| e.mv);
        let hints = Hints { table_move, killers: [None; 2], counter: None, context };
        let mut picker = if in_check {
            MovePicker::new(self.position(), hints)
        } else if past < p::quiet_check_plies() {
            MovePicker::captures_and_checks(self.position(), hints)
        } else {
            MovePicker::captures(self.position(), hints)
        };
        let mut best_move = None;
        let (mut number, mut quiet_replies) = (0, 0);
        while let Some(mv) = picker.next(self.game.position(), &self.state.history) {
            if !self.position().is_legal(mv) {
                continue;
            }
            number += 1;
            let captured = self.position().piece_on(mv.to());
            if best > -Score::RULE_WIN_FLOOR {
                match captured {
                    Some(captured) if !in_check => {
                        let hope = stand_pat + p::delta_margin() + EXCHANGE_VALUE[captured.kind().index()];
                        if hope <= alpha && !self.position().gives_check(mv) {
                            best = best.max(hope.min(alpha));
                            continue;
                        }
                    }
                    None if in_check => {
                        quiet_replies += 1;
                        if quiet_replies > p::quiet_replies() {
                            picker.skip_quiets();
                            continue;
                        }
                    }
                    _ => {}
                }
            }
            self.make(mv, ply);
            let score = -self.quiescence::<PV>(-beta, -alpha, ply + 1, past + 1);
            self.unmake();
            if self.stopped {
                return 0;
            }
            if score > best {
                best = score;
                if score > alpha {
                    best_move = Some(mv);
                    if PV {
                        self.extend_pv(ply, mv);
                    }
                    if score >= beta {
                        break;
                    }
                    alpha = score;
                }
            }
        }
        if in_check && number == 0 {
            return Score::mated_in(ply).0;
        }

        if !Score(best).is_rule_win() && !self.frame(ply).judged {
            let bound = if best >= beta { Bound::Lower } else { Bound::Upper };
            let pv = PV && best_move.is_some();
            let entry = Entry { mv: best_move, score: best, eval: raw_eval, depth, bound, pv };
            self.shared.table.store(key, ply, &entry);
        }
        best
    }
}
