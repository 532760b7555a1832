//! What a searched node teaches the histories of moves.

use xiangqi::Move;

use super::history::place_index;
use super::parameters as p;
use super::thread::Thread;

/// What a move that refutes a node at this depth earns in the histories.
pub(crate) fn history_bonus(depth: i32) -> i32 {
    (p::history_square() * depth * depth + p::history_slope() * depth).min(p::history_most())
}

/// What moves lose that were tried there before it.
fn history_malus(depth: i32) -> i32 {
    (p::malus_square() * depth * depth + p::malus_slope() * depth).min(p::malus_most())
}

impl Thread<'_> {
    /// `mv` refuted the node; those tried before it did not.
    pub(crate) fn learn(&mut self, mv: Move, quiets: &[Move], captures: &[Move], depth: i32, ply: i32) {
        let (bonus, malus) = (history_bonus(depth), history_malus(depth));
        let context = self.context(ply);
        let pos = self.game.position();
        let history = &mut self.state.history;
        let Some(piece) = pos.piece_on(mv.from()) else { return };
        match pos.piece_on(mv.to()) {
            Some(captured) => history.learn_capture(piece, mv.to(), captured.kind(), bonus),
            None => {
                history.learn_quiet(piece, mv, &context, bonus);
                history.set_counter(context.previous[0], mv);
                for &other in quiets {
                    if let Some(piece) = pos.piece_on(other.from()) {
                        history.learn_quiet(piece, other, &context, -malus);
                    }
                }
            }
        }
        for &other in captures {
            if let (Some(piece), Some(captured)) = (pos.piece_on(other.from()), pos.piece_on(other.to())) {
                history.learn_capture(piece, other.to(), captured.kind(), -malus);
            }
        }
        if pos.piece_on(mv.to()).is_none() {
            let killers = &mut self.frame(ply).killers;
            if killers[0] != Some(mv) {
                killers[1] = killers[0];
                killers[0] = Some(mv);
            }
        }
    }

    /// The last move, if it was quiet, led the other side to where nothing helps it: it earns as much.
    pub(crate) fn learn_previous(&mut self, depth: i32, ply: i32) {
        let Some(change) = self.game.last_change().filter(|_| ply > 0) else { return };
        if change.captured.is_some() || self.frame_before(ply, 1).null_move {
            return;
        }
        let bonus = history_bonus(depth) * p::previous_share() / 64;
        let previous = self.context(ply - 1).previous;
        let history = &mut self.state.history;
        history.learn_butterfly(change.piece, Move::new(change.from, change.to), bonus);
        history.learn_continuation(place_index(change.piece, change.to), previous, bonus);
    }
}
