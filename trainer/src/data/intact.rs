//! Are the record files whole? Asked before a run begins, so that damage is met then and not days later.

use super::error::DataError;
use super::location::Location;
use super::source::Source;
use nnue_format::record::Reader;
use rayon::prelude::*;
use std::path::Path;

/// Reads every block of the files on disk and holds it against its checksums, without unpacking it: some tenths of a second
/// a gigabyte that was hashed just before. Remote files are not fetched for it.
///
/// # Errors
/// [`DataError::Read`] with the file and the byte where its first damaged block begins.
pub fn check_blocks(source: &Source) -> Result<(), DataError> {
    (0..source.files().len()).into_par_iter().try_for_each(|file| match &source.files()[file].path {
        Location::File(path) => check_file(source, file, path),
        Location::Url(_) => Ok(()),
    })
}

fn check_file(source: &Source, file: usize, path: &Path) -> Result<(), DataError> {
    let named = |error| DataError::Read { file: source.files()[file].path.clone(), source: error };
    let mut reader = Reader::open(path).map_err(named)?;
    for block in source.blocks().iter().filter(|block| block.file as usize == file) {
        reader.block_at(block.offset).map_err(named)?;
    }
    Ok(())
}
