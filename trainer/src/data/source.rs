//! The record files of a run: their digests and the places of their blocks.

use super::error::DataError;
use super::filter::{Filter, FilterCounts};
use super::samples::{Encoder, Samples};
use super::split::Split;
use crate::chance::{Purpose, hash};
use nnue_format::record::{GameHead, Ply, RawBlock, ReadError, Reader};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use xiangqi::Position;

/// One record file, as manifests name it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// Where it lies.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256, in hexadecimal.
    pub sha256: String,
}

/// One block: which file, where, and how many scored positions it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockPlace {
    /// Index into [`Source::files`].
    pub file: usize,
    /// Where the block begins.
    pub offset: u64,
    /// Its scored plies.
    pub positions: u32,
}

/// The files of a run and their blocks.
#[derive(Clone, Debug)]
pub struct Source {
    files: Vec<InputFile>,
    blocks: Vec<BlockPlace>,
    /// Damaged parts that were left out.
    damage: u64,
}

/// Which games of a block are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Those trained on.
    Training,
    /// Those kept for validation.
    Validation,
}

impl Source {
    /// Opens and hashes the files and lists their blocks. Damage is an error, or left out and counted when
    /// `skip_damage` says so.
    ///
    /// # Errors
    /// [`DataError`] with the name of the file.
    pub fn open(paths: &[PathBuf], skip_damage: bool) -> Result<Source, DataError> {
        let mut source = Source { files: Vec::new(), blocks: Vec::new(), damage: 0 };
        for path in paths {
            // As it is on disk, so that a resumed run finds it from any folder.
            let path =
                std::fs::canonicalize(path).map_err(|e| DataError::Io { file: path.clone(), source: e })?;
            let input = describe(&path)?;
            source.list_blocks(source.files.len(), &path, skip_damage)?;
            source.files.push(input);
        }
        Ok(source)
    }

    /// Opens the files of an earlier run; they must be the same.
    ///
    /// # Errors
    /// [`DataError::Changed`] when one is not, else as [`Source::open`].
    pub fn reopen(files: &[InputFile], skip_damage: bool) -> Result<Source, DataError> {
        let paths: Vec<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
        let source = Source::open(&paths, skip_damage)?;
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

    fn list_blocks(&mut self, file: usize, path: &Path, skip_damage: bool) -> Result<(), DataError> {
        let named = |source| DataError::Read { file: path.to_path_buf(), source };
        let mut reader = Reader::open(path).map_err(named)?;
        // A whole file ends with an index of its blocks; without one every block is looked at.
        if let Ok(footer) = reader.footer_at_end() {
            self.blocks.extend(footer.index.iter().map(|entry| BlockPlace {
                file,
                offset: entry.offset,
                positions: entry.positions,
            }));
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
        self.blocks.extend(reader.index().iter().map(|entry| BlockPlace {
            file,
            offset: entry.offset,
            positions: entry.positions,
        }));
        Ok(())
    }

    /// The files.
    pub fn files(&self) -> &[InputFile] {
        &self.files
    }

    /// Their blocks, in the order of the files.
    pub fn blocks(&self) -> &[BlockPlace] {
        &self.blocks
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

fn describe(path: &Path) -> Result<InputFile, DataError> {
    let named = |source| DataError::Io { file: path.to_path_buf(), source };
    let mut file = File::open(path).map_err(named)?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    let mut bytes = 0;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => {
                digest.update(&buffer[..n]);
                bytes += n as u64;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(named(error)),
        }
    }
    Ok(InputFile { path: path.to_path_buf(), bytes, sha256: hex(&digest.finalize()) })
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Is this position seen in a mirror in this epoch? Half of them are, and the other half in the next epoch.
fn is_mirrored(seed: u64, epoch: u64, game: u64, ply: usize) -> bool {
    (hash(seed, Purpose::Mirror, game, ply as u64) ^ epoch) & 1 == 1
}

/// Reads single blocks and turns them into samples. Keeps one file open at a time.
pub struct BlockDecoder {
    source: Source,
    split: Split,
    filter: Filter,
    encoder: Encoder,
    skip_damage: bool,
    /// Seed of the choice which training positions are mirrored; `None` mirrors none.
    mirror: Option<u64>,
    open: Option<(usize, Reader<File>)>,
}

impl BlockDecoder {
    /// A decoder over `source` with these settings.
    pub fn new(
        source: Source,
        split: Split,
        filter: Filter,
        encoder: Encoder,
        skip_damage: bool,
        mirror: Option<u64>,
    ) -> BlockDecoder {
        BlockDecoder { source, split, filter, encoder, skip_damage, mirror, open: None }
    }

    /// The samples of block number `block` that belong to `part`, in the order of the file. `seen` is called for
    /// each with its position.
    ///
    /// # Errors
    /// [`DataError::Read`] with the file, unless damage is skipped.
    pub fn decode(
        &mut self,
        block: usize,
        part: Part,
        epoch: u64,
        samples: &mut Samples,
        counts: &mut FilterCounts,
        mut seen: impl FnMut(&Position),
    ) -> Result<(), DataError> {
        let place = self.source.blocks[block];
        let before = samples.len();
        let result = self.raw(place).and_then(|raw| {
            samples.reserve(raw.head.positions as usize);
            let (split, filter, encoder) = (&self.split, &self.filter, &mut self.encoder);
            let mirror = self.mirror.filter(|_| part == Part::Training);
            raw.walk(|game: &GameHead, position: &Position, ply: &Ply| {
                if split.is_validation(game.number) != (part == Part::Validation) {
                    counts.other_split += 1;
                    return;
                }
                if let Some((score, _)) = ply.scored
                    && filter.keeps(position, ply, epoch, game.number, counts)
                {
                    let outcome = game.outcome.half_points(position.side_to_move());
                    encoder.push(samples, position, score.0, outcome);
                    if mirror.is_some_and(|seed| is_mirrored(seed, epoch, game.number, ply.number)) {
                        encoder.mirror_last(samples);
                    }
                    seen(position);
                } else if ply.scored.is_none() {
                    counts.unscored += 1;
                }
            })
        });
        match result {
            Ok(()) => Ok(()),
            Err(error) if self.skip_damage && !matches!(error, ReadError::Io { .. }) => {
                // What was read of it before the damage is as good as any other position.
                counts.damaged_blocks += 1;
                debug_assert!(samples.len() >= before);
                Ok(())
            }
            Err(source) => Err(DataError::Read { file: self.source.files[place.file].path.clone(), source }),
        }
    }

    fn raw(&mut self, place: BlockPlace) -> Result<RawBlock, ReadError> {
        if self.open.as_ref().is_none_or(|(file, _)| *file != place.file) {
            self.open = Some((place.file, Reader::open(&self.source.files[place.file].path)?));
        }
        match &mut self.open {
            Some((_, reader)) => reader.block_at(place.offset),
            None => unreachable!("opened just above"),
        }
    }
}
