//! Tidiness of the checkout; the rules and their counter-examples are in `tests/src/tidy.rs`.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result};
use seam_tests::{tidy, tree};

#[track_caller]
fn assert_none(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn every_file_is_tidy() -> Result<()> {
    let listed =
        fs::read_to_string(tree::root().join("tests/unsafe_files.txt")).context("tests/unsafe_files.txt")?;
    let unsafe_files: Vec<&str> = listed.lines().collect();
    assert!(unsafe_files.is_sorted(), "tests/unsafe_files.txt must be sorted");
    let files = tree::files()?;
    let mut complaints: Vec<String> =
        files.iter().flat_map(|file| tidy::check_file(file, &unsafe_files)).collect();
    let known: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    complaints.extend(
        unsafe_files
            .iter()
            .filter(|path| !known.contains(**path))
            .map(|path| format!("{path}: listed, but not there")),
    );
    assert_none(complaints);
    Ok(())
}

/// The documents from which somebody could write a reader: they move with the code they describe.
#[test]
fn format_documents_describe_the_code_of_today() -> Result<()> {
    let root = tree::root();
    let mut complaints = Vec::new();
    for document in
        ["docs/net-format.md", "docs/record-format.md", "docs/quantisation.md", "docs/game-files.md"]
    {
        match fs::read_to_string(root.join(document)) {
            Ok(text) => {
                complaints
                    .extend(tidy::check_described(document, &text, |path| fs::read(root.join(path)).ok()));
            }
            Err(error) => complaints.push(format!("{document}: {error}")),
        }
    }
    assert_none(complaints);
    Ok(())
}

#[test]
fn links_between_documents_lead_somewhere() -> Result<()> {
    let root = tree::root();
    let files = tree::files()?;
    let documents = files.iter().filter(|file| file.path.ends_with(".md"));
    assert_none(
        documents
            .flat_map(|file| tidy::check_links(&file.path, &file.text, |path| root.join(path).exists()))
            .collect(),
    );
    Ok(())
}

#[test]
fn the_documents_of_a_project_are_there() -> Result<()> {
    let root = tree::root();
    for name in
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"]
    {
        assert!(root.join(name).is_file(), "{name} is missing");
    }
    let changelog = fs::read_to_string(root.join("CHANGELOG.md"))?;
    assert!(
        changelog.contains("## Unreleased") || changelog.contains(concat!("## ", env!("CARGO_PKG_VERSION")))
    );
    let architecture = fs::read_to_string(root.join("ARCHITECTURE.md"))?;
    for (package, folder, _) in seam_tests::layering::ARROWS {
        assert!(
            architecture.contains(&format!("`{folder}/`")),
            "ARCHITECTURE.md does not name {folder}/ ({package})"
        );
    }
    Ok(())
}

/// Decision records are numbered without a gap, so that a number never means two things.
#[test]
fn decisions_are_numbered() -> Result<()> {
    let mut names = Vec::new();
    for entry in fs::read_dir(tree::root().join("docs/decisions"))? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    assert!(!names.is_empty());
    for (index, name) in names.iter().enumerate() {
        let expected = format!("{:04}-", index + 1);
        assert!(
            name.starts_with(&expected),
            "docs/decisions/{name}: expected a name that starts with {expected}"
        );
    }
    Ok(())
}
