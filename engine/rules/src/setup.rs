//! A position as data, before it has been promised to be one: anything can stand anywhere.

use crate::color::Color;
use crate::piece::{Piece, PieceKind};
use crate::square::Square;
use crate::zones::{has_crossed, zone};

/// What a FEN says. [`Position::try_from_setup`](crate::Position::try_from_setup) checks that it
/// can stand in a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// What stands on each square, by index.
    pub board: [Option<Piece>; Square::COUNT],
    /// Who is to move.
    pub side_to_move: Color,
    /// Plies without capture so far, as counted for the natural limit.
    pub no_capture_plies: u16,
    /// The move number, 1 at the start, one more after each of Black's moves.
    pub move_number: u32,
}

/// Why a setup is no position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// A side has no king or several.
    #[error("{color} has {found} kings; expected exactly one")]
    Kings {
        /// Whose.
        color: Color,
        /// How many.
        found: u32,
    },
    /// More of a kind than a game starts with.
    #[error("{color} has {found} pieces {letter}; a side has at most {most}", letter = .kind.letter(), most = .kind.max_count())]
    TooMany {
        /// Whose.
        color: Color,
        /// Which kind.
        kind: PieceKind,
        /// How many.
        found: u32,
    },
    /// A piece on a square that it can reach in no game.
    #[error("{piece} on {square}: a {color} {kind:?} cannot stand there", color = .piece.color(), kind = .piece.kind())]
    Unreachable {
        /// The piece.
        piece: Piece,
        /// Where it stands.
        square: Square,
    },
    /// Two pawns on one file that have not crossed the river: pawns change files only beyond it.
    #[error("two {color} pawns on file {file} that have not crossed the river, {first} and {second}: this cannot arise in a game", file = (b'a' + .first.file()) as char)]
    DoubledPawns {
        /// Whose.
        color: Color,
        /// The lower one.
        first: Square,
        /// The higher one.
        second: Square,
    },
    /// The kings look at each other along an open file.
    #[error("the kings face each other on file {file}", file = (b'a' + .0.file()) as char)]
    KingsFace(Square),
    /// The side that is not to move stands in check: its king could be captured.
    #[error("{0} is in check, but {other} is to move", other = .0.flip())]
    OpponentInCheck(Color),
}

impl Setup {
    /// An empty board, Red to move.
    pub const fn empty() -> Setup {
        Setup { board: [None; Square::COUNT], side_to_move: Color::Red, no_capture_plies: 0, move_number: 1 }
    }

    /// Checks what can be said piece by piece; checks and facing kings need attacks and are the
    /// position's part.
    pub(crate) fn check_pieces(&self) -> Result<(), SetupError> {
        let mut counts = [0; Piece::COUNT];
        self.board.iter().flatten().for_each(|piece| counts[piece.index()] += 1);
        for color in Color::ALL {
            for kind in PieceKind::ALL {
                let found = counts[Piece::new(color, kind).index()];
                if kind == PieceKind::King && found != 1 {
                    return Err(SetupError::Kings { color, found });
                }
                if found > kind.max_count() {
                    return Err(SetupError::TooMany { color, kind, found });
                }
            }
        }
        let mut file_pawn: [[Option<Square>; 9]; 2] = [[None; 9]; 2];
        for square in Square::all() {
            let Some(piece) = self.board[square.index()] else { continue };
            if !zone(piece).has(square) {
                return Err(SetupError::Unreachable { piece, square });
            }
            let color = piece.color();
            if piece.kind() == PieceKind::Pawn && !has_crossed(color, square) {
                let slot = &mut file_pawn[color.index()][square.file() as usize];
                if let Some(first) = *slot {
                    return Err(SetupError::DoubledPawns { color, first, second: square });
                }
                *slot = Some(square);
            }
        }
        Ok(())
    }
}
