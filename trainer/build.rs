//! Tells the binary and the tests where libtorch lies, so that nobody sets LD_LIBRARY_PATH.
//!
//! tch's own link arguments do not reach the packages that depend on it; `torch-sys` as a *direct*
//! dependency hands its library folder over in `DEP_TCH_LIBTORCH_LIB`.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    name_commit();
    set_rpath();
}

/// `CHUHE_COMMIT`: what manifests give as the origin of the program.
fn name_commit() {
    let log = "../.git/logs/HEAD";
    if Path::new(log).exists() {
        println!("cargo:rerun-if-changed={log}");
    }
    let output = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output();
    let commit = output.ok().filter(|output| output.status.success());
    let commit = commit.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    println!("cargo:rustc-env=CHUHE_COMMIT={}", commit.unwrap_or_else(|| "unknown".to_owned()));
}

fn set_rpath() {
    let Ok(lib) = std::env::var("DEP_TCH_LIBTORCH_LIB") else {
        println!(
            "cargo:warning=torch-sys did not say where libtorch is; run scripts/setup-libtorch.py first"
        );
        return;
    };
    // Relative ones first: a checkout that was moved, with its target folder inside, still runs.
    // Binaries lie in target/<profile>, tests in target/<profile>/deps.
    for up in ["../..", "../../.."] {
        println!("cargo:rustc-link-arg=-Wl,-rpath,$ORIGIN/{up}/third_party/libtorch/torch/lib");
    }
    println!("cargo:rustc-link-arg=-Wl,-rpath,{lib}");
}
