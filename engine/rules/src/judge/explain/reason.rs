//! Why a side's conduct is what the judge says.

use super::super::{ChaseReading, Conduct};
use super::{Act, Man, MoveNote};
use crate::bitboard::Bitboard;
use crate::color::Color;

/// Why a side's conduct is what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Perpetual check: each of its moves gives check.
    EveryMoveChecks,
    /// Perpetual chase: each of its moves chases these pieces (one, as a rule).
    EveryMoveChases(Vec<Man>),
    /// Perpetual chase of any pieces: each of its moves chases something.
    EveryMoveChasesSomething,
    /// Perpetual mate threat: each of its moves threatens mate.
    EveryMoveThreatens,
    /// Each of its moves is a check, a chase or a mate threat.
    EveryMoveAttacks,
    /// Allowed: the move at this ply is neither check nor chase (nor mate threat).
    IdleMove {
        /// The first such move.
        ply: usize,
    },
    /// Allowed: it gives check with some moves, and no piece is chased by all of them.
    ChecksBetween,
    /// Allowed: there is a check in the cycle, so that nothing in it is a chase.
    CheckInCycle,
    /// Allowed: it chases with each move, but no one piece with all of them.
    NoOnePiece,
    /// Allowed: the piece is chased by each move, but a reply left it chased.
    NotFreed(Man),
    /// Allowed: these rules forbid no chase.
    ChasesAllowed,
    /// Allowed: the other side perpetually chases a rook that a knight holds, and this side's chase
    /// is no answer to that; or the other side's perpetual check outweighs it.
    Outweighed,
}

impl Reason {
    /// Its word in JSON.
    pub const fn name(&self) -> &'static str {
        match self {
            Reason::EveryMoveChecks => "every_move_checks",
            Reason::EveryMoveChases(_) => "every_move_chases",
            Reason::EveryMoveChasesSomething => "every_move_chases_something",
            Reason::EveryMoveThreatens => "every_move_threatens",
            Reason::EveryMoveAttacks => "every_move_attacks",
            Reason::IdleMove { .. } => "idle_move",
            Reason::ChecksBetween => "checks_between",
            Reason::CheckInCycle => "check_in_cycle",
            Reason::NoOnePiece => "no_one_piece",
            Reason::NotFreed(_) => "not_freed",
            Reason::ChasesAllowed => "chases_allowed",
            Reason::Outweighed => "outweighed",
        }
    }

    /// The reason for a side's conduct (the first of `conducts`), from what its moves were. `chased`
    /// are the pieces that its conduct consists in chasing.
    pub(super) fn find(
        [own, other]: [Conduct; 2],
        chased: Bitboard,
        deeds: &Deeds<'_>,
        reading: ChaseReading,
    ) -> Reason {
        match own {
            Conduct::PerpetualCheck => Reason::EveryMoveChecks,
            Conduct::PerpetualChase if reading == ChaseReading::Chinese => Reason::EveryMoveChasesSomething,
            Conduct::PerpetualChase => {
                let mut men = deeds.chased_by_all();
                men.retain(|man| chased.has(man.home));
                Reason::EveryMoveChases(men)
            }
            Conduct::PerpetualMateThreat => Reason::EveryMoveThreatens,
            Conduct::MixedAttacks => Reason::EveryMoveAttacks,
            Conduct::Allowed => deeds.why_allowed(other, reading),
        }
    }
}

/// One side's moves in a cycle.
pub(super) struct Deeds<'a> {
    own: Vec<&'a MoveNote>,
    /// Does either side give check in the cycle?
    any_check: bool,
}

impl<'a> Deeds<'a> {
    pub(super) fn new(side: Color, moves: &'a [MoveNote]) -> Deeds<'a> {
        let own = moves.iter().filter(|note| note.mover == side).collect();
        Deeds { own, any_check: moves.iter().any(|note| note.check) }
    }

    fn why_allowed(&self, other: Conduct, reading: ChaseReading) -> Reason {
        let idle = self.own.iter().find(|note| matches!(note.act(), Act::Idle | Act::Escape));
        match (idle, reading) {
            (_, ChaseReading::Competition) if self.any_check => Reason::CheckInCycle,
            (Some(note), _) => Reason::IdleMove { ply: note.ply },
            (None, ChaseReading::None) => Reason::ChasesAllowed,
            (None, _) if other == Conduct::PerpetualCheck => Reason::Outweighed,
            (None, _) => match self.chased_by_all().first() {
                Some(_) if reading == ChaseReading::Asian => Reason::Outweighed,
                Some(&man) => Reason::NotFreed(man),
                None if self.own.iter().any(|note| note.check) => Reason::ChecksBetween,
                None => Reason::NoOnePiece,
            },
        }
    }

    /// The pieces that each of the moves chases, as the first of them finds them.
    fn chased_by_all(&self) -> Vec<Man> {
        let Some((first, rest)) = self.own.split_first() else { return Vec::new() };
        let mut men: Vec<Man> = Vec::new();
        for attack in first.chases() {
            if !men.contains(&attack.victim) {
                men.push(attack.victim);
            }
        }
        for note in rest {
            men.retain(|man| note.chases().any(|attack| attack.victim.home == man.home));
        }
        men
    }
}
