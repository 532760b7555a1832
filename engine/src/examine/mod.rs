//! What can be said of a net without playing a match: symmetry, endgames, mates, stability, calibration.
//!
//! A net that wins matches and fails here has a fault that matches are slow to show; one that passes here may still lose
//! them. The same is measured of the hand-crafted evaluation, so that figures have something to stand beside.

mod calibration;
pub mod endgames;
pub mod mates;
mod positions;
mod stability;
mod symmetry;
mod text;

use std::fs::File;
use std::path::{Path, PathBuf};

use nnue_format::record::{ReadError, Reader};
use serde::Serialize;
use xiangqi::Position;

use crate::eval::{EvalSource, Evaluation};
use calibration::Calibration;
use endgames::Endgames;
use mates::Mates;
use stability::Stability;
use symmetry::Symmetry;
pub use text::table;

/// Size of the table in searches, in MiB.
const HASH_MIB: usize = 16;

/// How much is looked at.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Games whose positions symmetry and stability are measured on.
    pub games: usize,
    /// Nodes of the search of an endgame, and of each move when it is played out.
    pub endgame_nodes: u64,
    /// Nodes in which a mate is to be found.
    pub mate_nodes: u64,
    /// The depth that shallower searches are compared with, in plies.
    pub depth: i32,
    /// Records whose results scores are compared with.
    pub data: Vec<PathBuf>,
    /// Positions taken from them.
    pub data_positions: usize,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            games: 12,
            endgame_nodes: 2000,
            mate_nodes: 100_000,
            depth: 10,
            data: Vec::new(),
            data_positions: 100_000,
        }
    }
}

/// What was found.
#[derive(Clone, Debug, Serialize)]
pub struct Examination {
    /// What was examined: `hand-crafted`, or the net's architecture and backend.
    pub source: String,
    /// Under exchange of colours and of left and right.
    pub symmetry: Symmetry,
    /// Won and drawn endgames.
    pub endgames: Endgames,
    /// Mates.
    pub mates: Mates,
    /// From depth to depth.
    pub stability: Stability,
    /// Scores against results; without records there is none.
    pub calibration: Option<Calibration>,
}

impl Examination {
    /// Is there anything that no evaluation may do? Scores that depend on the names of the colours, or a mate that
    /// is shorter than there is.
    pub fn is_sound(&self) -> bool {
        self.symmetry.colour_differences == 0 && self.mates.false_claims == 0
    }
}

/// Where an examination is: part, done, of how many.
type Progress<'a> = &'a mut dyn FnMut(&str, usize, usize);

/// A file of records that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {source}")]
pub struct DataError {
    path: PathBuf,
    source: ReadError,
}

/// Opens a file of records, or says which it was.
fn open(path: &Path) -> Result<Reader<File>, DataError> {
    Reader::open(path).map_err(|source| DataError { path: path.into(), source })
}

/// Examines evaluations, all on the same positions. `progress` hears whose turn it is, the part, what is done of it, and
/// of how many.
///
/// # Errors
/// Where a file of records cannot be read; all are opened before the work begins.
pub fn run(
    sources: &[EvalSource],
    plan: &Plan,
    progress: &mut dyn FnMut(usize, &str, usize, usize),
) -> Result<Vec<Examination>, DataError> {
    for path in &plan.data {
        open(path)?;
    }
    let positions = positions::of_games(plan, &mut |part, done, all| progress(0, part, done, all));
    let each = sources.iter().enumerate().map(|(number, source)| {
        examine(source, &positions, plan, &mut |part, done, all| progress(number, part, done, all))
    });
    each.collect()
}

fn examine(
    source: &EvalSource,
    positions: &[Position],
    plan: &Plan,
    progress: Progress<'_>,
) -> Result<Examination, DataError> {
    let mut judge = Static::new(source);
    let symmetry = Symmetry::of(&mut judge, positions);
    let endgames = Endgames::of(source, plan, progress);
    let mates = Mates::of(source, plan, progress);
    let stability = Stability::of(source, positions, plan, progress);
    let calibration = match plan.data.is_empty() {
        true => None,
        false => Some(Calibration::of(&mut judge, plan, progress)?),
    };
    let source = source.to_string();
    Ok(Examination { source, symmetry, endgames, mates, stability, calibration })
}

/// The evaluation of single positions.
struct Static(Evaluation);

impl Static {
    fn new(source: &EvalSource) -> Static {
        Static(Evaluation::new(source))
    }

    /// Centipawns, for the side to move.
    fn score(&mut self, pos: &Position) -> i32 {
        self.0.reset(pos);
        self.0.evaluate(pos)
    }
}

/// The mean of numbers; 0 for none.
fn mean(numbers: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0_u32);
    for number in numbers {
        sum += number;
        count += 1;
    }
    if count == 0 { 0.0 } else { sum / f64::from(count) }
}
