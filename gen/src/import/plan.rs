//! What a record file of imported games says of its making.

use bincode::Encode;
use serde::Serialize;

use crate::plan::{PlanError, SearchLimit};

/// Apart from the versions of plans of self-play, so that neither is taken for the other.
pub const IMPORT_PLAN_VERSION: u32 = 0x0001_0001;

/// Everything that the records of an import depend on.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Serialize)]
pub struct ImportPlan {
    /// [`IMPORT_PLAN_VERSION`].
    pub version: u32,
    /// How many files were read.
    pub files: u64,
    /// SHA-256 over the SHA-256 digests of the files, in their order.
    #[serde(skip)]
    pub inputs: [u8; 32],
    /// Were side lines recorded as games?
    pub variations: bool,
    /// What became of games without a result: `skip`, `draw` or `search`.
    pub unfinished: String,
    /// Limit of each position's search, if positions were searched.
    pub limit: Option<ImportLimit>,
    /// SHA-256 of the net file; zeros: the hand-crafted evaluation, or no search.
    #[serde(skip)]
    pub net: [u8; 32],
    /// Node count of the engine's bench; 0 without a search.
    pub engine_signature: u64,
    /// Size of a searcher's table, in MiB.
    pub hash_mib: u32,
    /// The name of the rule set.
    pub rules: String,
}

/// The limit of a search of an imported position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Serialize)]
pub struct ImportLimit {
    /// Nodes.
    pub nodes: Option<u64>,
    /// Depth in plies.
    pub depth: Option<i32>,
}

impl From<ImportLimit> for SearchLimit {
    fn from(limit: ImportLimit) -> SearchLimit {
        SearchLimit { nodes: limit.nodes, depth: limit.depth, ..SearchLimit::default() }
    }
}

impl ImportPlan {
    /// The plan as it stands in a record file: bincode 2, little-endian, fixed integers.
    ///
    /// # Errors
    /// When it cannot be coded.
    pub fn to_bytes(&self) -> Result<Vec<u8>, PlanError> {
        let config = bincode::config::standard().with_fixed_int_encoding();
        bincode::encode_to_vec(self, config).map_err(|error| PlanError::Bytes(error.to_string()))
    }
}
