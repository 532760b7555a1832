//! Start positions of formats that name pieces and squares, and say little of who is to move.

use xiangqi::{Color, Move, Piece, PieceKind, Position, Setup, SetupError, Square};

/// The kinds of a side's sixteen pieces in XQF and DhtmlXQ: the back rank from one corner to the other,
/// cannons, pawns. Red's sixteen come first, then Black's.
pub(crate) const KINDS: [PieceKind; 16] = [
    PieceKind::Rook,
    PieceKind::Knight,
    PieceKind::Bishop,
    PieceKind::Advisor,
    PieceKind::King,
    PieceKind::Advisor,
    PieceKind::Bishop,
    PieceKind::Knight,
    PieceKind::Rook,
    PieceKind::Cannon,
    PieceKind::Cannon,
    PieceKind::Pawn,
    PieceKind::Pawn,
    PieceKind::Pawn,
    PieceKind::Pawn,
    PieceKind::Pawn,
];

/// A list of 32 pieces as XQF and DhtmlXQ have it, with the square of each that stands on the board.
pub(crate) fn setup_of(squares: &[Option<Square>; 32]) -> Setup {
    let mut setup = Setup::empty();
    for (i, square) in squares.iter().enumerate() {
        let color = if i < 16 { Color::Red } else { Color::Black };
        if let Some(square) = square {
            setup.board[square.index()] = Some(Piece::new(color, KINDS[i % 16]));
        }
    }
    setup
}

/// The same list for a position: each side's pieces of a kind from its right to its left, as the published
/// descriptions have the start position (Red begins at i0, Black at a9).
pub(crate) fn squares_of(position: &Position) -> [Option<Square>; 32] {
    let mut squares = [None; 32];
    for square in Square::all() {
        for (color, square) in [(Color::Red, square.mirror_file()), (Color::Black, square)] {
            let Some(piece) = position.piece_on(square).filter(|piece| piece.color() == color) else {
                continue;
            };
            let side = 16 * color.index();
            let free = (side..side + 16).find(|&i| KINDS[i % 16] == piece.kind() && squares[i].is_none());
            if let Some(i) = free {
                squares[i] = Some(square);
            }
        }
    }
    squares
}

/// The position of a board whose side to move is read off the first move: what the file says of it
/// (`hint`) is often wrong. Where that cannot be, the other side is tried.
///
/// # Errors
/// What is wrong with the board, for the side that was tried first.
pub(crate) fn start_position(
    mut setup: Setup,
    first: Option<Move>,
    hint: Color,
) -> Result<Position, SetupError> {
    let mover = first.and_then(|mv| setup.board[mv.from().index()]).map(Piece::color);
    setup.side_to_move = mover.unwrap_or(hint);
    Position::try_from_setup(&setup).or_else(|error| {
        setup.side_to_move = !setup.side_to_move;
        Position::try_from_setup(&setup).map_err(|_| error)
    })
}
