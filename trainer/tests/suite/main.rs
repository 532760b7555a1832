//! Tests of the trainer: one binary, since each one links libtorch.

mod batches;
mod kernels;
mod nets;
mod runs;
mod selection;
mod support;
