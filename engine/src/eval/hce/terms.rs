//! Mobility, threats, pawns and the pieces' cooperation, for one side.

use xiangqi::{Bitboard, Color, PieceKind, Position, zones};

use super::maps::SideMap;
use super::tapered::{Tapered, s};

/// By number of squares a knight can go to that no enemy pawn attacks.
const KNIGHT_MOBILITY: [Tapered; 9] =
    [s(-34, -40), s(-19, -22), s(-7, -8), s(2, 2), s(9, 9), s(14, 14), s(18, 18), s(21, 21), s(23, 23)];

/// The same for a rook (at most 17).
const ROOK_MOBILITY: [Tapered; 18] = [
    s(-40, -40),
    s(-28, -30),
    s(-18, -22),
    s(-10, -15),
    s(-4, -9),
    s(0, -4),
    s(4, 0),
    s(7, 4),
    s(10, 8),
    s(13, 12),
    s(15, 15),
    s(17, 18),
    s(19, 21),
    s(21, 23),
    s(22, 25),
    s(23, 27),
    s(24, 28),
    s(25, 29),
];

/// Per square a cannon can go to, from [`CANNON_USUAL`] up or down.
const CANNON_MOBILITY: Tapered = s(2, 2);
const CANNON_USUAL: i32 = 7;

/// Two pawns side by side over the river.
const LINKED_PAWNS: Tapered = s(14, 18);
/// A pawn over the river that an own piece protects.
const PROTECTED_PAWN: Tapered = s(6, 10);
/// Two knights, or two bishops, that protect one another.
const LINKED_KNIGHTS: Tapered = s(8, 6);
const LINKED_BISHOPS: Tapered = s(8, 6);

/// An enemy piece that we attack and that nothing protects, by its kind.
const HANGING: [Tapered; 7] = [s(0, 0), s(8, 10), s(6, 8), s(22, 22), s(24, 20), s(20, 18), s(8, 10)];
/// A rook attacked by anything that is no rook.
const ROOK_THREAT: Tapered = s(36, 28);
/// A knight or cannon attacked by a pawn, advisor, bishop or king.
const MINOR_THREAT: Tapered = s(20, 18);

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
