//! Work that is no search and may take long – perft, bench, speedtest – in a thread of its own, so that `stop` and
//! `isready` are heard meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;

use super::Output;

/// Work that was begun. It ends by itself; whoever wants its results waits for it.
pub(crate) struct Errand {
    thread: JoinHandle<()>,
    stop: Arc<AtomicBool>,
}

impl Errand {
    /// Begins some work, which answers to `out` and looks at the flag from time to time: once it is set the work ends
    /// soon, and says so.
    ///
    /// # Errors
    /// Where the system gives no thread.
    pub(crate) fn start(
        out: Output,
        work: impl FnOnce(&Output, &Arc<AtomicBool>) + Send + 'static,
    ) -> std::io::Result<Errand> {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread =
            std::thread::Builder::new().name("errand".to_owned()).spawn(move || work(&out, &flag))?;
        Ok(Errand { thread, stop })
    }

    /// Ends it soon.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// Waits for its end. False where it panicked.
    pub(crate) fn join(self) -> bool {
        self.thread.join().is_ok()
    }
}
