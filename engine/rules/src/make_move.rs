//! Making and taking back moves.

use crate::bitboard::Bitboard;
use crate::change::PieceChange;
use crate::king_sight::sight;
use crate::mv::Move;
use crate::position::Position;
use crate::zobrist;

/// Checks by one side, since the last capture, that still count towards the natural limit.
/// Competition rules, chapter 1, section 5.2.
pub const COUNTED_CHECKS: u16 = 10;

/// What is needed to take a move back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undo {
    /// What the move changed; `None` for a null move.
    pub change: Option<PieceChange>,
    pub(crate) key: u64,
    pub(crate) in_check: bool,
    no_capture_plies: u16,
    checks: [u16; 2],
    pub(crate) reversible_plies: u16,
    move_number: u32,
}

impl Position {
    #[inline]
    fn undo(&self, change: Option<PieceChange>) -> Undo {
        Undo {
            change,
            key: self.key,
            in_check: self.in_check,
            no_capture_plies: self.no_capture_plies,
            checks: self.checks,
            reversible_plies: self.reversible_plies,
            move_number: self.move_number,
        }
    }

    /// Makes a move that is legal. Nothing is changed, and `None` comes back, if no piece stands
    /// on its origin.
    #[inline]
    pub(crate) fn try_make(&mut self, mv: Move) -> Option<Undo> {
        let (from, to) = (mv.from(), mv.to());
        let piece = self.piece_on(from)?;
        let captured = self.piece_on(to);
        let undo = self.undo(Some(PieceChange { piece, from, to, captured }));
        let (us, them) = (self.side_to_move, !self.side_to_move);
        if let Some(captured) = captured {
            self.lift(captured, to);
            self.key ^= zobrist::piece(captured, to);
        }
        self.slide(piece, from, to);
        self.key ^= zobrist::piece(piece, from) ^ zobrist::piece(piece, to) ^ zobrist::side();
        self.side_to_move = them;
        let king = self.king(them);
        // Before the move that king was not attacked.
        let touched = sight(king).touched_by(mv);
        self.in_check =
            touched != 0 && self.is_attacked_along(touched, king, us, self.occupied(), Bitboard::FULL);
        self.move_number += us.index() as u32;
        if captured.is_some() {
            self.no_capture_plies = 0;
            self.checks = [0; 2];
            self.reversible_plies = 0;
        } else {
            // A check past the tenth and the reply to it do not count.
            let answers_uncounted = undo.in_check && self.checks[them.index()] > COUNTED_CHECKS;
            let checks = &mut self.checks[us.index()];
            *checks = checks.saturating_add(self.in_check as u16);
            let uncounted = self.in_check && *checks > COUNTED_CHECKS;
            if !answers_uncounted && !uncounted {
                self.no_capture_plies = self.no_capture_plies.saturating_add(1);
            }
            self.reversible_plies = self.reversible_plies.saturating_add(1);
        }
        Some(undo)
    }

    /// Makes a legal move and returns what takes it back.
    ///
    /// The move is trusted: for one that is not legal the position may come to break its promises
    /// (memory safety aside). Check moves that come from outside with
    /// [`is_pseudo_legal`](Position::is_pseudo_legal) and [`is_legal`](Position::is_legal), or play
    /// them on a [`Game`](crate::Game). A move from an empty square changes nothing but the side.
    #[inline]
    pub fn make(&mut self, mv: Move) -> Undo {
        match self.try_make(mv) {
            Some(undo) => undo,
            None => self.make_null(),
        }
    }

    /// Takes the last move back. `undo` must be what that move returned.
    #[inline]
    pub fn unmake(&mut self, undo: &Undo) {
        if let Some(PieceChange { piece, from, to, captured }) = undo.change {
            self.slide(piece, to, from);
            if let Some(captured) = captured {
                self.place(captured, to);
            }
        }
        self.side_to_move = !self.side_to_move;
        self.key = undo.key;
        self.in_check = undo.in_check;
        self.no_capture_plies = undo.no_capture_plies;
        self.checks = undo.checks;
        self.reversible_plies = undo.reversible_plies;
        self.move_number = undo.move_number;
    }

    /// Passes the turn, for a search's null move; only where the side to move is not in check.
    /// No repetition is seen across it. [`unmake`](Position::unmake) takes it back too.
    pub fn make_null(&mut self) -> Undo {
        let undo = self.undo(None);
        self.key ^= zobrist::side();
        self.side_to_move = !self.side_to_move;
        self.in_check = false;
        self.reversible_plies = 0;
        undo
    }
}
