//! Help and errors of every program, held against `tests/snapshots/*.txt`: what users and scripts see does not change
//! unnoticed. After an intended change: `CHUHE_UPDATE_SNAPSHOTS=1 cargo test --release -p seam-tests`, then read the diff.

use std::fs;

use anyhow::{Context, Result};
use seam_tests::programs::{json, run};
use seam_tests::tree::root;

/// File name, program, words.
const CASES: &[(&str, &str, &[&str])] = &[
    ("chuhe-help", "chuhe", &["--help"]),
    ("chuhe-perft-help", "chuhe", &["perft", "--help"]),
    ("chuhe-bench-help", "chuhe", &["bench", "--help"]),
    ("chuhe-eval-help", "chuhe", &["eval", "--help"]),
    ("chuhe-judge-help", "chuhe", &["judge", "--help"]),
    ("chuhe-fen-help", "chuhe", &["fen", "--help"]),
    ("chuhe-notation-help", "chuhe", &["notation", "--help"]),
    ("chuhe-net-help", "chuhe", &["net", "--help"]),
    ("chuhe-net-random-help", "chuhe", &["net", "random", "--help"]),
    ("chuhe-net-verify-help", "chuhe", &["net", "verify", "--help"]),
    ("chuhe-net-examine-help", "chuhe", &["net", "examine", "--help"]),
    ("chuhe-net-export-help", "chuhe", &["net", "export", "--help"]),
    ("chuhe-error-verb", "chuhe", &["nonsense"]),
    ("chuhe-error-fen", "chuhe", &["fen", "nonsense"]),
    ("chuhe-error-net", "chuhe", &["eval", "--net", "no such file.nnue"]),
    ("chuhe-error-not-a-net", "chuhe", &["net", "verify", "tests/data/not-ours.txt"]),
    ("chuhe-speedtest-help", "chuhe", &["speedtest", "--help"]),
    ("chuhe-error-backend-without-net", "chuhe", &["bench", "--net", "none", "--backend", "scalar"]),
    (
        "chuhe-error-illegal-move",
        "chuhe",
        &["judge", "--rules", "competition", "--fen", START, "--moves", "a0a5"],
    ),
    ("chuhe-gen-help", "chuhe-gen", &["--help"]),
    ("chuhe-gen-play-help", "chuhe-gen", &["play", "--help"]),
    ("chuhe-gen-bench-help", "chuhe-gen", &["bench", "--help"]),
    ("chuhe-gen-error-no-count", "chuhe-gen", &["play", "--out", "a.rec", "--nodes", "1"]),
    ("chuhe-gen-error-no-limit", "chuhe-gen", &["play", "--out", "a.rec", "--games", "1"]),
    ("chuhe-gen-verify-help", "chuhe-gen", &["verify", "--help"]),
    ("chuhe-gen-inspect-help", "chuhe-gen", &["inspect", "--help"]),
    ("chuhe-gen-stats-help", "chuhe-gen", &["stats", "--help"]),
    ("chuhe-gen-stats-error-not-records", "chuhe-gen", &["stats", "tests/data/not-ours.txt"]),
    ("chuhe-gen-validate-help", "chuhe-gen", &["validate", "--help"]),
    ("chuhe-gen-validate-error-not-records", "chuhe-gen", &["validate", "tests/data/not-ours.txt"]),
    ("chuhe-gen-export-help", "chuhe-gen", &["export", "--help"]),
    ("chuhe-gen-error-export", "chuhe-gen", &["export", "tests/data/not-ours.txt", "--to", "csv"]),
    ("chuhe-gen-error-data", "chuhe-gen", &["import", "tests/data/faulty.plain", "--dry-run"]),
    ("chuhe-gen-import-help", "chuhe-gen", &["import", "--help"]),
    ("chuhe-gen-loop-help", "chuhe-gen", &["loop", "--help"]),
    ("chuhe-gen-rescore-help", "chuhe-gen", &["rescore", "--help"]),
    ("chuhe-gen-error-loop", "chuhe-gen", &["loop", "tests/data/not-ours.txt", "--dry-run"]),
    ("chuhe-gen-merge-help", "chuhe-gen", &["merge", "--help"]),
    ("chuhe-gen-split-help", "chuhe-gen", &["split", "--help"]),
    ("chuhe-gen-shuffle-help", "chuhe-gen", &["shuffle", "--help"]),
    ("chuhe-gen-dedup-help", "chuhe-gen", &["dedup", "--help"]),
    ("chuhe-gen-filter-help", "chuhe-gen", &["filter", "--help"]),
    ("chuhe-gen-error-import", "chuhe-gen", &["import", "tests/data/not-ours.txt", "--dry-run"]),
    ("chuhe-gen-error-no-file", "chuhe-gen", &["inspect", "no such file.chr"]),
    ("chuhe-gen-error-not-records", "chuhe-gen", &["inspect", "tests/data/not-ours.txt"]),
    ("chuhe-train-help", "chuhe-train", &["--help"]),
    ("chuhe-train-train-help", "chuhe-train", &["train", "--help"]),
    ("chuhe-train-resume-help", "chuhe-train", &["resume", "--help"]),
    ("chuhe-train-export-help", "chuhe-train", &["export", "--help"]),
    ("chuhe-train-validate-help", "chuhe-train", &["validate", "--help"]),
    ("chuhe-train-inspect-help", "chuhe-train", &["inspect", "--help"]),
    ("chuhe-train-report-help", "chuhe-train", &["report", "--help"]),
    ("chuhe-train-error-no-run", "chuhe-train", &["report", "tests/data"]),
    (
        "chuhe-train-error-config",
        "chuhe-train",
        &["train", "tests/data/not-ours.txt", "--data", "x", "--out", "runs/never"],
    ),
    ("chuhe-match-help", "chuhe-match", &["--help"]),
    ("chuhe-match-run-help", "chuhe-match", &["run", "--help"]),
    ("chuhe-match-stats-help", "chuhe-match", &["stats", "--help"]),
    ("chuhe-match-spsa-help", "chuhe-match", &["spsa", "--help"]),
    (
        "chuhe-match-stats",
        "chuhe-match",
        &["stats", "--pentanomial", "13,37,50,25,3", "--elo0", "-3", "--elo1", "4"],
    ),
    (
        "chuhe-match-error-counts",
        "chuhe-match",
        &["stats", "--pentanomial", "1,2,3", "--elo0", "0", "--elo1", "4"],
    ),
    ("chuhe-server-help", "chuhe-server", &["--help"]),
    ("chuhe-server-serve", "chuhe-server", &["serve"]),
    ("chuhe-server-init", "chuhe-server", &["init"]),
];

const START: &str = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1";

#[test]
fn help_and_errors_are_as_written_down() -> Result<()> {
    let folder = root().join("tests/snapshots");
    let update = std::env::var_os("CHUHE_UPDATE_SNAPSHOTS").is_some();
    let mut differences = Vec::new();
    for (name, program, words) in CASES {
        let found = shown(program, words)?;
        let path = folder.join(format!("{name}.txt"));
        if update {
            fs::create_dir_all(&folder)?;
            fs::write(&path, &found).with_context(|| path.display().to_string())?;
            continue;
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        if found != expected {
            differences
                .push(format!("tests/snapshots/{name}.txt\n-- found --\n{found}-- expected --\n{expected}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    Ok(())
}

/// Programs of others read these fields; more may be added, none may go.
const FIELDS: &[(&str, &str, &[&str])] = &[
    ("chuhe", "perft 2 --json", &["nodes", "seconds", "nps"]),
    ("chuhe", "eval --json", &["raw", "cp"]),
    ("chuhe", "bench --depth 3 --json", &["signature", "nodes", "seconds", "nps", "backend", "net"]),
    ("chuhe", "judge --rules competition --json --moves", &["result", "reason", "red", "black", "ply"]),
    ("chuhe", "notation --move h2e2 --json", &["uci", "iccs", "chinese", "wxf"]),
    (
        "chuhe-match",
        "stats --pentanomial 1,2,3,4,5 --elo0 -3 --elo1 2 --model logistic --json",
        &["llr", "state", "elo", "elo_error", "nelo", "nelo_error", "los"],
    ),
    (
        "chuhe-match",
        "stats --trinomial 10,20,30 --elo0 0 --elo1 2 --model normalized --json",
        &["llr", "state"],
    ),
];

#[test]
fn json_answers_have_the_agreed_fields() -> Result<()> {
    for (program, line, fields) in FIELDS {
        let mut words: Vec<&str> = line.split(' ').collect();
        // The empty list of moves is one word, and one that a line of words cannot hold.
        match words.last() {
            Some(&"--moves") => words.extend(["", "--fen", START]),
            _ if words[0] == "notation" => words.extend(["--fen", START]),
            _ => {}
        }
        let answer = json(program, &words)?;
        for field in *fields {
            anyhow::ensure!(answer.get(field).is_some(), "{program} {line}: no field {field} in {answer}");
        }
    }
    Ok(())
}

/// No snapshot is left over from a case that is gone.
#[test]
fn every_snapshot_has_its_case() -> Result<()> {
    for entry in fs::read_dir(root().join("tests/snapshots"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let stem = name.strip_suffix(".txt");
        assert!(CASES.iter().any(|case| Some(case.0) == stem), "tests/snapshots/{name} belongs to no case");
    }
    Ok(())
}

fn shown(program: &str, words: &[&str]) -> Result<String> {
    let output = run(program, words)?;
    let code = output.status.code().with_context(|| format!("{program} {words:?}: {}", output.status))?;
    let text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).replace(&root().display().to_string(), "<root>");
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        lines.join("\n").trim_end().to_string()
    };
    let words: Vec<String> = words
        .iter()
        .map(|word| if word.contains(' ') { format!("'{word}'") } else { (*word).to_string() })
        .collect();
    Ok(format!(
        "$ {program} {}\nexit code {code}\n== stdout ==\n{}\n== stderr ==\n{}\n",
        words.join(" "),
        text(&output.stdout),
        text(&output.stderr)
    ))
}
