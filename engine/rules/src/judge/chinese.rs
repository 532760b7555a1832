//! 中国规则, simplified: perpetual check, then any other cycle of attacks, then anything else.
//!
//! A move attacks if it gives check (将), or brings about a chase of a piece that was not chased
//! before the move (捉), or threatens mate by checks alone within the depth that is set (杀). A side
//! all of whose moves attack is the graver, be it perpetual chase (长捉, of any pieces), perpetual
//! mate threat (长杀), or a mixture of the three (一将一捉, 一将一杀, 一杀一捉).

use super::chase::{self, Blind};
use super::cycle::{Checks, Cycle, Rewind};
use super::{Conduct, Repetition, mate_threat};
use crate::bitboard::Bitboard;
use crate::color::Color;

/// What a side's moves were so far.
#[derive(Clone, Copy, Default)]
struct Deeds {
    checks: bool,
    chases: bool,
    threats: bool,
    /// A move of another kind: the side is out of it.
    other: bool,
    /// The names of the pieces it chased.
    chased: Bitboard,
}

impl Deeds {
    fn conduct(&self, checks: Checks) -> Conduct {
        match (self.other, self.checks, self.chases, self.threats) {
            _ if checks.perpetual() => Conduct::PerpetualCheck,
            (true, ..) | (false, false, false, false) => Conduct::Allowed,
            (_, false, true, false) => Conduct::PerpetualChase,
            (_, false, false, true) => Conduct::PerpetualMateThreat,
            _ => Conduct::MixedAttacks,
        }
    }
}

pub(super) fn judge(cycle: &Cycle<'_>, mate_threat_depth: u8) -> Repetition {
    let checks = cycle.checks();
    let mut deeds = [Deeds::default(); 2];
    // A perpetual check outweighs whatever else there is.
    if !checks.iter().any(|side| side.perpetual()) {
        let mut rewind = cycle.rewind();
        while rewind.change().is_some() && deeds.iter().any(|side| !side.other) {
            let mover = rewind.mover();
            look_at_move(&mut rewind, &mut deeds[mover.index()], mate_threat_depth);
        }
    }
    let conduct = |color: Color| deeds[color.index()].conduct(checks[color.index()]);
    let conducts = [conduct(Color::Red), conduct(Color::Black)];
    let chased = Color::ALL.map(|color| {
        if conducts[color.index()] == Conduct::Allowed {
            Bitboard::EMPTY
        } else {
            deeds[color.index()].chased
        }
    });
    Repetition::between(conducts, cycle.squares_at_start(chased))
}

/// Adds the move that led to the position to its side's deeds, and takes it back.
fn look_at_move(rewind: &mut Rewind<'_>, deeds: &mut Deeds, mate_threat_depth: u8) {
    if deeds.other {
        rewind.back();
    } else if rewind.position().in_check() {
        deeds.checks = true;
        rewind.back();
    } else {
        let after = rewind.position().clone();
        let chaser = rewind.mover();
        let chased = chase::chased(&after, chaser, chase::targets(&after, !chaser), Blind::default());
        rewind.back();
        let fresh = chased.without(chased_before(rewind, chased));
        if !fresh.is_empty() {
            deeds.chases = true;
            deeds.chased |= rewind.names(fresh);
        } else if mate_threat::moves_to_mate(&after, mate_threat_depth).is_some() {
            deeds.threats = true;
        } else {
            deeds.other = true;
        }
    }
}

/// Those of `targets` that the side to move chases already. That it must first see to a check does
/// not make an old chase new.
fn chased_before(rewind: &Rewind<'_>, targets: Bitboard) -> Bitboard {
    let before = rewind.position();
    let blind = Blind { checkers: before.checkers(), behind_attacker: false };
    chase::chased(before, before.side_to_move(), targets, blind)
}
