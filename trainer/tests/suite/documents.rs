//! What docs/training.md says of tests is true: each one that it names exists.

use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn tests_named_in_the_document_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let text = fs::read_to_string(root.join("docs/training.md")).unwrap();
    let (_, reports) = text.split_once("## What others have met").unwrap();
    let mut files = Vec::new();
    for folder in ["trainer/src", "trainer/tests", "nnue-format/src", "nnue-format/tests", "tests/tests"] {
        sources(&root.join(folder), &mut files);
    }
    let code: String = files.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let is_name =
        |word: &&str| word.len() > 15 && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let names: Vec<&str> = reports.split('`').skip(1).step_by(2).filter(is_name).collect();
    assert!(names.len() > 25, "{} tests are named", names.len());
    for name in names {
        assert!(
            code.contains(&format!("fn {name}(")),
            "docs/training.md names a test {name} that is not there"
        );
    }
    let rows = reports.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| report")).count();
    assert_eq!(rows, 18, "every report has its row");
}
