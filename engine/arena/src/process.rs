//! An engine's process: lines in, lines out, every wait bounded, always reaped.
//!
//! Three threads serve a process, so that none of its pipes can block us or it: one writes what we
//! queue, one reads lines and stamps them with the time of their arrival, one drains stderr and
//! keeps its end for reports. They finish when the process does.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Longer lines are cut; nothing an engine has to say is as long.
const LINE_BYTES: usize = 1 << 16;

/// Lines that may wait for us; then the engine waits.
const LINES_WAITING: usize = 1024;

/// How much of the end of stderr is kept.
const STDERR_BYTES: usize = 2048;

/// How long a process has after `quit` before it is killed.
const QUIT_WAIT: Duration = Duration::from_millis(500);

/// How long we wait for the exit status of a process that closed its output.
const EXIT_WAIT: Duration = Duration::from_millis(500);

/// Between two looks at a process that should end.
const POLL: Duration = Duration::from_millis(5);

/// A line from the engine.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Without the line end; invalid UTF-8 replaced.
    pub(crate) text: String,
    /// When its end arrived.
    pub(crate) at: Instant,
}

/// No line came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoLine {
    /// The deadline passed.
    Timeout,
    /// The engine closed its output.
    Closed,
}

/// A running engine. Dropping it asks it to quit, kills it if it does not, and reaps it.
pub(crate) struct EngineProcess {
    child: Child,
    exit: Option<ExitStatus>,
    outbox: Option<Sender<String>>,
    lines: Receiver<Line>,
    stderr: Arc<Mutex<Vec<u8>>>,
    /// Closed when stderr has been read to its end.
    stderr_end: Receiver<()>,
}

impl EngineProcess {
    /// Starts `words[0]` with the other words as arguments, in a process group of its own: an
    /// interrupt at the terminal is for us, who then end the engines.
    pub(crate) fn spawn(words: &[String]) -> io::Result<EngineProcess> {
        let (program, arguments) = words
            .split_first()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the command is empty"))?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let (outbox, queue) = channel();
        let (sink, lines) = sync_channel(LINES_WAITING);
        let stderr = Arc::new(Mutex::new(Vec::new()));
        if let Some(stdin) = child.stdin.take() {
            thread::spawn(move || write_lines(stdin, &queue));
        }
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || read_lines(BufReader::new(stdout), &sink));
        }
        let (open, stderr_end) = channel();
        if let Some(pipe) = child.stderr.take() {
            let kept = Arc::clone(&stderr);
            thread::spawn(move || {
                drain(pipe, &kept);
                drop(open);
            });
        }
        Ok(EngineProcess { child, exit: None, outbox: Some(outbox), lines, stderr, stderr_end })
    }

    /// Queues a line for the engine. Never blocks; that the engine is gone shows when reading.
    pub(crate) fn send(&self, line: &str) {
        if let Some(outbox) = &self.outbox {
            // An error means that the writer ended because the pipe broke.
            let _ = outbox.send(format!("{line}\n"));
        }
    }

    /// The next line, waiting until the deadline at most.
    pub(crate) fn read(&self, deadline: Instant) -> Result<Line, NoLine> {
        let wait = deadline.saturating_duration_since(Instant::now());
        self.lines.recv_timeout(wait).map_err(|error| match error {
            RecvTimeoutError::Timeout => NoLine::Timeout,
            RecvTimeoutError::Disconnected => NoLine::Closed,
        })
    }

    /// The exit status of an engine that closed its output, if it ends soon.
    pub(crate) fn exit_status(&mut self) -> Option<ExitStatus> {
        self.wait_for_exit(EXIT_WAIT)
    }

    fn wait_for_exit(&mut self, wait: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + wait;
        loop {
            if self.exit.is_none() {
                self.exit = self.child.try_wait().ok().flatten();
            }
            if self.exit.is_some() || Instant::now() >= deadline {
                return self.exit;
            }
            thread::sleep(POLL);
        }
    }

    /// The end of what it wrote to stderr, on one line. If the process has ended, all of it is there.
    pub(crate) fn stderr_tail(&self) -> String {
        if self.exit.is_some() {
            let _ = self.stderr_end.recv_timeout(EXIT_WAIT);
        }
        let kept = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Kills the process and, on Unix, whatever it started, and reaps it.
    pub(crate) fn kill(&mut self) {
        self.outbox = None;
        if self.exit.is_some() {
            return; // reaped: its number may belong to another process by now
        }
        #[cfg(unix)]
        {
            let group = rustix::process::Pid::from_child(&self.child);
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.child.kill();
        self.exit = self.child.wait().ok();
    }
}

impl Drop for EngineProcess {
    fn drop(&mut self) {
        self.send("quit");
        self.outbox = None;
        if self.wait_for_exit(QUIT_WAIT).is_none() {
            self.kill();
        }
    }
}

fn write_lines(mut stdin: ChildStdin, queue: &Receiver<String>) {
    for line in queue {
        if stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

/// Sends lines on until the pipe or the receiver is closed.
fn read_lines(mut from: impl BufRead, sink: &SyncSender<Line>) {
    let mut line = Vec::new();
    loop {
        let (used, ended) = match from.fill_buf() {
            Ok([]) => return,
            Ok(bytes) => {
                let end = bytes.iter().position(|&b| b == b'\n');
                let part = &bytes[..end.unwrap_or(bytes.len())];
                let room = LINE_BYTES.saturating_sub(line.len());
                line.extend_from_slice(&part[..part.len().min(room)]);
                (part.len() + usize::from(end.is_some()), end.is_some())
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        from.consume(used);
        if ended {
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            line.clear();
            if sink.send(Line { text, at: Instant::now() }).is_err() {
                return;
            }
        }
    }
}

/// Reads to the end, keeping the last bytes.
fn drain(mut pipe: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 4096];
    while let Ok(n) = pipe.read(&mut buffer) {
        if n == 0 {
            return;
        }
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&buffer[..n]);
        let surplus = kept.len().saturating_sub(STDERR_BYTES);
        kept.drain(..surplus);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_and_counted() {
        let (sink, lines) = sync_channel(16);
        let mut bytes = vec![b'x'; 3 * LINE_BYTES];
        bytes.extend_from_slice(b"\r\n\xff\xfe\xe8\xb1\xa1\nlast without end");
        read_lines(BufReader::new(&bytes[..]), &sink);
        drop(sink);
        let texts: Vec<String> = lines.iter().map(|line| line.text).collect();
        assert_eq!(texts.len(), 2);
        assert_eq!(texts[0].len(), LINE_BYTES);
        assert_eq!(texts[1], "\u{fffd}\u{fffd}象");
    }
}
