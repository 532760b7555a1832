//! The real program at the other end of two pipes, with a time-out on everything that is waited for.

#![allow(dead_code, reason = "each test file uses its part of this")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Longer than any answer takes, on the slowest machine under load.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Engine {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// All that was said on either side, for messages.
    log: Vec<String>,
}

/// Does `text` fit `pattern`? `*` stands for any text, `{n}` for a whole number, `{move}` for a move.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    let Some(at) = pattern.find(['*', '{']) else { return pattern == text };
    let (head, tail) = pattern.split_at(at);
    let Some(rest) = text.strip_prefix(head) else { return false };
    let ends = (0..=rest.len()).filter(|&i| rest.is_char_boundary(i));
    if let Some(after) = tail.strip_prefix('*') {
        return ends.rev().any(|end| fits(after, &rest[end..]));
    }
    if let Some(after) = tail.strip_prefix("{n}") {
        return ends.rev().any(|end| rest[..end].parse::<i64>().is_ok() && fits(after, &rest[end..]));
    }
    if let Some(after) = tail.strip_prefix("{move}") {
        return rest
            .get(..4)
            .is_some_and(|word| word.parse::<xiangqi::Move>().is_ok() && fits(after, &rest[4..]));
    }
    panic!("{pattern:?}: a brace that begins neither {{n}} nor {{move}}")
}

impl Engine {
    pub(crate) fn start() -> Engine {
        let mut child = Command::new(env!("CARGO_BIN_EXE_chuhe"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("chuhe starts");
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Engine { child, input, lines, log: Vec::new() }
    }

    /// An engine that was greeted, its introduction heard.
    pub(crate) fn greeted(word: &str) -> Engine {
        let mut engine = Engine::start();
        engine.say(word);
        engine.until(&format!("{word}ok"));
        engine
    }

    pub(crate) fn say(&mut self, line: &str) {
        self.say_bytes(line.as_bytes());
    }

    pub(crate) fn say_bytes(&mut self, line: &[u8]) {
        self.log.push(format!("> {}", String::from_utf8_lossy(&line[..line.len().min(200)])));
        let input = self.input.as_mut().expect("the input is open");
        let sent = input.write_all(line).and_then(|()| input.write_all(b"\n")).and_then(|()| input.flush());
        assert!(sent.is_ok(), "{}\nthe engine is gone: {sent:?}", self.log.join("\n"));
    }

    /// The next line; `None` at the end of output.
    pub(crate) fn hear(&mut self) -> Option<String> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => {
                self.log.push(format!("< {line}"));
                Some(line)
            }
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("{}\nno answer in {PATIENCE:?}", self.log.join("\n")),
        }
    }

    /// The next line must fit.
    pub(crate) fn expect(&mut self, pattern: &str) -> String {
        let line = self.hear();
        match line {
            Some(line) if fits(pattern, &line) => line,
            found => panic!("{}\nexpected {pattern:?}, found {found:?}", self.log.join("\n")),
        }
    }

    /// All lines up to the first that fits, which is the last of them.
    pub(crate) fn until(&mut self, pattern: &str) -> Vec<String> {
        let mut heard = Vec::new();
        while let Some(line) = self.hear() {
            let found = fits(pattern, &line);
            heard.push(line);
            if found {
                return heard;
            }
        }
        panic!("{}\n{pattern:?} did not come before the end", self.log.join("\n"))
    }

    /// Says a line and gives the answer to it that fits, alone.
    pub(crate) fn ask(&mut self, line: &str, pattern: &str) -> String {
        self.say(line);
        self.until(pattern).pop().expect("at least one line")
    }

    /// No more input; gives what was still said. The process must end well.
    pub(crate) fn finish(&mut self) -> Vec<String> {
        self.input = None;
        let mut rest = Vec::new();
        while let Some(line) = self.hear() {
            rest.push(line);
        }
        let start = Instant::now();
        loop {
            match self.child.try_wait().expect("a child of ours") {
                Some(status) => {
                    assert!(status.success(), "{}\nended with {status}", self.log.join("\n"));
                    return rest;
                }
                None if start.elapsed() > PATIENCE => panic!("{}\nit does not end", self.log.join("\n")),
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // A test that failed leaves nothing running.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
