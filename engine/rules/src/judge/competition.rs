//! The competition rules' judge: 《象棋程序竞赛规则》, chapter 3.
//!
//! - 长将: every move of a side in the cycle gives check.
//! - 长捉: there is a piece that each of the chaser's moves chases and each of its owner's moves
//!   frees from all chase. There is no chase at all in a cycle with a check in it.

use super::Repetition;
use super::chase::{self, Blind};
use super::cycle::Cycle;
use crate::bitboard::Bitboard;
use crate::color::Color;

pub(super) fn judge(cycle: &Cycle<'_>) -> Repetition {
    let checks = cycle.checks();
    let calm = checks.iter().all(|side| side.given == 0);
    let chased = if calm { perpetually_chased(cycle) } else { [Bitboard::EMPTY; 2] };
    Repetition::of(checks, cycle.squares_at_start(chased))
}

/// The pieces that each side chases throughout the cycle (index: the chaser), by their names. "One
/// piece" is one and the same man.
fn perpetually_chased(cycle: &Cycle<'_>) -> [Bitboard; 2] {
    let mut rewind = cycle.rewind();
    let mut left = Color::ALL.map(|chaser| chase::targets(rewind.position(), !chaser));
    while rewind.change().is_some() {
        for chaser in Color::ALL {
            let remaining = left[chaser.index()];
            if remaining.is_empty() {
                continue;
            }
            let here = rewind.squares(!chaser, remaining);
            let now = rewind.names(chase::chased(rewind.position(), chaser, here, Blind::default()));
            // The chaser's own move must chase it, its owner's must free it.
            left[chaser.index()] = if chaser == rewind.mover() { now } else { remaining.without(now) };
        }
        if left == [Bitboard::EMPTY; 2] {
            break;
        }
        rewind.back();
    }
    left
}
