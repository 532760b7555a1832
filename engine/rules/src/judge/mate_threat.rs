//! 杀: would the side that has just moved mate by checks alone if it were to move again?

use crate::mv::MoveList;
use crate::position::Position;

/// Positions that are looked at for one answer. Where they are used up, no threat is seen; what is
/// found depends on the position alone.
const MOST_POSITIONS: u32 = 4_000;

/// The fewest moves, up to `depth`, in which the side not to move would mate by checks alone if the
/// other passed now. `None` where there is no such mate, where the side to move is in check (that
/// is no threat but a check), or where the answer would take too many positions.
pub(super) fn moves_to_mate(position: &Position, depth: u8) -> Option<u8> {
    if position.in_check() {
        return None;
    }
    let mut passed = position.clone();
    passed.make_null();
    let mut hunt = Hunt { left: MOST_POSITIONS };
    // The shortest first: most threats are of one or two moves, and most positions have no checks.
    (1..=depth).find(|&moves| hunt.mates(&mut passed, moves))
}

struct Hunt {
    /// Positions that may still be looked at.
    left: u32,
}

impl Hunt {
    /// One more position, if there is one left.
    fn may_look_on(&mut self) -> bool {
        let may = self.left > 0;
        self.left -= u32::from(may);
        may
    }

    /// Does the side to move mate in `moves` moves or fewer, each of them a check? Goes no deeper
    /// than twice `moves`.
    fn mates(&mut self, position: &mut Position, moves: u8) -> bool {
        if moves == 0 {
            return false;
        }
        for &check in checks(position).iter() {
            if !self.may_look_on() {
                return false;
            }
            let undo = position.make(check);
            let mated = self.is_mated(position, moves);
            position.unmake(&undo);
            if mated {
                return true;
            }
        }
        false
    }

    /// The side to move is in check: do all its ways out, if any, lead to mate?
    fn is_mated(&mut self, position: &mut Position, moves: u8) -> bool {
        if moves == 1 {
            return !position.has_legal_move();
        }
        let escapes = position.legal_moves();
        escapes.iter().all(|&escape| {
            if !self.may_look_on() {
                return false;
            }
            let undo = position.make(escape);
            let mated = self.mates(position, moves - 1);
            position.unmake(&undo);
            mated
        })
    }
}

/// The legal moves that give check.
fn checks(position: &Position) -> MoveList {
    let mut list = MoveList::new();
    for &mv in position.legal_moves().iter().filter(|&&mv| position.gives_check(mv)) {
        list.push(mv);
    }
    list
}
