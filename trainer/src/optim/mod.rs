//! What happens to the weights between two steps: schedules of the global step, the optimiser's state, one update.

pub mod param;
pub mod plateau;
pub mod schedule;
pub mod update;

pub use param::{History, Param};
pub use plateau::Plateau;
pub use update::{Lookahead, UpdateStep};
