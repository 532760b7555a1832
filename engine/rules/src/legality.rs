//! Which pseudo-legal moves leave one's own king safe.

use crate::attacks;
use crate::bitboard::Bitboard;
use crate::king_sight::{sight, ways};
use crate::mv::{Move, MoveList};
use crate::piece::PieceKind;
use crate::position::Position;

/// What can open the own king to an attack, for a side that is not in check.
struct Danger {
    /// Squares whose emptying can: moves from there must be looked at. The king's is among them.
    from: Bitboard,
    /// Squares on which a piece from elsewhere would be a cannon's screen: no move may end there.
    to: Bitboard,
}

impl Position {
    fn danger(&self) -> Danger {
        let (us, them) = (self.side_to_move, !self.side_to_move);
        let king = self.king(us);
        let (sight, occupied) = (sight(king), self.occupied());
        let lines = sight.lines(ways::ALL);
        let mut danger = Danger { from: Bitboard::of(king), to: Bitboard::EMPTY };
        for square in self.straight(them) & lines {
            let between = sight.between(square) & occupied;
            if !between.more_than_one() {
                danger.from |= between;
            }
        }
        for square in self.pieces(them, PieceKind::Cannon) & lines {
            let between = sight.between(square) & occupied;
            match between.count() {
                0 => danger.to |= sight.between(square),
                2 => danger.from |= between,
                _ => {}
            }
        }
        if !(sight.knights & self.pieces(them, PieceKind::Knight)).is_empty() {
            danger.from |= sight.legs;
        }
        danger
    }

    /// Does this pseudo-legal move leave the own king safe?
    #[inline]
    pub fn is_legal(&self, mv: Move) -> bool {
        let (us, them) = (self.side_to_move, !self.side_to_move);
        let (from, to) = (mv.from(), mv.to());
        let own_king = self.king(us);
        let (king, along) = if from == own_king {
            (to, ways::ALL)
        } else {
            let touched = sight(own_king).touched_by(mv);
            if touched == 0 {
                return !self.in_check;
            }
            (own_king, if self.in_check { ways::ALL } else { touched })
        };
        let occupied = self.occupied().without(Bitboard::of(from)).with(to);
        !self.is_attacked_along(along, king, them, occupied, !Bitboard::of(to))
    }

    /// Why a move may not be played, in words; `None` for a legal one.
    pub fn why_illegal(&self, mv: Move) -> Option<&'static str> {
        match self.piece_on(mv.from()) {
            None => Some("no piece stands on its origin"),
            Some(piece) if piece.color() != self.side_to_move => Some("the piece is the other side's"),
            Some(_) if !self.is_pseudo_legal(mv) => Some("the piece does not move that way"),
            Some(_) if !self.is_legal(mv) => Some("it leaves the own king attacked or the kings facing"),
            Some(_) => None,
        }
    }

    /// Does this pseudo-legal move put the other king in check?
    pub fn gives_check(&self, mv: Move) -> bool {
        let Some(piece) = self.piece_on(mv.from()) else { return false };
        let (us, king) = (self.side_to_move, self.king(!self.side_to_move));
        let sight = sight(king);
        // The other king is not in check before the move.
        let touched = sight.touched_by(mv);
        if touched == 0 {
            return false;
        }
        let (to, occupied) = (mv.to(), self.occupied().without(Bitboard::of(mv.from())).with(mv.to()));
        // What stands on the origin no longer does, as its square is not in use; what was captured
        // is the other side's. Only the moved piece itself is missing.
        if self.is_attacked_along(touched, king, us, occupied, occupied) {
            return true;
        }
        let between = sight.between(to) & occupied;
        match piece.kind() {
            PieceKind::Rook | PieceKind::King => sight.lines(ways::ALL).has(to) && between.is_empty(),
            PieceKind::Cannon => between.count() == 1,
            PieceKind::Knight => sight.knights.has(to) && attacks::knight(to, occupied).has(king),
            kind => attacks::step(us, kind, to).has(king),
        }
    }

    /// All legal moves, in the order of the pseudo-legal ones.
    pub fn legal_moves(&self) -> MoveList {
        let mut list = MoveList::new();
        self.for_each_legal(|from, sure, asked| {
            // One of the two is empty.
            let all_sure = asked.is_empty();
            (sure | asked).for_each(|to| {
                let mv = Move::new(from, to);
                if all_sure || self.is_legal(mv) {
                    list.push(mv);
                }
            });
            true
        });
        list
    }

    /// How many legal moves there are, most of them counted without being looked at.
    pub fn legal_count(&self) -> u64 {
        let mut count = 0;
        self.for_each_legal(|from, sure, asked| {
            count += u64::from(sure.count());
            for to in asked {
                count += u64::from(self.is_legal(Move::new(from, to)));
            }
            true
        });
        count
    }

    /// Is there a legal move?
    pub fn has_legal_move(&self) -> bool {
        let mut found = false;
        self.for_each_legal(|from, sure, mut asked| {
            found = !sure.is_empty() || asked.any(|to| self.is_legal(Move::new(from, to)));
            !found
        });
        found
    }

    /// Calls `f(from, sure, asked)` per piece until it says false: destinations that are legal for
    /// certain, and those that must be asked.
    #[inline]
    fn for_each_legal(&self, mut f: impl FnMut(crate::Square, Bitboard, Bitboard) -> bool) {
        let danger =
            if self.in_check { Danger { from: Bitboard::FULL, to: Bitboard::EMPTY } } else { self.danger() };
        let (own, occupied) = (self.color(self.side_to_move), self.occupied());
        for from in own {
            let Some(piece) = self.piece_on(from) else { continue };
            let to = attacks::moves(piece, from, occupied).without(own);
            let (sure, asked) = if danger.from.has(from) {
                (Bitboard::EMPTY, to)
            } else {
                (to.without(danger.to), Bitboard::EMPTY)
            };
            if !f(from, sure, asked) {
                return;
            }
        }
    }
}
