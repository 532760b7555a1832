//! Who attacks what: computed once for an evaluation and shared by its terms.

use xiangqi::{Bitboard, Color, PieceKind, Position, Square};

/// The nine squares of `color`'s palace.
pub(crate) const fn palace(color: Color) -> Bitboard {
    let mut bits = 0u128;
    let mut rank = 0;
    while rank < 3 {
        bits |= 0b111 << (rank * 9 + 3);
        rank += 1;
    }
    match color {
        Color::Red => Bitboard::from_bits(bits),
        Color::Black => Bitboard::from_bits(bits << 63),
    }
}

/// The squares strictly between two squares of one file or rank; empty for any other pair.
pub(crate) fn between(a: Square, b: Square) -> Bitboard {
    let (low, high) = if a.index() < b.index() { (a, b) } else { (b, a) };
    let inner = ((1u128 << high.index()) - 1) & !((2u128 << low.index()) - 1);
    if low.file() == high.file() {
        Bitboard::from_bits(inner) & Bitboard::file(low.file())
    } else if low.rank() == high.rank() {
        Bitboard::from_bits(inner)
    } else {
        Bitboard::EMPTY
    }
}

/// All squares that pawns of `color` on `pawns` attack: ahead, and sideways over the river.
pub(crate) fn pawn_attacks(color: Color, pawns: Bitboard) -> Bitboard {
    let crossed = pawns.without(xiangqi::zones::home_half(color)).bits();
    let not_a = Bitboard::FULL.without(Bitboard::file(0)).bits();
    let not_i = Bitboard::FULL.without(Bitboard::file(8)).bits();
    let ahead = match color {
        Color::Red => pawns.bits() << 9,
        Color::Black => pawns.bits() >> 9,
    };
    Bitboard::from_bits(ahead | (crossed & not_i) << 1 | (crossed & not_a) >> 1)
}

/// One piece that can attack over the board, with what it attacks and where it can go.
#[derive(Clone, Copy)]
pub(crate) struct Attacker {
    pub(crate) kind: PieceKind,
    pub(crate) square: Square,
    /// Squares it could capture on.
    pub(crate) attacks: Bitboard,
    /// Squares it could move to, own pieces left out.
    pub(crate) reach: Bitboard,
}

/// The attack maps of one side.
pub(crate) struct SideMap {
    attackers: [Option<Attacker>; 6],
    /// By kind.
    pub(crate) by: [Bitboard; 7],
    /// By any piece.
    pub(crate) all: Bitboard,
}

impl SideMap {
    /// Rooks, knights and cannons, with their squares.
    pub(crate) fn attackers(&self) -> impl Iterator<Item = &Attacker> {
        self.attackers.iter().flatten()
    }

    pub(crate) fn new(pos: &Position, color: Color) -> SideMap {
        let own = pos.color(color);
        let mut map = SideMap { attackers: [None; 6], by: [Bitboard::EMPTY; 7], all: Bitboard::EMPTY };
        let mut slot = 0;
        for kind in [PieceKind::Rook, PieceKind::Knight, PieceKind::Cannon] {
            for square in pos.pieces(color, kind) {
                let attacks = pos.attacks(square);
                let reach =
                    if kind == PieceKind::Cannon { pos.destinations(square) } else { attacks.without(own) };
                map.by[kind.index()] |= attacks;
                if let Some(place) = map.attackers.get_mut(slot) {
                    *place = Some(Attacker { kind, square, attacks, reach });
                }
                slot += 1;
            }
        }
        for kind in [PieceKind::King, PieceKind::Advisor, PieceKind::Bishop] {
            for square in pos.pieces(color, kind) {
                map.by[kind.index()] |= pos.attacks(square);
            }
        }
        map.by[PieceKind::Pawn.index()] = pawn_attacks(color, pos.pieces(color, PieceKind::Pawn));
        map.all = map.by.iter().fold(Bitboard::EMPTY, |all, &by| all | by);
        map
    }
}
