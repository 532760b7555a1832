//! Where an attack on a king can come from, and what can stand in its way.

use crate::attacks;
use crate::bitboard::Bitboard;
use crate::color::Color;
use crate::mv::Move;
use crate::piece::PieceKind;
use crate::position::Position;
use crate::square::Square;

/// Ways on which a king is attacked, one bit each. A move changes no attack on a way of which it
/// touches no square.
pub(crate) mod ways {
    /// Along its file: rooks, cannons, the other king, pawns.
    pub(crate) const FILE: u8 = 1;
    /// Along its rank: rooks, cannons, pawns.
    pub(crate) const RANK: u8 = 2;
    /// From the knights' squares over their legs.
    pub(crate) const KNIGHTS: u8 = 4;
    /// All of them.
    pub(crate) const ALL: u8 = FILE | RANK | KNIGHTS;
}

/// The squares that decide whether a king on a square is attacked.
pub(crate) struct Sight {
    /// The ways that lead over a square, by its index.
    ways: [u8; Sight::PLACES],
    /// Its file and rank, as far as asked for: by [`ways::FILE`] and [`ways::RANK`].
    lines: [Bitboard; 4],
    /// Where knights attack from, legs permitting.
    pub(crate) knights: Bitboard,
    /// The knights' legs: the neighbours at its corners.
    pub(crate) legs: Bitboard,
    /// The squares strictly between it and another on its file or rank.
    between: [Bitboard; Sight::PLACES],
}

impl Sight {
    /// A power of two, so that seven bits of an index need no check.
    const PLACES: usize = 128;

    const fn from(king: Square) -> Sight {
        let (knights, legs) = attacks::knights_and_legs(king);
        let (file, rank) = (Bitboard::file(king.file()), Bitboard::rank(king.rank()));
        let mut sight = Sight {
            ways: [0; Sight::PLACES],
            lines: [Bitboard::EMPTY, file, rank, file.or(rank)],
            knights,
            legs,
            between: [Bitboard::EMPTY; Sight::PLACES],
        };
        let mut i = 0;
        while i < Square::COUNT {
            let square = Square::known(i as u8);
            let inner = squares_between(king.index(), i);
            if file.has(square) {
                sight.ways[i] |= ways::FILE;
                sight.between[i] = inner.and(file);
            }
            if rank.has(square) {
                sight.ways[i] |= ways::RANK;
                sight.between[i] = inner.and(rank);
            }
            if knights.or(legs).has(square) {
                sight.ways[i] |= ways::KNIGHTS;
            }
            i += 1;
        }
        sight
    }

    /// The ways that lead over a square.
    #[inline]
    pub(crate) fn ways_over(&self, square: Square) -> u8 {
        self.ways[square.index() % Sight::PLACES]
    }

    /// The ways that a move touches where it begins and ends.
    #[inline]
    pub(crate) fn touched_by(&self, mv: Move) -> u8 {
        self.ways_over(mv.from()) | self.ways_over(mv.to())
    }

    /// The squares of the lines among some ways.
    #[inline]
    pub(crate) fn lines(&self, along: u8) -> Bitboard {
        self.lines[(along & (ways::FILE | ways::RANK)) as usize]
    }

    /// The squares strictly between the king and a square on its file or rank; none for others.
    #[inline]
    pub(crate) fn between(&self, square: Square) -> Bitboard {
        self.between[square.index() % Sight::PLACES]
    }
}

/// The squares with indices strictly between two.
const fn squares_between(a: usize, b: usize) -> Bitboard {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    Bitboard::from_bits(((1 << high) - 1) & !((2 << low) - 1))
}

static SIGHT: [Sight; Square::COUNT] = {
    let mut table = [const { Sight::from(Square::known(0)) }; Square::COUNT];
    let mut i = 0;
    while i < Square::COUNT {
        table[i] = Sight::from(Square::known(i as u8));
        i += 1;
    }
    table
};

/// The squares that decide whether a king on `square` is attacked.
#[inline]
pub(crate) fn sight(square: Square) -> &'static Sight {
    &SIGHT[square.index()]
}

impl Position {
    /// A side's pieces that attack the other king along a line with nothing between: rooks, and the king.
    #[inline]
    pub(crate) fn straight(&self, by: Color) -> Bitboard {
        self.pieces(by, PieceKind::Rook) | self.pieces(by, PieceKind::King)
    }

    /// Could one of the pieces of `by` on the squares `among` capture a king on `king`, if `occupied` were the squares in
    /// use? Counts the facing king, and neither advisors nor bishops, which never reach the other palace.
    #[inline]
    pub fn is_king_attacked(&self, king: Square, by: Color, occupied: Bitboard, among: Bitboard) -> bool {
        self.is_attacked_along(ways::ALL, king, by, occupied, among)
    }

    /// The same for attacks along some of the ways.
    pub(crate) fn is_attacked_along(
        &self,
        along: u8,
        king: Square,
        by: Color,
        occupied: Bitboard,
        among: Bitboard,
    ) -> bool {
        let sight = sight(king);
        let lines = sight.lines(along) & among;
        let mut straight = self.straight(by) & lines;
        let mut cannons = self.pieces(by, PieceKind::Cannon) & lines;
        if straight.any(|square| (sight.between(square) & occupied).is_empty())
            || cannons.any(|square| (sight.between(square) & occupied).count() == 1)
        {
            return true;
        }
        if along & ways::KNIGHTS != 0 {
            let knights = sight.knights & among & self.pieces(by, PieceKind::Knight);
            if !knights.is_empty() && !(attacks::knight_attackers(king, occupied) & knights).is_empty() {
                return true;
            }
        }
        let pawns = self.pieces(by, PieceKind::Pawn) & among;
        !(attacks::step_attackers(by, PieceKind::Pawn, king) & pawns).is_empty()
    }

    /// The pieces of `by` that could capture a king on `king` when `occupied` are the squares in use.
    pub(crate) fn king_attackers(&self, king: Square, by: Color, occupied: Bitboard) -> Bitboard {
        let (first, second) = attacks::lines(king, occupied);
        let mut set = first & self.straight(by) | second & self.pieces(by, PieceKind::Cannon);
        set |= attacks::step_attackers(by, PieceKind::Pawn, king) & self.pieces(by, PieceKind::Pawn);
        set | attacks::knight_attackers(king, occupied) & self.pieces(by, PieceKind::Knight)
    }

    /// Could a piece of `by` capture a king on `square`?
    #[inline]
    pub(crate) fn is_attacked(&self, square: Square, by: Color) -> bool {
        !self.king_attackers(square, by, self.occupied()).is_empty()
    }

    /// Pieces that check the side to move.
    pub fn checkers(&self) -> Bitboard {
        self.king_attackers(self.king(self.side_to_move), !self.side_to_move, self.occupied())
    }
}
