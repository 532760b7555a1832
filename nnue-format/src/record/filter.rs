//! Which positions of records are for training. Trainer and record tools decide it by the same code.

use xiangqi::{Position, Score};

use super::game::{Ply, PlyFlags};

/// Conditions that a position can be judged by alone. All are off by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PositionFilter {
    /// Leave out positions marked [`PlyFlags::SKIP`].
    pub marked: bool,
    /// Leave out plies below this number of the game, opening included.
    pub early_plies: usize,
    /// Leave out decided scores ([`Score::is_decided`]): mates and wins by the rules, for either side.
    pub mates: bool,
    /// Leave out scores beyond ± this; 0: no limit.
    pub max_score: i32,
    /// Leave out positions whose move was not the search's best.
    pub not_best: bool,
    /// Leave out positions whose move captures.
    pub captures: bool,
    /// Leave out positions whose side to move is in check.
    pub in_check: bool,
}

/// Why a position is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LeftOut {
    /// It is marked.
    Marked,
    /// Too early in the game.
    Early,
    /// A mate or a win by the rules is in sight.
    Mate,
    /// The score is beyond the limit.
    Score,
    /// The move was not the search's best.
    NotBest,
    /// The move captures.
    Capture,
    /// The side to move is in check.
    InCheck,
}

impl PositionFilter {
    /// Why the position is left out before `ply`, which has this score and these marks; `None` if it is kept. Several reasons: the first
    /// in the order of [`LeftOut`], the cheap ones first.
    #[inline]
    pub fn left_out(
        &self,
        position: &Position,
        ply: &Ply,
        (score, flags): (Score, PlyFlags),
    ) -> Option<LeftOut> {
        if self.marked && flags.is_skipped() {
            Some(LeftOut::Marked)
        } else if ply.number < self.early_plies {
            Some(LeftOut::Early)
        } else if self.mates && score.is_decided() {
            Some(LeftOut::Mate)
        } else if self.max_score > 0 && score.0.abs() > self.max_score {
            Some(LeftOut::Score)
        } else if self.not_best && flags.is_not_best() {
            Some(LeftOut::NotBest)
        } else if self.captures && position.piece_on(ply.mv.to()).is_some() {
            Some(LeftOut::Capture)
        } else if self.in_check && position.in_check() {
            Some(LeftOut::InCheck)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each condition alone takes its position and no other; together they name the first.
    #[test]
    fn each_condition_takes_its_own() {
        let capture = Position::from_fen("3k5/9/9/9/4r4/9/4R4/9/9/4K4 w - - 0 1").unwrap();
        let quiet = Position::start();
        let ply = |number, mv: &str| Ply { number, mv: mv.parse().unwrap(), scored: None };
        let plain = (Score(10), PlyFlags::NONE);
        let off = PositionFilter::default();
        let check = |filter: PositionFilter, taken: LeftOut, hit: (&Position, Ply, (Score, PlyFlags))| {
            assert_eq!(filter.left_out(hit.0, &hit.1, hit.2), Some(taken));
            assert_eq!(filter.left_out(&quiet, &ply(20, "h2e2"), plain), None, "{taken:?}");
            assert_eq!(off.left_out(hit.0, &hit.1, hit.2), None);
        };
        let marked = (Score(10), PlyFlags::SKIP);
        let not_best = (Score(10), PlyFlags::NOT_BEST);
        let far = ply(20, "h2e2");
        check(PositionFilter { marked: true, ..off }, LeftOut::Marked, (&quiet, far, marked));
        check(PositionFilter { early_plies: 20, ..off }, LeftOut::Early, (&quiet, ply(19, "h2e2"), plain));
        for score in [Score::mate_in(3), -Score::mate_in(4), Score(-Score::RULE_WIN + 5)] {
            let hit = (&quiet, far, (score, PlyFlags::NONE));
            check(PositionFilter { mates: true, ..off }, LeftOut::Mate, hit);
        }
        for score in [11, -11] {
            let hit = (&quiet, far, (Score(score), PlyFlags::NONE));
            check(PositionFilter { max_score: 10, ..off }, LeftOut::Score, hit);
        }
        check(PositionFilter { not_best: true, ..off }, LeftOut::NotBest, (&quiet, far, not_best));
        let takes = ply(20, "e3e5");
        check(PositionFilter { captures: true, ..off }, LeftOut::Capture, (&capture, takes, plain));
        let open = Position::from_fen("3k5/9/9/9/4r4/9/9/9/9/4K4 w - - 0 1").unwrap();
        let step = ply(20, "e0f0");
        check(PositionFilter { in_check: true, ..off }, LeftOut::InCheck, (&open, step, plain));
        let all = PositionFilter { captures: true, in_check: true, not_best: true, ..off };
        assert_eq!(all.left_out(&open, &step, not_best), Some(LeftOut::NotBest));
    }
}
