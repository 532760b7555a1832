//! The order in which moves are tried: table move, winning captures, killers, quiet moves by history,
//! losing captures.

use arrayvec::ArrayVec;
use xiangqi::mv::MAX_MOVES;
use xiangqi::{Bitboard, Move, MoveList, Piece, PieceKind, Position, attacks};

use super::history::{Context, History};
use super::parameters as p;
use super::see::see_at_least;
use crate::eval::hce::EXCHANGE_VALUE;

/// Quiet moves that go before all histories.
const KILLER_SCORE: i32 = 1 << 20;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    TableMove,
    GenerateCaptures,
    GoodCaptures,
    GenerateChecks,
    Checks,
    GenerateQuiets,
    Quiets,
    BadCaptures,
    Done,
}

/// Which moves a picker hands out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kinds {
    All,
    Captures,
    CapturesAndChecks,
}

#[derive(Clone, Copy)]
struct Scored {
    mv: Move,
    score: i32,
}

/// What quiet moves may aim at: checks, and safety from pieces of less value.
struct Aims {
    /// By kind: from where such a piece checks.
    checks: [Bitboard; PieceKind::ALL.len()],
    /// By kind: where a piece of less value would take it.
    dangers: [Bitboard; PieceKind::ALL.len()],
}

impl Aims {
    fn of(pos: &Position) -> Aims {
        let (them, occupied) = (!pos.side_to_move(), pos.occupied());
        let attacked_by = |kinds: &[PieceKind]| {
            let mut set = Bitboard::EMPTY;
            for &kind in kinds {
                for square in pos.pieces(them, kind) {
                    set |= attacks::attacks(Piece::new(them, kind), square, occupied);
                }
            }
            set
        };
        let by_small = attacked_by(&[PieceKind::Pawn, PieceKind::Advisor, PieceKind::Bishop]);
        let by_middle = by_small | attacked_by(&[PieceKind::Knight, PieceKind::Cannon]);
        let mut dangers = [Bitboard::EMPTY; PieceKind::ALL.len()];
        dangers[PieceKind::Knight.index()] = by_small;
        dangers[PieceKind::Cannon.index()] = by_small;
        dangers[PieceKind::Rook.index()] = by_middle;
        Aims { checks: pos.check_squares(), dangers }
    }

    /// In units of histories.
    fn worth(&self, kind: PieceKind, mv: Move) -> i32 {
        let mut worth = 0;
        if self.checks[kind.index()].has(mv.to()) {
            worth += p::order_check();
        }
        let dangers = self.dangers[kind.index()];
        let leaves = i32::from(dangers.has(mv.from()));
        let enters = i32::from(dangers.has(mv.to()));
        worth + (leaves - enters) * p::order_danger() * EXCHANGE_VALUE[kind.index()]
    }
}

/// What ordering knows of the node besides the position.
#[derive(Clone, Copy)]
pub(crate) struct Hints {
    pub(crate) table_move: Option<Move>,
    pub(crate) killers: [Option<Move>; 2],
    pub(crate) counter: Option<Move>,
    pub(crate) context: Context,
}

/// Hands out a node's pseudo-legal moves, best first, generating them as late as possible.
pub(crate) struct MovePicker {
    stage: Stage,
    hints: Hints,
    moves: ArrayVec<Scored, MAX_MOVES>,
    next: usize,
    bad: MoveList,
    kinds: Kinds,
    see_threshold: i32,
    skip_quiets: bool,
}

impl MovePicker {
    /// All moves of a node.
    pub(crate) fn new(pos: &Position, hints: Hints) -> MovePicker {
        MovePicker::with(pos, hints, Kinds::All)
    }

    /// Captures that do not lose material; for the quiescence search.
    pub(crate) fn captures(pos: &Position, hints: Hints) -> MovePicker {
        MovePicker::with(pos, hints, Kinds::Captures)
    }

    /// Captures and then quiet checks, none of which loses material; for the first ply of the quiescence search.
    pub(crate) fn captures_and_checks(pos: &Position, hints: Hints) -> MovePicker {
        MovePicker::with(pos, hints, Kinds::CapturesAndChecks)
    }

    fn with(pos: &Position, mut hints: Hints, kinds: Kinds) -> MovePicker {
        let fits =
            |mv: &Move| pos.is_pseudo_legal(*mv) && (kinds == Kinds::All || pos.piece_on(mv.to()).is_some());
        hints.table_move = hints.table_move.filter(fits);
        MovePicker {
            stage: if hints.table_move.is_some() { Stage::TableMove } else { Stage::GenerateCaptures },
            hints,
            moves: ArrayVec::new_const(),
            next: 0,
            bad: MoveList::new(),
            kinds,
            see_threshold: 0,
            skip_quiets: false,
        }
    }

    /// No further quiet moves, please.
    pub(crate) fn skip_quiets(&mut self) {
        self.skip_quiets = true;
    }

    /// The next move, if there is one.
    pub(crate) fn next(&mut self, pos: &Position, history: &History) -> Option<Move> {
        loop {
            match self.stage {
                Stage::TableMove => {
                    self.stage = Stage::GenerateCaptures;
                    return self.hints.table_move;
                }
                Stage::GenerateCaptures => {
                    self.score_captures(pos, history);
                    self.stage = Stage::GoodCaptures;
                }
                Stage::GoodCaptures => match self.select() {
                    Some(mv) if see_at_least(pos, mv, self.see_threshold) => return Some(mv),
                    Some(mv) => self.bad.push(mv),
                    None if self.kinds == Kinds::Captures => self.stage = Stage::Done,
                    None if self.kinds == Kinds::CapturesAndChecks => self.stage = Stage::GenerateChecks,
                    None => self.stage = Stage::GenerateQuiets,
                },
                Stage::GenerateQuiets => {
                    self.moves.clear();
                    self.next = 0;
                    if !self.skip_quiets {
                        self.score_quiets(pos, history);
                    }
                    self.stage = Stage::Quiets;
                }
                Stage::GenerateChecks => {
                    self.moves.clear();
                    self.next = 0;
                    self.score_checks(pos, history);
                    self.stage = Stage::Checks;
                }
                Stage::Checks => match self.select() {
                    Some(mv) if see_at_least(pos, mv, 0) => return Some(mv),
                    Some(_) => {}
                    None => self.stage = Stage::Done,
                },
                Stage::Quiets => match self.select().filter(|_| !self.skip_quiets) {
                    Some(mv) => return Some(mv),
                    None => {
                        self.stage = Stage::BadCaptures;
                        self.next = 0;
                    }
                },
                Stage::BadCaptures => {
                    let mv = self.bad.get(self.next).copied();
                    self.next += 1;
                    if mv.is_none() {
                        self.stage = Stage::Done;
                    }
                    return mv;
                }
                Stage::Done => return None,
            }
        }
    }

    fn score_captures(&mut self, pos: &Position, history: &History) {
        let mut list = MoveList::new();
        pos.pseudo_legal_captures(&mut list);
        let table_move = self.hints.table_move;
        for &mv in list.iter().filter(|&&mv| Some(mv) != table_move) {
            let (Some(piece), Some(captured)) = (pos.piece_on(mv.from()), pos.piece_on(mv.to())) else {
                continue;
            };
            let worth = EXCHANGE_VALUE[captured.kind().index()] * p::capture_value();
            let score = worth + history.capture(piece, mv.to(), captured.kind()) / p::capture_history();
            self.push(mv, score);
        }
    }

    fn score_checks(&mut self, pos: &Position, history: &History) {
        let mut list = MoveList::new();
        pos.pseudo_legal_quiet_checks(&mut list);
        for &mv in list.iter() {
            if let Some(piece) = pos.piece_on(mv.from()) {
                self.push(mv, history.order(piece, mv, &self.hints.context));
            }
        }
    }

    fn score_quiets(&mut self, pos: &Position, history: &History) {
        let mut list = MoveList::new();
        pos.pseudo_legal_quiets(&mut list);
        let [first, second] = self.hints.killers;
        let table_move = self.hints.table_move;
        let aims = Aims::of(pos);
        for &mv in list.iter().filter(|&&mv| Some(mv) != table_move) {
            let Some(piece) = pos.piece_on(mv.from()) else { continue };
            let score = if Some(mv) == first {
                KILLER_SCORE + 2
            } else if Some(mv) == second {
                KILLER_SCORE + 1
            } else if Some(mv) == self.hints.counter {
                KILLER_SCORE
            } else {
                history.order(piece, mv, &self.hints.context) + aims.worth(piece.kind(), mv)
            };
            self.push(mv, score);
        }
    }

    #[inline]
    fn push(&mut self, mv: Move, score: i32) {
        // There is room for all moves of a position.
        let _ = self.moves.try_push(Scored { mv, score });
    }

    /// The best of what is left; equal scores in the order of generation.
    fn select(&mut self) -> Option<Move> {
        let rest = self.moves.get_mut(self.next..)?;
        let (mut best, mut most) = (0, rest.first()?.score);
        for (i, scored) in rest.iter().enumerate().skip(1) {
            if scored.score > most {
                (best, most) = (i, scored.score);
            }
        }
        rest.swap(0, best);
        self.next += 1;
        Some(rest[0].mv)
    }
}
