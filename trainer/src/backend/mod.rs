//! Where the numbers of a training step are made.
//!
//! `cpu`: own kernels for the feature transformer and the optimiser. `cuda`: NVIDIA GPUs. `reference` is the plain
//! way through torch's `embedding_bag`; it exists to be compared with.

pub mod choice;
pub mod cpu;
pub mod cuda;
pub mod reference;
