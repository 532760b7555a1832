//! A folder of temporary files beside an output, and files in it that are written side by side.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use super::DerivedError;

/// The most files that are written side by side: below what systems allow a process to have open.
pub const MAX_FILES: usize = 512;

/// Gathered for each of them before it is written.
const BUFFER: usize = 1 << 16;

/// `FILE.tmp.partial`, removed with all that is in it when dropped. What a killed run left there is removed first; the output must
/// be locked by this process.
#[derive(Debug)]
pub struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Makes the folder beside an output.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn beside(out: &Path) -> Result<TemporaryFolder, DerivedError> {
        let mut path = out.as_os_str().to_owned();
        path.push(".tmp.partial");
        let path = PathBuf::from(path);
        match std::fs::remove_dir_all(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(DerivedError::io(&path, "remove")(error));
            }
            _ => {}
        }
        std::fs::create_dir(&path).map_err(DerivedError::io(&path, "create"))?;
        Ok(TemporaryFolder(path))
    }

    /// Begins so many files.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn files(&self, name: &str, count: usize) -> Result<Parts, DerivedError> {
        let one = |i: usize| {
            let path = self.0.join(format!("{name}.{i:03}"));
            let file = File::create(&path).map_err(DerivedError::io(&path, "create"))?;
            Ok((path, BufWriter::with_capacity(BUFFER, file), 0))
        };
        (0..count).map(one).collect::<Result<_, _>>().map(Parts)
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // Nothing more can be done about a folder that cannot be removed; its name says what it is.
        _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Files being written side by side.
#[derive(Debug)]
pub struct Parts(Vec<(PathBuf, BufWriter<File>, u64)>);

impl Parts {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Adds bytes to file `part`.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn add(&mut self, part: usize, bytes: &[u8]) -> Result<(), DerivedError> {
        let (path, file, length) = &mut self.0[part];
        *length += bytes.len() as u64;
        file.write_all(bytes).map_err(DerivedError::io(path, "write"))
    }

    /// Ends writing; each file can then be read once.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn finish(self) -> Result<Vec<Part>, DerivedError> {
        let one = |(path, file, length): (PathBuf, BufWriter<File>, u64)| {
            file.into_inner().map_err(|error| DerivedError::io(&path, "write")(error.into_error()))?;
            Ok(Part { path, length })
        };
        self.0.into_iter().map(one).collect()
    }
}

/// A file that was written.
#[derive(Debug)]
pub struct Part {
    path: PathBuf,
    /// Its length in bytes.
    pub length: u64,
}

impl Part {
    /// All its bytes; the file is removed.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn take_all(self) -> Result<Vec<u8>, DerivedError> {
        let bytes = std::fs::read(&self.path).map_err(DerivedError::io(&self.path, "read"))?;
        self.remove()?;
        Ok(bytes)
    }

    /// Its entries of `N` bytes one by one; the file is removed at the end.
    ///
    /// # Errors
    /// When the system refuses, and what `each` returns.
    pub fn take_entries<const N: usize>(
        self,
        mut each: impl FnMut([u8; N]) -> Result<(), DerivedError>,
    ) -> Result<(), DerivedError> {
        let file = File::open(&self.path).map_err(DerivedError::io(&self.path, "open"))?;
        let mut file = BufReader::with_capacity(1 << 20, file);
        let mut entry = [0; N];
        for _ in 0..self.length / N as u64 {
            file.read_exact(&mut entry).map_err(DerivedError::io(&self.path, "read"))?;
            each(entry)?;
        }
        self.remove()
    }

    fn remove(self) -> Result<(), DerivedError> {
        std::fs::remove_file(&self.path).map_err(DerivedError::io(&self.path, "remove"))
    }
}

/// How many files hold `bytes` in parts of which each fits into `memory_mib`.
///
/// # Errors
/// When they would be too many.
pub fn parts_for(bytes: u64, memory_mib: u64) -> Result<usize, DerivedError> {
    let memory = memory_mib.max(1) << 20;
    match bytes.div_ceil(memory).max(1) {
        parts if parts <= MAX_FILES as u64 => Ok(parts as usize),
        _ => Err(DerivedError::Memory { mib: memory_mib, needed: ((bytes / MAX_FILES as u64) >> 20) + 1 }),
    }
}
