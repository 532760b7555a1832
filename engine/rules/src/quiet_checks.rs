//! Quiet moves that give check, found without looking at the others.

use crate::attacks;
use crate::bitboard::Bitboard;
use crate::king_sight::sight;
use crate::mv::{Move, MoveList};
use crate::piece::{Piece, PieceKind};
use crate::position::Position;
use crate::square::Square;

/// Where a quiet move of the side to move gives check by its end alone.
struct CheckSquares {
    /// The other king.
    king: Square,
    /// What that king sees as a rook, past one piece, and as a knight's target.
    rooks: Bitboard,
    cannons: Bitboard,
    knights: Bitboard,
    pawns: Bitboard,
    /// Between it and a cannon with nothing between: whoever comes there is the cannon's screen.
    screens: Bitboard,
}

impl CheckSquares {
    fn of(position: &Position) -> CheckSquares {
        let us = position.side_to_move;
        let (king, occupied) = (position.king(!us), position.occupied());
        let sight = sight(king);
        let open = attacks::rook(king, occupied);
        let mut screens = Bitboard::EMPTY;
        for cannon in position.pieces(us, PieceKind::Cannon) & open {
            screens |= sight.between(cannon);
        }
        CheckSquares {
            king,
            rooks: open,
            cannons: attacks::rook(king, occupied.without(open)).without(open),
            knights: attacks::knight_attackers(king, occupied),
            pawns: attacks::step_attackers(us, PieceKind::Pawn, king),
            screens,
        }
    }

    /// The empty squares on which this piece checks; `None` where it must be asked move by move, as
    /// its leaving may open a line, take a screen away or free a leg.
    fn for_piece(&self, piece: Piece, from: Square) -> Option<Bitboard> {
        if sight(self.king).ways_over(from) != 0 {
            return None;
        }
        let direct = match piece.kind() {
            PieceKind::Rook => self.rooks,
            PieceKind::Cannon => self.cannons,
            PieceKind::Knight => self.knights,
            PieceKind::Pawn => self.pawns,
            PieceKind::Advisor | PieceKind::Bishop => Bitboard::EMPTY,
            PieceKind::King => return None,
        };
        Some(direct | self.screens)
    }
}

impl Position {
    /// The pseudo-legal moves to empty squares that put the other king in check, added to `list` in the usual order.
    pub fn pseudo_legal_quiet_checks(&self, list: &mut MoveList) {
        let (own, occupied) = (self.color(self.side_to_move), self.occupied());
        let checks = CheckSquares::of(self);
        for from in own {
            let Some(piece) = self.piece_on(from) else { continue };
            let targets = checks.for_piece(piece, from);
            if targets == Some(Bitboard::EMPTY) {
                continue;
            }
            let quiet = attacks::moves(piece, from, occupied).without(occupied);
            match targets {
                Some(targets) => (quiet & targets).for_each(|to| list.push(Move::new(from, to))),
                None => {
                    let moves = quiet.map(|to| Move::new(from, to));
                    moves.filter(|&mv| self.gives_check(mv)).for_each(|mv| list.push(mv));
                }
            }
        }
    }
}
