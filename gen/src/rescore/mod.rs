//! New scores for recorded games: `chuhe-gen rescore`.
//!
//! ```text
//! record files → Sources → games in order ─→ threads, each with a Scorer ─→ Output: FILE.partial → FILE
//! ```
//!
//! Moves, outcomes and numbers of plies stay. A game's new scores depend on the game and the plan alone, so that the file
//! is the same whatever the number of threads and however often it was interrupted (with an engine that answers the
//! same each time). In memory are one block of games, and [`WINDOW`] games a thread that wait for an earlier one.

mod game;
mod games;
mod output;
mod run;
mod scorer;

pub use game::{GameError, Rescored, rescore};
pub use games::Games;
pub use output::{Opened, Output};
pub use run::{Ended, RunError, WINDOW, run};
pub use scorer::{EngineScorer, NoScore, OwnScorer, Scored, Scorer};
