//! Libraries: a header, an index with an entry for each slot, and records in slots of 4,096 bytes.

use crate::error::{FileError, Place, ReadGame};

use super::{RECORD_MAGIC, record};

/// Where the number of slots stands that the index has room for: 32 bits.
const SLOTS: usize = 60;
/// Where the index begins.
const INDEX: usize = 66_624;
/// Bytes of an entry of the index.
const ENTRY: usize = 276;
/// Bytes of a slot. A record begins at one and may go on into the next.
const SLOT: usize = 4096;
/// A bit in the first byte of an entry: unset where the record was deleted and is still there.
const IN_USE: u8 = 2;

/// Every record of a library, those that were deleted included, which have a warning.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<ReadGame>, FileError> {
    let starts = record_starts(bytes);
    let first_expected = first_slot(bytes);
    if starts.is_empty() && first_expected.is_none_or(|first| first > bytes.len()) {
        let expected = "the index of the library and its first record";
        let found = format!("the end of the file after {} bytes", bytes.len());
        return Err(FileError::new(Place::Byte(bytes.len()), expected, &found));
    }
    let ends = starts.iter().skip(1).copied().chain([bytes.len()]);
    let games = starts.iter().zip(ends).enumerate().map(|(i, (&start, end))| {
        let mut game = record::read(i + 1, &bytes[start..end], start);
        if is_deleted(bytes, i) {
            game.warnings.push("the library's index says that this record was deleted".to_owned());
        }
        game
    });
    Ok(games.collect())
}

/// Where the first slot should be.
fn first_slot(bytes: &[u8]) -> Option<usize> {
    let slots = bytes.get(SLOTS..)?.first_chunk::<4>()?;
    usize::try_from(u32::from_le_bytes(*slots)).ok()?.checked_mul(ENTRY)?.checked_add(INDEX)
}

/// The slots that begin with a record. Where the index is not as long as the header says, they are counted
/// from the first record.
fn record_starts(bytes: &[u8]) -> Vec<usize> {
    let begins = |at: usize| bytes.get(at..).is_some_and(|rest| rest.starts_with(RECORD_MAGIC));
    let first = first_slot(bytes).filter(|&at| begins(at));
    let first = first.or_else(|| bytes.windows(RECORD_MAGIC.len()).position(|window| window == RECORD_MAGIC));
    let Some(first) = first else { return Vec::new() };
    (first..bytes.len()).step_by(SLOT).filter(|&at| begins(at)).collect()
}

fn is_deleted(bytes: &[u8], number: usize) -> bool {
    let state = bytes.get(INDEX + number * ENTRY);
    state.is_some_and(|&state| state != 0 && state & IN_USE == 0)
}
