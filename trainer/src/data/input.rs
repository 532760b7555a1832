//! An open record file, on disk or remote.

use super::error::DataError;
use super::location::Location;
#[cfg(feature = "remote")]
use super::remote::Remote;
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
    /// Under a URL.
    #[cfg(feature = "remote")]
    Remote(Box<Remote>),
}

impl Input {
    /// Opens a file.
    ///
    /// # Errors
    /// [`DataError::Io`].
    pub fn open(location: &Location) -> Result<Input, DataError> {
        let opened = match location {
            Location::File(path) => File::open(path).map(Input::File),
            #[cfg(feature = "remote")]
            Location::Url(url) => Remote::open(url).map(|remote| Input::Remote(Box::new(remote))),
            #[cfg(not(feature = "remote"))]
            Location::Url(_) => Err(no_remote()),
        };
        opened.map_err(|source| DataError::Io { file: location.clone(), source })
    }

    /// Length and identity of the file, see [`super::source::InputFile::sha256`].
    ///
    /// # Errors
    /// [`DataError::Io`].
    pub fn identify(&mut self, location: &Location) -> Result<(u64, String), DataError> {
        let identity = match self {
            Input::File(file) => digest(file),
            #[cfg(feature = "remote")]
            Input::Remote(remote) => remote.identify(),
        };
        identity.map_err(|source| DataError::Io { file: location.clone(), source })
    }
}

/// Without the feature `remote` there are no URLs.
#[cfg(not(feature = "remote"))]
pub(super) fn no_remote() -> io::Error {
    let what = "this program was built without the feature `remote`; copy the file to a disk";
    io::Error::new(ErrorKind::Unsupported, what)
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
            #[cfg(feature = "remote")]
            Input::Remote(remote) => remote.read(buffer),
        }
    }
}

impl Seek for Input {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Input::File(file) => file.seek(to),
            #[cfg(feature = "remote")]
            Input::Remote(remote) => remote.seek(to),
        }
    }
}
