//! Single blocks of a run's files; remote ones are asked for ahead of time.

use super::location::Location;
#[cfg(feature = "remote")]
use super::remote::{Fetch, Object};
use super::source::{BlockPlace, Source};
use nnue_format::record::{RawBlock, ReadError};
#[cfg(feature = "remote")]
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Remote blocks of a lane that are on their way: enough to hide a round trip behind their decoding, some 200 KB.
#[cfg(feature = "remote")]
const AHEAD: usize = 4;

/// No block is longer, nor read further: behind the last one stands the file's index.
const MOST_BYTES: u64 = (1 << 24) + (1 << 12);

/// Reads blocks. Keeps one file open at a time, for reading only.
pub(super) struct BlockReader {
    source: Arc<Source>,
    open: Option<(u32, File)>,
    #[cfg(feature = "remote")]
    ahead: VecDeque<(u32, Fetch)>,
    #[cfg_attr(not(feature = "remote"), expect(dead_code, reason = "only the network is waited for"))]
    stop: Arc<AtomicBool>,
}

impl BlockReader {
    /// A reader that gives up waiting when `stop` is set.
    pub(super) fn new(source: Arc<Source>, stop: Arc<AtomicBool>) -> BlockReader {
        BlockReader {
            source,
            open: None,
            #[cfg(feature = "remote")]
            ahead: VecDeque::new(),
            stop,
        }
    }

    /// Tells which blocks will be read next, in this order.
    pub(super) fn will_read(&mut self, blocks: &[u32]) {
        #[cfg(feature = "remote")]
        {
            let soon = &blocks[..blocks.len().min(AHEAD)];
            self.ahead.retain(|(block, _)| soon.contains(block));
            for &block in soon {
                let place = self.source.blocks()[block as usize];
                let Location::Url(url) = &self.source.files()[place.file as usize].path else { continue };
                if self.ahead.iter().any(|(other, _)| *other == block) {
                    continue;
                }
                // What goes wrong here goes wrong again when the block is read, and is told then.
                if let Ok(fetch) = Object::of(url).and_then(|object| object.fetch(range(place))) {
                    self.ahead.push_back((block, fetch));
                }
            }
        }
        #[cfg(not(feature = "remote"))]
        let _ = blocks;
    }

    /// Reads a block.
    pub(super) fn read(&mut self, block: u32) -> Result<RawBlock, ReadError> {
        let place = self.source.blocks()[block as usize];
        let bytes =
            self.bytes(block, place).map_err(|source| ReadError::Io { offset: place.offset, source })?;
        RawBlock::from_bytes(&bytes, place.offset)
    }

    fn bytes(&mut self, block: u32, place: BlockPlace) -> io::Result<Vec<u8>> {
        match &self.source.files()[place.file as usize].path {
            Location::File(path) => {
                if self.open.as_ref().is_none_or(|(file, _)| *file != place.file) {
                    self.open = Some((place.file, File::open(path)?));
                }
                match &mut self.open {
                    Some((_, file)) => read_range(file, place),
                    None => unreachable!("opened just above"),
                }
            }
            #[cfg(feature = "remote")]
            Location::Url(url) => {
                let Some(asked) = self.ahead.iter().position(|(other, _)| *other == block) else {
                    return Object::of(url)?.fetch(range(place))?.wait(&self.stop);
                };
                let bytes = self.ahead[asked].1.wait(&self.stop);
                self.ahead.remove(asked);
                bytes
            }
            #[cfg(not(feature = "remote"))]
            Location::Url(_) => {
                let _ = block;
                Err(super::input::no_remote())
            }
        }
    }
}

#[cfg(feature = "remote")]
fn range(place: BlockPlace) -> std::ops::Range<u64> {
    place.offset..place.end.min(place.offset + MOST_BYTES)
}

/// The bytes of a block; fewer where the file ends before.
fn read_range(file: &mut File, place: BlockPlace) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(place.offset))?;
    let length = (place.end - place.offset).min(MOST_BYTES);
    let mut bytes = Vec::with_capacity(length as usize);
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}
