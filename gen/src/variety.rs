//! Moves other than the best, so that games differ: one of several good lines, or now and then any legal move.

use xiangqi::{Move, Position, Score};

use crate::plan::Variety;
use crate::seed::GameRng;

impl Variety {
    /// How many lines are searched at this ply after the opening, counted from 0.
    pub const fn lines_at(&self, ply: usize) -> usize {
        if self.lines > 1 && within(self.plies, ply) { self.lines as usize } else { 1 }
    }

    /// The move that is played where the search likes `best`; `lines` are the best ones with their scores, best first,
    /// where several were searched. A decided game is played on by the best move, unless chance wants any.
    pub fn pick(
        &self,
        ply: usize,
        position: &Position,
        best: Move,
        lines: &[(Move, Score)],
        rng: &mut GameRng,
    ) -> Move {
        if self.random_per_mille > 0 && within(self.random_plies, ply) {
            let drawn = rng.below(1000);
            if drawn < u64::from(self.random_per_mille) {
                return rng.pick(&position.legal_moves()).copied().unwrap_or(best);
            }
        }
        match lines.first() {
            Some((_, score)) if lines.len() > 1 && !score.is_decided() => {
                self.one_of(lines, rng).unwrap_or(best)
            }
            _ => best,
        }
    }

    /// One of the lines within the margin.
    fn one_of(&self, lines: &[(Move, Score)], rng: &mut GameRng) -> Option<Move> {
        let (_, best) = lines.first()?;
        let parts = |score: Score| {
            let behind = i64::from(best.0) - i64::from(score.0);
            u64::try_from(i64::from(self.margin) + 1 - behind.max(0)).unwrap_or(0)
        };
        let mut drawn = rng.below(lines.iter().map(|&(_, score)| parts(score)).sum());
        lines.iter().find_map(|&(mv, score)| match drawn.checked_sub(parts(score)) {
            None => Some(mv),
            Some(rest) => {
                drawn = rest;
                None
            }
        })
    }
}

const fn within(plies: u32, ply: usize) -> bool {
    plies == 0 || ply < plies as usize
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::seed::choice_rng;

    fn mv(text: &str) -> Move {
        text.parse().expect("a move")
    }

    fn picks(variety: Variety, scores: &[i32], ply: usize) -> BTreeMap<String, u32> {
        let moves = ["h2e2", "b2e2", "h0g2", "c3c4"].map(mv);
        let lines: Vec<_> = moves.into_iter().zip(scores.iter().copied().map(Score)).collect();
        let mut rng = choice_rng(1, 0);
        let mut found = BTreeMap::new();
        for _ in 0..10_000 {
            let picked = variety.pick(ply, &Position::start(), moves[0], &lines, &mut rng);
            *found.entry(picked.to_string()).or_insert(0) += 1;
        }
        found
    }

    const FOUR: Variety = Variety { lines: 4, margin: 9, plies: 10, random_per_mille: 0, random_plies: 0 };

    #[test]
    fn lines_are_weighed_by_what_they_lose() {
        // 10, 10, 1 and no parts of 21.
        let found = picks(FOUR, &[50, 50, 41, 40], 0);
        assert_eq!(found.len(), 3, "{found:?}");
        for (text, expected) in [("h2e2", 4762), ("b2e2", 4762), ("h0g2", 476)] {
            assert!(found[text].abs_diff(expected) < 300, "{text}: {found:?}, expected {expected}");
        }
    }

    #[test]
    fn decided_games_and_single_lines_are_played_by_the_best_move() {
        let best = BTreeMap::from([("h2e2".to_owned(), 10_000)]);
        assert_eq!(picks(FOUR, &[Score::MATE - 3, Score::MATE - 5], 0), best);
        assert_eq!(picks(FOUR, &[-Score::MATE + 4, -Score::MATE + 4], 0), best);
        assert_eq!(picks(FOUR, &[50], 0), best);
        assert_eq!(picks(FOUR, &[], 0), best);
        assert_eq!((FOUR.lines_at(9), FOUR.lines_at(10)), (4, 1));
        assert_eq!(Variety { plies: 0, ..FOUR }.lines_at(5000), 4);
    }

    #[test]
    fn random_moves_are_as_many_as_asked_for() {
        let variety = Variety { random_per_mille: 100, random_plies: 8, ..Variety::default() };
        let found = picks(variety, &[], 7);
        // 9,000 and a 44th of 1,000.
        assert!(found["h2e2"].abs_diff(9023) < 150, "{found:?}");
        assert_eq!(found.len(), 44, "every legal move");
        assert_eq!(picks(variety, &[], 8).len(), 1);
    }
}
