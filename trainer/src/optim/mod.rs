//! What happens to the weights between two steps: schedules of the global step, and the Adam state.

pub mod param;
pub mod schedule;

pub use param::{History, Param};
