//! An open record file, on disk or remote.

use super::error::DataError;
use super::location::Location;
use super::source::hex;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};

/// How much is read at a time while hashing.
const HASH_CHUNK: usize = 1 << 20;

/// An open record file. Opened for reading only.
#[derive(Debug)]
pub enum Input {
    /// On disk.
    File(File),
}

impl Input {
    /// Opens a file.
    ///
    /// # Errors
    /// [`DataError::Io`].
    pub fn open(location: &Location) -> Result<Input, DataError> {
        let io = |source| DataError::Io { file: location.clone(), source };
        match location {
            Location::File(path) => File::open(path).map(Input::File).map_err(io),
            Location::Url(_) => {
                let what = "this program was built without the feature `remote`; copy the file to a disk";
                Err(io(io::Error::new(ErrorKind::Unsupported, what)))
            }
        }
    }

    /// Length and identity of the file, see [`super::source::InputFile::sha256`].
    ///
    /// # Errors
    /// [`DataError::Io`].
    pub fn identify(&mut self, location: &Location) -> Result<(u64, String), DataError> {
        let Input::File(file) = self;
        digest(file).map_err(|source| DataError::Io { file: location.clone(), source })
    }
}

fn digest(file: &mut File) -> io::Result<(u64, String)> {
    file.seek(SeekFrom::Start(0))?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; HASH_CHUNK];
    let mut bytes = 0;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok((bytes, hex(&digest.finalize()))),
            Ok(n) => {
                digest.update(&buffer[..n]);
                bytes += n as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Input::File(file) => file.read(buffer),
        }
    }
}

impl Seek for Input {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Input::File(file) => file.seek(to),
        }
    }
}
