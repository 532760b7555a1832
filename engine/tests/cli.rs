//! The verbs of `chuhe` as other programs call them: JSON alone on stdout, exit codes 0, 1 and 2.

use std::process::Command;

use serde_json::Value;

fn chuhe(arguments: &[&str]) -> (i32, String, String) {
    let done = Command::new(env!("CARGO_BIN_EXE_chuhe")).args(arguments).output().expect("chuhe runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.code().unwrap_or(-1), text(&done.stdout), text(&done.stderr))
}

fn json(arguments: &[&str]) -> (i32, Value) {
    let (code, out, err) = chuhe(arguments);
    let value =
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {out:?} {err:?}"));
    (code, value)
}

#[test]
fn perft_counts() {
    let (code, value) = json(&["perft", "3", "--json"]);
    assert_eq!((code, &value["nodes"]), (0, &Value::from(79_666)));
    assert!(value["seconds"].is_number() && value["nps"].is_u64());
    let (_, value) = json(&["perft", "1", "--divide", "--fen", "startpos", "--json"]);
    assert_eq!(value["divide"].as_object().map(|moves| moves.len()), Some(44));
}

#[test]
fn fen_says_what_is_wrong() {
    let (code, value) =
        json(&["fen", "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR r", "--json"]);
    assert_eq!((code, &value["ok"], &value["error"]), (0, &Value::Bool(true), &Value::Null));
    let (code, value) = json(&["fen", "--nonsense", "--json"]);
    assert_eq!((code, &value["ok"], &value["canonical"]), (1, &Value::Bool(false), &Value::Null));
    assert!(value["error"].is_string());
}

#[test]
fn moves_in_every_notation() {
    let fen = xiangqi::fen::START;
    for way in [["--move", "h2e2"], ["--text", "炮二平五"], ["--text", "C2=5"], ["--text", "H2-E2"]] {
        let (code, value) = json(&["notation", "--fen", fen, way[0], way[1], "--json"]);
        assert_eq!(
            (code, &value["uci"], &value["chinese"]),
            (0, &"h2e2".into(), &"炮二平五".into()),
            "{way:?}"
        );
        assert_eq!((&value["iccs"], &value["wxf"]), (&"H2-E2".into(), &"C2=5".into()), "{way:?}");
    }
    assert_eq!(chuhe(&["notation", "--move", "h2h8"]).0, 2);
    assert_eq!(chuhe(&["notation"]).0, 2);
}

#[test]
fn judging_stops_where_the_game_ends() {
    let fen = "3k5/9/9/9/9/9/9/9/4R4/4K4 w";
    let (code, value) = json(&["judge", "--rules", "competition", "--fen", fen, "--moves", "", "--json"]);
    assert_eq!((code, &value["result"], &value["ply"]), (0, &"ongoing".into(), &0.into()));
    let mate = "3k5/9/9/9/9/9/9/9/R3R4/4K4 w";
    let moves = "a1d1 d9d8 e1d1";
    let (_, value) = json(&["judge", "--fen", mate, "--moves", moves, "--json"]);
    assert_eq!((&value["result"], &value["reason"]), (&"black_loses".into(), &"checkmate".into()));
    assert_eq!((&value["ply"], &value["red"]), (&1.into(), &Value::Null));
    let (code, _, err) = chuhe(&["judge", "--fen", "startpos", "--moves", "h2e2 h2e2"]);
    assert_eq!(code, 2);
    assert!(err.contains("move 2 of the list") && err.contains("h2e2"), "{err}");
    assert_eq!(chuhe(&["judge", "--rules", "village", "--moves", ""]).0, 2);
}

#[test]
fn nets_are_made_checked_and_benched() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("网 络.nnue");
    let file = path.to_str().expect("UTF-8");
    let (code, out, err) = chuhe(&["net", "random", "--arch", "classic", "--seed", "7", "--out", file]);
    assert_eq!(code, 0, "{out} {err}");
    let (code, value) = json(&["net", "verify", file, "--positions", "200", "--json"]);
    assert_eq!((code, &value["ok"]), (0, &Value::Bool(true)), "{value}");
    let id = value["id"].clone();
    let copy = folder.path().join("copy.nnue");
    let copied = copy.to_str().expect("UTF-8");
    let (code, exported) = json(&["net", "export", file, "--out", copied, "--json"]);
    assert_eq!((code, &exported["id"], &exported["out"]), (0, &id, &copied.into()));
    assert_eq!(std::fs::read(&copy).expect("the copy"), std::fs::read(&path).expect("the net"));
    std::fs::write(&copy, "something else").expect("a file");
    assert_eq!(chuhe(&["net", "export", file, "--out", copied]).0, 2, "an existing file stays");
    assert_eq!(chuhe(&["net", "export", copied, "--out", file, "--overwrite"]).0, 2, "no net");
    assert_eq!(chuhe(&["net", "export", "none", "--out", copied]).0, 2);
    let backends = json(&["backends", "--json"]).1;
    assert_eq!(value["backends"], backends);

    let evals: Vec<Value> = backends
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_str)
        .map(|name| {
            let (code, value) = json(&["eval", "--net", file, "--backend", name, "--json"]);
            assert_eq!(code, 0);
            value["raw"].clone()
        })
        .collect();
    assert!(evals.windows(2).all(|pair| pair[0] == pair[1]), "{evals:?}");

    let (code, value) = json(&["bench", "--net", file, "--backend", "scalar", "--depth", "3", "--json"]);
    assert_eq!((code, &value["backend"], &value["net"]), (0, &"scalar".into(), &id));
    let again = json(&["bench", "--net", file, "--depth", "3", "--json"]).1;
    assert_eq!(value["signature"], again["signature"]);

    let mut bytes = std::fs::read(&path).expect("the net");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).expect("a damaged net");
    let (code, value) = json(&["net", "verify", file, "--json"]);
    assert_eq!((code, &value["ok"]), (1, &Value::Bool(false)));
    assert_eq!(chuhe(&["eval", "--net", file]).0, 2);
}

#[test]
fn nets_are_examined_beside_the_hand_crafted_evaluation() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("random.nnue");
    let file = path.to_str().expect("UTF-8");
    assert_eq!(chuhe(&["net", "random", "--arch", "classic", "--seed", "7", "--out", file]).0, 0);
    let small = ["--games", "1", "--endgame-nodes", "50", "--mate-nodes", "500", "--depth", "3"];
    let words = |last: &[&'static str]| [&["net", "examine", file], &small[..], last].concat();
    let (code, value) = json(&words(&["--json"]));
    let columns = value["examined"].as_array().expect("a list");
    assert_eq!((code, &value["sound"], columns.len()), (0, &Value::Bool(true), 2), "{value}");
    let number = |column: usize, pointer: &str| {
        columns[column].pointer(pointer).and_then(Value::as_f64).expect("a number")
    };
    // A random net knows nothing; the hand-crafted evaluation knows what wins.
    assert!(number(1, "/endgames/told_apart_by_search") > 0.7, "{value}");
    assert!(number(0, "/endgames/told_apart") < number(1, "/endgames/told_apart"), "{value}");
    assert!(number(0, "/symmetry/mirror_mean") > 0.0);
    assert!(number(1, "/mates/solved") > 0.0 && number(1, "/stability/positions") > 0.0);
    assert_eq!(columns[1]["calibration"], Value::Null, "no records were given");
    let (code, table, _) = chuhe(&words(&["--alone"]));
    assert!(code == 0 && table.contains("told apart") && !table.contains("hand-crafted"), "{table}");
    let (code, _, err) = chuhe(&["net", "examine", "none", "--data", file]);
    assert!(code == 2 && err.contains("random.nnue"), "{err}");
}

#[test]
fn backends_are_compared_in_one_run() {
    let random = ["--arch", "half-kp-hm 2x128-16-16-1 crelu", "--seed", "5", "--depth", "2", "--json"];
    let words = |first: &[&'static str]| [&["bench"], first, &random].concat();
    let (code, value) = json(&words(&["--all-backends", "--rounds", "1"]));
    assert_eq!(code, 0);
    let rows = value["backends"].as_array().expect("a list");
    let names: Vec<Value> = rows.iter().map(|row| row["backend"].clone()).collect();
    assert_eq!(Value::from(names), json(&["backends", "--json"]).1);
    assert!(rows.iter().all(|row| row["nps"].as_u64() > Some(0)), "{value}");
    let alone = json(&words(&["--backend", "scalar"])).1;
    assert_eq!((&alone["signature"], &alone["net"]), (&value["signature"], &Value::Null));
    let classes = alone["classes"].as_object().expect("an object");
    let nodes: u64 = classes.values().filter_map(|class| class["nodes"].as_u64()).sum();
    assert_eq!(Some(nodes), alone["nodes"].as_u64());
    let (code, out, err) = chuhe(&["bench", "--net", "none", "--all-backends", "--json"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("--arch NAME"), "{err}");
}

#[test]
fn a_bench_without_a_net_has_no_backend() {
    let (code, value) = json(&["bench", "--net", "none", "--depth", "2", "--json"]);
    assert_eq!((code, &value["backend"], &value["net"]), (0, &Value::Null, &Value::Null));
    assert_eq!(value["signature"], value["nodes"]);
    let (code, out, err) = chuhe(&["bench", "--backend", "scalar", "--net", "none", "--json"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("--backend without a net"), "{err}");
}

#[test]
fn the_net_in_the_program_by_default() {
    let (code, value) = json(&["eval", "--json"]);
    assert_eq!((code, &value), (0, &json(&["eval", "--net", engine::eval::embedded::DEFAULT, "--json"]).1));
    assert!(value["cp"].as_i64().is_some_and(|cp| cp.abs() < 100), "{value}");
    let (code, hand_crafted) = json(&["eval", "--net", "none", "--json"]);
    assert_eq!((code, &hand_crafted["raw"]), (0, &hand_crafted["cp"]));
    assert!(hand_crafted["cp"].as_i64().is_some_and(|cp| cp.abs() < 100), "{hand_crafted}");
}
