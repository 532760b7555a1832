//! What is said of results, as JSON and for people.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::outcome::{FailureKind, Side};
use crate::runner::Summary;
use crate::stats::{Counts, Estimate, Sprt};
use crate::tally::Tally;

/// A number as JSON. JSON has no word for NaN and infinities; they would be the strings `"NaN"`,
/// `"Infinity"`, `"-Infinity"` (as in the SPRT vectors), but the statistics never give one.
pub fn number(value: f64) -> Value {
    match serde_json::Number::from_f64(value) {
        Some(number) => Value::Number(number),
        None if value.is_nan() => Value::from("NaN"),
        None if value > 0.0 => Value::from("Infinity"),
        None => Value::from("-Infinity"),
    }
}

/// Ratio, state and estimates of a sample; without a test `llr` and `state` are null.
pub fn statistics(counts: &Counts, sprt: Option<&Sprt>) -> Map<String, Value> {
    let estimate = Estimate::of(counts);
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| {
        map.insert(key.to_owned(), value);
    };
    let llr = sprt.map(|sprt| sprt.llr(counts));
    put("llr", llr.map_or(Value::Null, number));
    put("state", sprt.zip(llr).map_or(Value::Null, |(sprt, llr)| sprt.state(llr).to_string().into()));
    put("elo", number(estimate.elo));
    put("elo_error", number(estimate.elo_error));
    put("nelo", number(estimate.nelo));
    put("nelo_error", number(estimate.nelo_error));
    put("los", number(estimate.los));
    put("score", number(plain_score(counts)));
    if let Some(sprt) = sprt {
        let (lower, upper) = sprt.bounds();
        put("model", sprt.model().to_string().into());
        put("elo0", number(sprt.elo0()));
        put("elo1", number(sprt.elo1()));
        put("lower", number(lower));
        put("upper", number(upper));
    }
    map
}

/// Points per game as counted, without what stands in for empty cells; 1/2 for no games.
fn plain_score(counts: &Counts) -> f64 {
    let cells = counts.as_slice();
    let sum: u64 = cells.iter().sum();
    let points: u64 = (0u64..).zip(cells).map(|(i, n)| i * n).sum();
    if sum == 0 { 0.5 } else { points as f64 / (sum * (cells.len() as u64 - 1)) as f64 }
}

/// The same for people.
pub fn statistics_text(counts: &Counts, sprt: Option<&Sprt>) -> String {
    let e = Estimate::of(counts);
    let mut text = format!(
        "Elo {:+.2} ± {:.2}, nElo {:+.2} ± {:.2} (95 %), LOS {:.2} %, score {:.2} % of {} games\n",
        e.elo,
        e.elo_error,
        e.nelo,
        e.nelo_error,
        100.0 * e.los,
        100.0 * plain_score(counts),
        counts.games(),
    );
    if let Some(sprt) = sprt {
        let llr = sprt.llr(counts);
        let (lower, upper) = sprt.bounds();
        let state = sprt.state(llr);
        let (model, elo0, elo1) = (sprt.model(), sprt.elo0(), sprt.elo1());
        let _ = writeln!(
            text,
            "SPRT {model} [{elo0}, {elo1}]: LLR {llr:.4} in ({lower:.4}, {upper:.4}) – {state}"
        );
    }
    text
}

/// A match as JSON: `pentanomial`, `games`, statistics, `failures` by side and kind, and more.
pub fn summary(summary: &Summary, sprt: Option<&Sprt>) -> Value {
    let tally = &summary.tally;
    let mut map = Map::new();
    map.insert("pentanomial".to_owned(), json!(tally.pentanomial));
    map.insert("trinomial".to_owned(), json!(tally.trinomial));
    map.insert("pairs".to_owned(), tally.pairs().into());
    map.insert("games".to_owned(), tally.games().into());
    map.extend(statistics(&tally.counts(), sprt));
    map.insert(
        "failures".to_owned(),
        json!({ "a": failures(tally, Side::A), "b": failures(tally, Side::B) }),
    );
    map.insert(
        "flagged".to_owned(),
        json!({ "a": tally.is_flagged(Side::A), "b": tally.is_flagged(Side::B) }),
    );
    map.insert("reasons".to_owned(), json!(tally.reasons));
    map.insert("players".to_owned(), json!({ "a": summary.names[0], "b": summary.names[1] }));
    map.insert("plies".to_owned(), tally.plies.into());
    map.insert("interrupted".to_owned(), summary.interrupted.into());
    map.insert("pairs_from_journal".to_owned(), summary.continued.into());
    map.insert("surplus_pairs".to_owned(), summary.surplus.into());
    map.insert("seconds".to_owned(), number((summary.seconds * 1000.0).round() / 1000.0));
    Value::Object(map)
}

fn failures(tally: &Tally, side: Side) -> Value {
    let counts = &tally.failures[side.index()];
    let mut map = Map::new();
    for kind in FailureKind::ALL {
        map.insert(kind.name().to_owned(), counts.of(kind).into());
    }
    map.insert("total".to_owned(), counts.total().into());
    Value::Object(map)
}

/// A match for people.
pub fn summary_text(summary: &Summary, sprt: Option<&Sprt>) -> String {
    let tally = &summary.tally;
    let [losses, draws, wins] = tally.trinomial;
    let [a, b] = &summary.names;
    let mut text = format!(
        "{a} against {b}: {wins} wins, {draws} draws, {losses} losses in {} pairs, pentanomial {:?}\n",
        tally.pairs(),
        tally.pentanomial
    );
    text.push_str(&statistics_text(&tally.counts(), sprt));
    let reasons: Vec<String> = tally.reasons.iter().map(|(reason, n)| format!("{reason} {n}")).collect();
    let _ = writeln!(text, "Games ended by: {}", reasons.join(", "));
    for side in Side::BOTH {
        let counts = &tally.failures[side.index()];
        let kinds: Vec<String> = FailureKind::ALL
            .iter()
            .filter(|&&kind| counts.of(kind) > 0)
            .map(|&kind| format!("{} {}", kind.name(), counts.of(kind)))
            .collect();
        let said = if kinds.is_empty() { "none".to_owned() } else { kinds.join(", ") };
        let _ = writeln!(text, "Failures of {} ({}): {said}", side.name(), summary.names[side.index()]);
        if tally.is_flagged(side) {
            let _ = writeln!(text, "  so many that this result says little about strength");
        }
    }
    text
}
