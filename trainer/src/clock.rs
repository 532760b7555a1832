//! Time spent on parts of the work, on the wall clock and by all processors together.
//!
//! On a shared machine only the second says what a part costs.

use std::time::{Duration, Instant};

/// Time a part has taken so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// On the wall clock.
    pub wall: Duration,
    /// Processor time of all threads of this process.
    pub cpu: Duration,
}

/// A clock that is read at the ends of parts.
pub struct Lap {
    wall: Instant,
    cpu: Duration,
}

impl Lap {
    /// Starts the clock.
    pub fn start() -> Lap {
        Lap { wall: Instant::now(), cpu: cpu_time() }
    }

    /// Adds the time since the clock was started or read last to `part`.
    pub fn end(&mut self, part: &mut Spent) {
        let now = Lap::start();
        part.wall += now.wall - self.wall;
        part.cpu += now.cpu.saturating_sub(self.cpu);
        *self = now;
    }
}

/// Processor time that this process has taken; where the system does not tell, the time since the first call.
#[cfg(unix)]
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// See above.
#[cfg(not(unix))]
fn cpu_time() -> Duration {
    static BEGUN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    BEGUN.get_or_init(Instant::now).elapsed()
}
