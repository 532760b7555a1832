//! Which pseudo-legal moves leave one's own king safe.

use crate::attacks;
use crate::bitboard::Bitboard;
use crate::mv::{Move, MoveList};
use crate::piece::PieceKind;
use crate::position::Position;

/// Squares whose emptying or filling can open the own king to an attack, for a side that is not
/// in check. Moves that touch none of them, and no king moves, are legal without a look.
struct Danger {
    from: Bitboard,
    to: Bitboard,
}

impl Position {
    fn danger(&self) -> Danger {
        let (us, them) = (self.side_to_move, !self.side_to_move);
        let king = self.king(us);
        let cross = [Bitboard::file(king.file()), Bitboard::rank(king.rank())];
        let cannons = self.pieces(them, PieceKind::Cannon);
        let line_pieces = cannons | self.pieces(them, PieceKind::Rook) | self.pieces(them, PieceKind::King);
        let mut danger = Danger { from: Bitboard::of(king), to: Bitboard::EMPTY };
        for line in cross {
            if !(line & line_pieces).is_empty() {
                danger.from |= line;
            }
            // Only a cannon can be given a screen.
            if !(line & cannons).is_empty() {
                danger.to |= line;
            }
        }
        let knights = self.pieces(them, PieceKind::Knight);
        if !(attacks::knight_attackers(king, Bitboard::EMPTY) & knights).is_empty() {
            // The legs are the king's diagonal neighbours.
            let (file, rank) = (king.file(), king.rank());
            for (df, dr) in [(-1i8, -1i8), (-1, 1), (1, -1), (1, 1)] {
                let at = (file.wrapping_add_signed(df), rank.wrapping_add_signed(dr));
                if let Some(leg) = crate::Square::at(at.0, at.1) {
                    danger.from = danger.from.with(leg);
                }
            }
        }
        danger
    }

    /// Does this pseudo-legal move leave the own king safe?
    #[inline]
    pub fn is_legal(&self, mv: Move) -> bool {
        let (us, them) = (self.side_to_move, !self.side_to_move);
        let (from, to) = (mv.from(), mv.to());
        let occupied = self.occupied().without(Bitboard::of(from)).with(to);
        let king = if from == self.king(us) { to } else { self.king(us) };
        self.king_attackers(king, them, occupied).without(Bitboard::of(to)).is_empty()
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
        let occupied = self.occupied().without(Bitboard::of(mv.from())).with(mv.to());
        // What stands on the origin no longer does, as its square is not in use; what was captured
        // is the other side's. Only the moved piece itself is missing.
        let left = self.king_attackers(king, us, occupied) & occupied.without(Bitboard::of(mv.to()));
        if !left.is_empty() {
            return true;
        }
        match piece.kind() {
            PieceKind::Knight => attacks::knight(mv.to(), occupied).has(king),
            PieceKind::Rook | PieceKind::King => attacks::rook(mv.to(), occupied).has(king),
            PieceKind::Cannon => attacks::cannon_captures(mv.to(), occupied).has(king),
            kind => attacks::step(us, kind, mv.to()).has(king),
        }
    }

    /// All legal moves, in the order of the pseudo-legal ones.
    pub fn legal_moves(&self) -> MoveList {
        let mut list = MoveList::new();
        self.for_each_legal(|from, sure, asked| {
            for to in sure | asked {
                let mv = Move::new(from, to);
                if sure.has(to) || self.is_legal(mv) {
                    list.push(mv);
                }
            }
            true
        });
        list
    }

    /// How many legal moves there are, most of them counted without being looked at.
    pub fn legal_count(&self) -> u64 {
        let mut count = 0;
        self.for_each_legal(|from, sure, asked| {
            count += u64::from(sure.count());
            count += asked.filter(|&to| self.is_legal(Move::new(from, to))).count() as u64;
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
            if self.in_check { Danger { from: Bitboard::FULL, to: Bitboard::FULL } } else { self.danger() };
        for from in self.color(self.side_to_move) {
            let to = self.destinations(from);
            let asked = if danger.from.has(from) { to } else { to & danger.to };
            if !f(from, to.without(asked), asked) {
                return;
            }
        }
    }
}
