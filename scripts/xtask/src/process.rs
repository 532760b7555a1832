//! Running other programs.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Root of the checkout: the parent of the folder that holds this package's `scripts/`.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).unwrap_or(manifest).to_path_buf()
}

/// A program of the workspace, which cargo puts beside this one.
pub(crate) fn sibling(name: &str) -> Result<PathBuf> {
    let own = env::current_exe().context("asking for the path of this program")?;
    let path = own.with_file_name(format!("{name}{}", env::consts::EXE_SUFFIX));
    if !path.is_file() {
        bail!(
            "{} is not there; build it first: cargo build --release --workspace (the scripts do it)",
            path.display()
        );
    }
    Ok(path)
}

/// A command line as a person would type it, words with blanks in quotes.
pub(crate) fn shown(program: &str, args: &[OsString]) -> String {
    let mut text = program.to_string();
    for arg in args {
        let arg = arg.to_string_lossy();
        let plain = !arg.is_empty() && !arg.contains(|c: char| c.is_whitespace() || "'\"$&|;*?".contains(c));
        text.push(' ');
        if plain {
            text.push_str(&arg);
        } else {
            text.push_str(&format!("'{}'", arg.replace('\'', r"'\''")));
        }
    }
    text
}

/// Runs a program of the workspace with `--json`: its progress goes to our stderr, its stdout must be JSON
/// alone. A failure says which command it was, so that it can be repeated by hand.
pub(crate) fn json(program: &str, args: &[OsString]) -> Result<Value> {
    let line = shown(program, args);
    let output = Command::new(sibling(program)?)
        .args(args)
        .current_dir(root())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("starting: {line}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        bail!("failed with {}: {line}\n{}", output.status, text.trim_end());
    }
    serde_json::from_str(text.trim())
        .with_context(|| format!("stdout of `{line}` is not JSON: {}", text.trim()))
}

/// Runs a program of the workspace for what it does; stdout and stderr are passed on to our stderr.
pub(crate) fn plain(program: &str, args: &[OsString]) -> Result<()> {
    let line = shown(program, args);
    let output = Command::new(sibling(program)?)
        .args(args)
        .current_dir(root())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("starting: {line}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    for text_line in text.lines() {
        eprintln!("    {text_line}");
    }
    if !output.status.success() {
        bail!("failed with {}: {line}", output.status);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_are_shown_so_that_a_shell_reads_them_back() {
        let args: Vec<OsString> = ["--out", "a b/楚河.nnue", "", "it's"].iter().map(Into::into).collect();
        assert_eq!(shown("chuhe", &args), r"chuhe --out 'a b/楚河.nnue' '' 'it'\''s'");
    }

    #[test]
    fn root_is_the_checkout() {
        assert!(root().join("scripts/test.sh").is_file());
    }
}
