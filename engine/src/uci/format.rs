//! Writing protocol lines.

use xiangqi::{Move, Score};

use crate::search::{Info, ScoreBound};

/// A score as the protocol shows it: `cp N` or `mate N` (moves, below zero when mated).
///
/// A win by rule (a repetition that the opponent loses) is no mate and is not shown as one: it is
/// `cp` near 31000 (31000 less the plies to it), and an `info string` says so.
pub fn score(score: Score) -> String {
    match score.mate_plies() {
        Some(_) => score.to_string(),
        None => format!("cp {}", score.0),
    }
}

/// What `info string` says of a win or loss by rule; `None` for other scores.
pub fn rule_note(score: Score) -> Option<String> {
    score.is_rule_win().then(|| {
        format!("info string {score} plies by the repetition rule (no mate), shown as {}", self::score(score))
    })
}

/// Moves with blanks between.
pub fn moves(moves: &[Move]) -> String {
    let texts: Vec<String> = moves.iter().map(Move::to_string).collect();
    texts.join(" ")
}

/// An `info` line. Its `pv` has at least one move.
pub fn info(info: &Info) -> String {
    let bound = match info.bound {
        ScoreBound::Exact => "",
        ScoreBound::Lower => " lowerbound",
        ScoreBound::Upper => " upperbound",
    };
    let nps = info.nodes.saturating_mul(1000) / info.time_ms.max(1);
    format!(
        "info depth {} seldepth {} multipv {} score {}{bound} nodes {} nps {nps} hashfull {} time {} pv {}",
        info.depth,
        info.seldepth,
        info.multi_pv,
        score(info.line.score),
        info.nodes,
        info.hashfull,
        info.time_ms,
        moves(&info.line.pv),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_win_by_rule_is_no_mate() {
        let cases = [
            (Score(Score::RULE_WIN - 4), "cp 30996", true),
            (Score(-Score::RULE_WIN + 7), "cp -30993", true),
            (Score::mate_in(5), "mate 3", false),
            (Score::mated_in(4), "mate -2", false),
            (Score::mated_in(0), "mate 0", false),
            (Score(-34), "cp -34", false),
        ];
        for (value, text, note) in cases {
            assert_eq!(score(value), text);
            assert_eq!(rule_note(value).is_some(), note, "{text}");
        }
    }
}
