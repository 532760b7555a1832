//! Tests of the trainer: one binary, since each one links libtorch.

mod batches;
mod chain;
mod dense;
mod devices;
mod documents;
mod init;
mod kernels;
mod kills;
mod nets;
mod optimisers;
mod ranks;
mod refusals;
#[cfg(feature = "remote")]
mod remote;
mod runs;
mod selection;
mod slurm;
mod support;
mod watching;
