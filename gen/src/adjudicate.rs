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
    pub fn see(
        &mut self,
        plan: &Adjudication,
        side: Color,
        score: Score,
        plies: usize,
    ) -> Option<(Outcome, Reason)> {
        for (winner, points) in [(side, score.0), (!side, -score.0)] {
            let run = &mut self.winning[winner.index()];
            *run = if points >= plan.resign_score { *run + 1 } else { 0 };
            if plan.resign_plies > 0 && *run >= plan.resign_plies {
                return Some((Outcome::loss_of(!winner), Reason::Resignation));
            }
        }
        // Counted before `draw_from` too: a long equality need not begin anew there.
        self.equal = if score.0.abs() <= plan.draw_score { self.equal + 1 } else { 0 };
        if plan.draw_plies > 0 && self.equal >= plan.draw_plies && plies >= plan.draw_from as usize {
            return Some((Outcome::Draw, Reason::DrawAdjudication));
        }
        (plies >= plan.max_plies as usize).then_some((Outcome::Draw, Reason::PlyLimit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: Adjudication = Adjudication {
        resign_score: 1000,
        resign_plies: 3,
        draw_score: 5,
        draw_plies: 4,
        draw_from: 10,
        max_plies: 20,
    };

    /// Scores by ply from the side to move's view, Red first; the plies played before are `played`.
    fn check(scores: &[i32], played: usize, expected: Option<(usize, Outcome, Reason)>) {
        let mut adjudicator = Adjudicator::default();
        let mut side = Color::Red;
        let mut found = None;
        for (i, &score) in scores.iter().enumerate() {
            let end = adjudicator.see(&PLAN, side, Score(score), played + i + 1);
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
    fn long_games_are_draws() {
        check(&[50, 50, 50], 17, Some((2, Outcome::Draw, Reason::PlyLimit)));
    }
}
