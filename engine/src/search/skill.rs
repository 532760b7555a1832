//! Weakened play: one of several lines is played that need not be the best.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;
use xiangqi::Score;

use super::limits::Line;

/// Levels are counted in hundredths.
const HUNDREDTH: u32 = 100;
/// Ratings that are known to belong to levels (in hundredths): the help of the field's strongest engine, where
/// they were calibrated on a ladder of engines. Straight lines between.
const ELO_LEVELS: [(u32, u32); 6] =
    [(1280, 0), (1777, 400), (2268, 700), (2568, 1000), (2850, 1300), (3133, 1900)];
/// Weakness of level 0, in hundredths: so many 128ths of what a line is behind are forgiven.
const WEAKNESS_MOST: i64 = 12_000;
/// Chance adds up to `weakness / PUSH_SCALE` of the spread of the lines (at most a pawn).
const PUSH_SCALE: i64 = 128 * HUNDREDTH as i64;
/// A pawn, in centipawns: lines further apart than this are not confused by chance alone.
const PAWN: i64 = 100;

/// Weakened play: among several lines one is picked that is not the best, the more often the lower the level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skill {
    /// Level in hundredths, 0 (weakest) to 1,900; 2,000 and more is full strength.
    pub level_x100: u32,
    /// Of the choice among the lines; the same seed picks the same move.
    pub seed: u64,
}

impl Skill {
    /// The level, in hundredths, from which on nothing is weakened.
    pub const FULL: u32 = 2000;
    /// At least so many lines are searched to pick one of them.
    pub const LINES: usize = 4;
    /// The lowest rating that [`Skill::level_of_elo`] knows.
    pub const ELO_MIN: u32 = 1280;
    /// The highest one.
    pub const ELO_MAX: u32 = 3133;

    /// The level (in hundredths) that plays at about this rating (`UCI_Elo`); ratings outside
    /// [`Skill::ELO_MIN`] to [`Skill::ELO_MAX`] count as the nearer of the two.
    pub fn level_of_elo(elo: u32) -> u32 {
        let elo = elo.clamp(Skill::ELO_MIN, Skill::ELO_MAX);
        for pair in ELO_LEVELS.windows(2) {
            let ((low, from), (high, to)) = (pair[0], pair[1]);
            if elo <= high {
                return from + (elo - low) * (to - from) / (high - low);
            }
        }
        ELO_LEVELS[ELO_LEVELS.len() - 1].1
    }

    /// Is anything weakened at this level?
    pub fn weakens(&self) -> bool {
        self.level_x100 < Skill::FULL
    }

    /// The iteration after which the line is picked, in plies: weak play does not look far.
    pub(crate) fn pick_depth(&self) -> i32 {
        1 + (self.level_x100.min(Skill::FULL) / HUNDREDTH) as i32
    }

    /// The index of the line to play. `lines` are the best first.
    ///
    /// Each line's score is raised by a share of what it is behind and by a random share of the spread; the
    /// highest sum wins, the later of equals.
    pub(crate) fn pick(&self, lines: &[Line]) -> usize {
        let (Some(top), Some(last)) = (lines.first(), lines.last()) else { return 0 };
        let weakness = (WEAKNESS_MOST - 2 * i64::from(self.level_x100)).max(1);
        let value = |score: Score| i64::from(score.0);
        let spread = (value(top.score) - value(last.score)).min(PAWN);
        let mut random = SplitMix64::seed_from_u64(self.seed);
        let mut best = (i64::MIN, 0);
        for (i, line) in lines.iter().enumerate() {
            let behind = value(top.score) - value(line.score);
            let chance = (random.next_u64() % weakness.unsigned_abs()) as i64;
            let sum = value(line.score) + (weakness * behind + spread * chance) / PUSH_SCALE;
            if sum >= best.0 {
                best = (sum, i);
            }
        }
        best.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratings_are_levels() {
        for (elo, level) in ELO_LEVELS {
            assert_eq!(Skill::level_of_elo(elo), level, "{elo}");
        }
        assert_eq!((Skill::level_of_elo(0), Skill::level_of_elo(u32::MAX)), (0, 1900));
        assert_eq!(Skill::level_of_elo(1529), 200, "half way from 1280 to 1777, rounded down");
        let levels: Vec<u32> = (Skill::ELO_MIN..=Skill::ELO_MAX).map(Skill::level_of_elo).collect();
        assert!(levels.is_sorted(), "a higher rating is never a lower level");
    }

    fn lines(scores: &[i32]) -> Vec<Line> {
        scores.iter().map(|&score| Line { score: Score(score), pv: Vec::new() }).collect()
    }

    /// How often each line is picked at a level, in 1,000 picks.
    fn picks(level_x100: u32, scores: &[i32]) -> Vec<usize> {
        let lines = lines(scores);
        let mut counts = vec![0; lines.len()];
        for seed in 0..1000 {
            counts[Skill { level_x100, seed }.pick(&lines)] += 1;
        }
        counts
    }

    #[test]
    fn weak_levels_err_more_often() {
        let scores = [60, 30, 20, -20];
        let right: Vec<usize> = [0, 500, 1000, 1900].map(|level| picks(level, &scores)[0]).to_vec();
        assert!(right.is_sorted() && right[0] + 100 < right[3], "{right:?}");
        assert!(right[0] > 0 && right[3] < 1000, "{right:?}");
    }

    #[test]
    fn great_losses_are_not_chosen() {
        for level in [0, 1000, 1900] {
            let counts = picks(level, &[Score::MATE - 3, 500, 40, -Score::MATE + 4]);
            assert_eq!(counts[0], 1000, "a mate is played at level {level}/100: {counts:?}");
        }
    }

    #[test]
    fn the_seed_decides() {
        let lines = lines(&[50, 45, 44, 40]);
        let picks: Vec<usize> = (0..50).map(|seed| Skill { level_x100: 300, seed }.pick(&lines)).collect();
        let again: Vec<usize> = (0..50).map(|seed| Skill { level_x100: 300, seed }.pick(&lines)).collect();
        assert_eq!(picks, again);
        assert!(picks.iter().any(|&i| i != picks[0]));
        assert_eq!(Skill { level_x100: 0, seed: 1 }.pick(&[]), 0);
    }
}
