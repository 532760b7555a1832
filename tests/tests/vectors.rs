//! Every vector through the command line, as a check from outside would run it.

use anyhow::Result;
use seam_tests::programs::{json_any, run};
use seam_tests::vectors::{cases, load, moves, text};
use serde_json::Value;

/// Collects what differs, so that one run shows every case.
#[derive(Default)]
struct Differences(Vec<String>);

impl Differences {
    fn compare(&mut self, case: &Value, field: &str, found: &Value, expected: &Value) {
        if found != expected {
            self.0.push(format!("{}: {field} is {found}, expected {expected}", case["id"]));
        }
    }

    #[track_caller]
    fn none(self) {
        assert!(self.0.is_empty(), "{} differences:\n{}", self.0.len(), self.0.join("\n"));
    }
}

fn fen_input(case: &Value) -> Result<String> {
    if case["input"].is_string() {
        return Ok(text(case, "input")?.to_string());
    }
    let repeat = &case["input_repeat"];
    let times = repeat["times"].as_u64().unwrap_or(0) as usize;
    Ok(text(repeat, "text")?.repeat(times))
}

#[test]
fn fen() -> Result<()> {
    let mut differences = Differences::default();
    for case in cases(&load("fen.json")?, 106)? {
        let input = fen_input(case)?;
        // No command line can carry the byte 0.
        if input.contains('\0') {
            continue;
        }
        let (code, found) = json_any("chuhe", &["fen", &input, "--json"])?;
        let accepted = case["expect"] == "accept";
        differences.compare(case, "ok", &found["ok"], &Value::Bool(accepted));
        differences.compare(case, "exit code", &code.into(), &i32::from(!accepted).into());
        if accepted {
            differences.compare(case, "canonical", &found["canonical"], &case["canonical"]);
        } else {
            differences.compare(case, "error is told", &found["error"].is_string().into(), &true.into());
        }
    }
    differences.none();
    Ok(())
}

#[test]
fn perft() -> Result<()> {
    /// Deeper counts are in the tests of the rules; here it is the command line that is tested.
    const MOST_NODES: u64 = 2_000_000;
    let mut differences = Differences::default();
    for case in cases(&load("perft.json")?, 33)? {
        for (index, nodes) in case["nodes"].as_array().into_iter().flatten().enumerate() {
            if nodes.as_u64().is_none_or(|nodes| nodes > MOST_NODES) {
                continue;
            }
            let depth = (index + 1).to_string();
            let (_, found) = json_any("chuhe", &["perft", &depth, "--fen", text(case, "fen")?, "--json"])?;
            differences.compare(case, &format!("nodes at depth {depth}"), &found["nodes"], nodes);
        }
    }
    differences.none();
    Ok(())
}

#[test]
fn repetition() -> Result<()> {
    let mut differences = Differences::default();
    for (file, at_least) in [("repetition_competition_rules.json", 39), ("repetition_random.json", 274)] {
        for case in cases(&load(file)?, at_least)? {
            let found = judge(case)?;
            for field in ["result", "red", "black"] {
                differences.compare(case, field, &found[field], &case[field]);
            }
        }
    }
    differences.none();
    Ok(())
}

#[test]
fn game_end() -> Result<()> {
    let mut differences = Differences::default();
    for case in cases(&load("game_end.json")?, 75)? {
        let found = judge(case)?;
        let expected = &case["expected"];
        differences.compare(case, "result", &found["result"], &expected["result"]);
        if expected["reason"].is_string() {
            differences.compare(case, "reason", &found["reason"], &expected["reason"]);
        }
    }
    differences.none();
    Ok(())
}

fn judge(case: &Value) -> Result<Value> {
    let moves = moves(case)?;
    let words = ["judge", "--rules", "competition", "--fen", text(case, "fen")?, "--moves", &moves, "--json"];
    Ok(json_any("chuhe", &words)?.1)
}

#[test]
fn notation() -> Result<()> {
    let vectors = load("notation.json")?;
    let mut differences = Differences::default();
    for case in cases(&vectors["moves"], 114)? {
        let fen = text(case, "fen")?;
        let (_, found) =
            json_any("chuhe", &["notation", "--fen", fen, "--move", text(case, "uci")?, "--json"])?;
        for field in ["uci", "iccs", "chinese", "wxf"] {
            differences.compare(case, field, &found[field], &case[field]);
        }
        let (_, found) =
            json_any("chuhe", &["notation", "--fen", fen, "--text", text(case, "chinese")?, "--json"])?;
        differences.compare(case, "uci of the Chinese text", &found["uci"], &case["uci"]);
    }
    for case in cases(&vectors["reject"], 18)? {
        let output = run("chuhe", &["notation", "--fen", text(case, "fen")?, "--text", text(case, "text")?])?;
        differences.compare(case, "refused", &(!output.status.success()).into(), &true.into());
    }
    differences.none();
    Ok(())
}

#[test]
fn sprt() -> Result<()> {
    let vectors = load("sprt.json")?;
    let mut differences = Differences::default();
    for case in cases(&vectors["cases"], 44)? {
        // BayesElo is another model than the two that we have.
        let model = text(case, "model")?;
        if model != "normalized" && model != "logistic" {
            continue;
        }
        let (_, found) = json_any("chuhe-match", &stats_words(case)?)?;
        differences.compare(case, "state", &found["state"], &case["state"]);
        let (ours, theirs) = (found["llr"].as_f64(), case["llr"].as_f64());
        let close = matches!((ours, theirs), (Some(a), Some(b)) if (a - b).abs() <= 1e-6 * b.abs().max(1.0));
        if !close {
            differences.compare(case, "llr", &found["llr"], &case["llr"]);
        }
    }
    differences.none();
    Ok(())
}

fn stats_words(case: &Value) -> Result<Vec<String>> {
    let counts: Vec<String> = case["counts"].as_array().into_iter().flatten().map(Value::to_string).collect();
    let mut words = vec!["stats".to_string(), format!("--{}", text(case, "kind")?), counts.join(",")];
    for (name, field) in [("--elo0", "elo0"), ("--elo1", "elo1"), ("--alpha", "alpha"), ("--beta", "beta")] {
        if case[field].is_number() {
            words.extend([name.to_string(), case[field].to_string()]);
        }
    }
    words.extend(["--model".to_string(), text(case, "model")?.to_string(), "--json".to_string()]);
    Ok(words)
}
