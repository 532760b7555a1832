//! Self-play data generation and record tools: the program `chuhe-gen`.
//!
//! ```text
//! command line → Plan, Starts → numbers (workers) → games (play) → Sink: FILE.partial → FILE
//! ```
//!
//! A game depends on the plan and its number alone ([`seed::game_rng`]), so a run gives the same file
//! whoever plays which game, in how many threads, and however often it was interrupted.

pub mod adjudicate;
pub mod bench;
pub mod cli;
pub mod commands;
pub mod dedup;
pub mod derived;
pub mod exchange;
pub mod export;
pub mod filter;
pub mod generations;
pub mod import;
pub mod manifest;
pub mod openings;
pub mod plan;
pub mod play;
pub mod player;
pub mod progress;
pub mod rescore;
pub mod run;
pub mod seed;
pub mod shuffle;
pub mod sink;
pub mod split;
pub mod stats;
pub mod validate;
pub mod variety;
pub mod workers;
