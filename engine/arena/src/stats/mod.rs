//! Statistics of matches: Elo, normalized Elo, their errors, likelihood of superiority and the
//! generalised sequential probability ratio test (GSPRT).
//!
//! A *pair* is two games on one opening with colours swapped. Its score is one of five, so that a
//! match is five counts (pentanomial); a match without pairs is three (trinomial):
//!
//! ```text
//! pentanomial   LL    LD    DD or WL   WD    WW         trinomial   L    D    W
//! score         0     1/4   1/2        3/4   1                      0    1/2  1
//! ```
//!
//! Definitions are fishtest's where projects differ (official-stockfish/fishtest
//! `server/fishtest/stats`): a zero count becomes [`EMPTY_CELL`] before any formula, errors are
//! half widths of 95 % intervals, likelihood ratios are natural logarithms over the whole sample.
//! No number here is ever NaN or infinite. Floating point is fine in this module: it judges
//! matches after they were played and feeds nothing back into a game.

mod estimate;
mod health;
mod likelihood;
mod overshoot;
mod profile;
mod workers;

use std::fmt;
use std::str::FromStr;

pub use estimate::{Estimate, elo_of_score, score_of_elo};
pub use health::crash_or_time_flag;
pub use overshoot::{CorrectedBounds, Overshoot};
pub use workers::WorkerTest;

/// What stands in for a count of zero, so that no logarithm is of nothing (fishtest `regularize`).
pub const EMPTY_CELL: f64 = 1e-3;

/// Elo per unit of `(score - 1/2) / deviation`: 800 / ln 10 (normalized Elo of one game).
pub const NELO_PER_SIGMA: f64 = 800.0 / std::f64::consts::LN_10;

/// The widest hypothesis, in Elo: beyond it a logistic score rounds to 0 or 1.
pub const ELO_LIMIT: f64 = 4000.0;

/// Why a sample or a test cannot be taken.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StatsError {
    /// A list of counts with the wrong length or with something that is no count.
    #[error(
        "{found:?} are no {kind} counts; expected {expected}, whole numbers below 2^53 with commas between"
    )]
    Counts {
        /// The text, cut to 80 characters.
        found: String,
        /// `pentanomial` or `trinomial`.
        kind: &'static str,
        /// The order expected.
        expected: &'static str,
    },
    /// Hypotheses that cannot be told apart, or in the wrong order, or out of range.
    #[error("hypotheses elo0 {elo0}, elo1 {elo1}: expected elo0 below elo1, both within ±{ELO_LIMIT}")]
    Hypotheses {
        /// Elo under H0.
        elo0: f64,
        /// Elo under H1.
        elo1: f64,
    },
    /// Error rates that make no test.
    #[error("error rates alpha {alpha}, beta {beta}: expected both above 0 and together below 1")]
    Rates {
        /// Probability to accept H1 when H0 is true.
        alpha: f64,
        /// Probability to accept H0 when H1 is true.
        beta: f64,
    },
    /// No such model.
    #[error("no SPRT model is called {found:?}; expected normalized or logistic")]
    Model {
        /// The text.
        found: String,
    },
}

/// A sample: counts of pair scores, or of game scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// `[LL, LD, DD+WL, WD, WW]`, seen from the new engine.
    Pentanomial([u64; 5]),
    /// `[L, D, W]`, seen from the new engine.
    Trinomial([u64; 3]),
}

impl Counts {
    /// Reads `LL,LD,DD_WL,WD,WW`.
    pub fn parse_pentanomial(text: &str) -> Result<Counts, StatsError> {
        parse_counts(text, "pentanomial", "LL,LD,DD_WL,WD,WW").map(Counts::Pentanomial)
    }

    /// Reads `L,D,W`.
    pub fn parse_trinomial(text: &str) -> Result<Counts, StatsError> {
        parse_counts(text, "trinomial", "L,D,W").map(Counts::Trinomial)
    }

    /// The counts, worst score first.
    pub fn as_slice(&self) -> &[u64] {
        match self {
            Counts::Pentanomial(counts) => counts,
            Counts::Trinomial(counts) => counts,
        }
    }

    /// Games played.
    pub fn games(&self) -> u64 {
        let sum = self.as_slice().iter().sum::<u64>();
        match self {
            Counts::Pentanomial(_) => 2 * sum,
            Counts::Trinomial(_) => sum,
        }
    }

    /// Games in one sample: 2 for pairs, 1 for games.
    fn games_per_sample(&self) -> f64 {
        match self {
            Counts::Pentanomial(_) => 2.0,
            Counts::Trinomial(_) => 1.0,
        }
    }

    /// The sample as a probability law on scores.
    fn law(&self) -> Law {
        let counts = self.as_slice();
        let last = (counts.len() - 1) as f64;
        let full: Vec<f64> = counts.iter().map(|&n| if n == 0 { EMPTY_CELL } else { n as f64 }).collect();
        let size: f64 = full.iter().sum();
        let points = full.iter().enumerate().map(|(i, n)| (i as f64 / last, n / size)).collect();
        Law { points, size }
    }
}

fn parse_counts<const N: usize>(
    text: &str,
    kind: &'static str,
    expected: &'static str,
) -> Result<[u64; N], StatsError> {
    let wrong = || StatsError::Counts { found: text.chars().take(80).collect(), kind, expected };
    let counts: Vec<u64> = text
        .split(',')
        .map(|word| word.trim().parse().ok().filter(|&n: &u64| n < 1 << 53))
        .collect::<Option<_>>()
        .ok_or_else(wrong)?;
    counts.try_into().map_err(|_| wrong())
}

/// An empirical law: `(score, probability)` in order of score, and the size of the sample.
struct Law {
    points: Vec<(f64, f64)>,
    size: f64,
}

impl Law {
    /// Mean and variance.
    fn moments(&self) -> (f64, f64) {
        moments(&self.points)
    }
}

/// Mean and variance of a law.
fn moments(points: &[(f64, f64)]) -> (f64, f64) {
    let mean = points.iter().map(|(a, p)| a * p).sum::<f64>();
    let variance = points.iter().map(|(a, p)| p * (a - mean) * (a - mean)).sum::<f64>();
    (mean, variance)
}

/// In which unit the hypotheses of a test are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Normalized Elo: the score in units of its deviation. Costs about the same number of games
    /// whatever the share of draws, which is high in xiangqi.
    Normalized,
    /// Ordinary Elo: the score alone.
    Logistic,
}

impl FromStr for Model {
    type Err = StatsError;

    fn from_str(text: &str) -> Result<Model, StatsError> {
        match text {
            "normalized" => Ok(Model::Normalized),
            "logistic" => Ok(Model::Logistic),
            _ => Err(StatsError::Model { found: text.chars().take(40).collect() }),
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Model::Normalized => "normalized",
            Model::Logistic => "logistic",
        })
    }
}

/// What a test says of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Neither bound is reached.
    Continue,
    /// H0 is accepted: no gain.
    H0,
    /// H1 is accepted: a gain.
    H1,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            State::Continue => "continue",
            State::H0 => "H0",
            State::H1 => "H1",
        })
    }
}

/// A sequential test of H1 (strength `elo1`) against H0 (strength `elo0`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprt {
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
    model: Model,
}

impl Sprt {
    /// A test; refuses hypotheses and rates that make none.
    pub fn new(elo0: f64, elo1: f64, alpha: f64, beta: f64, model: Model) -> Result<Sprt, StatsError> {
        let in_range = |elo: f64| elo.abs() <= ELO_LIMIT;
        if !(in_range(elo0) && in_range(elo1) && elo0 < elo1) {
            return Err(StatsError::Hypotheses { elo0, elo1 });
        }
        if !(alpha > 0.0 && beta > 0.0 && alpha + beta < 1.0) {
            return Err(StatsError::Rates { alpha, beta });
        }
        Ok(Sprt { elo0, elo1, alpha, beta, model })
    }

    /// Elo under H0, in the model's unit.
    pub fn elo0(&self) -> f64 {
        self.elo0
    }

    /// Elo under H1, in the model's unit.
    pub fn elo1(&self) -> f64 {
        self.elo1
    }

    /// The unit of the hypotheses.
    pub fn model(&self) -> Model {
        self.model
    }

    /// Wald's bounds on the log-likelihood ratio: `(ln(β/(1-α)), ln((1-β)/α))`.
    pub fn bounds(&self) -> (f64, f64) {
        ((self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln())
    }

    /// The generalised log-likelihood ratio of H1 to H0, natural logarithm, whole sample.
    pub fn llr(&self, counts: &Counts) -> f64 {
        let law = counts.law();
        match self.model {
            Model::Logistic => likelihood::logistic(&law, score_of_elo(self.elo0), score_of_elo(self.elo1)),
            Model::Normalized => {
                let per_sample = counts.games_per_sample().sqrt() / NELO_PER_SIGMA;
                likelihood::normalized(&law, self.elo0 * per_sample, self.elo1 * per_sample)
            }
        }
    }

    /// The state for a log-likelihood ratio, by Wald's bounds.
    pub fn state(&self, llr: f64) -> State {
        let (lower, upper) = self.bounds();
        match llr {
            llr if llr <= lower => State::H0,
            llr if llr >= upper => State::H1,
            _ => State::Continue,
        }
    }
}
