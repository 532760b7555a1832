//! King safety, seen from the attacker: what our pieces do to the enemy king.

use xiangqi::{Bitboard, Color, PieceKind, Position, Square};

use super::maps::{SideMap, between, palace};
use super::tapered::{Tapered, s};

/// Attack units a square of the palace that a piece attacks, by kind.
const ATTACK_UNITS: [i32; 7] = [0, 0, 0, 4, 4, 3, 3];
/// No more squares of the palace than this count for one piece.
const ATTACKED_SQUARES_CAP: u32 = 3;
/// Units by number of squares the king can still step to.
const ESCAPE_UNITS: [i32; 5] = [9, 4, 1, 0, 0];
/// Units a missing advisor, a missing bishop.
const MISSING_UNITS: [i32; 2] = [4, 2];
/// Units are squared and divided by this; and never count for more than the cap.
const UNITS_DIVISOR: i32 = 11;
const UNITS_CAP: i32 = 72;

/// Hollow cannon (空头炮): a cannon on the king's file with nothing between; any piece that steps between gives check.
const HOLLOW_CANNON: Tapered = s(66, 21);
const HOLLOW_CANNON_ROOK: Tapered = s(15, 4);
/// A cannon on the king's file behind two pieces: each of them is bound.
const CENTRAL_CANNON: Tapered = s(16, 12);
/// A cannon on the king's back rank (沉底炮), and more for each rook.
const BOTTOM_CANNON: Tapered = s(9, 5);
const BOTTOM_CANNON_ROOK: Tapered = s(7, -5);
/// The same with nothing between it and the king.
const BOTTOM_HOLLOW: Tapered = s(7, -3);
/// A rook on the king's file with one piece between.
const ROOK_ON_KING: Tapered = s(16, 7);
/// Our king looks down an open file into the enemy's palace.
const KING_ON_OPEN_FILE: Tapered = s(5, -8);

/// What a missing advisor costs against each of the attacker's rooks, knights and crossed pawns; a missing
/// bishop against each of its cannons and rooks (缺士怕车, 缺象怕炮).
const ADVISOR_ROOK: Tapered = s(22, 8);
const ADVISOR_KNIGHT: Tapered = s(2, 8);
const ADVISOR_PAWN: Tapered = s(8, 3);
const BISHOP_CANNON: Tapered = s(12, -1);
const BISHOP_ROOK: Tapered = s(12, 2);

/// The worth of our attack on the enemy king and of what its guard lacks.
pub(crate) fn attack(pos: &Position, us: Color, ours: &SideMap) -> Tapered {
    guard(pos, us) + pressure(pos, us, ours) + cannons_and_rooks(pos, us, ours) + king_file(pos, us)
}

fn count(pos: &Position, color: Color, kind: PieceKind) -> i32 {
    pos.pieces(color, kind).count() as i32
}

/// Pieces of the enemy's guard that are gone, weighed by our attackers.
fn guard(pos: &Position, us: Color) -> Tapered {
    let advisors = 2 - count(pos, !us, PieceKind::Advisor);
    let bishops = 2 - count(pos, !us, PieceKind::Bishop);
    if advisors == 0 && bishops == 0 {
        return Tapered::ZERO;
    }
    let rooks = count(pos, us, PieceKind::Rook);
    let crossed = pos.pieces(us, PieceKind::Pawn).without(xiangqi::zones::home_half(us)).count() as i32;
    let against_advisors =
        ADVISOR_ROOK * rooks + ADVISOR_KNIGHT * count(pos, us, PieceKind::Knight) + ADVISOR_PAWN * crossed;
    let against_bishops = BISHOP_CANNON * count(pos, us, PieceKind::Cannon) + BISHOP_ROOK * rooks;
    against_advisors * advisors + against_bishops * bishops
}

/// Attacks on the palace: one attacker is none, several grow with the square.
fn pressure(pos: &Position, us: Color, ours: &SideMap) -> Tapered {
    let them = !us;
    let zone = palace(them);
    let (mut units, mut attackers) = (0, 0);
    for piece in ours.attackers() {
        let hits = (piece.attacks & zone).count().min(ATTACKED_SQUARES_CAP);
        if hits > 0 {
            attackers += 1;
            units += ATTACK_UNITS[piece.kind.index()] * hits as i32;
        }
    }
    let near = pos.pieces(us, PieceKind::Pawn) & pawn_zone(them);
    units += ATTACK_UNITS[PieceKind::Pawn.index()] * near.count() as i32;
    attackers += near.count();
    if attackers < 2 {
        return Tapered::ZERO;
    }
    let steps = pos.attacks(pos.king(them)).without(pos.color(them)).without(ours.all);
    units += ESCAPE_UNITS[(steps.count() as usize).min(4)];
    units += MISSING_UNITS[0] * (2 - count(pos, them, PieceKind::Advisor));
    units += MISSING_UNITS[1] * (2 - count(pos, them, PieceKind::Bishop));
    let units = units.min(UNITS_CAP);
    s(units * units / UNITS_DIVISOR, units)
}

/// Where a pawn bears on the palace of `color`: files c to g, its four home ranks without the last.
const fn pawn_zone(color: Color) -> Bitboard {
    let row = 0b0_0111_1100u128;
    let bits = row << 9 | row << 18 | row << 27;
    match color {
        Color::Red => Bitboard::from_bits(bits),
        Color::Black => Bitboard::from_bits(bits << 45),
    }
}

fn cannons_and_rooks(pos: &Position, us: Color, ours: &SideMap) -> Tapered {
    let them = !us;
    let king = pos.king(them);
    let rooks = count(pos, us, PieceKind::Rook);
    let mut sum = Tapered::ZERO;
    for piece in ours.attackers() {
        let screens = (between(piece.square, king) & pos.occupied()).count();
        let same_file = piece.square.file() == king.file();
        match piece.kind {
            PieceKind::Cannon if same_file && screens == 0 => {
                sum += HOLLOW_CANNON + HOLLOW_CANNON_ROOK * rooks;
            }
            PieceKind::Cannon if same_file && screens == 2 => sum += CENTRAL_CANNON,
            PieceKind::Cannon if on_back_rank(piece.square, king, them) => {
                sum += BOTTOM_CANNON + BOTTOM_CANNON_ROOK * rooks;
                if screens == 0 {
                    sum += BOTTOM_HOLLOW;
                }
            }
            PieceKind::Rook if same_file && screens == 1 => sum += ROOK_ON_KING,
            _ => {}
        }
    }
    sum
}

fn on_back_rank(square: Square, king: Square, color: Color) -> bool {
    square.rank() == king.rank() && king.relative_to(color).rank() == 0
}

/// Our king controls an open file in the enemy's palace (白脸将) that its king does not stand on.
fn king_file(pos: &Position, us: Color) -> Tapered {
    let (own, enemy) = (pos.king(us), pos.king(!us));
    let file = Bitboard::file(own.file());
    let others = (file & pos.occupied()).without(Bitboard::of(own));
    if others.is_empty() && own.file() != enemy.file() { KING_ON_OPEN_FILE } else { Tapered::ZERO }
}
