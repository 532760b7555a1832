//! From record files to batches.
//!
//! ```text
//! files ─► blocks (seeded order) ─► decoders ─► filters ─► window (seeded shuffle) ─► batches ─► step
//!                                     └ validation games are left out here, by their number
//! ```
//!
//! The batches of an epoch are a pure function of (seed, epoch, files, settings): neither the number of decoding
//! threads nor a resume in the middle changes them.

pub mod batch;
pub mod error;
pub mod filter;
pub mod loader;
pub mod samples;
pub mod share;
pub mod source;
pub mod split;
pub mod synthetic;

pub use batch::Batch;
pub use error::DataError;
pub use filter::{Filter, FilterCounts};
pub use loader::Loader;
pub use samples::Samples;
pub use share::Share;
pub use source::Source;
pub use split::Split;
