//! The statistics against fishtest's numbers and a 40-digit solver (vectors/sprt.json).

use std::path::Path;

use arena::stats::{Counts, Estimate, Model, Overshoot, Sprt, State, WorkerTest, crash_or_time_flag};
use serde_json::Value;

/// |ours - theirs| <= this × max(1, |theirs|).
const TOLERANCE: f64 = 1e-6;

/// The likelihood ratio of the one case whose solver asks for more room (two local maxima).
const WIDE_TOLERANCE: f64 = 1e-4;

fn vectors() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/vectors/sprt.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).expect("JSON")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn five(value: &Value) -> [u64; 5] {
    serde_json::from_value(value.clone()).expect("five counts")
}

fn close(what: &str, ours: f64, theirs: f64, tolerance: f64) {
    let off = (ours - theirs).abs();
    assert!(off <= tolerance * theirs.abs().max(1.0), "{what}: {ours}, expected {theirs} (off by {off:e})");
}

#[test]
fn cases() {
    let data = vectors();
    let mut seen = 0;
    for case in data["cases"].as_array().expect("cases") {
        let id = case["id"].as_str().expect("id");
        let Ok(model) = case["model"].as_str().expect("model").parse::<Model>() else {
            assert_eq!(case["model"], "BayesElo", "{id}");
            continue;
        };
        let counts = match case["kind"].as_str() {
            Some("pentanomial") => Counts::Pentanomial(five(&case["counts"])),
            _ => Counts::Trinomial(serde_json::from_value(case["counts"].clone()).expect("three counts")),
        };
        let [elo0, elo1, alpha, beta] = ["elo0", "elo1", "alpha", "beta"].map(|key| number(&case[key]));
        let sprt = Sprt::new(elo0, elo1, alpha, beta, model).expect(id);
        close(&format!("{id} lower"), sprt.bounds().0, number(&case["lower"]), 1e-12);
        close(&format!("{id} upper"), sprt.bounds().1, number(&case["upper"]), 1e-12);
        let llr = sprt.llr(&counts);
        let tolerance = if id == "ext-01" { WIDE_TOLERANCE } else { TOLERANCE };
        close(&format!("{id} llr"), llr, number(&case["llr"]), tolerance);
        assert_eq!(sprt.state(llr).to_string(), case["state"].as_str().expect("state"), "{id}");
        estimates(id, &Estimate::of(&counts), &case["fishtest"]);
        seen += 1;
    }
    assert_eq!(seen, 42);
}

fn estimates(id: &str, ours: &Estimate, theirs: &Value) {
    let pairs = [
        ("elo", ours.elo),
        ("elo_err95", ours.elo_error),
        ("nelo", ours.nelo),
        ("nelo_err95", ours.nelo_error),
        ("los", ours.los),
    ];
    for (key, value) in pairs {
        assert!(value.is_finite(), "{id} {key}: {value}");
        if let Some(expected) = theirs.get(key) {
            close(&format!("{id} {key}"), value, number(expected), TOLERANCE);
        }
    }
}

#[test]
fn sequences_with_overshoot() {
    for run in vectors()["sequences"]["runs"].as_array().expect("runs") {
        let id = run["id"].as_str().expect("id");
        let model = run["model"].as_str().expect("model").parse().expect("model");
        let sprt = Sprt::new(number(&run["elo0"]), number(&run["elo1"]), 0.05, 0.05, model).expect(id);
        let mut rows = run["rows"].as_array().expect("rows").iter().peekable();
        let mut overshoot = Overshoot::default();
        for (i, totals) in run["all_totals"].as_array().expect("totals").iter().enumerate() {
            let llr = sprt.llr(&Counts::Pentanomial(five(totals)));
            overshoot.push(llr);
            let bounds = overshoot.correct(sprt.bounds());
            let Some(row) = rows.next_if(|row| row["step"].as_u64() == Some(i as u64 + 1)) else { continue };
            let what = format!("{id} step {}", i + 1);
            close(&what, llr, number(&row["llr"]), TOLERANCE);
            close(&what, bounds.lower, number(&row["lower_corrected"]), TOLERANCE);
            close(&what, bounds.upper, number(&row["upper_corrected"]), TOLERANCE);
            let expected = match row["state"].as_str().expect("state") {
                "accepted" => State::H1,
                "rejected" => State::H0,
                _ => State::Continue,
            };
            assert_eq!(bounds.state(llr), expected, "{what}");
        }
        assert!(rows.next().is_none(), "{id}: rows left over");
    }
}

#[test]
fn crash_and_time_rule() {
    for case in vectors()["crash_or_time_rule"]["cases"].as_array().expect("cases") {
        let [crashes, time_losses, games] =
            ["crashes", "time_losses", "games"].map(|key| case[key].as_u64().expect(key));
        let flagged = crash_or_time_flag(crashes, time_losses, games);
        assert_eq!(Some(flagged), case["flagged"].as_bool(), "{case}");
    }
}

#[test]
fn workers() {
    for case in vectors()["worker_chi2"]["cases"].as_array().expect("cases") {
        let id = case["id"].as_str().expect("id");
        let workers = case["workers"].as_array().expect("workers");
        let key = |worker: usize| workers[worker]["key"].as_str().expect("key");
        let counts: Vec<[u64; 5]> = workers.iter().map(|worker| five(&worker["pentanomial"])).collect();
        let Some(test) = WorkerTest::of(&counts) else {
            assert!(case["chi2"].is_null(), "{id}");
            continue;
        };
        for (name, found) in [("chi2", test.chi2), ("p", test.p), ("z_95", test.z_95), ("z_99", test.z_99)] {
            close(&format!("{id} {name}"), found, number(&case[name]), TOLERANCE);
        }
        assert_eq!(Some(test.freedom as u64), case["dof"].as_u64(), "{id}");
        let residuals = case["residual"].as_object().expect("residuals");
        assert_eq!(test.residuals.len(), residuals.len(), "{id}");
        for &(worker, found) in &test.residuals {
            close(&format!("{id} {}", key(worker)), found, number(&residuals[key(worker)]), TOLERANCE);
        }
        let purged: Vec<&str> = test.worst().map(key).into_iter().collect();
        assert_eq!(serde_json::json!(purged), case["purged_by_default_rule_p_lt_0p001_or_res_gt_7"], "{id}");
    }
}

#[test]
fn tests_that_are_none_are_refused() {
    for (elo0, elo1, alpha, beta) in [
        (5.0, 0.0, 0.05, 0.05),
        (0.0, 0.0, 0.05, 0.05),
        (f64::NAN, 5.0, 0.05, 0.05),
        (0.0, f64::INFINITY, 0.05, 0.05),
        (0.0, 5.0, 0.0, 0.05),
        (0.0, 5.0, 0.5, 0.5),
        (0.0, 5.0, f64::NAN, 0.05),
    ] {
        assert!(Sprt::new(elo0, elo1, alpha, beta, Model::Logistic).is_err(), "{elo0} {elo1} {alpha} {beta}");
    }
    for text in ["", "1,2", "1,2,3,4,5,6", "1,2,-3,4,5", "1,2,x,4,5", "1,2,3,4,99999999999999999999"] {
        assert!(Counts::parse_pentanomial(text).is_err(), "{text}");
    }
    assert_eq!(Counts::parse_pentanomial("1,2,3,4,5"), Ok(Counts::Pentanomial([1, 2, 3, 4, 5])));
    assert_eq!(Counts::parse_trinomial("1, 2, 3"), Ok(Counts::Trinomial([1, 2, 3])));
}
