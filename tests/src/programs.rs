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
        // Help is wrapped to the terminal's width otherwise, and a log variable would add lines.
        .env_remove("COLUMNS")
        .env_remove("RUST_LOG")
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("starting {name}"))
}

/// Runs a program with `--json` and gives its exit code and what it says; stdout must be JSON alone.
///
/// # Errors
/// A program ended by a signal, or stdout that is not one JSON value.
pub fn json_any<S: AsRef<OsStr>>(name: &str, args: &[S]) -> Result<(i32, Value)> {
    let output = run(name, args)?;
    let shown: Vec<_> = args.iter().map(|arg| arg.as_ref().to_string_lossy()).collect();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let Some(code) = output.status.code() else {
        bail!("{name} {}: {}\n{stderr}", shown.join(" "), output.status);
    };
    let value = serde_json::from_str(&stdout).with_context(|| {
        format!("{name} {}: exit code {code}, not JSON: {stdout}\n{stderr}", shown.join(" "))
    })?;
    Ok((code, value))
}

/// `json_any` for a command that must succeed.
///
/// # Errors
/// Another exit code than 0, or stdout that is not one JSON value.
pub fn json<S: AsRef<OsStr>>(name: &str, args: &[S]) -> Result<Value> {
    let (code, value) = json_any(name, args)?;
    if code != 0 {
        let shown: Vec<_> = args.iter().map(|arg| arg.as_ref().to_string_lossy()).collect();
        bail!("{name} {}: exit code {code}, {value}", shown.join(" "));
    }
    Ok(value)
}
