//! Who may name whom. The arrows are those of ARCHITECTURE.md; a crate may name what stands left of it:
//!
//! ```text
//! xiangqi ← nnue-format ← nnue-infer ← engine ← arena ← datagen ← coordinator
//! xiangqi ← nnue-format ← trainer             (trainer never names engine or nnue-infer)
//! xiangqi ← game-files ← arena, datagen
//! ```

use anyhow::{Context, Result};
use toml::{Table, Value};

use crate::source::{code_only, without_tests, words};
use crate::tree::is_test;

/// Package, folder from the root, and the packages of this workspace that it may name.
pub const ARROWS: &[(&str, &str, &[&str])] = &[
    ("xiangqi", "engine/rules", &[]),
    ("nnue-format", "nnue-format", &["xiangqi"]),
    ("game-files", "engine/games", &["xiangqi"]),
    ("pages", "pages", &[]),
    ("nnue-infer", "engine/nnue", &["xiangqi", "nnue-format"]),
    ("engine", "engine", &["xiangqi", "nnue-format", "nnue-infer"]),
    ("arena", "engine/arena", &["xiangqi", "game-files", "nnue-format", "nnue-infer", "engine"]),
    ("datagen", "gen", &["xiangqi", "game-files", "nnue-format", "nnue-infer", "engine", "arena", "pages"]),
    (
        "coordinator",
        "gen/coordinator",
        &["xiangqi", "game-files", "nnue-format", "nnue-infer", "engine", "arena", "datagen"],
    ),
    ("trainer", "trainer", &["xiangqi", "nnue-format", "pages"]),
    (
        "seam-tests",
        "tests",
        &["xiangqi", "game-files", "nnue-format", "nnue-infer", "engine", "arena", "datagen"],
    ),
    ("trainer-kernels", "tests/trainer-kernels", &["nnue-format"]),
    ("fuzz-laws", "tests/fuzz-laws", &["xiangqi", "game-files", "nnue-format", "engine", "datagen"]),
    ("xtask", "scripts/xtask", &[]),
];

/// External crates that only some packages may name.
const RESERVED: &[(&str, &[&str])] = &[
    // A volunteer or a match host never installs torch.
    ("tch", &["trainer"]),
    ("torch-sys", &["trainer"]),
];

/// Parts of the standard library that the game of `xiangqi` does not need: no I/O, no threads, no network.
const NOT_IN_RULES: &[&str] = &["fs", "io", "net", "process", "thread", "env", "time"];

/// The package whose folder holds `path`, the innermost one.
pub fn package_of(path: &str) -> Option<&'static str> {
    let inside = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    ARROWS
        .iter()
        .filter(|(_, folder, _)| inside(folder))
        .max_by_key(|(_, folder, _)| folder.len())
        .map(|arrow| arrow.0)
}

fn allowed(package: &str) -> Option<&'static [&'static str]> {
    ARROWS.iter().find(|arrow| arrow.0 == package).map(|arrow| arrow.2)
}

/// Complaints about one manifest: names that its arrows do not allow, and settings not taken from the workspace.
///
/// # Errors
/// Text that is not TOML.
pub fn check_manifest(path: &str, text: &str) -> Result<Vec<String>> {
    let manifest: Table = text.parse().with_context(|| format!("{path} is not TOML"))?;
    let package =
        manifest.get("package").and_then(|table| table.get("name")).and_then(Value::as_str).unwrap_or("");
    let Some(allowed) = allowed(package) else {
        return Ok(vec![format!("{path}: package `{package}` has no line in tests/src/layering.rs")]);
    };
    let mut found = Vec::new();
    for table in dependency_tables(&manifest) {
        for (name, value) in table {
            let renamed = value.get("package").and_then(Value::as_str);
            let name = renamed.unwrap_or(name);
            if ARROWS.iter().any(|arrow| arrow.0 == name) && !allowed.contains(&name) {
                found.push(format!("{path}: {package} must not name {name}"));
            }
            if RESERVED.iter().any(|(crate_, only)| *crate_ == name && !only.contains(&package)) {
                found.push(format!("{path}: {package} must not depend on {name}"));
            }
            if value.get("workspace").and_then(Value::as_bool) != Some(true) {
                found.push(format!("{path}: the version of {name} belongs into [workspace.dependencies]"));
            }
        }
    }
    let inherits =
        |value: Option<&Value>| value.and_then(|v| v.get("workspace")).and_then(Value::as_bool) == Some(true);
    if !inherits(manifest.get("lints")) {
        found.push(format!("{path}: [lints] must say `workspace = true`"));
    }
    for key in ["version", "edition", "rust-version", "license"] {
        if !inherits(manifest.get("package").and_then(|table| table.get(key))) {
            found.push(format!("{path}: `{key}` must be inherited: {key}.workspace = true"));
        }
    }
    Ok(found)
}

/// `[dependencies]`, `[dev-dependencies]`, `[build-dependencies]`, also those of one target only.
fn dependency_tables(manifest: &Table) -> Vec<&Table> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let per_target = targets.into_iter().flat_map(Table::values).filter_map(Value::as_table);
    let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
    [manifest]
        .into_iter()
        .chain(per_target)
        .flat_map(|table| kinds.iter().filter_map(|kind| table.get(*kind)?.as_table()))
        .collect()
}

/// Complaints about one Rust file: crates named in `use` lines or paths against the arrows.
pub fn check_source(path: &str, text: &str) -> Vec<String> {
    let Some(package) = package_of(path) else { return Vec::new() };
    let allowed = allowed(package).unwrap_or(&[]);
    let code = code_only(text);
    let before_tests = without_tests(&code).lines().count();
    let mut found = Vec::new();
    for word in words(&code) {
        let starts_path = !word.before.ends_with("::") && !word.before.ends_with('.');
        let path_root = starts_path && (word.after.starts_with("::") || is_use_root(word.before));
        let line = word.line;
        let names = |name: &str| name.replace('-', "_") == word.text;
        if path_root
            && let Some(arrow) = ARROWS.iter().find(|arrow| names(arrow.0))
            && arrow.0 != package
            && !allowed.contains(&arrow.0)
        {
            found.push(format!("{path}:{line}: {package} must not name {}", arrow.0));
        }
        if path_root
            && let Some((name, only)) = RESERVED.iter().find(|(name, _)| names(name))
            && !only.contains(&package)
        {
            found.push(format!("{path}:{line}: {package} must not name {name}"));
        }
        let in_rules = package == "xiangqi" && !is_test(path) && line <= before_tests;
        if in_rules && word.before.ends_with("std::") && NOT_IN_RULES.contains(&word.text) {
            found.push(format!("{path}:{line}: the game needs no std::{}", word.text));
        }
    }
    found
}

/// True directly behind `use` or `extern crate`.
fn is_use_root(before: &str) -> bool {
    let before = before.trim_end();
    ["use", "pub use", "extern crate"].iter().any(|start| before.trim_start() == *start)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "[package]\nname = \"trainer\"\nversion.workspace = true\nedition.workspace = true\n\
        rust-version.workspace = true\nlicense.workspace = true\n[lints]\nworkspace = true\n[dependencies]\n\
        xiangqi.workspace = true\ntch.workspace = true\n";

    fn complaint(text: &str) -> String {
        check_manifest("x/Cargo.toml", text)
            .map(|found| found.join("\n"))
            .unwrap_or_else(|error| error.to_string())
    }

    #[test]
    fn manifests_against_the_arrows_are_refused() {
        assert_eq!(complaint(GOOD), "");
        let bad = [
            (format!("{GOOD}engine.workspace = true\n"), "trainer must not name engine"),
            (format!("{GOOD}[dev-dependencies]\nnnue-infer.workspace = true\n"), "must not name nnue-infer"),
            (
                format!("{GOOD}[target.'cfg(unix)'.dependencies]\narena.workspace = true\n"),
                "must not name arena",
            ),
            (format!("{GOOD}e = {{ package = \"engine\", workspace = true }}\n"), "must not name engine"),
            (format!("{GOOD}serde = \"1\"\n"), "belongs into [workspace.dependencies]"),
            (GOOD.replace("name = \"trainer\"", "name = \"arena\""), "arena must not depend on tch"),
            (GOOD.replace("name = \"trainer\"", "name = \"other\""), "no line in tests/src/layering.rs"),
            (GOOD.replace("[lints]\nworkspace = true", "[lints.rust]\nunsafe_code = \"allow\""), "[lints]"),
            (GOOD.replace("edition.workspace = true", "edition = \"2021\""), "`edition` must be inherited"),
            ("[package".to_string(), "is not TOML"),
        ];
        for (text, expected) in bad {
            assert!(complaint(&text).contains(expected), "{expected:?} not in {:?}", complaint(&text));
        }
    }

    #[test]
    fn sources_against_the_arrows_are_refused() {
        let cases = [
            ("trainer/src/a.rs", "use engine::search;", true),
            ("trainer/src/a.rs", "use engine;", true),
            ("trainer/src/a.rs", "let x = nnue_infer::Backend::Scalar;", true),
            ("trainer/src/a.rs", "// like engine::search\nlet s = \"engine::x\";", false),
            ("trainer/src/a.rs", "use crate::engine::Engine;", false),
            ("trainer/src/a.rs", "use nnue_format::arch;", false),
            ("engine/rules/src/a.rs", "use nnue_format::arch;", true),
            ("engine/rules/src/a.rs", "use std::fs;", true),
            ("engine/rules/src/a.rs", "use std::fmt;", false),
            ("engine/rules/tests/a.rs", "use std::fs;", false),
            ("engine/rules/src/judge/tests.rs", "use std::fs;", false),
            ("engine/src/a.rs", "tch::Tensor::new()", true),
            ("engine/arena/src/a.rs", "use engine::search::Searcher;", false),
            ("engine/nnue/src/a.rs", "use engine::search::Searcher;", true),
        ];
        for (path, text, refused) in cases {
            assert_eq!(!check_source(path, text).is_empty(), refused, "{path}: {text}");
        }
    }

    #[test]
    fn the_innermost_package_owns_a_file() {
        assert_eq!(package_of("engine/arena/src/x.rs"), Some("arena"));
        assert_eq!(package_of("engine/src/x.rs"), Some("engine"));
        assert_eq!(package_of("gen/coordinator/src/x.rs"), Some("coordinator"));
        assert_eq!(package_of("README.md"), None);
    }
}
