//! Ending games early on the players' scores. Off unless asked for; integers only.

use xiangqi::Color;

use crate::outcome::{Outcome, Reason};

/// When both players' scores decide a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Adjudication {
    /// A win.
    pub win: Option<WinRule>,
    /// A draw.
    pub draw: Option<DrawRule>,
}

/// Both players agree for a number of their moves that one side is ahead by a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WinRule {
    /// The least score, in centipawns.
    pub score: i32,
    /// Moves of each player.
    pub moves: usize,
}

/// Both players agree for a number of their moves that neither is ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawRule {
    /// The greatest score, in centipawns.
    pub score: i32,
    /// Moves of each player.
    pub moves: usize,
    /// Not before this ply.
    pub from_ply: usize,
}

/// The scores of a game so far.
#[derive(Clone, Debug, Default)]
pub struct Scores {
    /// Red's view, ply by ply from the end of the opening; `None` where a player gave no score.
    red_view: Vec<Option<i32>>,
}

impl Scores {
    /// Takes in the score that a player gave its move, from its own view.
    pub fn push(&mut self, mover: Color, score: Option<i32>) {
        self.red_view.push(match mover {
            Color::Red => score,
            Color::Black => score.map(|score| -score),
        });
    }

    /// Do all of the last `moves` scores of both players satisfy this?
    fn agree(&self, moves: usize, holds: impl Fn(i32) -> bool) -> bool {
        let plies = moves.saturating_mul(2);
        let Some(from) = self.red_view.len().checked_sub(plies).filter(|_| plies > 0) else { return false };
        self.red_view[from..].iter().all(|score| score.is_some_and(&holds))
    }

    /// The verdict after `ply` plies of the whole game.
    pub fn verdict(&self, rules: &Adjudication, ply: usize) -> Option<(Outcome, Reason)> {
        if let Some(rule) = rules.win {
            if self.agree(rule.moves, |red| red >= rule.score) {
                return Some((Outcome::BlackLoses, Reason::WinAdjudication));
            }
            if self.agree(rule.moves, |red| red <= -rule.score) {
                return Some((Outcome::RedLoses, Reason::WinAdjudication));
            }
        }
        let draw = rules.draw.filter(|rule| ply >= rule.from_ply)?;
        self.agree(draw.moves, |red| (-draw.score..=draw.score).contains(&red))
            .then_some((Outcome::Draw, Reason::DrawAdjudication))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(rules: &Adjudication, scores: &[Option<i32>]) -> Option<Outcome> {
        let mut kept = Scores::default();
        for (i, &score) in scores.iter().enumerate() {
            kept.push(Color::ALL[i % 2], score);
        }
        kept.verdict(rules, scores.len()).map(|(outcome, _)| outcome)
    }

    #[test]
    fn both_sides_have_to_agree() {
        let rules = Adjudication {
            win: Some(WinRule { score: 500, moves: 2 }),
            draw: Some(DrawRule { score: 10, moves: 2, from_ply: 6 }),
        };
        let check =
            |scores: &[Option<i32>], expected| assert_eq!(verdict(&rules, scores), expected, "{scores:?}");
        check(&[Some(600), Some(-600), Some(500), Some(-500)], Some(Outcome::BlackLoses));
        check(&[Some(-600), Some(600), Some(-500), Some(500)], Some(Outcome::RedLoses));
        check(&[Some(600), Some(-600), Some(500), Some(-499)], None);
        check(&[Some(600), None, Some(600), Some(-600)], None);
        check(&[Some(-600), Some(500), Some(-500)], None);
        check(&[Some(0); 4], None);
        check(&[Some(0); 6], Some(Outcome::Draw));
        assert_eq!(verdict(&Adjudication::default(), &[Some(0); 40]), None);
    }
}
