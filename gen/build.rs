//! Tells the program which commit it was built from, for manifests. Without git: "unknown".

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CHUHE_COMMIT");
    // Changes with every commit and checkout; a missing file would make cargo run this every time.
    let log = Path::new("../.git/logs/HEAD");
    if log.exists() {
        println!("cargo::rerun-if-changed={}", log.display());
    }
    let given = std::env::var("CHUHE_COMMIT").ok();
    let commit = given.or_else(git_commit).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=CHUHE_GEN_COMMIT={commit}");
}

fn git_commit() -> Option<String> {
    let output = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let commit = text.trim();
    (output.status.success() && !commit.is_empty()).then(|| commit.to_owned())
}
