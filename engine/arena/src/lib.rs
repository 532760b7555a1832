//! Matches between engines or nets: pairs of games judged by our own rules, statistics of their
//! results, sequential tests.
//!
//! ```text
//! Plan → Match ─ threads: Opening → game::play ×2 → PairRecord ─→ journal
//!                                                        └ in pair order → Tally → Summary, PGN
//! ```
//!
//! Players are other programs ([`external`], UCI or UCCI) or the engine's searcher in this process
//! ([`in_process`]); either way moves are judged by crate `xiangqi`, clocks are kept here, and
//! whatever a player does wrong is a loss of a named kind.

pub mod adjudicate;
pub mod external;
pub mod game;
pub mod in_process;
pub mod journal;
pub mod limit;
pub mod openings;
pub mod outcome;
pub mod pgn;
pub mod plan;
pub mod player;
mod process;
pub mod protocol;
pub mod record;
pub mod report;
pub mod runner;
pub mod spsa;
pub mod stats;
pub mod tally;
