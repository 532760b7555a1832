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
    /// By kind, as [`Position::check_squares`] has them.
    direct: [Bitboard; PieceKind::ALL.len()],
    /// Between it and a cannon with nothing between: whoever comes there is the cannon's screen.
    screens: Bitboard,
}

impl CheckSquares {
    fn of(position: &Position) -> CheckSquares {
        let us = position.side_to_move;
        let king = position.king(!us);
        let sight = sight(king);
        let direct = position.check_squares();
        let mut screens = Bitboard::EMPTY;
        for cannon in position.pieces(us, PieceKind::Cannon) & direct[PieceKind::Rook.index()] {
            screens |= sight.between(cannon);
        }
        CheckSquares { king, direct, screens }
    }

    /// The empty squares on which this piece checks; `None` where it must be asked move by move, as
    /// its leaving may open a line, take a screen away or free a leg.
    fn for_piece(&self, piece: Piece, from: Square) -> Option<Bitboard> {
        if sight(self.king).ways_over(from) != 0 {
            return None;
        }
        match piece.kind() {
            PieceKind::King => None,
            kind => Some(self.direct[kind.index()] | self.screens),
        }
    }
}

impl Position {
    /// By kind: the squares from which such a piece of the side to move checks the other king, as the board stands. On
    /// the lines they reach as far as the first piece (rook) and past it to the second (cannon), both included.
    pub fn check_squares(&self) -> [Bitboard; PieceKind::ALL.len()] {
        let (us, occupied) = (self.side_to_move, self.occupied());
        let king = self.king(!us);
        let open = attacks::rook(king, occupied);
        let mut squares = [Bitboard::EMPTY; PieceKind::ALL.len()];
        squares[PieceKind::Rook.index()] = open;
        squares[PieceKind::Cannon.index()] = attacks::rook(king, occupied.without(open)).without(open);
        squares[PieceKind::Knight.index()] = attacks::knight_attackers(king, occupied);
        squares[PieceKind::Pawn.index()] = attacks::step_attackers(us, PieceKind::Pawn, king);
        squares
    }

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
