//! Where lines go, whole ones, from whichever thread; and the log of the conversation.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

struct Inner {
    writer: Box<dyn Write + Send>,
    log: Option<File>,
}

/// Where lines go. Cheap to clone; clones share one place and one log.
#[derive(Clone)]
pub struct Output(Arc<Mutex<Inner>>);

impl Output {
    /// Output to a writer.
    pub fn new(writer: impl Write + Send + 'static) -> Output {
        Output(Arc::new(Mutex::new(Inner { writer: Box::new(writer), log: None })))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        match self.0.lock() {
            Ok(inner) => inner,
            Err(poisoned) => poisoned.into_inner(),
        }
    }

    /// Writes a line and flushes. A reader that has gone away is no error of ours: nothing more can be said to it.
    pub fn line(&self, text: &str) {
        let mut inner = self.lock();
        let _ = writeln!(inner.writer, "{text}").and_then(|()| inner.writer.flush());
        inner.note("<<", text);
    }

    /// Notes a line of input in the log.
    pub(crate) fn heard(&self, line: &str) {
        self.lock().note(">>", line.trim_end_matches(['\n', '\r']));
    }

    /// Logs to this file from now on, after what it holds already; `None` for no log.
    ///
    /// # Errors
    /// Where the file cannot be opened for writing; the old log goes on then.
    pub(crate) fn log_to(&self, path: Option<&Path>) -> std::io::Result<()> {
        let log = match path {
            Some(path) => Some(OpenOptions::new().append(true).create(true).open(path)?),
            None => None,
        };
        self.lock().log = log;
        Ok(())
    }
}

impl Inner {
    /// A log that can no longer be written to is given up: play is what matters.
    fn note(&mut self, mark: &str, text: &str) {
        let written = self.log.as_mut().map(|log| writeln!(log, "{mark} {text}"));
        if matches!(written, Some(Err(_))) {
            self.log = None;
        }
    }
}
