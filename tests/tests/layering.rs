//! Who may name whom, on the checkout; the rules and their counter-examples are in `tests/src/layering.rs`.

use std::collections::BTreeSet;

use anyhow::Result;
use seam_tests::layering::{ARROWS, check_manifest, check_source};
use seam_tests::tree;

#[test]
fn every_manifest_keeps_the_arrows() -> Result<()> {
    let mut complaints = Vec::new();
    let mut seen = BTreeSet::new();
    for file in tree::files()?.iter().filter(|file| file.path.ends_with("/Cargo.toml")) {
        // The fuzz targets are a workspace of their own.
        if file.path.starts_with("fuzz/") {
            continue;
        }
        seen.insert(file.path.clone());
        complaints.extend(check_manifest(&file.path, &file.text)?);
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    let expected: BTreeSet<String> = ARROWS.iter().map(|arrow| format!("{}/Cargo.toml", arrow.1)).collect();
    assert_eq!(seen, expected, "tests/src/layering.rs must list every package");
    Ok(())
}

#[test]
fn every_source_keeps_the_arrows() -> Result<()> {
    let files = tree::files()?;
    let complaints: Vec<String> = files
        .iter()
        .filter(|file| file.is_rust())
        .flat_map(|file| check_source(&file.path, &file.text))
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    Ok(())
}
