//! Helpers of the tests across crates. The rules that the source has to keep are functions from text to a list of
//! complaints, so that each can be shown to fail on a bad sample; `tests/tests/*.rs` apply them to the checkout.

pub mod layering;
pub mod programs;
pub mod source;
pub mod tidy;
pub mod tree;
pub mod vectors;
