//! One step's child process.
//!
//! ```text
//! stdout → STEP.json   its answer; locked by whoever holds it open, so by the child even when the loop is gone
//! stderr → STEP.log    its progress, which the loop passes on to its own stderr
//! ```
//!
//! The child is in a process group of its own: an interrupt at the terminal reaches the loop alone, which passes it on.
//! A child whose loop was killed works on and keeps the lock; the next loop asks it to stop and then goes on.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, IsTerminal, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::progress::note;

/// Between two looks at a child.
const POLL: Duration = Duration::from_millis(50);
/// Between two looks at what it writes.
const LOOK: Duration = Duration::from_millis(500);
/// How long a child left over by a killed loop may take to stop.
const LEFT_OVER_WAIT: Duration = Duration::from_secs(120);
/// So much of the end of a log is kept for a message, in bytes and in lines.
const TAIL: (u64, usize) = (4096, 6);

/// How often the loop was asked to stop.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicUsize>);

impl Stop {
    /// Asks once more.
    pub fn ask(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Was it asked to?
    pub fn is_asked(&self) -> bool {
        self.times() > 0
    }

    fn times(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// What to start.
pub(super) struct Job<'a> {
    /// The program.
    pub(super) program: PathBuf,
    /// Its words.
    pub(super) args: &'a [String],
    /// Where it runs.
    pub(super) folder: &'a Path,
    /// Where its stdout goes.
    pub(super) answer: PathBuf,
    /// Where its stderr goes, behind what is there.
    pub(super) log: PathBuf,
    /// The process that an earlier loop started for this step, if any.
    pub(super) before: Option<u32>,
    /// What stands before each line that is passed on; `None`: nothing is.
    pub(super) shown: Option<String>,
}

/// Runs a child to its end. `prepare` is called when no earlier one works any more, `started` hears the new one's process
/// number. Interrupts are passed on to it.
///
/// # Errors
/// When it cannot be started, or one of an earlier loop does not stop.
pub(super) fn run(
    job: &Job<'_>,
    stop: &Stop,
    prepare: &mut dyn FnMut() -> io::Result<()>,
    started: &mut dyn FnMut(u32) -> io::Result<()>,
) -> io::Result<ExitStatus> {
    let answer = locked(job, stop)?;
    prepare()?;
    let mut log = OpenOptions::new().create(true).read(true).append(true).open(&job.log)?;
    let mut echo = Echo { at: log.seek(SeekFrom::End(0))?, rest: String::new(), shown: job.shown.clone() };
    let mut command = Command::new(&job.program);
    command.args(job.args).current_dir(job.folder).stdin(Stdio::null());
    command.stdout(answer.try_clone()?).stderr(log.try_clone()?);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    let heard = started(child.id());
    if heard.is_err() {
        _ = child.kill();
    }
    let status = wait(&mut child, stop, &mut echo, &mut log);
    heard.and(status)
}

/// The answer's file, emptied and locked; a child of an earlier loop that holds it is asked to stop.
fn locked(job: &Job<'_>, stop: &Stop) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(false).open(&job.answer)?;
    let begun = Instant::now();
    let mut asked = false;
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => {}
        }
        if !asked {
            asked = true;
            note("a step of an earlier loop still works; it is asked to stop");
            holders(&job.answer, job.before).into_iter().for_each(interrupt);
        }
        if begun.elapsed() > LEFT_OVER_WAIT || stop.is_asked() {
            let pid = job.before.map_or_else(|| "unknown".to_owned(), |pid| pid.to_string());
            let what = format!(
                "a step of an earlier loop (process {pid}) still works; wait for it or end it, then start the loop again"
            );
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, what));
        }
        std::thread::sleep(POLL);
    }
    file.set_len(0)?;
    Ok(file)
}

/// The processes whose stdout is the file; where that cannot be known, the one that the journal names.
fn holders(file: &Path, known: Option<u32>) -> Vec<u32> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return known.into_iter().collect() };
    let Ok(file) = std::fs::canonicalize(file) else { return Vec::new() };
    let holds =
        |pid: &u32| std::fs::read_link(format!("/proc/{pid}/fd/1")).is_ok_and(|stdout| stdout == file);
    let numbers = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.filter(holds).collect()
}

#[cfg(unix)]
fn interrupt(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) {
        // It may just have ended by itself.
        _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
    }
}

#[cfg(not(unix))]
fn interrupt(_: u32) {}

fn wait(child: &mut Child, stop: &Stop, echo: &mut Echo, log: &mut File) -> io::Result<ExitStatus> {
    let mut passed_on = 0;
    let mut looked = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            echo.show(log);
            echo.finish();
            return Ok(status);
        }
        if stop.times() > passed_on {
            passed_on = stop.times();
            interrupt(child.id());
            #[cfg(not(unix))]
            child.kill()?;
        }
        if looked.elapsed() >= LOOK {
            looked = Instant::now();
            echo.show(log);
        }
        std::thread::sleep(POLL);
    }
}

/// Passes lines of a log on to stderr: all of them, on a terminal the last one in its place.
struct Echo {
    at: u64,
    rest: String,
    shown: Option<String>,
}

impl Echo {
    fn show(&mut self, log: &mut File) {
        let Some(before) = &self.shown else { return };
        let mut bytes = Vec::new();
        // What cannot be read back is in the log all the same.
        if log.seek(SeekFrom::Start(self.at)).and_then(|_| log.read_to_end(&mut bytes)).is_err() {
            return;
        }
        self.at += bytes.len() as u64;
        self.rest.push_str(&String::from_utf8_lossy(&bytes));
        let Some(end) = self.rest.rfind(['\n', '\r']) else { return };
        let lines: String = self.rest.drain(..=end).collect();
        let mut lines = lines.split(['\n', '\r']).map(str::trim_end).filter(|line| !line.is_empty());
        let mut stderr = io::stderr().lock();
        if stderr.is_terminal() {
            if let Some(last) = lines.next_back() {
                let line: String = format!("{before}{last}").chars().take(110).collect();
                _ = write!(stderr, "\r\x1b[K{line}");
            }
        } else {
            lines.for_each(|line| _ = writeln!(stderr, "{before}{line}"));
        }
    }

    fn finish(&self) {
        if self.shown.is_some() && io::stderr().is_terminal() {
            _ = write!(io::stderr().lock(), "\r\x1b[K");
        }
    }
}

/// The last lines of a log, for a message.
pub(super) fn tail(log: &Path) -> String {
    let read = || -> io::Result<String> {
        let mut file = File::open(log)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL.0)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let text = read().unwrap_or_default();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(TAIL.1)..].join("\n")
}
