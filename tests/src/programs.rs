//! Running the programs of the workspace as a user does.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// A program of the workspace: cargo puts it two folders above the test, beside the other programs.
///
/// # Errors
/// The program is not built: cargo builds the programs of a package for that package's own tests only.
pub fn program(name: &str) -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let folder = own.ancestors().nth(2).context("a test lies in target/<profile>/deps")?;
    let path = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if !path.is_file() {
        bail!("{} is not there; build it first: scripts/build.sh, or run scripts/test.sh", path.display());
    }
    Ok(path)
}

/// Runs a program to its end, in the root of the checkout, without standard input.
///
/// # Errors
/// A program that is not built or does not start.
pub fn run<S: AsRef<OsStr>>(name: &str, args: &[S]) -> Result<Output> {
    Command::new(program(name)?)
        .args(args)
        .current_dir(crate::tree::root())
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("starting {name}"))
}

/// Runs a program with `--json` and reads what it says; stdout must be JSON alone, whatever the exit code.
///
/// # Errors
/// Another exit code than `code`, or stdout that is not one JSON value.
pub fn json<S: AsRef<OsStr>>(name: &str, args: &[S], code: i32) -> Result<Value> {
    let output = run(name, args)?;
    let shown: Vec<_> = args.iter().map(|arg| arg.as_ref().to_string_lossy()).collect();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.code() != Some(code) {
        bail!("{name} {}: {}, expected exit code {code}\n{stdout}\n{stderr}", shown.join(" "), output.status);
    }
    serde_json::from_str(&stdout).with_context(|| format!("{name} {}: not JSON: {stdout}", shown.join(" ")))
}
