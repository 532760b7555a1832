//! A game: a start position and the moves played from it.

use std::fmt;

use crate::change::PieceChange;
use crate::make_move::Undo;
use crate::mv::Move;
use crate::position::Position;

/// Slots of the filter that says "this position has not been here before" without a walk back.
const FILTER_SLOTS: usize = 1 << 12;

/// A start position and the moves played from it: what a repetition is judged on.
///
/// Moves are played and taken back at the end only, as on a board; null moves may stand between
/// them during a search.
#[derive(Clone)]
pub struct Game {
    start: Position,
    position: Position,
    plies: Vec<Undo>,
    /// How many positions of the game, the current one included, fall into each slot.
    filter: Box<[u16; FILTER_SLOTS]>,
}

/// A move that may not be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{mv} is not legal: {why} (position {fen})")]
pub struct IllegalMove {
    /// The move.
    pub mv: Move,
    /// Which rule it breaks.
    pub why: &'static str,
    /// The position in which it was to be played.
    pub fen: String,
}

#[inline]
fn slot(key: u64) -> usize {
    key as usize % FILTER_SLOTS
}

impl Game {
    /// A game that begins here.
    pub fn new(start: Position) -> Game {
        let mut game = Game {
            position: start.clone(),
            start,
            plies: Vec::with_capacity(256),
            filter: Box::new([0; FILTER_SLOTS]),
        };
        game.count_in();
        game
    }

    #[inline]
    fn count_in(&mut self) {
        let count = &mut self.filter[slot(self.position.key())];
        *count = count.saturating_add(1);
    }

    #[inline]
    fn count_out(&mut self) {
        let count = &mut self.filter[slot(self.position.key())];
        *count = count.saturating_sub(1);
    }

    /// Where the game began.
    pub fn start(&self) -> &Position {
        &self.start
    }

    /// Where it stands now.
    #[inline]
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// How many plies have been played, null moves included.
    #[inline]
    pub fn len(&self) -> usize {
        self.plies.len()
    }

    /// Has nothing been played yet?
    pub fn is_empty(&self) -> bool {
        self.plies.is_empty()
    }

    /// The moves played, null moves left out.
    pub fn moves(&self) -> impl Iterator<Item = Move> + '_ {
        self.plies.iter().filter_map(|undo| undo.change).map(|change| Move::new(change.from, change.to))
    }

    /// The last ply's change; `None` at the start and after a null move.
    pub fn last_change(&self) -> Option<PieceChange> {
        self.plies.last().and_then(|undo| undo.change)
    }

    pub(crate) fn plies(&self) -> &[Undo] {
        &self.plies
    }

    /// Plays a move that is known to be legal (a search's own), and reports what it changed.
    /// See [`Position::make`] for what happens otherwise.
    #[inline]
    pub fn play(&mut self, mv: Move) -> Option<PieceChange> {
        let undo = self.position.make(mv);
        self.plies.push(undo);
        self.count_in();
        undo.change
    }

    /// Plays a move that comes from outside.
    ///
    /// # Errors
    /// Says why the move is not legal; the game is as before then.
    pub fn try_play(&mut self, mv: Move) -> Result<PieceChange, IllegalMove> {
        let refused = |position: &Position, why| IllegalMove { mv, why, fen: position.fen() };
        if let Some(why) = self.position.why_illegal(mv) {
            return Err(refused(&self.position, why));
        }
        self.play(mv).ok_or_else(|| refused(&self.position, "no piece stands on its origin"))
    }

    /// Takes the last ply back; nothing happens at the start.
    #[inline]
    pub fn undo(&mut self) {
        if let Some(undo) = self.plies.pop() {
            self.count_out();
            self.position.unmake(&undo);
        }
    }

    /// Passes the turn, for a search's null move. [`undo`](Game::undo) takes it back.
    pub fn play_null(&mut self) {
        let undo = self.position.make_null();
        self.plies.push(undo);
        self.count_in();
    }

    /// The plies after which the current position stood before, latest first: each is a count of
    /// plies played, so 0 is the start.
    pub(crate) fn earlier_occurrences(&self) -> impl Iterator<Item = usize> + '_ {
        let key = self.position.key();
        let now = self.plies.len();
        let reach = (self.position.reversible_plies as usize).min(now);
        // Alone in its slot: it has not been here. Four plies are the shortest way back.
        let reach = if self.filter[slot(key)] < 2 { 0 } else { reach };
        (4..=reach).step_by(2).map(move |back| now - back).filter(move |&i| self.plies[i].key == key)
    }

    /// How often the current position has stood on the board in this game; 1 = for the first time.
    pub fn occurrences(&self) -> u32 {
        1 + self.earlier_occurrences().count() as u32
    }
}

impl fmt::Debug for Game {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Game({} moves", self.start.fen())?;
        for mv in self.moves() {
            write!(f, " {mv}")?;
        }
        f.write_str(")")
    }
}
