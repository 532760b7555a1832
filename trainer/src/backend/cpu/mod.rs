//! The feature transformer and the optimiser on the CPU.
//!
//! The feature transformer is a sum of weight rows, 20 to 32 of `F` a perspective. Three things make it fast:
//!
//! * **Tile-major weights** `[H / 32][F][32]`: one tile of all rows fits a core's L2 (or streams from L3 once a
//!   chunk), each tile belongs to one task, so the backward pass needs neither atomics nor reductions.
//! * **Packed CSC backward**: the indices of a chunk are counting-sorted by feature once; the masked gradient lies
//!   contiguous for each tile and is gathered feature by feature into registers. Read-only traffic at L2 speed instead
//!   of read-modify-write.
//! * **Rows in the order of their buckets**: a king bucket's rows of a tile (689 × 128 bytes) fit an L2 where the
//!   whole tile does not; the same holds for the packed gradient. Each part is read through once before it is used in no
//!   order: a processor fetches lines in order several times faster than one by one.
//! * **Dense layers of our own** ([`dense`]), which write the masked gradient packed as the backward pass reads it.
//!
//! Checkpoints and exported nets never see the tile order; [`tile::to_rows`] and [`tile::from_rows`] translate.

pub mod aligned;
pub mod dense;
pub mod kernel;
mod lanes;
pub mod rows;
pub mod scalar;
#[cfg(target_arch = "x86_64")]
mod sparse;
pub mod tile;
pub mod transformer;
#[cfg(target_arch = "x86_64")]
pub mod x86;

pub use aligned::AlignedVec;
pub use kernel::{AdamStep, Kernel, KernelKind};
pub use rows::{ByFeature, Grouped, SparseRows};
pub use transformer::{backward, forward};
