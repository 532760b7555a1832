//! Games that others have played: files of every format into games, and games into records and other files.
//!
//! ```text
//! files → (format by content) → ReadGame → Imported → GameRecord | positions | lines | PGN, XQF, DhtmlXQ
//!                                             └ Summary: games, faults by kind, duplicates
//! ```

mod book;
pub mod data;
mod intake;
mod json;
mod output;
mod pieces;
mod plan;
mod records;
mod summary;
mod write;

use std::path::{Path, PathBuf};

use game_files::{FileError, Format, GameTree, NodeId, ReadGame};
use xiangqi::Move;

pub use book::{MoveLines, Positions};
pub use intake::Intake;
pub use json::{game_json, report_json};
pub use output::{Kind, WholeFile, write_all};
pub use plan::{IMPORT_PLAN_VERSION, ImportLimit, ImportPlan};
pub use records::{DRAWN_SCORE, LeftOut, Line, Made, Settings, Unfinished, WON_SCORE, record};
pub use summary::{Summary, Tally};
pub use write::{RecordRun, Seen, write_records};

/// Why a file gave no games.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The system refused.
    #[error("{path}: cannot read: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is no file of data as it was said to be.
    #[error("{path}: {why}")]
    Data {
        /// The file.
        path: PathBuf,
        /// What was found.
        why: String,
    },
    /// It is no game file.
    #[error("{path}: {source}")]
    Format {
        /// The file.
        path: PathBuf,
        /// What was found.
        source: FileError,
    },
}

/// A game of a file.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The file.
    pub file: PathBuf,
    /// Its format.
    pub format: Format,
    /// The game's number in it, from 1.
    pub number: usize,
    /// The game.
    pub game: ReadGame,
}

/// The games of a file.
///
/// # Errors
/// Where the file cannot be read, or is of no known format or not of the format asked for.
pub fn read_file(path: &Path, format: Option<Format>) -> Result<Vec<Imported>, ImportError> {
    let bytes = std::fs::read(path).map_err(|source| ImportError::Read { path: path.to_owned(), source })?;
    let Some(format) = format.or_else(|| game_files::detect(&bytes)) else {
        // No format: an empty file, or the error that says what was found.
        let nothing = game_files::read(&bytes, None);
        return nothing
            .map(|_| Vec::new())
            .map_err(|source| ImportError::Format { path: path.to_owned(), source });
    };
    let games = game_files::read(&bytes, Some(format))
        .map_err(|source| ImportError::Format { path: path.to_owned(), source })?;
    let file = path.to_owned();
    let imported = games.into_iter().enumerate().map(|(i, game)| Imported {
        file: file.clone(),
        format,
        number: i + 1,
        game,
    });
    Ok(imported.collect())
}

/// The lines of a game: the main line, and with `variations` every line that ends in another leaf of the tree.
pub fn lines(tree: &GameTree, variations: bool) -> Vec<Vec<Move>> {
    let mut found = vec![tree.main_line()];
    if variations {
        let main_end = main_leaf(tree);
        let is_leaf = |node: &NodeId| tree.children(*node).is_empty() && *node != main_end;
        found.extend((1..=tree.len() as NodeId).filter(is_leaf).map(|leaf| tree.line_to(leaf)));
    }
    found
}

fn main_leaf(tree: &GameTree) -> NodeId {
    let mut node = GameTree::ROOT;
    while let Some(&next) = tree.children(node).first() {
        node = next;
    }
    node
}
