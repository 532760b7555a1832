//! Explanations in English.

use super::super::EndReason;
use super::{Attack, Explanation, Man, MoveNote, Reason, Ruling, Scope};
use crate::PieceKind;
use crate::color::Color;

fn side_name(color: Color) -> &'static str {
    match color {
        Color::Red => "Red",
        Color::Black => "Black",
    }
}

fn kind_name(kind: PieceKind) -> &'static str {
    match kind {
        PieceKind::King => "king",
        PieceKind::Advisor => "advisor",
        PieceKind::Bishop => "bishop",
        PieceKind::Knight => "knight",
        PieceKind::Rook => "rook",
        PieceKind::Cannon => "cannon",
        PieceKind::Pawn => "pawn",
    }
}

fn man(man: &Man) -> String {
    format!("{} {}", kind_name(man.piece.kind()), man.square)
}

fn men(list: &[Man]) -> String {
    list.iter().map(man).collect::<Vec<String>>().join(" and ")
}

fn attack(attack: &Attack) -> String {
    let (who, whom) = (man(&attack.attacker), man(&attack.victim));
    let why = match &attack.ruling {
        Ruling::Unprotected => return format!("{who} chases {whom}, which nothing protects"),
        Ruling::FalselyProtected(list) => {
            return format!("{who} chases {whom}, whose protection by {} cannot take back", men(list));
        }
        Ruling::WorthMore => return format!("{who} chases {whom}, protected or not"),
        Ruling::Protected(list) => format!("protected by {}", men(list)),
        Ruling::AttackerMayChase => format!("a {} may chase", kind_name(attack.attacker.piece.kind())),
        Ruling::PawnAtHome => "a pawn that has not crossed the river".to_owned(),
        Ruling::Mutual => "they attack each other".to_owned(),
        Ruling::KingForbids => "the capture would leave the own king open".to_owned(),
        Ruling::Standing => "the attack stood before this move".to_owned(),
        Ruling::CheckInCycle => "there is a check in the cycle".to_owned(),
    };
    format!("{who} attacks {whom} but does not chase it: {why}")
}

pub(super) fn of_move(note: &MoveNote) -> String {
    let mut parts = Vec::new();
    if note.check {
        parts.push("check".to_owned());
    }
    parts.extend(note.chases().map(attack));
    if let Some(moves) = note.mate_threat {
        parts.push(format!("threatens mate by checks in {moves}"));
    }
    if !note.freed.is_empty() {
        parts.push(format!("frees {} from chase", men(&note.freed)));
    }
    if parts.is_empty() {
        parts.push("idle".to_owned());
    }
    // What only looks like a chase is told where nothing else is there to tell.
    if note.chases().next().is_none() && !note.check {
        parts.extend(note.attacks.iter().map(attack));
    }
    format!("{:3}. {} {} ({}): {}", note.ply, side_name(note.mover), note.mv, note.chinese, parts.join("; "))
}

pub(super) fn of_reason(side: Color, reason: &Reason) -> String {
    let name = side_name(side);
    let why = match reason {
        Reason::EveryMoveChecks => "perpetual check: each of its moves gives check".to_owned(),
        Reason::EveryMoveChases(list) => {
            format!("perpetual chase: each of its moves chases the {}", men(list))
        }
        Reason::EveryMoveChasesSomething => "perpetual chase: each of its moves chases something".to_owned(),
        Reason::EveryMoveThreatens => "perpetual mate threat: each of its moves threatens mate".to_owned(),
        Reason::EveryMoveAttacks => {
            "mixed attacks: each of its moves checks, chases or threatens mate".to_owned()
        }
        Reason::IdleMove { ply } => format!("allowed: its move at ply {ply} neither checks nor chases"),
        Reason::ChecksBetween => {
            "allowed: it checks with some moves, and no piece is chased by all of them".to_owned()
        }
        Reason::CheckInCycle => {
            "allowed: not each of its moves gives check, and with a check in the cycle nothing is a chase"
                .to_owned()
        }
        Reason::NoOnePiece => "allowed: it chases with each move, but no one piece with all".to_owned(),
        Reason::NotFreed(man) => {
            format!("allowed: it attacks the {} with each move, but a reply left that chased", self::man(man))
        }
        Reason::ChasesAllowed => "allowed: these rules forbid no chase".to_owned(),
        Reason::Outweighed => "allowed: what the other side does outweighs its attacks".to_owned(),
    };
    format!("{name}: {why}")
}

pub(super) fn of_scope(explanation: &Explanation) -> String {
    let set = explanation.rules.set;
    let status = &explanation.status;
    let scope = match explanation.scope {
        Scope::Game => "the position has not stood before; all moves of the game".to_owned(),
        Scope::Cycle { occurrences, decides } => {
            let needed = set.deciding_occurrence();
            let judged = if decides { "it is judged" } else { "it is not judged yet" };
            format!(
                "the position stands {occurrences} times, {needed} are needed: {judged}; the cycle's moves"
            )
        }
    };
    let reason = match status.reason {
        Some(EndReason::Checkmate) => ", by checkmate",
        Some(EndReason::Stalemate) => ", by stalemate",
        Some(EndReason::Repetition) => ", by the rules on repetition",
        Some(EndReason::NaturalLimit) => ", by the natural limit",
        Some(EndReason::InsufficientMaterial) => ", for want of attacking pieces",
        None => "",
    };
    let result = match status.result.loser() {
        Some(loser) => format!("{} loses", side_name(loser)),
        None => status.result.to_string(),
    };
    format!("Rules {set}: {result}{reason} ({scope})")
}
