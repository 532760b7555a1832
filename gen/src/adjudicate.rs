//! Ending games before the rules do: when both sides' searches agree, or the game gets too long.

use nnue_format::record::{Outcome, Reason};
use xiangqi::{Color, Score};

use crate::plan::Adjudication;

/// The scores of a game so far, as far as adjudication needs them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Adjudicator {
    /// Plies in a row that say "this side wins", by colour.
    winning: [u32; 2],
    /// Plies in a row that say "equal".
    equal: u32,
}

impl Adjudicator {
    /// Takes the score of the side to move in, and says whether the game is to end. `plies` are those played
    /// when the game would end, the one just scored included. Ask only where the rules let the game go on.
    ///
    /// After another move than the best (`is_best` false) the score says nothing of where the game stands now: it
    /// counts, but no score ends the game at that ply.
    pub fn see(
        &mut self,
        plan: &Adjudication,
        side: Color,
        score: Score,
        is_best: bool,
        plies: usize,
    ) -> Option<(Outcome, Reason)> {
        for (winner, points) in [(side, score.0), (!side, -score.0)] {
            let run = &mut self.winning[winner.index()];
            *run = if points >= plan.resign_score { *run + 1 } else { 0 };
        }
        // Counted before `draw_from` too: a long equality need not begin anew there.
        self.equal = if score.0.abs() <= plan.draw_score { self.equal + 1 } else { 0 };
        let by_score = if is_best { self.by_score(plan, side, score, plies) } else { None };
        by_score.or_else(|| (plies >= plan.max_plies as usize).then_some((Outcome::Draw, Reason::PlyLimit)))
    }

    fn by_score(
        &self,
        plan: &Adjudication,
        side: Color,
        score: Score,
        plies: usize,
    ) -> Option<(Outcome, Reason)> {
        let won = |winner: Color| {
            let agreed = plan.resign_plies > 0 && self.winning[winner.index()] >= plan.resign_plies;
            let mates = plan.resign_mate && score.mate_plies().is_some_and(|n| (n > 0) == (winner == side));
            agreed || mates
        };
        if let Some(winner) = [side, !side].into_iter().find(|&winner| won(winner)) {
            return Some((Outcome::loss_of(!winner), Reason::Resignation));
        }
        let equal = plan.draw_plies > 0 && self.equal >= plan.draw_plies;
        (equal && plies >= plan.draw_from as usize).then_some((Outcome::Draw, Reason::DrawAdjudication))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: Adjudication = Adjudication {
        resign_score: 1000,
        resign_plies: 3,
        resign_mate: false,
        draw_score: 5,
        draw_plies: 4,
        draw_from: 10,
        max_plies: 20,
    };

    /// Scores by ply from the side to move's view, Red first; the plies played before are `played`.
    fn check(scores: &[i32], played: usize, expected: Option<(usize, Outcome, Reason)>) {
        check_with(&PLAN, scores, played, None, expected);
    }

    /// As [`check`]; at ply `other` of these another move than the best is played.
    fn check_with(
        plan: &Adjudication,
        scores: &[i32],
        played: usize,
        other: Option<usize>,
        expected: Option<(usize, Outcome, Reason)>,
    ) {
        let mut adjudicator = Adjudicator::default();
        let mut side = Color::Red;
        let mut found = None;
        for (i, &score) in scores.iter().enumerate() {
            let is_best = other != Some(i);
            let end = adjudicator.see(plan, side, Score(score), is_best, played + i + 1);
            if let Some((outcome, reason)) = end {
                found = Some((i, outcome, reason));
                break;
            }
            side = !side;
        }
        assert_eq!(found, expected, "{scores:?}");
    }

    #[test]
    fn wins_need_both_sides() {
        check(&[1000, -1000, 1000], 0, Some((2, Outcome::BlackLoses, Reason::Resignation)));
        check(&[-1000, 1000, -2000], 0, Some((2, Outcome::RedLoses, Reason::Resignation)));
        check(&[1000, 1000, 1000, 1000], 0, None);
        check(
            &[1000, -1000, 999, -1000, 1000, -31_998],
            0,
            Some((5, Outcome::BlackLoses, Reason::Resignation)),
        );
    }

    #[test]
    fn draws_wait_for_their_ply() {
        check(&[0, 5, -5, 0], 9, Some((3, Outcome::Draw, Reason::DrawAdjudication)));
        check(&[0, 5, -5, 0, 0], 5, Some((4, Outcome::Draw, Reason::DrawAdjudication)));
        check(&[0, 5, -6, 0, 0], 9, None);
    }

    #[test]
    fn mates_end_games_at_once_if_asked() {
        let plan = Adjudication { resign_mate: true, ..PLAN };
        let (red_won, black_won) = (Outcome::BlackLoses, Outcome::RedLoses);
        check(&[31_990, -31_991], 0, None);
        check_with(&plan, &[31_990], 0, None, Some((0, red_won, Reason::Resignation)));
        check_with(&plan, &[10, 31_990], 0, None, Some((1, black_won, Reason::Resignation)));
        check_with(&plan, &[-31_990], 0, None, Some((0, black_won, Reason::Resignation)));
        // A win by rule is none by mate.
        check_with(&plan, &[30_990], 0, None, None);
        // The mate that was found is not played.
        check_with(&plan, &[31_990, 5], 0, Some(0), None);
    }

    #[test]
    fn no_score_ends_a_game_whose_best_move_is_not_played() {
        check_with(&PLAN, &[1000, -1000, 1000, 0], 0, Some(2), None);
        let later = Some((3, Outcome::BlackLoses, Reason::Resignation));
        check_with(&PLAN, &[1000, -1000, 1000, -1000], 0, Some(2), later);
        check_with(&PLAN, &[50, 50, 50], 17, Some(2), Some((2, Outcome::Draw, Reason::PlyLimit)));
    }

    #[test]
    fn long_games_are_draws() {
        check(&[50, 50, 50], 17, Some((2, Outcome::Draw, Reason::PlyLimit)));
    }
}
