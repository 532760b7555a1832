//! The state of a match: counts, and what they say.

use std::collections::BTreeMap;

use crate::outcome::{FailureCounts, FailureKind, Side};
use crate::record::PairRecord;
use crate::stats::{Counts, Estimate, Sprt, State, crash_or_time_flag};

/// Counts of the pairs taken in so far, seen from A.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// `[LL, LD, DD+WL, WD, WW]`.
    pub pentanomial: [u64; 5],
    /// `[L, D, W]` of the same games.
    pub trinomial: [u64; 3],
    /// Failures of A and B.
    pub failures: [FailureCounts; 2],
    /// Games by reason.
    pub reasons: BTreeMap<&'static str, u64>,
    /// Plies of all games, openings included.
    pub plies: u64,
}

impl Tally {
    /// Takes in a pair.
    pub fn add(&mut self, record: &PairRecord) {
        let points = record.games.each_ref().map(|game| usize::from(game.half_points_of_a()));
        self.pentanomial[(points[0] + points[1]).min(4)] += 1;
        for (game, points) in record.games.iter().zip(points) {
            self.trinomial[points.min(2)] += 1;
            *self.reasons.entry(game.reason.name()).or_default() += 1;
            self.plies += game.moves.split_ascii_whitespace().count() as u64;
            if let Some((side, kind)) = game.failure() {
                self.failures[side.index()].add(kind);
            }
        }
    }

    /// Pairs taken in.
    pub fn pairs(&self) -> u64 {
        self.pentanomial.iter().sum()
    }

    /// Games taken in.
    pub fn games(&self) -> u64 {
        2 * self.pairs()
    }

    /// The sample.
    pub fn counts(&self) -> Counts {
        Counts::Pentanomial(self.pentanomial)
    }

    /// Strength by pairs.
    pub fn estimate(&self) -> Estimate {
        Estimate::of(&self.counts())
    }

    /// The test's ratio and state by pairs.
    pub fn test(&self, sprt: &Sprt) -> (f64, State) {
        let llr = sprt.llr(&self.counts());
        (llr, sprt.state(llr))
    }

    /// Has a side failed so often that the result says nothing of its strength?
    pub fn is_flagged(&self, side: Side) -> bool {
        let failures = &self.failures[side.index()];
        let ended = [FailureKind::Crash, FailureKind::Hang, FailureKind::Disconnect];
        let crashes = ended.iter().map(|&kind| failures.of(kind)).sum();
        crash_or_time_flag(crashes, failures.of(FailureKind::TimeLoss), self.games())
    }
}
