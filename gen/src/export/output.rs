//! Where an export goes: a file that is put in place whole, or stdout.

use std::fs::File;
use std::io::{self, BufWriter, Stdout, Write};
use std::path::Path;

use crate::import::WholeFile;
use crate::sink::SinkError;

/// The place of an export.
pub enum Output {
    /// A file, made as FILE.partial.
    File(WholeFile, BufWriter<File>),
    /// Standard output.
    Stdout(BufWriter<Stdout>),
}

impl Output {
    /// Begins a file; `None` or `-` is stdout.
    ///
    /// # Errors
    /// When the file is there and not to be replaced, or the system refuses.
    pub fn create(path: Option<&Path>, force: bool) -> Result<Output, SinkError> {
        match path.filter(|path| *path != Path::new("-")) {
            None => Ok(Output::Stdout(BufWriter::with_capacity(1 << 16, io::stdout()))),
            Some(path) => {
                let (whole, file) = WholeFile::create(path, force)?;
                Ok(Output::File(whole, BufWriter::with_capacity(1 << 16, file)))
            }
        }
    }

    /// Where the bytes of a file are until they are published.
    pub fn partial(&self) -> Option<&Path> {
        match self {
            Output::File(whole, _) => Some(whole.partial()),
            Output::Stdout(_) => None,
        }
    }

    /// Puts a file in place.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn publish(self) -> Result<(), SinkError> {
        match self {
            Output::Stdout(_) => Ok(()),
            Output::File(whole, file) => {
                let path = whole.partial().to_owned();
                let failed = |error: io::IntoInnerError<BufWriter<File>>| SinkError::Io {
                    path,
                    verb: "write",
                    source: error.into_error(),
                };
                whole.publish(&file.into_inner().map_err(failed)?)
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::File(_, file) => file.write(bytes),
            Output::Stdout(stdout) => stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::File(_, file) => file.flush(),
            Output::Stdout(stdout) => stdout.flush(),
        }
    }
}
