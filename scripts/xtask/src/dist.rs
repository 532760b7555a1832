//! `xtask dist`: the programs as they are given to users, and the engine's twin for newer CPUs beside it.

use std::env::consts;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;

use crate::process::{cargo, root, target};

/// The level of the second build, and the end of its name (`engine::twin` looks for it).
const TWIN_LEVEL: &str = "x86-64-v3";
/// Keeps a program from becoming its twin.
const NO_TWIN: &str = "CHUHE_NO_REEXEC";
/// Packages with a program for users, the trainer left out: it needs libtorch.
const PROGRAMS: [(&str, &str); 4] = [
    ("engine", "chuhe"),
    ("arena", "chuhe-match"),
    ("datagen", "chuhe-gen"),
    ("coordinator", "chuhe-server"),
];

#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Build chuhe and its twin alone
    #[arg(long)]
    engine_only: bool,
}

/// Builds, lays out and checks. True when the check passed.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let programs = if args.engine_only { &PROGRAMS[..1] } else { &PROGRAMS[..] };
    // One name for both builds: a twin of another build is not started.
    let build = build_name();
    let out = target().join("dist/programs");
    std::fs::create_dir_all(&out).with_context(|| format!("making {}", out.display()))?;
    let mut words = vec!["build", "--profile", "dist", "--locked"];
    for (package, _) in programs {
        words.extend(["-p", package]);
    }
    cargo(&words, &[("CHUHE_BUILD", &build)])?;
    for (_, program) in programs {
        let file = format!("{program}{}", consts::EXE_SUFFIX);
        put(&target().join("dist").join(&file), &out.join(&file))?;
    }
    if consts::ARCH != "x86_64" {
        println!("no twin: this is {}", consts::ARCH);
        return Ok(true);
    }
    let twin = out.join(format!("chuhe-{TWIN_LEVEL}{}", consts::EXE_SUFFIX));
    put(&build_twin(&build)?, &twin)?;
    check(&out.join(format!("chuhe{}", consts::EXE_SUFFIX)), &twin)
}

/// The commit, and whether anything differs from it.
fn build_name() -> String {
    let words = ["describe", "--always", "--dirty", "--abbrev=12", "--exclude", "*"];
    let said = Command::new("git").args(words).current_dir(root()).output();
    let text =
        said.ok().filter(|said| said.status.success()).and_then(|said| String::from_utf8(said.stdout).ok());
    text.map_or_else(|| "without-commit".to_owned(), |text| text.trim().to_owned())
}

/// The engine for newer CPUs. With a target named, what runs on this machine while building (build scripts) keeps to
/// the level that it has.
fn build_twin(build: &str) -> Result<PathBuf> {
    let host = host()?;
    let folder = target().join(TWIN_LEVEL);
    let flags = format!("-C target-cpu={TWIN_LEVEL}");
    let folder_text = folder.to_str().context("the path of the target folder is not UTF-8")?;
    let words = [
        "build",
        "--profile",
        "dist",
        "--locked",
        "-p",
        "engine",
        "--target",
        &host,
        "--target-dir",
        folder_text,
    ];
    cargo(&words, &[("CHUHE_BUILD", build), ("RUSTFLAGS", &flags)])?;
    Ok(folder.join(host).join("dist").join(format!("chuhe{}", consts::EXE_SUFFIX)))
}

/// The compiler's name for this system.
fn host() -> Result<String> {
    let said = Command::new("rustc").arg("-vV").output().context("starting rustc -vV")?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(line.context("rustc -vV tells no host")?.to_owned())
}

/// Copies a program into its place whole: another name, then a rename.
fn put(from: &Path, to: &Path) -> Result<()> {
    let partial = to.with_extension("partial");
    let copied = std::fs::copy(from, &partial).and_then(|_| std::fs::rename(&partial, to));
    copied.with_context(|| format!("copying {} to {}", from.display(), to.display()))
}

/// Starts both in every way and compares what they say.
fn check(program: &Path, twin: &Path) -> Result<bool> {
    let alone = [(NO_TWIN, "1")];
    let (own, other) = (version(program, &alone)?, version(twin, &alone)?);
    let chosen = version(program, &[])?;
    // Every CPU with AVX2, BMI2 and FMA has the rest of the level.
    #[cfg(target_arch = "x86_64")]
    let suits = std::is_x86_feature_detected!("avx2")
        && std::is_x86_feature_detected!("bmi2")
        && std::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    let suits = false;
    let expected = if suits { &other } else { &own };
    println!("{}: {own}", program.display());
    println!("{}: {other}", twin.display());
    println!("chosen on this CPU: {chosen}");
    if own == other || !other.contains(TWIN_LEVEL) || chosen != *expected {
        eprintln!("expected {expected} to be chosen, and the twin to be of {TWIN_LEVEL}");
        return Ok(false);
    }
    if !suits {
        return Ok(true);
    }
    let (a, b) = (signature(program, &alone)?, signature(program, &[])?);
    println!("signatures: {a} and {b}");
    Ok(a == b)
}

fn version(program: &Path, environment: &[(&str, &str)]) -> Result<String> {
    Ok(said(program, &["--version"], environment)?.trim().to_owned())
}

fn signature(program: &Path, environment: &[(&str, &str)]) -> Result<serde_json::Value> {
    let value: serde_json::Value = serde_json::from_str(&said(program, &["bench", "--json"], environment)?)?;
    Ok(value["signature"].clone())
}

fn said(program: &Path, words: &[&str], environment: &[(&str, &str)]) -> Result<String> {
    let mut command = Command::new(program);
    command.args(words).env_remove(NO_TWIN).envs(environment.iter().copied());
    let done = command.output().with_context(|| format!("starting {}", program.display()))?;
    if !done.status.success() {
        bail!("{} {words:?} ended with {}", program.display(), done.status);
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}
