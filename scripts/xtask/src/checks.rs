//! `xtask test`: every check that a commit has to pass, one after the other, each with its time.

use std::env;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;

use crate::process::root;

#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Also soaks, fuzzing and kill trials: the long forms of the tests (sets CHUHE_FULL=1)
    #[arg(long)]
    full: bool,
    /// Only these stages, by name
    #[arg(long, value_name = "STAGE", value_delimiter = ',')]
    only: Vec<String>,
}

/// One stage: a name, what it runs, and what is added to the environment.
struct Stage {
    name: &'static str,
    program: String,
    args: Vec<&'static str>,
    environment: Vec<(&'static str, &'static str)>,
}

impl Stage {
    fn cargo(name: &'static str, args: &[&'static str]) -> Stage {
        let program = env::var("CARGO").unwrap_or_else(|_| "cargo".to_string());
        Stage { name, program, args: args.to_vec(), environment: Vec::new() }
    }
}

/// The stages in order: what is quick and often wrong comes first.
fn stages(tools: &Path, full: bool) -> Vec<Stage> {
    let tests = if tools.join("cargo-nextest").is_file() {
        // nextest runs the tests of all crates side by side; cargo test would run binary after binary.
        let mut stage = Stage::cargo(
            "tests",
            &["nextest", "run", "--release", "--locked", "--workspace", "--no-fail-fast"],
        );
        stage.program = tools.join("cargo-nextest").to_string_lossy().into_owned();
        stage.args.extend(if full { ["--profile", "full"] } else { ["--profile", "default"] });
        stage
    } else {
        let mut stage =
            Stage::cargo("tests", &["test", "--release", "--locked", "--workspace", "--no-fail-fast"]);
        stage.args.extend(["--lib", "--bins", "--tests"]);
        stage
    };
    let mut doc =
        Stage::cargo("doc", &["doc", "--release", "--locked", "--workspace", "--no-deps", "--quiet"]);
    doc.environment.push(("RUSTDOCFLAGS", "-D warnings"));
    let mut deny = Stage::cargo("deny", &["deny", "--workspace", "check", "bans", "licenses", "sources"]);
    deny.program = tools.join("cargo-deny").to_string_lossy().into_owned();
    let clippy = [
        "clippy",
        "--release",
        "--locked",
        "--workspace",
        "--all-targets",
        "--quiet",
        "--",
        "-D",
        "warnings",
    ];
    let mut stages = vec![
        Stage::cargo("fmt", &["fmt", "--all", "--check"]),
        deny,
        Stage::cargo("clippy", &clippy),
        tests,
        Stage::cargo("doctests", &["test", "--release", "--locked", "--workspace", "--doc"]),
        doc,
    ];
    if full {
        stages.push(agree());
        stages.extend(fuzz(tools));
        stages.extend(["test-aarch64", "test-avx512"].map(emulated));
    }
    stages
}

/// Debug and release builds of the engine and all its backends against each other.
fn agree() -> Stage {
    let program =
        env::current_exe().map_or_else(|_| "xtask".to_owned(), |path| path.to_string_lossy().into_owned());
    Stage { name: "agree", program, args: vec!["agree"], environment: Vec::new() }
}

/// What CPUs other than this one's compute, under emulators that are downloaded when they are wanted.
fn emulated(name: &'static str) -> Stage {
    let program = root().join(format!("scripts/{name}.sh")).to_string_lossy().into_owned();
    Stage { name, program, args: Vec::new(), environment: Vec::new() }
}

/// Every fuzz target for a short time, where somebody has set up cargo-fuzz. Seeds and crashers are replayed by the
/// ordinary tests in any case.
fn fuzz(tools: &Path) -> Option<Stage> {
    const SECONDS_A_TARGET: &str = "30";
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders = env::split_paths(&path).chain([tools.to_path_buf()]);
    if !folders.any(|folder| folder.join("cargo-fuzz").is_file()) {
        eprintln!("fuzz: SKIPPED, there is no cargo-fuzz; scripts/fuzz.sh sets it up");
        return None;
    }
    let program = root().join("scripts/fuzz.sh").to_string_lossy().into_owned();
    Some(Stage { name: "fuzz", program, args: vec!["all", SECONDS_A_TARGET], environment: Vec::new() })
}

/// How a stage ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    /// What it needs cannot be had here, as it has said.
    Skipped,
}

impl Outcome {
    fn of(status: ExitStatus) -> Outcome {
        match status.code() {
            Some(0) => Outcome::Passed,
            Some(EXIT_SKIPPED) => Outcome::Skipped,
            _ => Outcome::Failed,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Outcome::Passed => "passed",
            Outcome::Failed => "FAILED",
            Outcome::Skipped => "SKIPPED",
        }
    }
}

/// How a script says that it could not run: the convention of automake's tests.
const EXIT_SKIPPED: i32 = 77;

/// Runs the stages; all of them even when one fails, so that one run shows everything. True when none failed.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let tools = root().join("third_party/tools/bin");
    let mut stages = stages(&tools, args.full);
    for name in &args.only {
        if !stages.iter().any(|stage| stage.name == name) {
            let known: Vec<_> = stages.iter().map(|stage| stage.name).collect();
            bail!("no stage {name}; the stages are: {}", known.join(" "));
        }
    }
    stages.retain(|stage| args.only.is_empty() || args.only.iter().any(|name| name == stage.name));
    let mut done = Vec::new();
    for stage in &stages {
        let started = Instant::now();
        eprintln!("\n== {} ==", stage.name);
        let outcome = run_stage(stage, args.full)?;
        done.push((stage.name, outcome, started.elapsed()));
    }
    println!("\n{}", table(&done));
    Ok(done.iter().all(|(_, outcome, _)| *outcome != Outcome::Failed))
}

fn run_stage(stage: &Stage, full: bool) -> Result<Outcome> {
    let mut command = Command::new(&stage.program);
    command.args(&stage.args).current_dir(root()).stdin(Stdio::null());
    command.envs(stage.environment.iter().copied());
    if full {
        command.env("CHUHE_FULL", "1");
    }
    let status = command.status().with_context(|| format!("starting {}", stage.program))?;
    Ok(Outcome::of(status))
}

fn table(done: &[(&str, Outcome, Duration)]) -> String {
    let mut text = String::from("stage         result    seconds\n");
    for (name, outcome, time) in done {
        text.push_str(&format!("{name:<12}  {:<8}  {:>7.1}\n", outcome.word(), time.as_secs_f32()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_names_what_failed() {
        let shown = table(&[
            ("fmt", Outcome::Passed, Duration::from_millis(1500)),
            ("clippy", Outcome::Failed, Duration::ZERO),
            ("test-avx512", Outcome::Skipped, Duration::from_secs(2)),
        ]);
        let lines: Vec<_> = shown.lines().skip(1).collect();
        let expected = [
            "fmt           passed        1.5",
            "clippy        FAILED        0.0",
            "test-avx512   SKIPPED       2.0",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn every_stage_is_run_once() {
        let names: Vec<_> = stages(Path::new("/nowhere"), false).iter().map(|stage| stage.name).collect();
        assert_eq!(names, ["fmt", "deny", "clippy", "tests", "doctests", "doc"]);
    }

    #[test]
    fn fuzzing_is_a_stage_where_cargo_fuzz_is_there() -> Result<()> {
        let tools = tempfile::tempdir()?;
        std::fs::write(tools.path().join("cargo-fuzz"), "")?;
        let names: Vec<_> = stages(tools.path(), true).iter().map(|stage| stage.name).collect();
        assert_eq!(names[6..], ["agree", "fuzz", "test-aarch64", "test-avx512"]);
        Ok(())
    }
}
