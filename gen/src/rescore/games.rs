//! The games of the inputs, one after the other: one block in memory.

use std::fs::File;
use std::path::PathBuf;

use nnue_format::record::{GameRecord, ReadError, Reader};

use crate::derived::{BlockPlace, DerivedError, Sources};

/// The games; after an error nothing more comes.
pub struct Games<'a> {
    sources: &'a Sources,
    skip_damaged: bool,
    next_block: usize,
    open: Option<(usize, Reader<File>)>,
    block: std::vec::IntoIter<GameRecord>,
    /// Blocks left out because they do not decode though their checksums hold.
    pub lost: u64,
}

impl<'a> Games<'a> {
    /// All games of the inputs, in their order.
    pub fn new(sources: &'a Sources, skip_damaged: bool) -> Games<'a> {
        let block = Vec::new().into_iter();
        Games { sources, skip_damaged, next_block: 0, open: None, block, lost: 0 }
    }

    fn path(&self, place: &BlockPlace) -> PathBuf {
        self.sources.files()[place.file].path.clone()
    }

    fn read(&mut self, place: &BlockPlace) -> Result<Vec<GameRecord>, ReadError> {
        let reader = match &mut self.open {
            Some((file, reader)) if *file == place.file => reader,
            open => &mut open.insert((place.file, Reader::open(&self.sources.files()[place.file].path)?)).1,
        };
        reader.block_at(place.offset)?.games()
    }
}

impl Iterator for Games<'_> {
    type Item = Result<GameRecord, DerivedError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(game) = self.block.next() {
                return Some(Ok(game));
            }
            let place = *self.sources.blocks().get(self.next_block)?;
            self.next_block += 1;
            match self.read(&place) {
                Ok(games) => self.block = games.into_iter(),
                Err(error) if self.skip_damaged && !matches!(error, ReadError::Io { .. }) => self.lost += 1,
                Err(source) => {
                    self.next_block = self.sources.blocks().len();
                    return Some(Err(DerivedError::Damaged { path: self.path(&place), source }));
                }
            }
        }
    }
}
