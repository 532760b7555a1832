//! The files that another is made from.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use nnue_format::record::{GameRecord, Header, IndexEntry, RawBlock, ReadError, Reader, Totals};
use rayon::prelude::*;
use serde_json::{Value, json};
use xiangqi::judge::RuleSet;

use super::{DerivedError, MAX_INPUTS};
use crate::manifest;
use crate::plan::hex;

/// An input.
#[derive(Clone, Debug)]
pub struct Source {
    /// The file.
    pub path: PathBuf,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: [u8; 32],
    /// Its header.
    pub header: Header,
    /// Its plan's bytes; empty if they are damaged.
    pub plan: Vec<u8>,
    /// What its whole blocks hold.
    pub totals: Totals,
    /// Damage that was left out.
    pub damage: Vec<Damage>,
    blocks: Vec<IndexEntry>,
}

/// Damage of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Where in the file it begins.
    pub offset: u64,
    /// What is wrong.
    pub what: String,
}

/// A whole block of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockPlace {
    /// Which input, from 0.
    pub file: usize,
    /// Where in the file it begins.
    pub offset: u64,
    /// Which of all inputs' games its first is, from 0.
    pub first_game: u64,
    /// Its games.
    pub games: u32,
    /// Its scored plies.
    pub positions: u32,
}

/// The inputs: hashed, their checksums verified, of one rule set.
#[derive(Clone, Debug)]
pub struct Sources {
    files: Vec<Source>,
    blocks: Vec<BlockPlace>,
    rules: RuleSet,
    skip_damaged: bool,
}

impl Sources {
    /// Reads every byte of every file: digest and checksums. Damage is refused with its offset, or left out if `skip_damaged`. A file without
    /// its footer (interrupted, cut off) is damaged.
    ///
    /// # Errors
    /// Damage, different rule sets, too many files, files that cannot be read; all with names.
    pub fn open(paths: &[PathBuf], skip_damaged: bool) -> Result<Sources, DerivedError> {
        if paths.len() > MAX_INPUTS {
            return Err(DerivedError::TooMany { found: paths.len(), limit: MAX_INPUTS });
        }
        let files: Vec<Source> =
            paths.iter().map(|path| open(path, skip_damaged)).collect::<Result<_, _>>()?;
        let rules = files.first().map_or(RuleSet::Competition, |file| file.header.rules);
        if let Some(other) = files.iter().find(|file| file.header.rules != rules) {
            return Err(DerivedError::Rules {
                first: files[0].path.clone(),
                first_rules: rules.to_string(),
                other: other.path.clone(),
                other_rules: other.header.rules.to_string(),
            });
        }
        let mut blocks = Vec::new();
        let mut first_game = 0;
        for (file, source) in files.iter().enumerate() {
            for &IndexEntry { offset, games, positions, .. } in &source.blocks {
                blocks.push(BlockPlace { file, offset, first_game, games, positions });
                first_game += u64::from(games);
            }
        }
        Ok(Sources { files, blocks, rules, skip_damaged })
    }

    /// Refuses to write onto an input.
    ///
    /// # Errors
    /// When `out` is one of the files, by whatever name.
    pub fn refuse_output(&self, out: &Path) -> Result<(), DerivedError> {
        let Ok(out) = std::fs::canonicalize(out) else { return Ok(()) };
        let same = |file: &&Source| std::fs::canonicalize(&file.path).is_ok_and(|path| path == out);
        self.files.iter().find(same).map_or(Ok(()), |file| Err(DerivedError::OntoItself(file.path.clone())))
    }

    /// The files in their order.
    pub fn files(&self) -> &[Source] {
        &self.files
    }

    /// Their whole blocks in order.
    pub fn blocks(&self) -> &[BlockPlace] {
        &self.blocks
    }

    /// The rule set of all games.
    pub const fn rules(&self) -> RuleSet {
        self.rules
    }

    /// What all files hold together.
    pub fn totals(&self) -> Totals {
        self.files.iter().fold(Totals::default(), |sum, file| Totals {
            games: sum.games + file.totals.games,
            plies: sum.plies + file.totals.plies,
            positions: sum.positions + file.totals.positions,
        })
    }

    /// Damaged parts that were left out.
    pub fn damaged(&self) -> u64 {
        self.files.iter().map(|file| file.damage.len() as u64).sum()
    }

    /// The files with names, digests and damage, for a manifest.
    pub fn json(&self) -> Value {
        let files = self.files.iter().map(|file| {
            let damage: Vec<_> = file
                .damage
                .iter()
                .map(|damage| json!({ "offset": damage.offset, "what": damage.what }))
                .collect();
            json!({
                "file": file.path.to_string_lossy(),
                "sha256": hex(&file.sha256),
                "bytes": file.bytes,
                "games": file.totals.games,
                "positions": file.totals.positions,
                "damage": damage,
            })
        });
        files.collect()
    }

    /// Decodes all blocks in order: `map` makes something of each block's games, on rayon's threads; `take` gets
    /// that in the order of the files. Ends with [`DerivedError::Stopped`] once `stop` is set. A block that does not decode
    /// though its checksums hold is damage like any other; it gives the number of such blocks left out.
    ///
    /// # Errors
    /// Damage unless it is to be skipped, and what `map` and `take` return.
    pub fn map_blocks<T: Send>(
        &self,
        stop: &AtomicBool,
        map: impl Fn(&BlockPlace, Vec<GameRecord>) -> Result<T, DerivedError> + Sync,
        take: impl FnMut(&BlockPlace, T) -> Result<(), DerivedError>,
    ) -> Result<u64, DerivedError> {
        self.map_some(&self.blocks, stop, map, take)
    }

    /// [`Sources::map_blocks`] for some blocks, in their order.
    ///
    /// # Errors
    /// As there.
    pub fn map_some<T: Send>(
        &self,
        blocks: &[BlockPlace],
        stop: &AtomicBool,
        map: impl Fn(&BlockPlace, Vec<GameRecord>) -> Result<T, DerivedError> + Sync,
        mut take: impl FnMut(&BlockPlace, T) -> Result<(), DerivedError>,
    ) -> Result<u64, DerivedError> {
        let mut open: Option<(usize, Reader<File>)> = None;
        let mut lost = 0;
        for places in blocks.chunks(2 * rayon::current_num_threads()) {
            let raw: Vec<_> = places.iter().map(|place| self.raw(&mut open, place)).collect();
            let one = |(place, raw): (&BlockPlace, Result<RawBlock, ReadError>)| match raw
                .and_then(|block| block.games())
            {
                Ok(games) => map(place, games).map(Some),
                Err(error) => self.damage(place.file, error).map(|()| None),
            };
            let mapped: Vec<_> = places.par_iter().zip(raw).map(one).collect();
            for (place, mapped) in places.iter().zip(mapped) {
                if stop.load(Ordering::Relaxed) {
                    return Err(DerivedError::Stopped);
                }
                match mapped? {
                    Some(mapped) => take(place, mapped)?,
                    None => lost += 1,
                }
            }
        }
        Ok(lost)
    }

    fn raw(
        &self,
        open: &mut Option<(usize, Reader<File>)>,
        place: &BlockPlace,
    ) -> Result<RawBlock, ReadError> {
        if let Some((file, reader)) = open
            && *file == place.file
        {
            return reader.block_at(place.offset);
        }
        let (_, reader) = open.insert((place.file, Reader::open(&self.files[place.file].path)?));
        reader.block_at(place.offset)
    }

    /// Damage met while decoding: skipped, or an error.
    fn damage(&self, file: usize, source: ReadError) -> Result<(), DerivedError> {
        let path = self.files[file].path.clone();
        match source {
            ReadError::Io { .. } => Err(DerivedError::Input { path, source }),
            _ if self.skip_damaged => Ok(()),
            _ => Err(DerivedError::Damaged { path, source }),
        }
    }
}

fn open(path: &Path, skip_damaged: bool) -> Result<Source, DerivedError> {
    let input = |source| DerivedError::Input { path: path.to_owned(), source };
    let mut reader = Reader::open(path).map_err(input)?;
    let mut damage = Vec::new();
    let mut kept = None;
    while let Some(block) = reader.next_block() {
        let Err(error) = block else { continue };
        match error {
            ReadError::Io { .. } | ReadError::Version { .. } => return Err(input(error)),
            _ if skip_damaged => damage.push(Damage { offset: error.offset(), what: error.to_string() }),
            _ => return Err(DerivedError::Damaged { path: path.to_owned(), source: error }),
        }
        kept = Some(error);
    }
    let Some(header) = reader.header().cloned() else {
        let begin = ReadError::Magic { found: Vec::new(), expected: nnue_format::record::MAGIC };
        return Err(input(kept.unwrap_or(begin)));
    };
    let (bytes, sha256) = manifest::hash(path)?;
    let (plan, totals, blocks) = (reader.plan().to_vec(), reader.totals(), reader.index().to_vec());
    Ok(Source { path: path.to_owned(), bytes, sha256, header, plan, totals, damage, blocks })
}
