//! TensorBoard's event files, written and read.
//!
//! ```text
//! u64 length | u32 crc of the length | event, a protocol buffer | u32 crc of the event      all little-endian
//! ```
//!
//! The checksums are CRC-32C, turned and shifted by a constant as the format asks. A run writes one file each time it is
//! started; files are read in the order of their names.

use super::proto::{Event, FILE_VERSION, SessionLog, SessionStatus, Summary, Value, What};
use crate::checkpoint::CheckpointError;
use prost::Message;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use thiserror::Error;

/// Longest event believed; ours stay far below.
const LONGEST: u64 = 1 << 28;
/// What TensorBoard knows event files by: the name holds this word, and a number of seconds that orders them.
const NAME: &str = "events.out.tfevents.";

/// Why reading stopped before the end of a file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EventFileError {
    /// The file ends within an event, as after a kill.
    #[error("byte {offset}: the file ends within an event")]
    Cut {
        /// Where the event begins.
        offset: usize,
    },
    /// A checksum or the event itself is wrong.
    #[error("byte {offset}: {what}")]
    Damaged {
        /// Where the event begins.
        offset: usize,
        /// What is wrong.
        what: String,
    },
}

/// The open event file of a run.
pub struct Events {
    path: PathBuf,
    file: File,
}

impl Events {
    /// Cuts the event files in `folder` back to `step` and opens another one, which says that the run begins or
    /// goes on there.
    ///
    /// # Errors
    /// [`CheckpointError::Io`] with the file.
    pub fn open(folder: &Path, step: u64) -> Result<Events, CheckpointError> {
        let io = |path: &Path| {
            let path = path.to_path_buf();
            move |source| CheckpointError::Io { path, source }
        };
        fs::create_dir_all(folder).map_err(io(folder))?;
        let mut last = 0;
        for path in files(folder).map_err(io(folder))? {
            last = last.max(number(&path).unwrap_or(0));
            cut_back(&path, step).map_err(io(&path))?;
        }
        // Later than every other file, also where a clock was put back.
        let name = format!("{NAME}{:010}.chuhe", (now() as u64).max(last + 1));
        let path = folder.join(name);
        let file = OpenOptions::new().append(true).create_new(true).open(&path).map_err(io(&path))?;
        let mut events = Events { path, file };
        events.write(0, What::FileVersion(FILE_VERSION.to_owned()))?;
        events.write(step + 1, What::SessionLog(SessionLog { status: SessionStatus::Start as i32 }))?;
        Ok(events)
    }

    /// Appends the values of a step.
    ///
    /// # Errors
    /// [`CheckpointError::Io`].
    pub fn add(&mut self, step: u64, value: Vec<Value>) -> Result<(), CheckpointError> {
        self.write(step, What::Summary(Summary { value }))
    }

    /// Waits until everything is on disk.
    ///
    /// # Errors
    /// [`CheckpointError::Io`].
    pub fn sync(&mut self) -> Result<(), CheckpointError> {
        self.file.sync_data().map_err(|source| CheckpointError::Io { path: self.path.clone(), source })
    }

    fn write(&mut self, step: u64, what: What) -> Result<(), CheckpointError> {
        let event = Event { wall_time: now(), step: step as i64, what: Some(what) };
        // In one call, so that a kill between two calls cannot cut it.
        let written = self.file.write_all(&framed(&event));
        written.map_err(|source| CheckpointError::Io { path: self.path.clone(), source })
    }
}

/// The event files in a folder, in their order.
///
/// # Errors
/// The system's word.
pub fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(NAME) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// The whole events of a file with the places of their ends, and why there are no more, unless the file ends there.
pub fn read(bytes: &[u8]) -> (Vec<(Event, usize)>, Option<EventFileError>) {
    let mut events = Vec::new();
    let mut offset = 0;
    while offset < bytes.len() {
        match read_one(&bytes[offset..], offset) {
            Ok((event, length)) => {
                offset += length;
                events.push((event, offset));
            }
            Err(error) => return (events, Some(error)),
        }
    }
    (events, None)
}

/// The event at the start of `bytes`, which are those from `offset` on, and its length with its frame.
fn read_one(bytes: &[u8], offset: usize) -> Result<(Event, usize), EventFileError> {
    let cut = EventFileError::Cut { offset };
    let damaged = |what: &str| EventFileError::Damaged { offset, what: what.to_owned() };
    let Some((head, rest)) = bytes.split_first_chunk::<8>() else { return Err(cut) };
    let Some((head_crc, rest)) = rest.split_first_chunk::<4>() else { return Err(cut) };
    let length = u64::from_le_bytes(*head);
    if masked_crc(head) != u32::from_le_bytes(*head_crc) || length > LONGEST {
        return Err(damaged("the checksum of the length is wrong"));
    }
    let Some((data, rest)) = rest.split_at_checked(length as usize) else { return Err(cut) };
    let Some(crc) = rest.first_chunk::<4>() else { return Err(cut) };
    if masked_crc(data) != u32::from_le_bytes(*crc) {
        return Err(damaged("the checksum of the event is wrong"));
    }
    let event = Event::decode(data).map_err(|error| damaged(&error.to_string()))?;
    Ok((event, data.len() + 16))
}

/// Takes the events of later steps off the end of a file, and with them what a kill left; a file that told nothing else
/// goes away.
fn cut_back(path: &Path, step: u64) -> std::io::Result<()> {
    let (events, _) = read(&fs::read(path)?);
    let kept = events.iter().take_while(|(event, _)| event.step.unsigned_abs() <= step);
    let (mut end, mut tells) = (0, false);
    for (event, event_end) in kept {
        end = *event_end;
        tells |= matches!(event.what, Some(What::Summary(_)));
    }
    if !tells {
        return fs::remove_file(path);
    }
    let file = OpenOptions::new().write(true).open(path)?;
    if file.metadata()?.len() != end as u64 {
        file.set_len(end as u64)?;
        file.sync_data()?;
    }
    Ok(())
}

/// The seconds in the name of an event file.
fn number(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.strip_prefix(NAME)?.split('.').next()?.parse().ok()
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

fn framed(event: &Event) -> Vec<u8> {
    let data = event.encode_to_vec();
    let head = (data.len() as u64).to_le_bytes();
    let mut bytes = Vec::with_capacity(data.len() + 16);
    bytes.extend(head);
    bytes.extend(masked_crc(&head).to_le_bytes());
    bytes.extend(&data);
    bytes.extend(masked_crc(&data).to_le_bytes());
    bytes
}

/// The format's own form of CRC-32C, meant for checksums of data that hold checksums.
fn masked_crc(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(folder: &Path) -> Vec<i64> {
        let mut found = Vec::new();
        for path in files(folder).unwrap() {
            let (events, error) = read(&fs::read(path).unwrap());
            assert_eq!(error, None);
            let summaries = events.iter().filter(|(event, _)| matches!(event.what, Some(What::Summary(_))));
            found.extend(summaries.map(|(event, _)| event.step));
        }
        found
    }

    fn write(folder: &Path, done: u64, steps: std::ops::RangeInclusive<u64>) {
        let mut events = Events::open(folder, done).unwrap();
        for step in steps {
            events.add(step, vec![Value::scalar("loss", step as f64)]).unwrap();
        }
        events.sync().unwrap();
    }

    #[test]
    fn the_frame_is_the_one_of_the_format() {
        // The first record of a file written by TensorFlow 2, wall time 1.0.
        let event = Event { wall_time: 1.0, step: 0, what: Some(What::FileVersion(FILE_VERSION.to_owned())) };
        let bytes = framed(&event);
        assert_eq!(bytes[..8], [24, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[8..12], [0xa3, 0x7f, 0x4b, 0x22], "the checksum of the length 24");
        assert_eq!(bytes[12..21], [0x09, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
        assert_eq!(&bytes[21..36], b"\x1a\x0dbrain.Event:2");
        assert_eq!(read(&bytes).0[0], (event, bytes.len()));
    }

    #[test]
    fn a_resumed_run_has_every_step_once() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        write(folder, 0, 1..=13);
        write(folder, 8, 9..=20);
        assert_eq!(steps(folder), (1..=20).collect::<Vec<i64>>());
        // Twice from one checkpoint: the second file told nothing that is still true.
        write(folder, 20, 21..=22);
        write(folder, 20, 21..=25);
        assert_eq!(files(folder).unwrap().len(), 3);
        assert_eq!(steps(folder), (1..=25).collect::<Vec<i64>>());
        // Begun anew, for want of a checkpoint.
        write(folder, 0, 1..=2);
        assert_eq!(steps(folder), [1, 2]);
    }

    #[test]
    fn what_a_kill_leaves_is_cut_off_and_damage_is_named() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), 0, 1..=3);
        let path = &files(folder.path()).unwrap()[0];
        let whole = fs::read(path).unwrap();
        for cut in 1..16 {
            let bytes = &whole[..whole.len() - cut];
            let (events, error) = read(bytes);
            assert_eq!(events.len(), 4);
            assert!(matches!(error, Some(EventFileError::Cut { .. })), "{error:?}");
        }
        let mut damaged = whole.clone();
        let place = damaged.len() - 6;
        damaged[place] ^= 1;
        assert!(matches!(read(&damaged).1, Some(EventFileError::Damaged { .. })));
        fs::write(path, &whole[..whole.len() - 3]).unwrap();
        write(folder.path(), 2, 3..=4);
        assert_eq!(steps(folder.path()), [1, 2, 3, 4]);
    }
}
