//! A game as it is recorded.

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use xiangqi::judge::{EndReason, GameResult, RuleSet};
use xiangqi::{Color, Move, Position, Score};

use super::error::GameError;

/// The most plies a recorded game can have, opening included.
pub const MAX_GAME_PLIES: usize = 4096;

/// The longest FEN a start may be given as, in bytes.
pub const MAX_FEN_LEN: usize = 128;

/// Where a game begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// The start position of the game.
    Standard,
    /// The position of a FEN, at most [`MAX_FEN_LEN`] bytes.
    Fen(String),
}

impl Start {
    /// The position.
    pub fn position(&self) -> Result<Position, GameError> {
        match self {
            // Asked for at every game that is read: made once.
            Start::Standard => {
                static START: LazyLock<Position> = LazyLock::new(Position::start);
                Ok(START.clone())
            }
            Start::Fen(text) if text.len() > MAX_FEN_LEN => Err(GameError::Start {
                text: text.chars().take(40).collect(),
                reason: format!("{} bytes, at most {MAX_FEN_LEN} are possible", text.len()),
            }),
            Start::Fen(text) => Position::from_fen(text)
                .map_err(|error| GameError::Start { text: text.clone(), reason: error.to_string() }),
        }
    }
}

macro_rules! coded_enum {
    ($(#[$doc:meta])* $name:ident, $what:literal { $($(#[$vdoc:meta])* $variant:ident = $code:literal $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $name { $($(#[$vdoc])* $variant = $code,)* }

        impl $name {
            /// All values, in the order of their codes.
            pub const ALL: &[$name] = &[$($name::$variant,)*];

            /// The byte that stands for it in a file.
            pub const fn code(self) -> u8 {
                self as u8
            }

            /// The value a byte stands for.
            pub fn from_code(code: u8) -> Result<$name, GameError> {
                match code {
                    $($code => Ok($name::$variant),)*
                    _ => Err(GameError::Code { what: $what, found: u64::from(code) }),
                }
            }

            /// The word for it on command lines and in JSON.
            pub const fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.word())
            }
        }

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<$name, String> {
                $name::ALL.iter().copied().find(|value| value.word() == text).ok_or_else(|| {
                    let words: Vec<_> = $name::ALL.iter().map(|value| value.word()).collect();
                    format!("{text:?} is no {}; expected one of {}", $what, words.join(" "))
                })
            }
        }
    };
}

coded_enum! {
    /// How a game ended.
    Outcome, "outcome" {
        /// A draw.
        Draw = 0 "draw",
        /// Black won.
        RedLoses = 1 "red_loses",
        /// Red won.
        BlackLoses = 2 "black_loses",
    }
}

impl Outcome {
    /// The judge's result; `None` while the game goes on.
    pub const fn from_result(result: GameResult) -> Option<Outcome> {
        match result {
            GameResult::Ongoing => None,
            GameResult::Draw => Some(Outcome::Draw),
            GameResult::RedLoses => Some(Outcome::RedLoses),
            GameResult::BlackLoses => Some(Outcome::BlackLoses),
        }
    }

    /// The outcome in which `side` loses.
    pub const fn loss_of(side: Color) -> Outcome {
        match side {
            Color::Red => Outcome::RedLoses,
            Color::Black => Outcome::BlackLoses,
        }
    }

    /// What the game gave `side`, in half points: 0 loss, 1 draw, 2 win.
    pub const fn half_points(self, side: Color) -> u8 {
        match (self, side) {
            (Outcome::Draw, _) => 1,
            (Outcome::RedLoses, Color::Red) | (Outcome::BlackLoses, Color::Black) => 0,
            _ => 2,
        }
    }
}

coded_enum! {
    /// Why a game ended: by the rules, or because somebody stopped it.
    Reason, "reason" {
        /// The side to move is mated.
        Checkmate = 0 "checkmate",
        /// The side to move has no move (which loses).
        Stalemate = 1 "stalemate",
        /// The third occurrence of a position, judged by the rule set.
        Repetition = 2 "repetition",
        /// The natural limit: too many plies without a capture.
        NaturalLimit = 3 "natural_limit",
        /// Nobody can win with what is on the board.
        InsufficientMaterial = 4 "insufficient_material",
        /// Adjudicated: both sides' searches agreed on who wins for the plan's number of plies.
        Resignation = 5 "resignation",
        /// Adjudicated: both sides' searches saw equality for the plan's number of plies.
        DrawAdjudication = 6 "draw_adjudication",
        /// Adjudicated: the plan's greatest number of plies was reached; a draw.
        PlyLimit = 7 "ply_limit",
        /// Not known: who played the game, or the file it comes from, names the result alone.
        Stated = 8 "stated",
    }
}

impl Reason {
    /// Did somebody end the game, and not the rules?
    pub const fn is_adjudicated(self) -> bool {
        use Reason::{DrawAdjudication, PlyLimit, Resignation, Stated};
        matches!(self, Resignation | DrawAdjudication | PlyLimit | Stated)
    }
}

impl From<EndReason> for Reason {
    fn from(reason: EndReason) -> Reason {
        match reason {
            EndReason::Checkmate => Reason::Checkmate,
            EndReason::Stalemate => Reason::Stalemate,
            EndReason::Repetition => Reason::Repetition,
            EndReason::NaturalLimit => Reason::NaturalLimit,
            EndReason::InsufficientMaterial => Reason::InsufficientMaterial,
        }
    }
}

/// Marks of a scored ply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct PlyFlags(u8);

impl PlyFlags {
    /// No mark: the move played is the search's best, and the position is for training.
    pub const NONE: PlyFlags = PlyFlags(0);
    /// The move played is not the search's best (the score belongs to the best).
    pub const NOT_BEST: PlyFlags = PlyFlags(1);
    /// The position is not for training: a filter took it, or it is in the data a second time. Its move stays
    /// because the game needs it.
    pub const SKIP: PlyFlags = PlyFlags(2);

    /// Both marks by their meaning.
    #[inline]
    pub const fn from_bits(not_best: bool, skip: bool) -> PlyFlags {
        PlyFlags(not_best as u8 | (skip as u8) << 1)
    }

    /// These marks and those of `other`.
    #[must_use]
    pub const fn with(self, other: PlyFlags) -> PlyFlags {
        PlyFlags(self.0 | other.0)
    }

    /// These marks but for those of `other`.
    #[must_use]
    pub const fn without(self, other: PlyFlags) -> PlyFlags {
        PlyFlags(self.0 & !other.0)
    }

    /// Is the move played other than the search's best?
    pub const fn is_not_best(self) -> bool {
        self.0 & PlyFlags::NOT_BEST.0 != 0
    }

    /// Is the position not for training?
    pub const fn is_skipped(self) -> bool {
        self.0 & PlyFlags::SKIP.0 != 0
    }
}

/// A move with the score the search gave the position before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlyRecord {
    /// The move played.
    pub mv: Move,
    /// The search's score of the position the move was played in, side to move's view, exact (mate and
    /// rule-win distances included); within ±[`Score::MATE`].
    pub score: Score,
    /// Marks.
    pub flags: PlyFlags,
}

/// One game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameRecord {
    /// Its number in the run; its seed follows from (run seed, number).
    pub number: u64,
    /// Where it begins.
    pub start: Start,
    /// The opening's moves: played without a search, no scores.
    pub opening: Vec<Move>,
    /// The plies after the opening, each with its score: the game's *positions* in all counts.
    pub plies: Vec<PlyRecord>,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it ended.
    pub reason: Reason,
    /// The rules it was judged by.
    pub rules: RuleSet,
}

/// What is known of a game before its moves are walked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameHead {
    /// Its number in the run.
    pub number: u64,
    /// Where it begins.
    pub start: Start,
    /// How many plies of opening.
    pub opening_plies: usize,
    /// How many scored plies after it.
    pub scored_plies: usize,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it ended.
    pub reason: Reason,
    /// The rules it was judged by.
    pub rules: RuleSet,
}

/// One ply on a walk through a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ply {
    /// Ply of the game, from 0, opening included.
    pub number: usize,
    /// The move played.
    pub mv: Move,
    /// The score and the marks; `None` in the opening.
    pub scored: Option<(Score, PlyFlags)>,
}

impl GameRecord {
    /// All moves, opening first.
    pub fn moves(&self) -> impl Iterator<Item = Move> + '_ {
        self.opening.iter().copied().chain(self.plies.iter().map(|ply| ply.mv))
    }

    /// Plies in all, opening included.
    pub const fn len(&self) -> usize {
        self.opening.len() + self.plies.len()
    }

    /// Has the game no ply at all?
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is known of the game before its moves are walked.
    pub fn head(&self) -> GameHead {
        GameHead {
            number: self.number,
            start: self.start.clone(),
            opening_plies: self.opening.len(),
            scored_plies: self.plies.len(),
            outcome: self.outcome,
            reason: self.reason,
            rules: self.rules,
        }
    }

    /// A walk through the game's positions; see [`Walk::next`].
    pub fn positions(&self) -> Result<Walk<'_>, GameError> {
        Ok(Walk { game: self, position: self.start.position()?, next: 0, done: false })
    }
}

/// A walk through the positions of a [`GameRecord`]; lends each position without copying it.
#[derive(Clone, Debug)]
pub struct Walk<'a> {
    game: &'a GameRecord,
    position: Position,
    next: usize,
    done: bool,
}

impl Walk<'_> {
    /// The next ply and the position it is played in; `None` after the last. A move that the position
    /// does not have, or that takes a king, is an error (files are decoded with the same check).
    #[expect(clippy::should_implement_trait, reason = "it lends the position it walks on")]
    pub fn next(&mut self) -> Option<Result<(&Position, Ply), GameError>> {
        if self.done {
            return None;
        }
        if let Some(last) = self.next.checked_sub(1).and_then(|number| self.ply(number)) {
            self.position.make(last.mv);
        }
        let Some(ply) = self.ply(self.next) else {
            self.done = true;
            return None;
        };
        if !is_possible(&self.position, ply.mv) {
            self.done = true;
            return Some(Err(GameError::Move { ply: ply.number, mv: ply.mv, fen: self.position.fen() }));
        }
        self.next += 1;
        Some(Ok((&self.position, ply)))
    }

    fn ply(&self, number: usize) -> Option<Ply> {
        let opening = self.game.opening.len();
        if let Some(&mv) = self.game.opening.get(number) {
            return Some(Ply { number, mv, scored: None });
        }
        let ply = self.game.plies.get(number - opening)?;
        Some(Ply { number, mv: ply.mv, scored: Some((ply.score, ply.flags)) })
    }
}

/// Can the move be made here: pseudo-legal, and no king taken? A made-up file may hold moves that leave
/// a king in check; the king must not be taken on the next ply, for no position is without kings.
pub(crate) fn is_possible(position: &Position, mv: Move) -> bool {
    position.is_pseudo_legal(mv) && mv.to() != position.king(!position.side_to_move())
}
