//! Runs of the program, for tests.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_chuhe-gen");

/// `chuhe-gen play` into a file, with further words.
pub(crate) fn command(out: &Path, rest: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.arg("play").arg("--out").arg(out).args(rest.split(' '));
    command
}

/// Runs to the end, which must be this exit code.
pub(crate) fn done(command: &mut Command, code: i32) -> Output {
    let output = command.output().expect("the program starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{command:?}: {stderr}");
    output
}

/// What was said on stderr.
pub(crate) fn stderr(output: Output) -> String {
    String::from_utf8(output.stderr).expect("UTF-8")
}

pub(crate) fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("JSON alone on stdout")
}

/// What a verb says of a file.
pub(crate) fn tool(verb: &str, file: &Path, code: i32) -> Value {
    json(&done(Command::new(PROGRAM).arg(verb).arg(file).arg("--json"), code))
}
