//! Record files made from record files: `merge`, `split`, `shuffle`, `dedup`, `filter`, `rescore`, `import`.
//!
//! ```text
//! paths → Sources (digests, damage, one rule set) → DerivedPlan → DerivedWriter: FILE.partial → FILE + manifest
//!              └ map_blocks: blocks decoded on all threads, handed over in order ┘
//! ```
//!
//! The same inputs, settings and seed give the same bytes, on one thread or on many, whatever the inputs are called.
//! Memory: [`Sources`] keeps 64 bytes for each block (some hundred games) and [`Sources::map_blocks`] some
//! decoded blocks for each thread (about 1 MiB each); [`DerivedWriter`] as many again.

mod error;
mod identity;
mod job;
mod plan;
mod report;
mod sources;
mod temporary;
mod writer;

pub use error::DerivedError;
pub use identity::{game_id, scored_positions};
pub use job::Job;
pub use plan::{DERIVED_PLAN_VERSION, DerivedPlan, MAX_INPUTS, PlanInput, plan_json, plan_lines};
pub use report::{Counters, Report};
pub use sources::{BlockPlace, Damage, Source, Sources};
pub use temporary::{MAX_FILES, Part, Parts, TemporaryFolder, parts_for};
pub use writer::{DerivedWriter, Opened, WriteMode};
