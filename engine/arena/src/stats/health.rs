//! Signs that a match was not played properly.

/// More crashes than this mark a match.
const CRASHES: u64 = 3;

/// Time losses are looked at from more games than this.
const TIME_LOSS_GAMES: u64 = 20;

/// One time loss in so many games is the most that is let pass.
const GAMES_PER_TIME_LOSS: u64 = 10;

/// Is a side's result not to be trusted: more than 3 crashes, or time losses in more than a tenth
/// of more than 20 games? (fishtest's rule for tasks.)
pub fn crash_or_time_flag(crashes: u64, time_losses: u64, games: u64) -> bool {
    crashes > CRASHES || (games > TIME_LOSS_GAMES && time_losses * GAMES_PER_TIME_LOSS > games)
}
