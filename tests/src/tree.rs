//! The files of the checkout.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

/// Root of the checkout.
pub fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

/// One file that belongs to the project.
pub struct TreeFile {
    /// Path from the root, with `/`.
    pub path: String,
    /// The text; files that are not UTF-8 are left out of the list.
    pub text: String,
}

impl TreeFile {
    /// True for Rust source.
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// True for source that is tests and nothing else.
    pub fn is_test(&self) -> bool {
        is_test(&self.path)
    }
}

/// True for the path of source that is tests and nothing else: exempt from the limits on size and on names.
pub fn is_test(path: &str) -> bool {
    path.split('/')
        .any(|part| ["tests", "tests.rs", "fuzz", "benches"].contains(&part) || part.ends_with("_tests.rs"))
}

/// Every text file of the project: tracked by git or new and not ignored. In an unpacked archive without git,
/// everything but the folders that git would ignore.
///
/// # Errors
/// A file that cannot be read, named.
pub fn files() -> Result<Vec<TreeFile>> {
    let root = root();
    let mut found = Vec::new();
    for path in paths(&root)? {
        let bytes = match fs::read(root.join(&path)) {
            Ok(bytes) => bytes,
            // Deleted in the work tree and not committed yet, or a link to a folder.
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::NotFound | std::io::ErrorKind::IsADirectory
                ) =>
            {
                continue;
            }
            Err(error) => return Err(error).with_context(|| format!("reading {path}")),
        };
        if let Ok(text) = String::from_utf8(bytes) {
            found.push(TreeFile { path, text });
        }
    }
    Ok(found)
}

fn paths(root: &Path) -> Result<Vec<String>> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output();
    if let Ok(output) = listed
        && output.status.success()
    {
        let text = String::from_utf8(output.stdout).context("git ls-files: a path that is not UTF-8")?;
        return Ok(text.split('\0').filter(|path| !path.is_empty()).map(str::to_string).collect());
    }
    let mut found = Vec::new();
    walk(root, root, &mut found)?;
    found.sort();
    Ok(found)
}

fn walk(root: &Path, folder: &Path, found: &mut Vec<String>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            let name = entry.file_name();
            if ![".git", "target", "third_party", "runs", "__pycache__"]
                .iter()
                .any(|skipped| name == *skipped)
            {
                walk(root, &path, found)?;
            }
        } else if let Ok(relative) = path.strip_prefix(root) {
            found.push(relative.to_string_lossy().replace('\\', "/"));
        }
    }
    Ok(())
}
