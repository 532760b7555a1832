//! Positions that can stand in a game.

use std::fmt;

use crate::attacks;
use crate::bitboard::Bitboard;
use crate::color::Color;
use crate::piece::{Piece, PieceKind};
use crate::setup::{Setup, SetupError};
use crate::square::Square;
use crate::zobrist;
use crate::zones::zone;

/// A square's entry where nothing stands.
const EMPTY: u8 = Piece::COUNT as u8;

/// A position: the board, the side to move, and the counters of the natural limit.
///
/// Always a legal one: each side has one king, the side not to move is not in check.
/// Repetition needs the moves that led here and is judged on a [`Game`](crate::Game).
#[derive(Clone, PartialEq, Eq)]
pub struct Position {
    squares: [u8; Square::COUNT],
    pieces: [Bitboard; Piece::COUNT],
    colors: [Bitboard; 2],
    kings: [Square; 2],
    pub(crate) key: u64,
    pub(crate) side_to_move: Color,
    pub(crate) in_check: bool,
    pub(crate) no_capture_plies: u16,
    pub(crate) checks: [u16; 2],
    /// Plies since the last capture or null move: how far back a repetition can lie.
    pub(crate) reversible_plies: u16,
    pub(crate) move_number: u32,
}

impl Position {
    /// The start position.
    pub fn start() -> Position {
        Position::from_fen(crate::fen::START).expect("the start position is one")
    }

    /// The position that a setup describes.
    ///
    /// # Errors
    /// Where the setup cannot stand in a game; the error says which rule it breaks and where.
    pub fn try_from_setup(setup: &Setup) -> Result<Position, SetupError> {
        setup.check_pieces()?;
        let king = |color| {
            let piece = Some(Piece::new(color, PieceKind::King));
            Square::all()
                .find(|s| setup.board[s.index()] == piece)
                .ok_or(SetupError::Kings { color, found: 0 })
        };
        let mut position = Position {
            squares: [EMPTY; Square::COUNT],
            pieces: [Bitboard::EMPTY; Piece::COUNT],
            colors: [Bitboard::EMPTY; 2],
            kings: [king(Color::Red)?, king(Color::Black)?],
            key: if setup.side_to_move == Color::Black { zobrist::side() } else { 0 },
            side_to_move: setup.side_to_move,
            in_check: false,
            no_capture_plies: setup.no_capture_plies,
            checks: [0; 2],
            reversible_plies: 0,
            move_number: setup.move_number,
        };
        for square in Square::all() {
            if let Some(piece) = setup.board[square.index()] {
                position.place(piece, square);
                position.key ^= zobrist::piece(piece, square);
            }
        }
        let (red, black) = (position.king(Color::Red), position.king(Color::Black));
        if attacks::rook(red, position.occupied()).has(black) {
            return Err(SetupError::KingsFace(red));
        }
        let waiting = !setup.side_to_move;
        if position.is_attacked(position.king(waiting), setup.side_to_move) {
            return Err(SetupError::OpponentInCheck(waiting));
        }
        position.in_check = position.is_attacked(position.king(setup.side_to_move), waiting);
        Ok(position)
    }

    /// The same facts as data.
    pub fn to_setup(&self) -> Setup {
        let mut setup = Setup::empty();
        for square in Square::all() {
            setup.board[square.index()] = self.piece_on(square);
        }
        setup.side_to_move = self.side_to_move;
        setup.no_capture_plies = self.no_capture_plies;
        setup.move_number = self.move_number;
        setup
    }

    // The board is changed by these alone; the key is the caller's.

    /// Puts a piece on an empty square.
    #[inline]
    pub(crate) fn place(&mut self, piece: Piece, square: Square) {
        self.squares[square.index()] = piece.index() as u8;
        self.flip(piece, Bitboard::of(square));
    }

    /// Takes a piece from its square.
    #[inline]
    pub(crate) fn lift(&mut self, piece: Piece, square: Square) {
        self.squares[square.index()] = EMPTY;
        self.flip(piece, Bitboard::of(square));
    }

    /// Moves a piece to an empty square.
    #[inline]
    pub(crate) fn slide(&mut self, piece: Piece, from: Square, to: Square) {
        self.squares[from.index()] = EMPTY;
        self.squares[to.index()] = piece.index() as u8;
        self.flip(piece, Bitboard::of(from) ^ Bitboard::of(to));
        if piece.kind() == PieceKind::King {
            self.kings[piece.color().index()] = to;
        }
    }

    #[inline]
    fn flip(&mut self, piece: Piece, squares: Bitboard) {
        self.pieces[piece.index()] ^= squares;
        self.colors[piece.color().index()] ^= squares;
    }

    /// Who is to move.
    #[inline]
    pub fn side_to_move(&self) -> Color {
        self.side_to_move
    }

    /// What stands on a square.
    #[inline]
    pub fn piece_on(&self, square: Square) -> Option<Piece> {
        Piece::from_index(self.squares[square.index()] as usize)
    }

    /// Where a side's pieces of a kind stand.
    #[inline]
    pub fn pieces(&self, color: Color, kind: PieceKind) -> Bitboard {
        self.pieces[Piece::new(color, kind).index()]
    }

    /// Where both sides' pieces of a kind stand.
    #[inline]
    pub fn kind(&self, kind: PieceKind) -> Bitboard {
        self.pieces(Color::Red, kind) | self.pieces(Color::Black, kind)
    }

    /// Where a side's pieces stand.
    #[inline]
    pub fn color(&self, color: Color) -> Bitboard {
        self.colors[color.index()]
    }

    /// Where pieces stand.
    #[inline]
    pub fn occupied(&self) -> Bitboard {
        self.colors[0] | self.colors[1]
    }

    /// Where a side's king stands.
    #[inline]
    pub fn king(&self, color: Color) -> Square {
        self.kings[color.index()]
    }

    /// The key of board and side to move: equal for equal positions, and hardly ever else.
    #[inline]
    pub fn key(&self) -> u64 {
        self.key
    }

    /// Is the side to move in check?
    #[inline]
    pub fn in_check(&self) -> bool {
        self.in_check
    }

    /// The natural limit's count: plies without capture, less the checks past each side's tenth
    /// and the replies to them. Starts from what the FEN says.
    #[inline]
    pub fn no_capture_plies(&self) -> u16 {
        self.no_capture_plies
    }

    /// How many checks a side has given since the last capture (or since the FEN).
    #[inline]
    pub fn checks_since_capture(&self, color: Color) -> u16 {
        self.checks[color.index()]
    }

    /// The move number: 1 at the start, one more after each of Black's moves.
    #[inline]
    pub fn move_number(&self) -> u32 {
        self.move_number
    }

    /// Squares on which the piece on `from` could capture, pieces of its own included: a cannon's
    /// are the second pieces each way, the others' include empty squares. Empty for an empty square.
    #[inline]
    pub fn attacks(&self, from: Square) -> Bitboard {
        match self.piece_on(from) {
            Some(piece) => attacks::attacks(piece, from, self.occupied()),
            None => Bitboard::EMPTY,
        }
    }

    /// Pieces of `by` that attack `square` when `occupied` are the squares in use. Only pieces on
    /// squares of `occupied` count, so that an exchange can be played out on a copy of the set.
    pub fn attackers_to(&self, square: Square, by: Color, occupied: Bitboard) -> Bitboard {
        let mut set = Bitboard::EMPTY;
        let (rooks, cannons) = (self.pieces(by, PieceKind::Rook), self.pieces(by, PieceKind::Cannon));
        if !(attacks::cross(square) & (rooks | cannons) & occupied).is_empty() {
            let (first, second) = attacks::lines(square, occupied);
            set |= first & rooks | second & cannons;
        }
        let knights = self.pieces(by, PieceKind::Knight);
        if !knights.is_empty() {
            set |= attacks::knight_attackers(square, occupied) & knights;
        }
        set |= attacks::step_attackers(by, PieceKind::Pawn, square) & self.pieces(by, PieceKind::Pawn);
        set |= attacks::step_attackers(by, PieceKind::Advisor, square) & self.pieces(by, PieceKind::Advisor);
        set |= attacks::step_attackers(by, PieceKind::King, square) & self.pieces(by, PieceKind::King);
        // Eyes lie in the middle: the bishop's leap reads the same both ways.
        if zone(Piece::new(by, PieceKind::Bishop)).has(square) {
            set |= attacks::bishop(by, square, occupied) & self.pieces(by, PieceKind::Bishop);
        }
        set & occupied
    }
}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Position({})", self.fen())
    }
}

impl fmt::Display for Position {
    /// The board as ten lines from Black's back rank down, with ranks and files, then the FEN.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rank in (0..Square::RANKS).rev() {
            write!(f, "{rank} ")?;
            for file in 0..Square::FILES {
                let piece = Square::at(file, rank).and_then(|square| self.piece_on(square));
                write!(f, " {}", piece.map_or('.', Piece::fen_char))?;
            }
            writeln!(f)?;
        }
        writeln!(f, "   a b c d e f g h i")?;
        write!(f, "{}", self.fen())
    }
}
