//! How a move is named: the piece among its likes, the direction, the number.

use crate::bitboard::Bitboard;
use crate::color::Color;
use crate::mv::Move;
use crate::piece::PieceKind;
use crate::position::Position;
use crate::square::Square;

/// The file as `color` counts, 1–9 from its right.
pub(super) fn file_number(color: Color, square: Square) -> u8 {
    match color {
        Color::Red => 9 - square.file(),
        Color::Black => square.file() + 1,
    }
}

/// The rank as `color` counts, 0 = its back rank.
fn forward(color: Color, square: Square) -> i32 {
    i32::from(square.relative_to(color).rank())
}

/// Which way a move goes, as its side sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// 进
    Forward,
    /// 退
    Back,
    /// 平
    Sideways,
}

/// Direction and number: the file gone to, or for pieces that move straight ahead or back the steps.
pub(super) fn motion(color: Color, kind: PieceKind, mv: Move) -> (Direction, u8) {
    let advance = forward(color, mv.to()) - forward(color, mv.from());
    let file = file_number(color, mv.to());
    let direction = match advance {
        0 => return (Direction::Sideways, file),
        1.. => Direction::Forward,
        _ => Direction::Back,
    };
    match kind {
        PieceKind::Advisor | PieceKind::Bishop | PieceKind::Knight => (direction, file),
        _ => (direction, advance.unsigned_abs() as u8),
    }
}

/// Where a piece stands among its likes.
pub(super) struct Named {
    pub(super) color: Color,
    pub(super) kind: PieceKind,
    /// The file as its own side counts, 1 = rightmost.
    pub(super) file: u8,
    /// Place from the front among its likes on its file (0 = front), and how many there are.
    pub(super) place: usize,
    pub(super) likes: usize,
    /// Do pawns stand two or more deep on another file too?
    pub(super) crowded: bool,
}

impl Named {
    pub(super) fn new(position: &Position, from: Square) -> Option<Named> {
        let piece = position.piece_on(from)?;
        let (color, kind) = (piece.color(), piece.kind());
        let all = position.pieces(color, kind);
        let on_file = |file| all & Bitboard::file(file);
        let likes = on_file(from.file());
        let place = likes.filter(|&other| forward(color, other) > forward(color, from)).count();
        let deep_files = || (0..Square::FILES).filter(|&file| on_file(file).count() >= 2).count();
        Some(Named {
            color,
            kind,
            file: file_number(color, from),
            place,
            likes: likes.count() as usize,
            crowded: kind == PieceKind::Pawn && likes.count() >= 2 && deep_files() >= 2,
        })
    }

    /// Advisors and bishops are never told apart by front and back: their direction does that.
    pub(super) fn is_tandem(&self) -> bool {
        self.likes >= 2 && !matches!(self.kind, PieceKind::Advisor | PieceKind::Bishop)
    }
}
