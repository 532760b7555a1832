//! `chuhe-gen loop` as a program, with programs that only pretend: order and words of the steps, kill -9 of the loop and
//! Ctrl-C at any step, failures, what a failed net brings about. The real programs: `tests/tests/generations.rs`.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_chuhe-gen");

/// All programs in one. `wait-VERB` makes a verb wait until it is gone or an interrupt comes, `fail-VERB` makes it fail
/// with the code in it, `match` holds the answer of matches.
const FAKE: &str = r#"#!/bin/sh
name=$(basename "$0"); verb=$1; first=$2; out=; data=; last=
echo "$name $*" >> calls.txt
for word; do
    [ "$last" = --out ] && out=$word
    last=$word
done
if [ -e "wait-$verb" ]; then
    trap 'echo stopped by an interrupt >&2; exit 130' INT TERM
    : > "waiting-$verb"
    while [ -e "wait-$verb" ]; do sleep 0.02; done
fi
if [ -e "fail-$verb" ]; then echo "it must fail now" >&2; exit "$(cat "fail-$verb")"; fi
case $verb in
    play) echo "$*" > "$out"; echo '{"positions":1000,"bytes":1500,"positions_per_second":250}' ;;
    merge|dedup|filter)
        [ -e "$out" ] && { echo "$out is there already" >&2; exit 2; }
        echo "$*" > "$out"; echo '{}' ;;
    train) mkdir -p "$out"; echo 1 > "$out/result.json"
        printf 'step,loss,validation_loss\n1,0.5,\n2,0.4,0.45\n' > "$out/loss.csv"
        echo '{"validation_loss":0.45}' ;;
    export) echo "$first" > "$out"; echo '{"id":"'"$(echo "$first" | tr -cd 0-9)"'abcdef"}' ;;
    net) echo '{"ok":true}' ;;
    run) : > "$(echo "$*" | sed 's/.*--pgn \([^ ]*\).*/\1/')"; cat match ;;
esac
"#;

const WON: &str =
    r#"{"pentanomial":[0,1,2,5,4],"elo":100.0,"elo_error":30.0,"state":"H1","games":24,"llr":3.0}"#;
const LOST: &str =
    r#"{"pentanomial":[4,5,2,1,0],"elo":-100.0,"elo_error":40.0,"state":"H0","games":24,"llr":-3.0}"#;
const OPEN: &str =
    r#"{"pentanomial":[2,2,2,2,3],"elo":5.0,"elo_error":40.0,"state":"continue","games":22,"llr":0.1}"#;

const RECIPE: &str = "[loop]\nfolder = \"run 楚河\"\ngenerations = 3\nseed = 5\nthreads = 2\n\
    [play]\npositions = 1000\nnodes = 10\nargs = [\"--hash\", \"1\"]\n\
    [data]\ngenerations = 2\n\
    [train]\nconfig = \"train.toml\"\n\
    [match]\npairs = 12\nnodes = 10\n";

/// The steps of a generation, by program and verb.
const STEPS: [&str; 5] =
    ["chuhe-gen play", "chuhe-train train", "chuhe-train export", "chuhe net", "chuhe-match run"];

struct Place(tempfile::TempDir);

impl Place {
    fn new(recipe: &str) -> Place {
        let place = Place(tempfile::tempdir().expect("a folder"));
        fs::create_dir(place.path("bin")).expect("a folder");
        for name in ["chuhe", "chuhe-gen", "chuhe-train", "chuhe-match"] {
            let path = place.path("bin").join(name);
            fs::write(&path, FAKE).expect("written");
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("made executable");
        }
        place.write("train.toml", "[net]\narchitecture = \"classic\"\n");
        place.write("loop.toml", recipe);
        fs::create_dir(place.run("")).expect("a folder");
        fs::write(place.run("match"), WON).expect("written");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A path in the loop's folder.
    fn run(&self, name: &str) -> PathBuf {
        self.path("run 楚河").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("written");
    }

    fn command(&self, rest: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.arg("loop").arg(self.path("loop.toml")).arg("--programs").arg(self.path("bin")).args(rest);
        command
    }

    #[track_caller]
    fn done(&self, rest: &[&str], code: i32) -> Output {
        let output = self.command(rest).output().expect("the program starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{rest:?}: {stderr}");
        output
    }

    #[track_caller]
    fn json(&self, rest: &[&str], code: i32) -> Value {
        let output = self.done(&[rest, &["--json", "--quiet"]].concat(), code);
        serde_json::from_slice(&output.stdout).expect("JSON alone on stdout")
    }

    #[track_caller]
    fn error(&self, rest: &[&str], code: i32) -> String {
        String::from_utf8(self.done(&[rest, &["--quiet"]].concat(), code).stderr).expect("text")
    }

    fn calls(&self) -> Vec<String> {
        let text = fs::read_to_string(self.run("calls.txt")).unwrap_or_default();
        text.lines().map(ToOwned::to_owned).collect()
    }

    /// The loop with a verb that waits, once it does.
    fn waiting(&self, verb: &str) -> Child {
        let [wait, waiting] = ["wait", "waiting"].map(|word| self.run(&format!("{word}-{verb}")));
        _ = fs::remove_file(&waiting);
        fs::write(&wait, "").expect("written");
        let mut command = self.command(&["--quiet"]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
        until(|| waiting.exists());
        child
    }
}

/// Waits for something that must come (it would be a fault to wait for ever, so not for ever).
#[track_caller]
fn until(is_true: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_true() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn verbs(calls: &[String]) -> Vec<String> {
    calls.iter().map(|call| call.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect()
}

/// The word behind a flag.
fn word<'a>(call: &'a str, flag: &str) -> &'a str {
    let mut words = call.split(' ').skip_while(|&word| word != flag);
    words.nth(1).unwrap_or_default()
}

#[test]
fn generations_follow_each_other() {
    let place = Place::new(RECIPE);
    let planned = place.json(&["--dry-run"], 0);
    assert_eq!((&planned["generation"], planned["steps"].as_array().map(Vec::len)), (&1.into(), Some(5)));
    assert!(place.calls().is_empty() && !place.run("journal.jsonl").exists());

    let ladder = place.json(&[], 0);
    assert_eq!(ladder["state"], "complete");
    let calls = place.calls();
    assert_eq!(verbs(&calls), [STEPS, STEPS, STEPS].concat());
    assert_eq!(
        [0, 5, 10].map(|at| word(&calls[at], "--net")),
        ["none", "gen-0001/net.nnue", "gen-0002/net.nnue"]
    );
    assert!(calls[6].contains("--data gen-0001/games.rec gen-0002/games.rec --out"), "{}", calls[6]);
    assert!(calls[11].contains("--data gen-0002/games.rec gen-0003/games.rec --out"), "{}", calls[11]);
    assert!(calls[4].contains("--a net:gen-0001/net.nnue --b hce"), "{}", calls[4]);
    assert!(calls[14].contains("--a net:gen-0003/net.nnue --b net:gen-0002/net.nnue"), "{}", calls[14]);
    let mut seeds: Vec<&str> =
        calls.iter().map(|call| word(call, "--seed")).filter(|s| !s.is_empty()).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), 6, "each game run and each match has a seed of its own");
    let configs =
        [1, 2].map(|n| fs::read_to_string(place.run(&format!("gen-000{n}/train.toml"))).expect("text"));
    assert!(configs[0] != configs[1] && configs[0].contains("seed = "));

    let last = &ladder["generations"][2];
    assert_eq!(
        (&last["accepted"], &last["positions"], &last["bytes"]),
        (&true.into(), &1000.into(), &1500.into())
    );
    assert_eq!(last["cumulative_elo"], 300.0);
    let error = last["cumulative_elo_error"].as_f64().expect("a number");
    assert!((error - 30.0 * 3f64.sqrt()).abs() < 1e-9, "{error}");
    let page = fs::read_to_string(place.run("ladder.html")).expect("a page");
    assert_eq!(page.matches("<svg").count(), 3, "Elo, losses, times");
    for wanted in ["0001abcdef", "+300.0 ± 52.0", "0, 1, 2, 5, 4", "accepted", "0.450000"] {
        assert!(page.contains(wanted), "{wanted}");
    }
    assert!(!page.contains("http-equiv") && !page.contains("<script"));

    let again = place.json(&[], 0);
    assert_eq!((&again["state"], place.calls().len()), (&"already complete".into(), 15));
    assert_eq!(again["generations"], ladder["generations"]);
    assert_eq!(place.json(&["--status"], 0)["generations"], ladder["generations"]);
    assert_eq!(place.json(&["--dry-run"], 0)["generation"], Value::Null);
    place.write("loop.toml", &RECIPE.replace("generations = 3", "generations = 4"));
    place.json(&[], 0);
    assert_eq!(place.calls().len(), 20);
}

/// SIGKILL while each step runs: the child works on, is asked to stop by the next loop, and the step is done again; no
/// step that was done is.
#[test]
fn a_killed_loop_goes_on() {
    let place = Place::new(&RECIPE.replace("generations = 3", "generations = 1"));
    for verb in ["play", "train", "export", "net", "run"] {
        // The second loop finds the first one's child waiting.
        for _ in 0..2 {
            let mut killed = place.waiting(verb);
            killed.kill().expect("killed");
            killed.wait().expect("an end");
            let state = place.json(&["--status"], 0);
            let steps = state["generations"][0]["steps"].as_array().expect("steps");
            assert_eq!(steps.last().expect("a step")["state"], Value::Null);
        }
        fs::remove_file(place.run(&format!("wait-{verb}"))).expect("removed");
    }
    assert_eq!(place.json(&[], 0)["generations"][0]["accepted"], true);
    let calls = verbs(&place.calls());
    let counts = STEPS.map(|step| calls.iter().filter(|call| *call == step).count());
    assert_eq!(counts, [3; 5], "two killed, one done");
}

#[test]
fn an_interrupt_is_passed_on() {
    let place = Place::new(&RECIPE.replace("generations = 3", "generations = 1"));
    for verb in ["play", "train", "run"] {
        let running = place.waiting(verb);
        let second = place.error(&[], 2);
        assert!(second.contains("in use by another run"), "{second}");
        let killed = Command::new("kill").args(["-INT", &running.id().to_string()]).status().expect("kill");
        assert!(killed.success());
        let output = running.wait_with_output().expect("an end");
        assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
        fs::remove_file(place.run(&format!("wait-{verb}"))).expect("removed");
        let steps = place.json(&["--status"], 0)["generations"][0]["steps"].clone();
        assert_eq!(steps.as_array().and_then(|all| all.last()).expect("a step")["state"], "interrupted");
        let log = if verb == "run" { "match" } else { verb };
        let log = fs::read_to_string(place.run(&format!("gen-0001/{log}.log"))).expect("a log");
        assert!(log.contains("stopped by an interrupt"), "{log}");
    }
    place.json(&[], 0);
    let count = |verb: &str| place.calls().iter().filter(|call| call.contains(&format!(" {verb} "))).count();
    assert_eq!(["play", "train", "export", "run"].map(count), [2, 2, 1, 2]);
}

#[test]
fn failures_are_told_and_survived() {
    let place = Place::new(&RECIPE.replace("generations = 3", "generations = 1"));
    let fail = |verb: &str, code: &str| fs::write(place.run(&format!("fail-{verb}")), code).expect("written");
    let mend = |verb: &str| fs::remove_file(place.run(&format!("fail-{verb}"))).expect("removed");
    fail("play", "2");
    let error = place.error(&[], 2);
    for wanted in ["generation 1, play", "it must fail now", "ended with 2", "play.log"] {
        assert!(error.contains(wanted), "{wanted}: {error}");
    }
    mend("play");
    fail("net", "1");
    assert!(place.error(&[], 1).contains("generation 1, verify"));
    assert_eq!(place.calls().len(), 5);
    mend("net");

    // A file that somebody changed meanwhile.
    let net = place.run("gen-0001/net.nnue");
    let kept = fs::read(&net).expect("a net");
    fs::write(&net, "another net").expect("written");
    let error = place.error(&[], 2);
    assert!(error.contains("gen-0001/net.nnue has 11 bytes") && error.contains("--redo"), "{error}");
    fs::remove_file(&net).expect("removed");
    assert!(place.error(&[], 2).contains("is not there"));
    fs::write(&net, kept).expect("written");

    // A match without a result, and a program that is gone.
    fs::write(place.run("match"), "no JSON").expect("written");
    assert!(place.error(&[], 2).contains("is not JSON"));
    fs::write(place.run("match"), WON).expect("written");
    fs::rename(place.path("bin/chuhe-match"), place.path("bin/away")).expect("renamed");
    assert!(place.error(&[], 2).contains("chuhe-match is not there"));
    fs::rename(place.path("bin/away"), place.path("bin/chuhe-match")).expect("renamed");
    place.json(&[], 0);
}

#[test]
fn what_a_failed_net_brings_about() {
    let two = RECIPE
        .replace("generations = 3", "generations = 2")
        .replace("generations = 2\n[train]", "generations = 1\n[train]");
    let accepted = |place: &Place, code| {
        let ladder = place.json(&[], code);
        let all: Vec<_> =
            ladder["generations"].as_array().expect("a list").iter().map(|g| g["accepted"].clone()).collect();
        all
    };
    let keep = Place::new(&two);
    fs::write(keep.run("match"), LOST).expect("written");
    assert_eq!(accepted(&keep, 0), [false, false]);
    let calls = keep.calls();
    assert_eq!(word(&calls[5], "--net"), "none", "the old net goes on");
    assert!(
        calls[6].contains("--data gen-0001/games.rec gen-0002/games.rec"),
        "with more data: {}",
        calls[6]
    );

    let stop = Place::new(&(two.clone() + "on_failure = \"stop\"\n"));
    fs::write(stop.run("match"), OPEN).expect("written");
    assert_eq!(accepted(&stop, 1), [false]);
    assert_eq!(accepted(&stop, 1), [false]);
    assert_eq!(stop.calls().len(), 5, "it stays stopped");
    stop.write("loop.toml", &(two.clone() + "on_failure = \"accept\"\n"));
    assert_eq!(accepted(&stop, 0), [true, true]);
    assert_eq!(word(&stop.calls()[5], "--net"), "gen-0001/net.nnue");

    let by_elo = Place::new(&(two + "undecided = \"by_elo\"\n"));
    fs::write(by_elo.run("match"), OPEN).expect("written");
    assert_eq!(accepted(&by_elo, 0), [true, true]);
}

#[test]
fn tools_stand_before_training_and_files_go_when_they_may() {
    let recipe = RECIPE.to_owned()
        + "[[data.tools]]\nverb = \"merge\"\n[[data.tools]]\nverb = \"dedup\"\nargs = [\"--x\"]\n\
           [disk]\nkeep_games = 1\nkeep_models = 1\n";
    let place = Place::new(&recipe);
    // An output that an interrupted run left is made anew: these verbs do not go on.
    fs::create_dir(place.run("gen-0001")).expect("a folder");
    fs::write(place.run("gen-0001/tool-1.rec"), "half").expect("written");
    place.json(&[], 0);
    let calls = place.calls();
    assert_eq!(
        calls[8],
        "chuhe-gen merge gen-0001/games.rec gen-0002/games.rec --out gen-0002/tool-1.rec --json"
    );
    assert_eq!(calls[9], "chuhe-gen dedup gen-0002/tool-1.rec --out gen-0002/tool-2.rec --json --x");
    assert!(calls[10].contains("--data gen-0002/tool-2.rec --out"), "{}", calls[10]);
    let is_there = |name: &str| place.run(name).exists();
    let games = [1, 2, 3].map(|n| is_there(&format!("gen-000{n}/games.rec")));
    assert_eq!(games, [false, false, true], "generation 4 would train on its own and on generation 3's");
    assert_eq!([1, 2, 3].map(|n| is_there(&format!("gen-000{n}/model"))), [false, false, true]);
    assert!(!is_there("gen-0003/tool-1.rec") && is_there("gen-0001/net.nnue"));
    assert_eq!(place.json(&[], 0)["state"], "already complete");
}

#[test]
fn space_changes_and_doing_again() {
    let one = RECIPE.replace("generations = 3", "generations = 1");
    let place = Place::new(&(one.clone() + "[disk]\nmin_free_mib = 100000000000\n"));
    let error = place.error(&[], 2);
    assert!(error.contains("min_free_mib") && place.calls().is_empty(), "{error}");

    place.write("loop.toml", &one);
    fs::write(place.run("fail-train"), "2").expect("written");
    place.error(&[], 2);
    fs::remove_file(place.run("fail-train")).expect("removed");
    // A generation goes on as it was begun; --redo takes changes up.
    place.write(
        "loop.toml",
        &one.replace("pairs = 12", "pairs = 13").replace("nodes = 10\nargs", "nodes = 11\nargs"),
    );
    let output = place.done(&[], 0);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("the recipe has changed (play, match)"), "{stderr}");
    assert_eq!(word(place.calls().last().expect("a call"), "--pairs"), "12");
    assert!(place.error(&["--redo", "tea"], 2).contains("expected one of play train"));
    place.done(&["--redo", "match", "--quiet"], 0);
    let calls = place.calls();
    assert_eq!((calls.len(), word(&calls[6], "--pairs")), (7, "13"));
    place.done(&["--redo", "play", "--quiet"], 0);
    assert_eq!(place.calls().len(), 12);
    assert_eq!(word(&place.calls()[7], "--nodes"), "11");

    place.write("loop.toml", &one.replace("seed = 5", "seed = 6"));
    assert!(place.error(&[], 2).contains("seed is 5 there and 6 here"));
    let journal = place.run("journal.jsonl");
    let text = fs::read_to_string(&journal).expect("a journal");
    fs::write(&journal, text.replacen("gen-0001", "gen-0009", 1)).expect("written");
    place.write("loop.toml", &one);
    assert!(place.error(&[], 2).contains("line "), "a changed journal is refused with its line");
    // A torn end is cut off.
    fs::write(&journal, &text[..text.len() - 10]).expect("written");
    assert_eq!(place.json(&[], 0)["generations"][0]["accepted"], true);
}

#[test]
fn a_recipe_that_is_none() {
    let place = Place::new("[loop]\nfolder = \"x\"\ngenerations = 1\nlevel = 3\n");
    let error = place.error(&[], 2);
    assert!(error.contains("line 4") && error.contains("level"), "{error}");
}
