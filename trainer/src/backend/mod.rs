//! Where the numbers of a training step are made.
//!
//! `cpu` is the fast path: own kernels for the feature transformer and the optimiser. `reference` is the plain
//! way through torch's `embedding_bag`; it exists to be compared with.

pub mod cpu;
pub mod reference;
