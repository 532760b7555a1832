//! The record files of a run: their digests and the places of their blocks.

use super::error::DataError;
use super::input::Input;
use super::location::Location;
use nnue_format::record::{IndexEntry, ReadError, Reader};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It is trained on, as a part of the data set of this number.
    Training(usize),
    /// It is validated on.
    Validation,
}

impl Default for Role {
    fn default() -> Role {
        Role::Training(0)
    }
}

/// One record file, as manifests name it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// Where it lies.
    pub path: Location,
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256, in hexadecimal; of a remote file `ends:` and that of its header and its index.
    pub sha256: String,
    /// What it is for.
    #[serde(default)]
    pub role: Role,
}

/// One block: which file, where, and how many scored positions it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockPlace {
    /// Index into [`Source::files`].
    pub file: u32,
    /// Its scored plies.
    pub positions: u32,
    /// Where the block begins.
    pub offset: u64,
    /// Where the next block or the index begins, or the file ends.
    pub end: u64,
}

/// The files of a run and their blocks.
#[derive(Clone, Debug, Default)]
pub struct Source {
    files: Vec<InputFile>,
    blocks: Vec<BlockPlace>,
    /// Damaged parts that were left out.
    damage: u64,
}

impl Source {
    /// Opens and hashes files that are one data set. Damage is an error, or left out and counted when `skip_damage`
    /// says so.
    ///
    /// # Errors
    /// [`DataError`] with the name of the file.
    pub fn open(paths: &[PathBuf], skip_damage: bool) -> Result<Source, DataError> {
        let files: Vec<_> =
            paths.iter().map(|path| (Role::Training(0), Location::from(path.as_path()))).collect();
        Source::open_all(&files, skip_damage)
    }

    /// Opens files of several data sets or for validation.
    ///
    /// # Errors
    /// As [`Source::open`].
    pub fn open_all(files: &[(Role, Location)], skip_damage: bool) -> Result<Source, DataError> {
        let mut source = Source::default();
        for (role, location) in files {
            let location = absolute(location)?;
            let mut input = Input::open(&location)?;
            let (bytes, sha256) = input.identify(&location)?;
            source.list_blocks(input, &location, skip_damage)?;
            source.files.push(InputFile { path: location, bytes, sha256, role: *role });
        }
        Ok(source)
    }

    /// Opens the files of an earlier run; they must be the same.
    ///
    /// # Errors
    /// [`DataError::Changed`] when one is not, else as [`Source::open`].
    pub fn reopen(files: &[InputFile], skip_damage: bool) -> Result<Source, DataError> {
        let named: Vec<_> = files.iter().map(|file| (file.role, file.path.clone())).collect();
        let source = Source::open_all(&named, skip_damage)?;
        for (found, expected) in source.files.iter().zip(files) {
            if found.sha256 != expected.sha256 {
                return Err(DataError::Changed {
                    file: expected.path.clone(),
                    found: found.sha256.clone(),
                    expected: expected.sha256.clone(),
                });
            }
        }
        Ok(source)
    }

    fn list_blocks(&mut self, input: Input, location: &Location, skip_damage: bool) -> Result<(), DataError> {
        let named = |source| DataError::Read { file: location.clone(), source };
        let mut reader = Reader::new(input).map_err(named)?;
        // A whole file ends with an index of its blocks; without one every block is looked at.
        if let Ok(footer) = reader.footer_at_end() {
            self.add(&footer.index, reader.file_len());
            return Ok(());
        }
        while let Some(block) = reader.next_block() {
            match block {
                Ok(_) => {}
                Err(ReadError::Io { offset, source }) => return Err(named(ReadError::Io { offset, source })),
                Err(_) if skip_damage => self.damage += 1,
                Err(error) => return Err(named(error)),
            }
        }
        self.add(reader.index(), reader.file_len());
        Ok(())
    }

    /// Adds the blocks of the next file.
    fn add(&mut self, index: &[IndexEntry], end: u64) {
        let file = self.files.len() as u32;
        let ends = index.iter().skip(1).map(|entry| entry.offset).chain([end]);
        self.blocks.extend(index.iter().zip(ends).map(|(entry, end)| BlockPlace {
            file,
            positions: entry.positions,
            offset: entry.offset,
            end,
        }));
    }

    /// The files.
    pub fn files(&self) -> &[InputFile] {
        &self.files
    }

    /// The file of a block.
    pub fn file_of(&self, block: usize) -> &InputFile {
        &self.files[self.blocks[block].file as usize]
    }

    /// Their blocks, in the order of the files.
    pub fn blocks(&self) -> &[BlockPlace] {
        &self.blocks
    }

    /// The numbers of the blocks in files of this role.
    pub fn blocks_of(&self, role: Role) -> Vec<u32> {
        let is_of = |block: &BlockPlace| self.files[block.file as usize].role == role;
        (0..).zip(&self.blocks).filter(|(_, block)| is_of(block)).map(|(number, _)| number).collect()
    }

    /// How many data sets there are.
    pub fn sets(&self) -> usize {
        let number = |file: &InputFile| match file.role {
            Role::Training(set) => set + 1,
            Role::Validation => 0,
        };
        self.files.iter().map(number).max().unwrap_or(0)
    }

    /// Damaged parts met while listing and left out.
    pub fn damage(&self) -> u64 {
        self.damage
    }

    /// Scored positions in all blocks, before any filter.
    pub fn positions(&self) -> u64 {
        self.blocks.iter().map(|block| u64::from(block.positions)).sum()
    }
}

/// As it is on disk, so that a resumed run finds it from any folder.
fn absolute(location: &Location) -> Result<Location, DataError> {
    let Location::File(path) = location else { return Ok(location.clone()) };
    let path =
        std::fs::canonicalize(path).map_err(|source| DataError::Io { file: location.clone(), source })?;
    Ok(Location::File(path))
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
