//! The fast evaluator of quantised nets: the engine's only home of SIMD.
//!
//! ```text
//! QuantisedNet ─permute─► EngineNet ──┐
//!                                     ├─► Evaluator: stack of accumulators, refresh cache, forward
//! PieceChange (push, pop) ────────────┘
//! ```
//!
//! Every backend gives exactly what [`nnue_format::reference::evaluate`] gives.

mod aligned;
mod cache;
mod evaluator;
mod kernels;
pub mod memory;
mod net;
mod permute;
mod stack;

pub use evaluator::Evaluator;
pub use kernels::{Backend, BackendError};
pub use net::{EngineNet, EngineNetError};
