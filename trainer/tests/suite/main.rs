//! Tests of the trainer: one binary, since each one links libtorch.

mod batches;
mod dense;
mod kernels;
mod kills;
mod nets;
mod refusals;
mod runs;
mod selection;
mod support;
mod watching;
