//! `chuhe judge` as other programs and people call it: explanations, rule sets, limits.

use std::process::Command;

use serde_json::Value;

fn judge(arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chuhe"));
    let done = command.arg("judge").args(arguments).output().expect("chuhe runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.code().unwrap_or(-1), text(&done.stdout), text(&done.stderr))
}

fn json(arguments: &[&str]) -> Value {
    let (code, out, err) = judge(&[arguments, &["--json"]].concat());
    assert_eq!(code, 0, "{arguments:?}: {err}");
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {out:?}"))
}

/// A knight chases a cannon to and fro.
const CHASE: [&str; 4] = ["--fen", "4k4/4N4/2c6/9/9/9/9/5K3/9/9 b - - 0 1", "--moves", "c7f7 e8g9 f7c7 g9e8"];

#[test]
fn a_verdict_explains_itself() {
    let value = json(&[&CHASE[..], &["--rules", "asian", "--explain"]].concat());
    assert_eq!((&value["result"], &value["red"]), (&"red_loses".into(), &"perpetual_chase".into()));
    let told = &value["explanation"];
    assert_eq!((&told["scope"], &told["decides"]), (&"cycle".into(), &true.into()));
    assert_eq!(told["red"]["why"], "every_move_chases");
    assert_eq!(told["red"]["chased"], serde_json::json!(["c@c7"]));
    assert_eq!((&told["black"]["conduct"], &told["black"]["why"]), (&"allowed".into(), &"idle_move".into()));
    let acts: Vec<&Value> = told["moves"].as_array().expect("moves").iter().map(|mv| &mv["act"]).collect();
    assert_eq!(acts, ["escape", "chase", "escape", "chase"]);
    let chase = &told["moves"][1]["chases"][0];
    assert_eq!(
        *chase,
        serde_json::json!({
            "attacker": "N@g9", "victim": "c@f7", "why": "unprotected", "protectors": []
        })
    );
    assert_eq!(told["moves"][0]["no_chases"][0]["why"], "attacker_may_chase");
    assert!(told["moves"][1]["zh"].as_str().is_some_and(|text| text.contains("马(g9)捉炮(f7)，无根")));
    assert!(told["moves"][1]["en"].as_str().is_some_and(|text| text.contains("knight g9 chases cannon f7")));
}

#[test]
fn the_language_can_be_chosen() {
    for (lang, english, chinese) in [("en", true, false), ("zh", false, true), ("both", true, true)] {
        let arguments = [&CHASE[..], &["--rules", "asian", "--explain", "--lang", lang]].concat();
        let (code, out, _) = judge(&arguments);
        assert_eq!(
            (code, out.contains("perpetual chase"), out.contains("长捉")),
            (0, english, chinese),
            "{out}"
        );
    }
    assert_eq!(judge(&["--explain", "--lang", "fr"]).0, 2);
}

#[test]
fn what_is_not_decided_is_explained_too() {
    let value = json(&[&CHASE[..], &["--explain"]].concat());
    let told = &value["explanation"];
    assert_eq!((&value["result"], &told["decides"]), (&"ongoing".into(), &false.into()));
    assert_eq!((&told["occurrences"], &told["red"]["conduct"]), (&2.into(), &"perpetual_chase".into()));
    let fen = "3k5/R8/9/9/9/9/9/4K4/9/9 w - - 0 1";
    let value = json(&["--fen", fen, "--moves", "a8a9 d9d8 a9a8", "--explain"]);
    let told = &value["explanation"];
    assert_eq!((&told["scope"], &told["red"]), (&"game".into(), &Value::Null));
    assert_eq!((&told["moves"][2]["act"], &told["moves"][2]["check"]), (&"check".into(), &true.into()));
}

#[test]
fn mate_threats_count_where_a_depth_is_set() {
    let threat = ["--fen", "9/9/3k5/9/9/9/9/4R4/4K4/9 w - - 0 1", "--moves", "e2e4 d7d8 e4e2 d8d7"];
    let rules = ["--rules", "chinese", "--explain", "--mate-threat-depth"];
    let found = |depth| json(&[&threat[..], &rules, &[depth]].concat());
    let value = found("1");
    assert_eq!((&value["result"], &value["red"]), (&"red_loses".into(), &"perpetual_mate_threat".into()));
    assert_eq!(value["explanation"]["moves"][0]["mate_threat"], 1);
    assert_eq!(found("0")["result"], "draw");
    assert_eq!(judge(&["--mate-threat-depth", "11"]).0, 2);
}

#[test]
fn rule_sets_without_a_public_definition_say_so() {
    for set in ["sky", "yitian"] {
        let (code, out, err) = judge(&["--rules", set]);
        assert_eq!(code, 0);
        assert!(err.contains("not public") && err.contains("guess"), "{err}");
        assert!(out.starts_with("ongoing"), "{out}");
        let definition = &json(&["--rules", set])["definition"];
        assert_eq!(definition["public"], false);
        let switches = definition["switches"].as_array().expect("switches");
        assert!(switches.iter().any(|row| row["basis"] == "guess"), "{definition}");
    }
    let (_, _, err) = judge(&["--rules", "asian"]);
    assert_eq!((err.as_str(), &json(&["--rules", "asian"])["definition"]), ("", &Value::Null));
}

#[test]
fn limits_and_draws_can_be_set() {
    let quiet = ["--fen", "4k4/9/9/9/4p4/9/9/9/9/3K5 w - - 118 1", "--moves", "d0d1 e9e8"];
    let found = |more: &[&str]| {
        let value = json(&[&quiet[..], more].concat());
        (value["result"].clone(), value["reason"].clone())
    };
    let limit: Value = "natural_limit".into();
    assert_eq!(found(&[]), ("draw".into(), limit.clone()));
    assert_eq!(found(&["--natural-limit", "none"]), ("ongoing".into(), Value::Null));
    assert_eq!(found(&["--natural-limit", "121"]), ("ongoing".into(), Value::Null));
    assert_eq!(found(&["--draw-rule", "DrawAsRedWin"]), ("black_loses".into(), limit));
    for wrong in [["--natural-limit", "0"], ["--natural-limit", "151"], ["--draw-rule", "DrawAsWin"]] {
        assert_eq!(judge(&wrong).0, 2, "{wrong:?}");
    }
}
