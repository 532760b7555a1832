//! What a match asks of a player, be it a process or a searcher in this one.

use xiangqi::{Color, Game, Move};

use crate::limit::{Clocks, Limit};
use crate::outcome::FailureKind;

/// A player's turn to move.
pub struct Turn<'a> {
    /// The game so far, from the opening's start.
    pub game: &'a Game,
    /// What the move may cost.
    pub limit: Limit,
    /// The clocks, if the limit is one.
    pub clocks: Option<Clocks>,
    /// How much a side may be late, in ms.
    pub margin_ms: u64,
}

impl Turn<'_> {
    /// Who is to move.
    pub fn color(&self) -> Color {
        self.game.position().side_to_move()
    }

    /// Time for this move in ms, without the margin; `None` where time does not matter.
    pub fn time_ms(&self) -> Option<u64> {
        match (self.limit, &self.clocks) {
            (Limit::MoveTime(ms), _) => Some(ms),
            (_, Some(clocks)) => Some(clocks.left_ms(self.color())),
            _ => None,
        }
    }
}

/// What a player decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// To play this. Whether it is legal is for the judge to say.
    Move(Move),
    /// To give up.
    Resign,
}

/// A player's answer and what it said of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thought {
    /// Its decision.
    pub answer: Answer,
    /// Its last score: side to move, centipawns, mates as in `xiangqi::Score`.
    pub score: Option<i32>,
    /// Nodes it says it searched.
    pub nodes: u64,
    /// Wall time as we measured it, in ms.
    pub elapsed_ms: u64,
}

/// A failure that loses the game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its kind.
    pub kind: FailureKind,
    /// What happened, for the report.
    pub detail: String,
}

/// A player that cannot be brought to play at all: no game can be charged to it, the match ends.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{player} does not start: {what}")]
pub struct StartError {
    /// The player's command or net.
    pub player: String,
    /// What was tried, found and expected.
    pub what: String,
}

/// Why there is no thought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoThought {
    /// The player failed and loses.
    Failure(Failure),
    /// The match is being ended; the game does not count.
    Interrupted,
}

/// What is known of a player once it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlayerInfo {
    /// The name it gives itself.
    pub name: String,
    /// `uci`, `ucci` or `in-process`.
    pub protocol: &'static str,
    /// Number of its first rank on the wire: 0 or 1.
    pub rank_base: u8,
    /// Remarks for the operator, such as options the engine did not announce.
    pub warnings: Vec<String>,
}

/// A player.
pub trait Player: Send {
    /// What is known of it; complete after the first game has begun.
    fn info(&self) -> &PlayerInfo;

    /// Gets ready for a new game, with nothing remembered of earlier ones; restarts a player that is
    /// no longer there.
    ///
    /// # Errors
    /// When it cannot be made to play.
    fn begin_game(&mut self) -> Result<(), StartError>;

    /// Thinks about a move. The game is not over.
    ///
    /// # Errors
    /// A failure that loses the game, or the match's end.
    fn think(&mut self, turn: &Turn<'_>) -> Result<Thought, NoThought>;
}
