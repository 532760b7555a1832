//! Training, validation, quantizing and export of xiangqi NNUE nets on libtorch.
//!
//! ```text
//! record files ─ data ─► batches ─ model ─► gradients ─ optim ─► weights ─ checkpoint ─► export ─► net file
//! ```
//!
//! [`run`] is the loop around it; [`cli`] turns words into plans. The evaluator of the engine is not used here:
//! [`export`] proves a net against the reference evaluator of nnue-format.

pub mod backend;
pub mod bench;
pub mod calibrate;
pub mod chance;
pub mod checkpoint;
pub mod cli;
pub mod clock;
pub mod commands;
pub mod config;
pub mod data;
pub mod export;
pub mod gpu_check;
pub mod init;
pub mod loss;
pub mod material;
pub mod model;
pub mod optim;
pub mod progress;
pub mod ranks;
pub mod report;
pub mod run;
pub mod score_scale;
pub mod torch;
pub mod validate;
pub mod watch;
