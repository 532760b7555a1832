//! 亚洲规则: perpetual check, then the perpetual chase of one piece, then anything else.
//!
//! - 长将: every move of a side in the cycle gives check.
//! - 捉: a move chases a piece if it brings about an attack that is a chase (see [`chase`]) and did
//!   not stand before the move. An attack stands that was there already, whatever else has changed
//!   but the piece's protection: being protected only through the attacker itself is none, for such a
//!   protector attacks the attacker. Checks on the board are left out of account.
//! - 长捉: there is a piece that each of the side's moves chases; the chasing pieces may change.
//! - A rook that may not leave its square because of a knight may not be chased: who does so
//!   perpetually cannot point to a chase by the other side. AXF rules, no. 19.

use super::Repetition;
use super::chase::{self, Blind};
use super::cycle::{Cycle, Rewind};
use crate::attacks;
use crate::bitboard::Bitboard;
use crate::change::PieceChange;
use crate::color::Color;
use crate::mv::{Move, MoveList};
use crate::piece::PieceKind;
use crate::position::Position;
use crate::square::Square;

pub(super) fn judge(cycle: &Cycle<'_>) -> Repetition {
    let checks = cycle.checks();
    let mut chased = [Bitboard::EMPTY; 2];
    if !checks.iter().any(|side| side.perpetual()) {
        chased = perpetually_chased(cycle);
        if chased.iter().all(|set| !set.is_empty()) {
            excuse(cycle, &mut chased);
        }
    }
    Repetition::of(checks, cycle.squares_at_start(chased))
}

/// The pieces that each side chases with each of its moves (index: the chaser), by their names.
fn perpetually_chased(cycle: &Cycle<'_>) -> [Bitboard; 2] {
    let mut rewind = cycle.rewind();
    let mut left = Color::ALL.map(|chaser| chase::targets(rewind.position(), !chaser));
    while rewind.change().is_some() && left != [Bitboard::EMPTY; 2] {
        let chaser = rewind.mover();
        let remaining = left[chaser.index()];
        if remaining.is_empty() {
            rewind.back();
        } else {
            let here = rewind.squares(!chaser, remaining);
            left[chaser.index()] = newly_chased(&mut rewind, here);
        }
    }
    left
}

/// The names of those of `targets` that the move now taken back chased.
fn newly_chased(rewind: &mut Rewind<'_>, targets: Bitboard) -> Bitboard {
    let chases = chases(rewind.position(), rewind.mover(), targets);
    let change = rewind.change();
    rewind.back();
    let before = rewind.position();
    let fresh = chases.iter().filter(|&&attack| !change.is_some_and(|change| stood(before, attack, change)));
    rewind.names(fresh.map(|attack| attack.to()).collect())
}

/// The attacks of `chaser` on `targets` that are chases.
fn chases(position: &Position, chaser: Color, targets: Bitboard) -> MoveList {
    let mut list = MoveList::new();
    let blind = Blind { checkers: position.checkers(), behind_attacker: false };
    for from in chase::chasers(position, chaser) {
        for to in position.attacks(from) & targets {
            let attack = Move::new(from, to);
            if chase::is_chase(position, attack, blind) {
                list.push(attack);
            }
        }
    }
    list
}

/// Did this attack stand before the move `change` led from `before` to where it is a chase?
pub(super) fn stood(before: &Position, attack: Move, change: PieceChange) -> bool {
    let from = if attack.from() == change.to { change.from } else { attack.from() };
    let attack = Move::new(from, attack.to());
    let blind = Blind { checkers: before.checkers(), behind_attacker: true };
    before.attacks(from).has(attack.to()) && chase::is_chase(before, attack, blind)
}

/// Both sides chase: if one alone chases a rook that a knight holds, the other's chase is excused.
fn excuse(cycle: &Cycle<'_>, chased: &mut [Bitboard; 2]) {
    let holds = Color::ALL.map(|chaser| chases_held_rook(cycle, chaser, chased[chaser.index()]));
    for chaser in Color::ALL {
        if holds[chaser.index()] && !holds[(!chaser).index()] {
            chased[(!chaser).index()] = Bitboard::EMPTY;
        }
    }
}

/// Is one of the pieces with these names a rook that a knight holds in its place after each of the
/// chaser's moves?
fn chases_held_rook(cycle: &Cycle<'_>, chaser: Color, chased: Bitboard) -> bool {
    let mut rewind = cycle.rewind();
    let mut held = chased & rewind.position().pieces(!chaser, PieceKind::Rook);
    while rewind.change().is_some() && !held.is_empty() {
        if rewind.mover() == chaser {
            let here = rewind.squares(!chaser, held).filter(|&rook| is_held(rewind.position(), chaser, rook));
            held = rewind.names(here.collect());
        }
        rewind.back();
    }
    !held.is_empty()
}

/// Would a knight of `chaser` attack the king once the rook had left its square?
fn is_held(position: &Position, chaser: Color, rook: Square) -> bool {
    let king = position.king(!chaser);
    let knights = position.pieces(chaser, PieceKind::Knight);
    let attackers = |occupied| attacks::knight_attackers(king, occupied) & knights;
    let occupied = position.occupied();
    attackers(occupied.without(Bitboard::of(rook))) != attackers(occupied)
}
