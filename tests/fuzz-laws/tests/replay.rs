//! Every seed and every crasher that was ever found, through the laws of the fuzz targets.

use std::path::Path;

use fuzz_laws::{Law, TARGETS, root, seeds};

fn law(target: &str) -> Law {
    let found = TARGETS.iter().find(|(name, _)| *name == target);
    found.unwrap_or_else(|| panic!("no target {target}; tests/fuzz-laws/src/lib.rs lists them")).1
}

#[test]
fn seeds_keep_the_laws() {
    let seeds = seeds().expect("the vectors are there");
    for (target, _) in TARGETS {
        assert!(seeds.iter().any(|seed| seed.0 == *target), "{target} has no seed");
    }
    for (target, bytes) in seeds {
        law(target)(&bytes);
    }
}

/// `fuzz/crashers/TARGET/*`: inputs that broke a law once. The last name printed is the one that does so again.
#[test]
fn crashers_stay_fixed() {
    let entries = |folder: &Path| {
        let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        entries.map(|entry| entry.expect("an entry").path()).collect::<Vec<_>>()
    };
    for target in entries(&root().join("fuzz/crashers")).iter().filter(|path| path.is_dir()) {
        for file in entries(target) {
            replay(&file, target);
        }
    }
}

fn replay(file: &Path, target: &Path) {
    println!("{}", file.display());
    let name = target.file_name().and_then(|name| name.to_str()).expect("a name");
    law(name)(&std::fs::read(file).expect("a file"));
}

#[test]
fn every_target_has_its_program() {
    for (name, _) in TARGETS {
        let program = root().join(format!("fuzz/fuzz_targets/{name}.rs"));
        let text = std::fs::read_to_string(&program).unwrap_or_default();
        assert!(text.contains(&format!("fuzz_laws::{name}(")), "{} must call the law", program.display());
    }
}
