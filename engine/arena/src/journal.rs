//! The journal of a match or a tuning: its only truth.
//!
//! One JSON object a line. The first holds the plan, each other one a finished pair, in the order in
//! which they finished. Each ends with its own check, so that a line stands whole or not at all:
//!
//! ```text
//! {"journal":"chuhe-match/1","plan":{…},"crc":"5d3fa1c2"}
//! {"pair":0,"start":"rnbakabnr/…","opening_plies":8,"games":[{…},{…}],"crc":"0be2c1f7"}
//!                                                              └ CRC32C of the bytes before ,"crc"
//! ```
//!
//! A line is written in one piece and synced before its pair counts. A run killed in the middle of a
//! line leaves a torn end, which the next run cuts off; damage anywhere else is refused.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::record::PairRecord;

/// A run that was killed while it started an engine leaves a process that holds its files until it has become the engine.
const STARTING: Duration = Duration::from_secs(1);
/// Between two tries to lock.
const TRY_EVERY: Duration = Duration::from_millis(20);

/// Locks a journal for this process.
fn locked(file: &File) -> Result<(), TryLockError> {
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if begun.elapsed() < STARTING => std::thread::sleep(TRY_EVERY),
            other => return other,
        }
    }
}

/// What a journal holds of each pair.
pub trait Entry: Serialize + DeserializeOwned {
    /// Name and version of the format.
    const FORMAT: &'static str;

    /// The pair's number.
    fn number(&self) -> u64;
}

impl Entry for PairRecord {
    const FORMAT: &'static str = "chuhe-match/1";

    fn number(&self) -> u64 {
        self.pair
    }
}

/// Before a line's check.
const CHECK: &str = ",\"crc\":\"";

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The system refuses.
    #[error("journal {path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// Another run writes to it.
    #[error("journal {path} is in use by another run; wait for it or take another file")]
    InUse {
        /// The file.
        path: String,
    },
    /// A damaged line before the last.
    #[error(
        "journal {path}, line {line}: {what}. The file was changed or damaged; restore it, or delete that line to play its pair again"
    )]
    Damaged {
        /// The file.
        path: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// It belongs to another match (or tuning, or loop).
    #[error(
        "journal {path} belongs to another run: {key} is {found} there and {expected} here. Give the same settings to continue it, or take another file"
    )]
    OtherPlan {
        /// The file.
        path: String,
        /// The first part of the plan that differs.
        key: String,
        /// In the journal.
        found: String,
        /// In this run.
        expected: String,
    },
}

/// An open journal, locked against other runs.
pub struct Journal<E> {
    file: File,
    path: PathBuf,
    entries: PhantomData<E>,
}

impl<E: Entry> Journal<E> {
    /// Opens or begins the journal of a plan and gives the pairs it holds, by number.
    ///
    /// # Errors
    /// Refuses a file in use, a damaged one, and one with another plan.
    pub fn open(path: &Path, plan: &Value) -> Result<(Journal<E>, BTreeMap<u64, E>), JournalError> {
        let shown = path.display().to_string();
        let io_error = |source| JournalError::Io { path: shown.clone(), source };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(io_error)?;
        match locked(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(JournalError::InUse { path: shown }),
            Err(TryLockError::Error(source)) => return Err(io_error(source)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io_error)?;
        let (pairs, whole) = read(&bytes, plan, &shown)?;
        file.set_len(whole as u64).and_then(|()| file.seek(SeekFrom::End(0))).map_err(io_error)?;
        let mut journal = Journal { file, path: path.to_owned(), entries: PhantomData };
        if whole == 0 {
            let head = serde_json::json!({ "journal": E::FORMAT, "plan": plan });
            journal.append(&head.to_string()).map_err(io_error)?;
            sync_folder(path).map_err(io_error)?;
        }
        Ok((journal, pairs))
    }

    /// What a journal holds, whatever its plan; it may be in use, and stays as it is.
    ///
    /// # Errors
    /// When it cannot be read, is damaged, or is of another format.
    pub fn peek(path: &Path) -> Result<BTreeMap<u64, E>, JournalError> {
        let shown = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|source| JournalError::Io { path: shown.clone(), source })?;
        let head = bytes.split(|&b| b == b'\n').next().and_then(|line| unsealed(line).ok());
        let plan = head.map_or(Value::Null, |head| head["plan"].clone());
        read(&bytes, &plan, &shown).map(|(entries, _)| entries)
    }

    /// Writes a finished pair and waits until it is on the disk.
    ///
    /// # Errors
    /// When the system refuses; the pair does not count then.
    pub fn write(&mut self, record: &E) -> Result<(), JournalError> {
        let io_error = |source| JournalError::Io { path: self.path.display().to_string(), source };
        let body = serde_json::to_string(record).map_err(|error| io_error(error.into()))?;
        self.append(&body)
            .map_err(|source| JournalError::Io { path: self.path.display().to_string(), source })
    }

    fn append(&mut self, body: &str) -> io::Result<()> {
        self.file.write_all(sealed(body).as_bytes())?;
        self.file.sync_data()
    }
}

/// A new file is there for good only when its folder is on the disk as well.
fn sync_folder(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        File::open(parent.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// A line with its check and line end, from an object's JSON.
fn sealed(object: &str) -> String {
    let body = object.strip_suffix('}').unwrap_or(object);
    format!("{body}{CHECK}{:08x}\"}}\n", crc32c::crc32c(body.as_bytes()))
}

/// The object on a line, if its check holds.
fn unsealed(line: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(line).map_err(|error| error.to_string())?;
    let (body, check) = text.rsplit_once(CHECK).ok_or("it has no check at its end")?;
    let found = check.strip_suffix("\"}").and_then(|hex| u32::from_str_radix(hex, 16).ok());
    let expected = crc32c::crc32c(body.as_bytes());
    if found != Some(expected) {
        return Err(format!("its check is {check:?}; expected {expected:08x}"));
    }
    serde_json::from_str(&format!("{body}}}")).map_err(|error| error.to_string())
}

/// The pairs in a journal's bytes, and how many bytes are whole lines.
fn read<E: Entry>(bytes: &[u8], plan: &Value, path: &str) -> Result<(BTreeMap<u64, E>, usize), JournalError> {
    let mut pairs = BTreeMap::new();
    let mut whole = 0;
    for (i, line) in bytes.split_inclusive(|&b| b == b'\n').enumerate() {
        let last = whole + line.len() == bytes.len();
        let damaged = |what| JournalError::Damaged { path: path.to_owned(), line: i + 1, what };
        let Some(text) = line.strip_suffix(b"\n") else { break };
        let value = match unsealed(text) {
            Ok(value) => value,
            // A torn write may have left its length but not its bytes. (A foreign file of one line is
            // not cut to nothing.)
            Err(_) if last && i > 0 => break,
            Err(what) => return Err(damaged(what)),
        };
        if i == 0 {
            check_plan(&value, (E::FORMAT, plan), path)?;
        } else {
            let record: E = serde_json::from_value(value).map_err(|e| damaged(e.to_string()))?;
            let number = record.number();
            if pairs.insert(number, record).is_some() {
                return Err(damaged(format!("pair {number} stands here a second time")));
            }
        }
        whole += line.len();
    }
    if whole == 0 && !bytes.is_empty() && !b"{\"journal\":".starts_with(&bytes[..bytes.len().min(11)]) {
        let what = "the file is no journal".to_owned();
        return Err(JournalError::Damaged { path: path.to_owned(), line: 1, what });
    }
    Ok((pairs, whole))
}

fn check_plan(head: &Value, (format, plan): (&str, &Value), path: &str) -> Result<(), JournalError> {
    let differs = |key: &str, found: &Value, expected: &Value| JournalError::OtherPlan {
        path: path.to_owned(),
        key: key.to_owned(),
        found: found.to_string(),
        expected: expected.to_string(),
    };
    let format = Value::from(format);
    if head["journal"] != format {
        return Err(differs("format", &head["journal"], &format));
    }
    let empty = serde_json::Map::new();
    let (found, expected) = (head["plan"].as_object().unwrap_or(&empty), plan.as_object().unwrap_or(&empty));
    for key in expected.keys().chain(found.keys()) {
        let (there, here) = (&head["plan"][key], &plan[key]);
        if there != here {
            return Err(differs(key, there, here));
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
