//! Tuning an engine's numbers by games: simultaneous perturbation stochastic approximation.
//!
//! ```text
//! Settings ─ Trajectory::middle ─ sides(pair) ─ threads: Contestant::play ─→ journal
//!                   ↑                                                          │ in pair order
//!                   └───────────── Trajectory::add ←── result of an iteration ─┘
//! ```
//!
//! Both sides of a pair are the same engine with other numbers, by which side is a little above and which a little
//! below the middle for each number at once. The journal holds the results of pairs and nothing that follows from
//! them: a run that goes on plays the pairs it would have played.

mod contest;
mod gains;
mod output;
mod parameter;
mod run;

pub use contest::{ContestError, Contestant, EngineContest, NoPair, PairPoints};
pub use gains::{Settings, Trajectory};
pub use output::{csv, html, text};
pub use parameter::{DEFAULT_R_END, Parameter, ParameterError, check};
pub use run::{Event, MakeContestant, SpsaError, Tuned, run};
