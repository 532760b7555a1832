//! Explanations in Chinese.

use super::super::EndReason;
use super::{Attack, Explanation, Man, MoveNote, Reason, Ruling, Scope};
use crate::PieceKind;
use crate::color::Color;

fn side_name(color: Color) -> &'static str {
    match color {
        Color::Red => "红方",
        Color::Black => "黑方",
    }
}

fn piece_name(man: &Man) -> &'static str {
    match (man.piece.color(), man.piece.kind()) {
        (Color::Red, PieceKind::King) => "帅",
        (Color::Red, PieceKind::Advisor) => "仕",
        (Color::Red, PieceKind::Bishop) => "相",
        (Color::Red, PieceKind::Pawn) => "兵",
        (Color::Black, PieceKind::King) => "将",
        (Color::Black, PieceKind::Advisor) => "士",
        (Color::Black, PieceKind::Bishop) => "象",
        (Color::Black, PieceKind::Pawn) => "卒",
        (_, PieceKind::Knight) => "马",
        (_, PieceKind::Rook) => "车",
        (_, PieceKind::Cannon) => "炮",
    }
}

fn man(man: &Man) -> String {
    format!("{}({})", piece_name(man), man.square)
}

fn men(list: &[Man]) -> String {
    list.iter().map(man).collect::<Vec<String>>().join("、")
}

fn attack(attack: &Attack) -> String {
    let (who, whom) = (man(&attack.attacker), man(&attack.victim));
    let why = match &attack.ruling {
        Ruling::Unprotected => return format!("{who}捉{whom}，无根"),
        Ruling::FalselyProtected(list) => return format!("{who}捉{whom}，{}是假根", men(list)),
        Ruling::WorthMore => return format!("{who}捉{whom}，有根无根均是捉"),
        Ruling::Protected(list) => format!("有根，{}可反吃", men(list)),
        Ruling::AttackerMayChase => "将帅兵卒允许捉子".to_owned(),
        Ruling::PawnAtHome => "未过河兵卒".to_owned(),
        Ruling::Mutual => "同类子互相攻击".to_owned(),
        Ruling::KingForbids => "吃子后己方将帅被攻击".to_owned(),
        Ruling::Standing => "该攻击在这一着之前已存在".to_owned(),
        Ruling::CheckInCycle => "循环中有将军".to_owned(),
    };
    format!("{who}攻击{whom}，不算捉：{why}")
}

pub(super) fn of_move(note: &MoveNote) -> String {
    let mut parts = Vec::new();
    if note.check {
        parts.push("将军".to_owned());
    }
    parts.extend(note.chases().map(attack));
    if let Some(moves) = note.mate_threat {
        parts.push(format!("杀：{moves}着内连将成杀"));
    }
    if !note.freed.is_empty() {
        parts.push(format!("使{}逃捉", men(&note.freed)));
    }
    if parts.is_empty() {
        parts.push("闲着".to_owned());
    }
    // What only looks like a chase is told where nothing else is there to tell.
    if note.chases().next().is_none() && !note.check {
        parts.extend(note.attacks.iter().map(attack));
    }
    format!("{:3}. {}{}（{}）：{}", note.ply, side_name(note.mover), note.chinese, note.mv, parts.join("；"))
}

pub(super) fn of_reason(side: Color, reason: &Reason) -> String {
    let why = match reason {
        Reason::EveryMoveChecks => "长将：每一着均将军".to_owned(),
        Reason::EveryMoveChases(list) => format!("长捉：每一着均捉{}", men(list)),
        Reason::EveryMoveChasesSomething => "长捉：每一着均捉子".to_owned(),
        Reason::EveryMoveThreatens => "长杀：每一着均是杀着".to_owned(),
        Reason::EveryMoveAttacks => "将、杀、捉循环：每一着均是将军、杀着或捉子".to_owned(),
        Reason::IdleMove { ply } => format!("允许循环：第{ply}着既非将军也非捉子"),
        Reason::ChecksBetween => "允许循环：有将有捉，但没有一个子被每一着所捉".to_owned(),
        Reason::CheckInCycle => "允许循环：并非每着均将军，而循环中有将军则无捉".to_owned(),
        Reason::NoOnePiece => "允许循环：每着均捉子，但不是捉同一子".to_owned(),
        Reason::NotFreed(man) => {
            format!("允许循环：每着均捉{}，但对方有一着未使其逃捉", self::man(man))
        }
        Reason::ChasesAllowed => "允许循环：此规则不禁止长捉".to_owned(),
        Reason::Outweighed => "允许循环：对方的违规更重".to_owned(),
    };
    format!("{}：{why}", side_name(side))
}

pub(super) fn of_scope(explanation: &Explanation) -> String {
    let set = explanation.rules.set;
    let status = &explanation.status;
    let scope = match explanation.scope {
        Scope::Game => "局面未曾出现过；以下为全部着法".to_owned(),
        Scope::Cycle { occurrences, decides } => {
            let needed = set.deciding_occurrence();
            let judged = if decides { "作出判决" } else { "暂不判决" };
            format!("同一局面出现{occurrences}次，需{needed}次：{judged}；以下为循环中的着法")
        }
    };
    let reason = match status.reason {
        Some(EndReason::Checkmate) => "，将死",
        Some(EndReason::Stalemate) => "，困毙",
        Some(EndReason::Repetition) => "，依循环棋规",
        Some(EndReason::NaturalLimit) => "，自然限着",
        Some(EndReason::InsufficientMaterial) => "，双方无进攻子力",
        None => "",
    };
    let result = match (status.result.loser(), status.is_over()) {
        (Some(loser), _) => format!("{}负", side_name(loser)),
        (None, true) => "和棋".to_owned(),
        (None, false) => "对局继续".to_owned(),
    };
    format!("规则{set}：{result}{reason}（{scope}）")
}
