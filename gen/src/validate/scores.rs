//! The scores of a game: within what a score can be, and not against what the game itself proves.
//!
//! A mate found by search is a proof, so some things cannot be:
//!
//! * who mates does so with a move of its own: after an odd number of plies; who is mated, after an even one;
//! * the best move of a mate in one ends the game;
//! * whoever gives mate (or stalemate) was not about to be mated whatever it did;
//! * whoever is mated on the next ply did not play the best move of a position in which it could force mate.

use nnue_format::record::{GameRecord, PlyRecord, Reason};
use xiangqi::Score;

/// What is wrong with the scores of a game, by ply from 0; the game is one that the rules allow.
pub fn check_scores(game: &GameRecord) -> Vec<(usize, String)> {
    let mut faults = Vec::new();
    let mated = matches!(game.reason, Reason::Checkmate | Reason::Stalemate);
    let count = game.plies.len();
    for (i, ply) in game.plies.iter().enumerate() {
        let left = count - 1 - i;
        let what = range_fault(ply.score).or_else(|| end_fault(ply, left, mated));
        faults.extend(what.map(|what| (game.opening.len() + i, what)));
    }
    faults
}

/// Is the score one that a search can give?
fn range_fault(score: Score) -> Option<String> {
    let size = score.0.abs();
    let value = score.0;
    if size > Score::MATE {
        return Some(format!("score {value} is beyond ±{}", Score::MATE));
    }
    if let Some(plies) = score.mate_plies() {
        let can_be = if plies > 0 { plies % 2 == 1 } else { plies < 0 && plies % 2 == 0 };
        let sides = "the side to move mates after an odd number of plies and is mated after an even one";
        return (!can_be).then(|| format!("score {value} is mate in {} plies; {sides}", plies.abs()));
    }
    if size > Score::RULE_WIN || (size > Score::EVAL_LIMIT && !score.is_rule_win()) {
        let bands = [Score::EVAL_LIMIT, Score::RULE_WIN_FLOOR, Score::RULE_WIN, Score::MATE_FLOOR];
        let [eval, rule, rule_end, mate] = bands;
        return Some(format!(
            "score {value} means nothing: evaluations lie within ±{eval}, wins by rule from {rule} to {rule_end}, mates from {mate}"
        ));
    }
    None
}

/// Does the game's end contradict the score? `left` plies follow, and `mated` says whether the last of the game mates.
fn end_fault(ply: &PlyRecord, left: usize, mated: bool) -> Option<String> {
    let plies = ply.score.mate_plies()?;
    let is_best = !ply.flags.is_not_best();
    let what = if plies == 1 && is_best && left > 0 {
        "is mate on this ply, and the game goes on"
    } else if plies == 1 && is_best && !mated {
        "is mate on this ply, and the game ends otherwise"
    } else if plies < 0 && left == 0 && mated {
        "says that the side to move is mated, and it mates on this ply"
    } else if plies > 0 && is_best && left == 1 && mated {
        "says that the side to move mates, and it is mated on the next ply"
    } else {
        return None;
    };
    Some(format!("score {} {what}", ply.score.0))
}

#[cfg(test)]
mod tests {
    use nnue_format::record::{Outcome, PlyFlags, Start};
    use xiangqi::judge::RuleSet;

    use super::*;

    /// Faulty plies of a game with these scores; moves do not matter here.
    fn check(scores: &[i32], reason: Reason, other: Option<usize>, expected: &[usize]) {
        let mv = "h2e2".parse().expect("a move");
        let plies = scores.iter().enumerate().map(|(i, &score)| PlyRecord {
            mv,
            score: Score(score),
            flags: if other == Some(i) { PlyFlags::NOT_BEST } else { PlyFlags::NONE },
        });
        let game = GameRecord {
            number: 0,
            start: Start::Standard,
            opening: vec![mv; 3],
            plies: plies.collect(),
            outcome: Outcome::BlackLoses,
            reason,
            rules: RuleSet::ALL[0],
        };
        let found: Vec<usize> = check_scores(&game).into_iter().map(|(ply, _)| ply - 3).collect();
        assert_eq!(found, expected, "{scores:?} {reason}");
    }

    #[test]
    fn ranges() {
        let good = [0, 20_000, -20_000, 30_999, -30_990, 30_508, -31_000, 31_999, -31_998, 31_509];
        check(&good[..9], Reason::PlyLimit, Some(7), &[]);
        let bad = [20_001, -20_001, 30_507, 31_001, -31_507, 31_998, -31_999, 32_000, -32_000, 31_508];
        check(&bad, Reason::PlyLimit, None, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn mates_against_the_end() {
        check(&[31_997, -31_998, 31_999], Reason::Checkmate, None, &[]);
        check(&[31_997, -31_998, 31_999], Reason::Stalemate, None, &[]);
        check(&[31_997, -31_998, 31_999], Reason::Resignation, None, &[2]);
        check(&[31_997, -31_998, 31_999], Reason::Resignation, Some(2), &[]);
        check(&[31_999, -31_998, 31_999], Reason::Checkmate, None, &[0]);
        check(&[31_999, -31_998, 31_999], Reason::Checkmate, Some(0), &[]);
        check(&[5, 5, -31_998], Reason::Checkmate, None, &[2]);
        check(&[5, 5, -31_998], Reason::Resignation, None, &[]);
        check(&[5, 31_997, 31_999], Reason::Checkmate, None, &[1]);
        check(&[5, 31_997, 31_999], Reason::Checkmate, Some(1), &[]);
        check(&[], Reason::PlyLimit, None, &[]);
    }
}
