//! From record files to batches.
//!
//! ```text
//! files ─► sets ─► lanes: blocks (seeded order) ─► decode, filters ─► window (seeded shuffle) ─┐
//!                  lanes: …                                                                   ├─► batch ─► step
//!                  lanes: …              └ games for validation are left out here, by content ─┘
//! ```
//!
//! Batch `t` of a run is a pure function of (seed, files, settings, `t`): neither the number of decoding threads or of
//! ranks nor a resume in the middle changes it.

pub mod batch;
mod blocks;
pub mod decode;
pub mod error;
pub mod files;
pub mod filter;
pub mod input;
pub mod intact;
pub mod lane;
pub mod loader;
pub mod location;
pub mod packed;
pub mod plan;
#[cfg(feature = "remote")]
pub mod remote;
pub mod restore;
pub mod samples;
pub mod share;
pub mod skip;
pub mod source;
pub mod speed;
pub mod split;
pub mod survey;
pub mod synthetic;
mod walk;

pub use batch::Batch;
pub use error::DataError;
pub use filter::{Filter, FilterCounts};
pub use loader::Loader;
pub use location::Location;
pub use plan::Plan;
pub use samples::Samples;
pub use share::Share;
pub use source::Source;
pub use split::Split;
