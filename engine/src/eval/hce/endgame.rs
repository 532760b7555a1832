//! Endings that cannot be won, or hardly: the advantage is scaled down.

use xiangqi::{Color, PieceKind, Position, zones};

/// Scales are out of this.
pub(crate) const FULL_SCALE: i32 = 64;

const HOPELESS: i32 = 4;
const DRAWISH: i32 = 16;
const HARD: i32 = 36;

/// What is left of `strong`'s advantage, out of [`FULL_SCALE`]. Theory as in any book of
/// practical endings: a rook does not beat a whole guard, a knight or a cannon alone beats hardly anything, and a cannon
/// needs a screen behind it.
pub(crate) fn scale(pos: &Position, strong: Color) -> i32 {
    let count = |color, kind| pos.pieces(color, kind).count() as i32;
    let (rooks, knights, cannons) =
        (count(strong, PieceKind::Rook), count(strong, PieceKind::Knight), count(strong, PieceKind::Cannon));
    let pawns = count(strong, PieceKind::Pawn);
    if rooks + knights + cannons + pawns > 2 {
        return FULL_SCALE;
    }
    let weak = !strong;
    let guard = count(weak, PieceKind::Advisor) + count(weak, PieceKind::Bishop);
    let fighters = PieceKind::ALL[3..].iter().map(|&kind| count(weak, kind)).sum::<i32>();
    let own_guard = count(strong, PieceKind::Advisor) + count(strong, PieceKind::Bishop);
    match (rooks, knights, cannons, pawns) {
        (0, 0, 0, 0) => 0,
        (0, 0, 1, 0) if own_guard == 0 => HOPELESS,
        (0, 0, 0, 1) => lone_pawn(pos, strong, guard + fighters),
        (0, _, _, 0) if knights + cannons == 1 => {
            if guard + fighters >= 2 {
                HOPELESS
            } else {
                HARD
            }
        }
        (0, _, _, 1) if knights + cannons == 1 && guard >= 4 => DRAWISH,
        (0, 0, 2, 0) if guard >= 2 && own_guard == 0 => DRAWISH,
        (0, 0, 2, 0) if guard >= 4 => DRAWISH,
        (1, 0, 0, 0) if guard >= 4 => HOPELESS,
        (1, 0, 0, 0) if guard >= 3 || fighters >= 1 => HARD,
        (0, 0, 0, 2) if guard >= 3 || fighters >= 1 => DRAWISH,
        _ => FULL_SCALE,
    }
}

/// A lone pawn wins against a bare king only, and only from a high rank.
fn lone_pawn(pos: &Position, strong: Color, defenders: i32) -> i32 {
    let crossed = !pos.pieces(strong, PieceKind::Pawn).without(zones::home_half(strong)).is_empty();
    if defenders > 0 || !crossed { HOPELESS } else { HARD }
}
