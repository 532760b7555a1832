//! 捉: which attacks are chases.
//!
//! An attack is a legal capture if its side were to move now. It is a chase unless
//! (a) the capturer could be captured in return, except where a knight or cannon takes a rook, or an
//! advisor or bishop a knight, cannon or rook; (b) the attacker is a king or pawn; (c) the target is
//! a pawn that has not crossed the river; (d) both are of one kind and the target attacks the
//! attacker too. 《象棋程序竞赛规则》, chapter 3, section 1, no. 3 and 5; the other rule sets share it.

use crate::bitboard::Bitboard;
use crate::color::Color;
use crate::mv::Move;
use crate::piece::PieceKind;
use crate::position::Position;
use crate::zones::home_half;

/// What is left out of account when an attack is tried.
#[derive(Clone, Copy, Default)]
pub(super) struct Blind {
    /// Pieces that give check now: what may not be played only because of their check may be.
    pub(super) checkers: Bitboard,
    /// Protectors that reach the target only through the attacker's own square.
    pub(super) behind_attacker: bool,
}

/// A side's pieces that can be chased at all: not its king, nor a pawn that has not crossed.
pub(super) fn targets(position: &Position, owner: Color) -> Bitboard {
    let home_pawns = position.pieces(owner, PieceKind::Pawn) & home_half(owner);
    position.color(owner).without(home_pawns).without(Bitboard::of(position.king(owner)))
}

/// A side's pieces that can chase at all: neither king nor pawns.
pub(super) fn chasers(position: &Position, side: Color) -> Bitboard {
    let idle = position.pieces(side, PieceKind::King) | position.pieces(side, PieceKind::Pawn);
    position.color(side).without(idle)
}

/// Those of `targets` that `chaser` chases in this position, as if it were to move.
pub(super) fn chased(position: &Position, chaser: Color, targets: Bitboard, blind: Blind) -> Bitboard {
    let mut chased = Bitboard::EMPTY;
    for from in chasers(position, chaser) {
        let attacked = position.attacks(from) & targets.without(chased);
        chased |= attacked.filter(|&to| is_chase(position, Move::new(from, to), blind)).collect();
    }
    chased
}

/// Is the attack from a piece on one of the other side, by the gait, a chase?
pub(super) fn is_chase(position: &Position, attack: Move, blind: Blind) -> bool {
    let pair = position.piece_on(attack.from()).zip(position.piece_on(attack.to()));
    pair.is_some_and(|(attacker, victim)| {
        // The commonest reason first: most attacks are on protected pieces.
        (worth_more(attacker.kind(), victim.kind()) || !is_protected(position, attack, blind))
            && leaves_king_safe(position, attack, blind)
            && !(attacker.kind() == victim.kind() && attacks_back(position, attack, blind))
    })
}

/// May the attacker capture if its side were to move, for all its king?
pub(super) fn leaves_king_safe(position: &Position, attack: Move, blind: Blind) -> bool {
    let Some(piece) = position.piece_on(attack.from()) else { return false };
    let (side, from, to) = (piece.color(), attack.from(), attack.to());
    let occupied = position.occupied().without(Bitboard::of(from)).with(to);
    let king = if from == position.king(side) { to } else { position.king(side) };
    let attackers = position.king_attackers(king, !side, occupied).without(Bitboard::of(to));
    attackers.without(blind.checkers).is_empty()
}

/// Can the victim of an attack take its attacker instead, if its side were to move?
pub(super) fn attacks_back(position: &Position, attack: Move, blind: Blind) -> bool {
    let back = Move::new(attack.to(), attack.from());
    position.attacks(back.from()).has(back.to()) && leaves_king_safe(position, back, blind)
}

/// Captures that are a chase even of a protected piece.
pub(super) fn worth_more(attacker: PieceKind, victim: PieceKind) -> bool {
    use PieceKind::{Advisor, Bishop, Cannon, Knight, Rook};
    match attacker {
        Knight | Cannon => victim == Rook,
        Advisor | Bishop => matches!(victim, Knight | Cannon | Rook),
        _ => false,
    }
}

/// Could the capturer be captured in return, by a legal move?
fn is_protected(position: &Position, attack: Move, blind: Blind) -> bool {
    let mut defenders = defenders(position, attack, blind);
    defenders.any(|from| can_retake(position, attack, Move::new(from, attack.to()), blind))
}

/// The pieces that could do so.
pub(super) fn protectors(position: &Position, attack: Move, blind: Blind) -> Bitboard {
    let defenders = defenders(position, attack, blind);
    defenders.filter(|&from| can_retake(position, attack, Move::new(from, attack.to()), blind)).collect()
}

/// The pieces that could do so by their gait alone.
pub(super) fn defenders(position: &Position, attack: Move, blind: Blind) -> Bitboard {
    let Some(victim) = position.piece_on(attack.to()) else { return Bitboard::EMPTY };
    let occupied = position.occupied();
    let after = occupied.without(Bitboard::of(attack.from()));
    let defenders = position.attackers_to(attack.to(), victim.color(), after);
    if blind.behind_attacker && !defenders.is_empty() {
        // Those that bear on the square while the attacker is where it is.
        defenders & position.attackers_to(attack.to(), victim.color(), occupied)
    } else {
        defenders
    }
}

/// Once `attack` has been played, may `retake` be, for all its king?
fn can_retake(position: &Position, attack: Move, retake: Move, blind: Blind) -> bool {
    let Some(piece) = position.piece_on(retake.from()) else { return false };
    let (owner, to) = (piece.color(), attack.to());
    // The capturer has left its square, and is taken itself.
    let occupied =
        position.occupied().without(Bitboard::of(attack.from())).without(Bitboard::of(retake.from()));
    let king = if retake.from() == position.king(owner) { to } else { position.king(owner) };
    let attackers = position.king_attackers(king, !owner, occupied) & occupied;
    attackers.without(blind.checkers).without(Bitboard::of(to)).is_empty()
}
