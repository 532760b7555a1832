//! Running the programs of the workspace as a user does.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Root of the checkout: the parent of the folder that holds this package's `scripts/`.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).unwrap_or(manifest).to_path_buf()
}

/// Where cargo builds.
pub(crate) fn target() -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR") {
        // A relative one is relative to where cargo runs, which is the root.
        Some(folder) => root().join(folder),
        None => root().join("target"),
    }
}

/// Runs cargo in the root of the checkout, its output on our stderr.
pub(crate) fn cargo(words: &[&str], environment: &[(&str, &str)]) -> Result<()> {
    let program = env::var("CARGO").unwrap_or_else(|_| "cargo".to_string());
    let mut command = Command::new(&program);
    command.args(words).envs(environment.iter().copied()).current_dir(root()).stdin(Stdio::null());
    let status = command.status().with_context(|| format!("starting {program}"))?;
    if !status.success() {
        bail!("failed with {status}: {program} {}", words.join(" "));
    }
    Ok(())
}

/// A program of the workspace, which cargo puts beside this one.
pub(crate) fn sibling(name: &str) -> Result<PathBuf> {
    let own = env::current_exe().context("asking for the path of this program")?;
    let path = own.with_file_name(format!("{name}{}", env::consts::EXE_SUFFIX));
    if !path.is_file() {
        bail!("{} is not there; build it first: scripts/build.sh", path.display());
    }
    Ok(path)
}

/// Runs a program to its end in the root of the checkout. Its progress goes to our stderr. A failure says which
/// command it was, so that it can be repeated by hand. `words` are separated by blanks.
fn run(program: &str, words: &str) -> Result<Output> {
    let output = Command::new(sibling(program)?)
        .args(words.split_whitespace())
        .current_dir(root())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("starting: {program} {words}"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stdout);
        bail!("failed with {}: {program} {words}\n{}", output.status, text.trim_end());
    }
    Ok(output)
}

/// Runs a program with `--json` among its words: stdout must be JSON alone.
pub(crate) fn json(program: &str, words: &str) -> Result<Value> {
    let output = run(program, words)?;
    serde_json::from_slice(&output.stdout).with_context(|| {
        format!(
            "stdout of `{program} {words}` is not JSON: {}",
            String::from_utf8_lossy(&output.stdout).trim()
        )
    })
}

/// Runs a program for what it does; its stdout is passed on to our stderr.
pub(crate) fn plain(program: &str, words: &str) -> Result<()> {
    let output = run(program, words)?;
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        eprintln!("    {line}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_the_checkout() {
        assert!(root().join("scripts/test.sh").is_file());
    }

    #[test]
    fn a_missing_program_is_told() {
        let error = json("chuhe-nonsense", "--json").err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("scripts/build.sh"), "{error}");
    }
}
