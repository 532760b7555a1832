//! The xiangqi engine: search, evaluation, protocols and bench.
//!
//! ```text
//! protocol line → Session (protocol; uci, ucci) → Searcher (search) → Evaluation (eval) → SearchResult → line
//! ```

pub mod bench;
pub mod cli;
pub mod eval;
pub mod examine;
pub mod numa;
pub mod protocol;
pub mod score_display;
pub mod search;
pub mod speedtest;
pub mod twin;
pub mod ucci;
pub mod uci;

pub use bench::signature;
pub use eval::net_source;

/// The engine's version, as `id name` shows it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
