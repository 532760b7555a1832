//! Mobility, threats, pawns and the pieces' cooperation, for one side.

use xiangqi::{Bitboard, Color, PieceKind, Position, zones};

use super::maps::SideMap;
use super::tapered::{Tapered, s};

/// By number of squares a knight can go to that no enemy pawn attacks.
const KNIGHT_MOBILITY: [Tapered; 9] =
    [s(-37, -49), s(-29, -38), s(-19, -8), s(-12, 0), s(0, 0), s(6, 1), s(7, 6), s(21, 8), s(21, 4)];

/// The same for a rook (at most 17).
const ROOK_MOBILITY: [Tapered; 18] = [
    s(-41, -40),
    s(-17, -30),
    s(-16, -29),
    s(-9, -18),
    s(-3, -7),
    s(-3, 0),
    s(9, -4),
    s(12, 4),
    s(18, 8),
    s(13, 16),
    s(19, 23),
    s(16, 28),
    s(18, 27),
    s(22, 25),
    s(21, 32),
    s(27, 33),
    s(27, 35),
    s(35, 29),
];

/// Per square a cannon can go to, from [`CANNON_USUAL`] up or down.
const CANNON_MOBILITY: Tapered = s(1, 0);
const CANNON_USUAL: i32 = 7;

/// Two pawns side by side over the river.
const LINKED_PAWNS: Tapered = s(16, 28);
/// A pawn over the river that an own piece protects.
const PROTECTED_PAWN: Tapered = s(0, 2);
/// Two knights, or two bishops, that protect one another.
const LINKED_KNIGHTS: Tapered = s(12, 5);
const LINKED_BISHOPS: Tapered = s(1, 9);

/// An enemy piece that we attack and that nothing protects, by its kind.
const HANGING: [Tapered; 7] = [s(0, 0), s(17, 22), s(17, 17), s(28, 32), s(10, 10), s(35, 26), s(13, 22)];
/// A rook attacked by anything that is no rook.
const ROOK_THREAT: Tapered = s(27, 22);
/// A knight or cannon attacked by a pawn, advisor, bishop or king.
const MINOR_THREAT: Tapered = s(38, 29);

/// How freely the pieces move.
pub(crate) fn mobility(pos: &Position, us: Color, ours: &SideMap, theirs: &SideMap) -> Tapered {
    let bad = theirs.by[PieceKind::Pawn.index()] | pos.color(us);
    ours.attackers().fold(Tapered::ZERO, |sum, piece| {
        let free = piece.reach.without(bad).count() as usize;
        sum + match piece.kind {
            PieceKind::Knight => KNIGHT_MOBILITY[free.min(8)],
            PieceKind::Rook => ROOK_MOBILITY[free.min(17)],
            _ => CANNON_MOBILITY * (free as i32 - CANNON_USUAL),
        }
    })
}

/// Enemy pieces under attack.
pub(crate) fn threats(pos: &Position, us: Color, ours: &SideMap, theirs: &SideMap) -> Tapered {
    let them = !us;
    let mut sum = Tapered::ZERO;
    let hanging = (ours.all & pos.color(them)).without(theirs.all);
    if !hanging.is_empty() {
        for kind in &PieceKind::ALL[1..] {
            let count = (pos.pieces(them, *kind) & hanging).count();
            sum += HANGING[kind.index()] * count as i32;
        }
    }
    let slight = [PieceKind::Pawn, PieceKind::Advisor, PieceKind::Bishop, PieceKind::King]
        .iter()
        .fold(Bitboard::EMPTY, |all, kind| all | ours.by[kind.index()]);
    let minors = pos.pieces(them, PieceKind::Knight) | pos.pieces(them, PieceKind::Cannon);
    sum += MINOR_THREAT * (minors & slight).count() as i32;
    let below_rook = slight | ours.by[PieceKind::Knight.index()] | ours.by[PieceKind::Cannon.index()];
    sum + ROOK_THREAT * (pos.pieces(them, PieceKind::Rook) & below_rook).count() as i32
}

/// Pawns that work together, knights and bishops that hold one another.
pub(crate) fn cooperation(pos: &Position, us: Color, ours: &SideMap) -> Tapered {
    let crossed = pos.pieces(us, PieceKind::Pawn).without(zones::home_half(us));
    let right = crossed.without(Bitboard::file(8)).bits() << 1;
    let linked = crossed & Bitboard::from_bits(right);
    let mut sum = LINKED_PAWNS * linked.count() as i32;
    sum += PROTECTED_PAWN * (crossed & ours.all).count() as i32;
    let held = |kind: PieceKind| !(pos.pieces(us, kind) & ours.by[kind.index()]).is_empty();
    if held(PieceKind::Knight) {
        sum += LINKED_KNIGHTS;
    }
    if held(PieceKind::Bishop) {
        sum += LINKED_BISHOPS;
    }
    sum
}
