//! Plays the moves again and notes what each does.

use super::super::chase::{self, Blind};
use super::super::{ChaseReading, asian, judge_cycle, mate_threat, status};
use super::man::Homes;
use super::reason::Deeds;
use super::{Attack, Explanation, MoveNote, Reason, Rules, Ruling, Scope, conducts};
use crate::bitboard::Bitboard;
use crate::change::PieceChange;
use crate::color::Color;
use crate::game::Game;
use crate::mv::Move;
use crate::notation;
use crate::position::Position;
use crate::zones::home_half;
use crate::{PieceKind, Square};

pub(super) fn explain(game: &Game, rules: Rules) -> Explanation {
    let earlier: Vec<usize> = game.earlier_occurrences().collect();
    let needed = rules.set.deciding_occurrence() - 1;
    // The judged cycle begins at the occurrence that makes the current one the deciding one; a
    // position that has not stood so often is explained from where it stood last.
    let first = earlier.get(needed - 1).or(earlier.last()).copied();
    let scope = match first {
        None => Scope::Game,
        Some(_) => {
            let occurrences = earlier.len() as u32 + 1;
            Scope::Cycle { occurrences, decides: earlier.len() >= needed }
        }
    };
    let cycle = first.map(|first| judge_cycle(game, first, &rules));
    let moves = Study::new(game, first, &rules).notes(game);
    let reasons = cycle.map(|verdict| {
        let [red, black] = conducts(&verdict);
        let reading = rules.set.switches().chase.value;
        let own = |side| Deeds::new(side, &moves);
        [
            Reason::find([red, black], verdict.chased_by_red, &own(Color::Red), reading),
            Reason::find([black, red], verdict.chased_by_black, &own(Color::Black), reading),
        ]
    });
    Explanation { rules, status: status(game, rules), scope, moves, cycle, reasons }
}

struct Study {
    position: Position,
    homes: Homes,
    first: usize,
    reading: ChaseReading,
    /// To which depth mate threats are looked for; 0 = not at all.
    mate_threat_depth: u8,
    /// A check somewhere in the cycle, where that ends all chases.
    check_ends_chases: bool,
}

impl Study {
    fn new(game: &Game, cycle: Option<usize>, rules: &Rules) -> Study {
        let first = cycle.unwrap_or(0);
        let mut position = game.position().clone();
        let mut any_check = false;
        for undo in game.plies()[first..].iter().rev() {
            any_check |= position.in_check();
            position.unmake(undo);
        }
        let switches = rules.set.switches();
        Study {
            position,
            homes: Homes::new(),
            first,
            reading: switches.chase.value,
            mate_threat_depth: if switches.mate_threats.value { rules.mate_threat_depth } else { 0 },
            check_ends_chases: cycle.is_some()
                && any_check
                && switches.chase.value == ChaseReading::Competition,
        }
    }

    fn notes(mut self, game: &Game) -> Vec<MoveNote> {
        let changes = game.plies()[self.first..].iter().filter_map(|undo| undo.change);
        changes.enumerate().map(|(i, change)| self.note(self.first + i + 1, change)).collect()
    }

    fn note(&mut self, ply: usize, change: PieceChange) -> MoveNote {
        let mv = Move::new(change.from, change.to);
        let before = self.position.clone();
        let mover = before.side_to_move();
        self.homes.go(change.from, change.to);
        self.position.make(mv);
        let after = &self.position;
        let chased = |position: &Position| {
            chase::chased(position, !mover, chase::targets(position, mover), Blind::default())
        };
        // The moved piece is the same man before the move and after it.
        let moved = |square: Square| if square == change.from { change.to } else { square };
        let was_chased: Bitboard = chased(&before).map(moved).collect();
        let freed = was_chased.without(chased(after));
        MoveNote {
            ply,
            mover,
            mv,
            chinese: notation::chinese(&before, mv),
            check: after.in_check(),
            mate_threat: mate_threat::moves_to_mate(after, self.mate_threat_depth),
            attacks: self.attacks(&before, change),
            freed: self.homes.men(after, freed),
        }
    }

    /// The attacks of the side that has moved.
    fn attacks(&self, before: &Position, change: PieceChange) -> Vec<Attack> {
        let after = &self.position;
        let mover = change.piece.color();
        let enemies = after.color(!mover).without(Bitboard::of(after.king(!mover)));
        let mut list = Vec::new();
        for from in after.color(mover) {
            for to in after.attacks(from) & enemies {
                let men = self.homes.man(after, from).zip(self.homes.man(after, to));
                if let Some((attacker, victim)) = men {
                    let ruling = self.ruling(before, change, Move::new(from, to));
                    list.push(Attack { attacker, victim, ruling });
                }
            }
        }
        list
    }

    fn ruling(&self, before: &Position, change: PieceChange, attack: Move) -> Ruling {
        let after = &self.position;
        let kinds = after.piece_on(attack.from()).zip(after.piece_on(attack.to()));
        let Some((attacker, victim)) = kinds else { return Ruling::KingForbids };
        // A check of one's own makes no protector false in the reading of asian.
        let checkers = if self.reading == ChaseReading::Asian { after.checkers() } else { Bitboard::EMPTY };
        let blind = Blind { checkers, behind_attacker: false };
        if !chase::leaves_king_safe(after, attack, blind) {
            Ruling::KingForbids
        } else if matches!(attacker.kind(), PieceKind::King | PieceKind::Pawn) {
            Ruling::AttackerMayChase
        } else if victim.kind() == PieceKind::Pawn && home_half(victim.color()).has(attack.to()) {
            Ruling::PawnAtHome
        } else if attacker.kind() == victim.kind() && chase::attacks_back(after, attack, blind) {
            Ruling::Mutual
        } else {
            let worth_more = chase::worth_more(attacker.kind(), victim.kind());
            let protectors = chase::protectors(after, attack, blind);
            if !worth_more && !protectors.is_empty() {
                Ruling::Protected(self.homes.men(after, protectors))
            } else if self.stood(before, change, attack) {
                Ruling::Standing
            } else if self.check_ends_chases {
                Ruling::CheckInCycle
            } else if worth_more {
                Ruling::WorthMore
            } else {
                let gait = chase::defenders(after, attack, blind);
                let men = self.homes.men(after, gait);
                if men.is_empty() { Ruling::Unprotected } else { Ruling::FalselyProtected(men) }
            }
        }
    }

    /// Was the attack, or the chase, there before the move, in a reading that asks for new ones?
    fn stood(&self, before: &Position, change: PieceChange, attack: Move) -> bool {
        match self.reading {
            ChaseReading::Asian => asian::stood(before, attack, change),
            ChaseReading::Chinese => {
                let blind = Blind { checkers: before.checkers(), behind_attacker: false };
                let victim = Bitboard::of(attack.to());
                !chase::chased(before, change.piece.color(), victim, blind).is_empty()
            }
            ChaseReading::None | ChaseReading::Competition => false,
        }
    }
}
