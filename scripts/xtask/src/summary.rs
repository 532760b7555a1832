//! The summary at the end of the quickstart.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::steps::Done;

/// What every step answered.
pub(crate) struct Report {
    pub(crate) folder: &'static str,
    pub(crate) games: &'static str,
    pub(crate) net: &'static str,
    pub(crate) page: &'static str,
    pub(crate) played: Done,
    pub(crate) verified: Done,
    pub(crate) records: Done,
    pub(crate) trained: Done,
    pub(crate) exported: Done,
    pub(crate) net_check: Done,
    pub(crate) benches: Vec<Done>,
    pub(crate) against_untrained: Done,
    pub(crate) against_hce: Done,
}

/// The fewest positions that the run must have made.
const POSITIONS_WANTED: u64 = 100_000;

/// What the run had to reach and did not; empty when all is well.
pub(crate) fn misses(report: &Report) -> Vec<String> {
    let mut found = Vec::new();
    let mut check = |reached: bool, what: String| {
        if !reached {
            found.push(what);
        }
    };
    let positions = report.records.output["positions"].as_u64().unwrap_or(0);
    check(positions >= POSITIONS_WANTED, format!("{POSITIONS_WANTED} positions, there are {positions}"));
    check(report.verified.output["ok"] == true, "undamaged records".to_string());
    check(
        report.net_check.output["ok"] == true,
        "every backend equal to the reference evaluator".to_string(),
    );
    let loss = report.trained.output["validation_loss"].as_f64();
    let material = report.trained.output["material_validation_loss"].as_f64();
    let better = matches!((loss, material), (Some(net), Some(material)) if net < material);
    check(better, format!("a validation loss below material alone: {loss:?} against {material:?}"));
    let elo = report.against_untrained.output["elo"].as_f64();
    let error = report.against_untrained.output["elo_error"].as_f64();
    // A match won without a lost pair has an infinite Elo, which JSON writes as null.
    let clear = match (elo, error) {
        (Some(elo), Some(error)) => elo > error,
        _ => won_every_pair(&report.against_untrained.output),
    };
    check(clear, format!("a match won against the untrained net: {elo:?} ± {error:?} Elo"));
    found
}

fn won_every_pair(output: &Value) -> bool {
    let pairs: Vec<u64> =
        output["pentanomial"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
    matches!(pairs[..], [0, 0, 0, _, won] if won > 0)
}

/// A number of some decimals, or a dash where the program did not say.
fn number(value: &Value, decimals: usize) -> String {
    match value.as_f64() {
        Some(number) => format!("{number:.decimals$}"),
        None => "–".to_string(),
    }
}

fn count(value: &Value) -> String {
    let Some(number) = value.as_u64() else { return "–".to_string() };
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn match_line(done: &Done) -> String {
    let output = &done.output;
    let pairs: Vec<String> =
        output["pentanomial"].as_array().into_iter().flatten().map(ToString::to_string).collect();
    let elo = match output["elo"].as_f64() {
        Some(_) => format!("{} ± {} Elo", number(&output["elo"], 1), number(&output["elo_error"], 1)),
        None => "no Elo".to_string(),
    };
    format!("{elo} over {} games, pairs LL,LD,DD+WL,WD,WW = {}", count(&output["games"]), pairs.join(","))
}

/// The readable summary. `seconds` is the time of this call, which is short when most steps were done before.
pub(crate) fn text(report: &Report, seconds: f64) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{name:<22} {value}");
    };
    let (records, trained, exported) =
        (&report.records.output, &report.trained.output, &report.exported.output);
    let damage = report.verified.output["damage"].as_array().map_or(0, Vec::len);
    line(
        "self-play",
        format!(
            "{} games, {} positions in {:.0} s, {} bytes a position, damage: {damage}",
            count(&records["games"]),
            count(&records["positions"]),
            report.played.seconds,
            number(&records["bytes_per_position"], 2),
        ),
    );
    line(
        "training",
        format!(
            "{:.0} s, {} positions/s",
            report.trained.seconds,
            count(&json!(trained["positions_per_second"].as_f64().unwrap_or(0.0) as u64)),
        ),
    );
    line("training loss", number(&trained["loss"], 6));
    line(
        "validation loss",
        format!(
            "{} (best fit of material alone: {})",
            number(&trained["validation_loss"], 6),
            number(&trained["material_validation_loss"], 6),
        ),
    );
    line(
        "quantisation error",
        format!(
            "mean {} cp, worst {} cp",
            number(&exported["mean_error"], 3),
            number(&exported["worst_error"], 3),
        ),
    );
    for bench in &report.benches {
        let bench = &bench.output;
        line(
            &format!("bench {}", bench["backend"].as_str().unwrap_or("?")),
            format!(
                "{} nodes/s, signature {}",
                count(&json!(bench["nps"].as_f64().unwrap_or(0.0) as u64)),
                count(&bench["signature"]).replace(',', ""),
            ),
        );
    }
    line("against untrained net", match_line(&report.against_untrained));
    line("against hand-crafted", match_line(&report.against_hce));
    line("net", format!("{} (id {})", report.net, exported["id"].as_str().unwrap_or("–")));
    line("report page", report.page.to_string());
    line("games", report.games.to_string());
    line("everything else", report.folder.to_string());
    line("this call", format!("{seconds:.0} s"));
    text
}

/// The same as one JSON value, for programs.
pub(crate) fn json(report: &Report) -> Value {
    let benches: Vec<&Value> = report.benches.iter().map(|bench| &bench.output).collect();
    json!({
        "records": report.records.output,
        "training": report.trained.output,
        "export": report.exported.output,
        "net_check": report.net_check.output,
        "benches": benches,
        "against_untrained": report.against_untrained.output,
        "against_hce": report.against_hce.output,
        "seconds": { "play": report.played.seconds, "train": report.trained.seconds },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        let cases =
            [(json!(0), "0"), (json!(999), "999"), (json!(1000), "1,000"), (json!(1234567), "1,234,567")];
        for (value, expected) in cases {
            assert_eq!(count(&value), expected);
        }
        assert_eq!(number(&json!(1.23456), 2), "1.23");
        assert_eq!(number(&Value::Null, 2), "–");
    }

    #[test]
    fn a_clean_sweep_has_no_elo_and_counts_as_won() {
        assert!(won_every_pair(&json!({ "pentanomial": [0, 0, 0, 1, 9] })));
        assert!(!won_every_pair(&json!({ "pentanomial": [0, 0, 2, 1, 9] })));
        assert!(!won_every_pair(&json!({})));
    }
}
