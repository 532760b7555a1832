//! What can go wrong with data; every message begins with the file.

use super::location::Location;
use nnue_format::record::ReadError;
use thiserror::Error;

/// An error on the way from files to batches.
#[derive(Debug, Error)]
pub enum DataError {
    /// A file cannot be read or holds damage.
    #[error("{file}: {source}")]
    Read {
        /// Which file.
        file: Location,
        /// What was found, with its offset.
        source: ReadError,
    },
    /// A file could not be opened or hashed.
    #[error("{file}: {source}")]
    Io {
        /// Which file.
        file: Location,
        /// The system's word.
        source: std::io::Error,
    },
    /// A file is not the one the run began with.
    #[error(
        "{file}: SHA-256 is {found}, but the run began with {expected}; restore the file or begin a new run"
    )]
    Changed {
        /// Which file.
        file: Location,
        /// Digest now.
        found: String,
        /// Digest in the run's manifest.
        expected: String,
    },
    /// Nothing is left to train on.
    #[error("no position is left to train on in {files} file(s): {counts}")]
    Empty {
        /// How many files there are.
        files: usize,
        /// What the filters did.
        counts: String,
    },
    /// The data sets make no batches as they are given.
    #[error("{0}")]
    Sets(String),
    /// The feature set is too large for the sample format.
    #[error("{features} has {inputs} inputs; the loader keeps indices of 16 bits")]
    Inputs {
        /// The feature set.
        features: String,
        /// Its inputs.
        inputs: usize,
    },
    /// A decoding thread ended without a word, which it must not.
    #[error("a loader thread stopped unexpectedly; please report this")]
    Stopped,
}
