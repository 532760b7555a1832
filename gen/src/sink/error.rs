//! Why games cannot be written.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use nnue_format::record::{GameError, WriteError};

use super::MAX_UNUSED;
use crate::plan::PlanError;

/// Why games cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// The system refused.
    #[error("{path}: cannot {verb}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        verb: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A record file refused.
    #[error("{path}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: WriteError,
    },
    /// The file is there and is no finished record file.
    #[error("{path} is there, and it is no finished record file ({why}); move it away or give another --out")]
    NotARecord {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The file is of another plan.
    #[error("{path} is of another plan ({differences}); give the same settings again, or another --out")]
    OtherPlan {
        /// The file.
        path: PathBuf,
        /// Where the plans differ.
        differences: String,
    },
    /// Another process writes the file.
    #[error("{path} is being written by another process; wait for it, or give another --out")]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// No more openings.
    #[error(
        "the last {MAX_UNUSED} openings all repeat earlier ones or are one-sided: after {games} games there are no more to be had; allow more --random-plies, a wider --balance or another book (whole games are kept in {path})"
    )]
    NoMoreOpenings {
        /// Games so far.
        games: u64,
        /// The unfinished file.
        path: PathBuf,
    },
    /// No more openings in the book.
    #[error(
        "the book's {openings} openings are used up after {games} games with {positions} positions ({unused} openings were left out: one-sided, or repeating another); begin a new run with a larger book, with --book-wrap and --random-plies, or with --whole-book for one game from each (whole games are kept in {path})"
    )]
    BookUsedUp {
        /// Openings of the book.
        openings: u64,
        /// Games so far.
        games: u64,
        /// Their positions.
        positions: u64,
        /// Openings that gave no game.
        unused: u64,
        /// The unfinished file.
        path: PathBuf,
    },
    /// A recorded game cannot be walked.
    #[error("game {number} of the unfinished file: {source}")]
    Game {
        /// Its number.
        number: u64,
        /// Why.
        source: GameError,
    },
    /// The plan cannot be coded.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

impl SinkError {
    /// What to do about a refusal of the system, where that can be said.
    pub fn advice(&self) -> Option<&'static str> {
        let source = match self {
            SinkError::Io { source, .. } | SinkError::Write { source: WriteError::Io(source), .. } => source,
            _ => return None,
        };
        match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                Some("make room there, then give the same command again")
            }
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                Some("make the folder writable, or give --out in another one")
            }
            ErrorKind::NotFound | ErrorKind::NotADirectory => {
                Some("make the folder, or give --out in another one")
            }
            _ => None,
        }
    }
}

pub(crate) fn io_error(path: &Path, verb: &'static str) -> impl FnOnce(io::Error) -> SinkError {
    let path = path.to_owned();
    move |source| SinkError::Io { path, verb, source }
}
