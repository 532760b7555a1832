//! Tells the binary and the tests where libtorch lies, so that nobody sets LD_LIBRARY_PATH, and compiles what is C++ in
//! this crate: the thin layers over parts of libtorch that tch does not reach (csrc/).
//!
//! tch's own link arguments do not reach the packages that depend on it; `torch-sys` as a *direct*
//! dependency hands its library folder over in `DEP_TCH_LIBTORCH_LIB`.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    name_commit();
    let Ok(lib) = std::env::var("DEP_TCH_LIBTORCH_LIB") else {
        println!(
            "cargo:warning=torch-sys did not say where libtorch is; run scripts/setup-libtorch.py first"
        );
        return;
    };
    compile_shims(Path::new(&lib));
    set_rpath(&lib);
}

/// Compiles csrc/*.cpp against the headers beside `lib`. What lies in folders of csrc is not of this library.
fn compile_shims(lib: &Path) {
    println!("cargo:rerun-if-changed=csrc");
    let sources: Vec<PathBuf> = std::fs::read_dir("csrc")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "cpp"))
        .collect();
    let include = std::env::var_os("LIBTORCH_INCLUDE")
        .map_or_else(|| lib.with_file_name("include"), |folder| PathBuf::from(folder).join("include"));
    // Little code and many headers: optimising shows in the build's time alone.
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .opt_level(1)
        .warnings(false)
        .include("csrc/gloo-stub")
        .include(&include)
        .include(include.join("torch/csrc/api/include"))
        .define("_GLIBCXX_USE_CXX11_ABI", "1")
        .define("USE_C10D_GLOO", None)
        .files(sources)
        .compile("chuhe_torch_shims");
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

fn set_rpath(lib: &str) {
    // Relative ones first: a checkout that was moved, with its target folder inside, still runs.
    // Binaries lie in target/<profile>, tests in target/<profile>/deps.
    for up in ["../..", "../../.."] {
        println!("cargo:rustc-link-arg=-Wl,-rpath,$ORIGIN/{up}/third_party/libtorch/torch/lib");
    }
    println!("cargo:rustc-link-arg=-Wl,-rpath,{lib}");
}
