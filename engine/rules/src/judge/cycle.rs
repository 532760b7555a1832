//! A cycle of positions: the moves from one standing of a position to a later one.

use crate::bitboard::Bitboard;
use crate::change::PieceChange;
use crate::color::Color;
use crate::game::Game;
use crate::make_move::Undo;
use crate::position::Position;
use crate::square::Square;

/// The moves that led from a position back to it, closed to a ring: every position of it arose by a
/// move of it.
#[derive(Clone, Copy)]
pub(super) struct Cycle<'a> {
    game: &'a Game,
    first: usize,
}

/// What one side did in a cycle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Checks {
    /// Its moves.
    pub(super) moves: u32,
    /// Those of them that give check.
    pub(super) given: u32,
}

impl Checks {
    /// Does each of the side's moves give check?
    pub(super) fn perpetual(self) -> bool {
        self.moves > 0 && self.given == self.moves
    }
}

impl<'a> Cycle<'a> {
    /// The cycle from the position after `first` plies to the current one, which is the same.
    pub(super) fn new(game: &'a Game, first: usize) -> Cycle<'a> {
        Cycle { game, first: first.min(game.len()) }
    }

    /// Its moves. No one captures, and none is a null move.
    fn plies(&self) -> &'a [Undo] {
        &self.game.plies()[self.first..]
    }

    /// Who made the last move.
    fn last_mover(&self) -> Color {
        !self.game.position().side_to_move()
    }

    /// The cycle from its end, for a look at its moves from the last to the first.
    pub(super) fn rewind(&self) -> Rewind<'a> {
        Rewind {
            position: self.game.position().clone(),
            plies: self.plies(),
            end: std::array::from_fn(|i| Square::known(i as u8)),
        }
    }

    /// Where the chased men (index: the chaser) with these names stand at the cycle's start. That is
    /// the same board as at its end, but men of a kind may have changed places.
    pub(super) fn squares_at_start(&self, chased: [Bitboard; 2]) -> [Bitboard; 2] {
        if chased == [Bitboard::EMPTY; 2] {
            return chased;
        }
        let mut rewind = self.rewind();
        while rewind.change().is_some() {
            rewind.back();
        }
        Color::ALL.map(|chaser| rewind.squares(!chaser, chased[chaser.index()]))
    }

    /// Each side's moves and checks.
    pub(super) fn checks(&self) -> [Checks; 2] {
        let mut sides = [Checks::default(); 2];
        let mut mover = self.last_mover();
        // A ply's record keeps what was so before it: the one after it tells what it did.
        let mut check = self.game.position().in_check();
        for undo in self.plies().iter().rev() {
            let side = &mut sides[mover.index()];
            side.moves += 1;
            side.given += u32::from(check);
            check = undo.in_check;
            mover = !mover;
        }
        sides
    }
}

/// A cycle seen backwards, so that most are done with after a ply or two. Men are named by the
/// squares they stand on at the cycle's end, and followed from square to square.
pub(super) struct Rewind<'a> {
    position: Position,
    plies: &'a [Undo],
    /// Where the man on a square stands at the end. Nothing is captured in a cycle.
    end: [Square; Square::COUNT],
}

impl Rewind<'_> {
    /// The position that has been reached.
    pub(super) fn position(&self) -> &Position {
        &self.position
    }

    /// The move that led to it; `None` at the cycle's start.
    pub(super) fn change(&self) -> Option<PieceChange> {
        self.plies.last().and_then(|undo| undo.change)
    }

    /// Who made that move.
    pub(super) fn mover(&self) -> Color {
        !self.position.side_to_move()
    }

    /// Takes that move back.
    pub(super) fn back(&mut self) {
        if let Some((undo, rest)) = self.plies.split_last() {
            if let Some(change) = undo.change {
                self.end[change.from.index()] = self.end[change.to.index()];
            }
            self.position.unmake(undo);
            self.plies = rest;
        }
    }

    /// The names of the men on these squares.
    pub(super) fn names(&self, squares: Bitboard) -> Bitboard {
        squares.map(|square| self.end[square.index()]).collect()
    }

    /// Where a side's men with these names stand.
    pub(super) fn squares(&self, owner: Color, names: Bitboard) -> Bitboard {
        self.position.color(owner).filter(|square| names.has(self.end[square.index()])).collect()
    }
}
