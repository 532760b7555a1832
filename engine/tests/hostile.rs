//! Whatever is said to the engine, it lives, answers `isready`, and ends well when asked to.

mod common;

use std::time::{Duration, Instant};

use common::Engine;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const START: &str = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR";

/// Ten times the rounds with `CHUHE_FULL=1`.
fn rounds(count: usize) -> usize {
    if std::env::var_os("CHUHE_FULL").is_some() { 10 * count } else { count }
}

/// It still answers, and ends well.
fn lives(engine: &mut Engine) {
    engine.ask("isready", "readyok");
    engine.say("quit");
    engine.finish();
}

fn pick<'a>(rng: &mut Xoshiro256PlusPlus, words: &[&'a str]) -> &'a str {
    words[(rng.next_u64() % words.len() as u64) as usize]
}

#[test]
fn random_words_of_the_protocols() {
    const WORDS: &[&str] = &[
        "position",
        "startpos",
        "fen",
        "moves",
        "go",
        "depth",
        "nodes",
        "1",
        "-1",
        "99999999999999999999",
        "h2e2",
        "setoption",
        "name",
        "value",
        "Threads",
        "EvalFile",
        "MultiPV",
        "uci",
        "ucci",
        "stop",
        "ponderhit",
        "d",
        "eval",
        "flip",
        "searchmoves",
        "mate",
        "w",
        "-",
        START,
        "帅",
        "\u{0}",
        "ucinewgame",
        "infinite",
        "movetime",
        "wtime",
        "9/9/9",
        "0",
        "banmoves",
        "probe",
        "time",
        "increment",
        "batch",
        "draw",
        "ponder",
        "help",
        "Backend",
        "Skill",
        "Level",
        "usemillisec",
        "true",
        "false",
        "newgame",
        "debug",
        "export_net",
        "startpos moves",
        "Repetition Rule",
        "AsianRule",
        "Clear Hash",
        "bench",
        "\u{feff}",
        "#",
    ];
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut engine = Engine::start();
    for _ in 0..rounds(1500) {
        let count = 1 + rng.next_u64() % 7;
        let line: Vec<&str> = (0..count).map(|_| pick(&mut rng, WORDS)).collect();
        let line = line.join(" ");
        // A net's path, a log or an exported file would be made of words: nothing is to be written here. A bench
        // takes long.
        if ["export_net", "bench"].iter().any(|word| line.starts_with(word)) {
            continue;
        }
        // In batch mode nothing but the end of a search ends it, and it may have none.
        if line.contains("batch") && !line.contains("false") {
            continue;
        }
        engine.say(&line);
        engine.say("stop");
    }
    lives(&mut engine);
}

#[test]
fn random_bytes_and_endless_lines() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
    for greeting in ["uci", "ucci"] {
        let mut engine = Engine::greeted(greeting);
        for _ in 0..rounds(200) {
            let mut line = vec![0; (rng.next_u64() % 300) as usize];
            rng.fill_bytes(&mut line);
            engine.say_bytes(&line);
        }
        for line in [
            vec![b'x'; 1 << 20],
            vec![b'x'; (1 << 20) + 1],
            vec![b' '; 5 << 20],
            vec![0xff; 3 << 20],
            [b"position fen ".to_vec(), vec![b'9'; 1 << 20]].concat(),
            [b"position fen ".to_vec(), vec![b'/'; 1 << 19]].concat(),
            [b"go depth ".to_vec(), vec![b'9'; 1 << 19]].concat(),
            [b"setoption name ".to_vec(), vec![b'a'; 1 << 19]].concat(),
            [b"go searchmoves ".to_vec(), b"h2e2 ".repeat(100_000)].concat(),
        ] {
            engine.say_bytes(&line);
            engine.say("stop");
        }
        lives(&mut engine);
    }
}

#[test]
fn huge_numbers() {
    const NUMBERS: &[&str] = &[
        "0",
        "-1",
        "2147483647",
        "2147483648",
        "4294967296",
        "9223372036854775807",
        "18446744073709551615",
        "1e9",
        "",
    ];
    let mut engine = Engine::greeted("uci");
    for number in NUMBERS {
        for limit in ["depth", "nodes", "movetime", "wtime", "btime", "winc", "movestogo", "mate"] {
            engine.say("position startpos");
            engine.say(&format!("go {limit} {number}"));
            engine.say("stop");
        }
        engine.say(&format!("position fen {START} w - - {number} {number}"));
        engine.say("go depth 1");
        for option in ["Threads", "Hash", "MultiPV", "Move Overhead", "nodestime", "UCI_Elo", "Skill Level"] {
            if *number != "0" {
                engine.say(&format!("setoption name {option} value {number}"));
            }
        }
        engine.say(&format!("speedtest {number} x"));
        engine.say(&format!("perft -{number}"));
    }
    lives(&mut engine);
    let mut engine = Engine::greeted("ucci");
    for number in NUMBERS {
        for limit in ["depth", "nodes", "time", "time 9 increment", "time 9 movestogo", "time 9 opptime"] {
            engine.say(&format!("go {limit} {number}"));
            engine.say("stop");
        }
        engine.say(&format!("setoption multipv {number}"));
    }
    lives(&mut engine);
}

#[test]
fn option_storms() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut engine = Engine::greeted("uci");
    let rules = ["ComputerRule", "AsianRule", "ChineseRule", "SkyRule", "YitianRule", "AllowChase", "None"];
    for i in 0..rounds(300) {
        let line = match rng.next_u64() % 8 {
            0 => format!("setoption name Hash value {}", 1 + rng.next_u64() % 32),
            1 => format!("setoption name Threads value {}", 1 + rng.next_u64() % 4),
            2 => "setoption name Clear Hash".to_owned(),
            3 => format!("setoption name Repetition Rule value {}", pick(&mut rng, &rules)),
            4 => format!("setoption name Skill Level value {}", rng.next_u64() % 22),
            5 => format!(
                "setoption name NumaPolicy value {}",
                pick(&mut rng, &["auto", "none", "system", "0", "x"])
            ),
            6 => "setoption name EvalFile value <empty>".to_owned(),
            _ => format!("setoption name Backend value {}", pick(&mut rng, &["auto", "scalar", "avx9"])),
        };
        engine.say(&line);
        if i % 5 == 0 {
            engine.say("go infinite");
        }
    }
    lives(&mut engine);
}

/// Chariots that go to and fro, for ever.
fn shuffle(plies: usize) -> String {
    let cycle = ["a0a1", "a9a8", "a1a0", "a8a9"];
    let moves: Vec<&str> = (0..plies).map(|i| cycle[i % 4]).collect();
    format!("position startpos moves {}", moves.join(" "))
}

#[test]
fn games_of_a_hundred_thousand_plies() {
    for greeting in ["uci", "ucci"] {
        let mut engine = Engine::greeted(greeting);
        engine.say(&shuffle(100_000));
        engine.say("go depth 3");
        engine.until("bestmove {move}*");
        engine.say(&(shuffle(100_000) + " a0a9"));
        engine.until("*move 100001 of the list*");
        lives(&mut engine);
    }
    let mut engine = Engine::greeted("uci");
    engine.say(&shuffle(100_000));
    engine.say("d");
    engine.until("Fen: *");
    engine.until("Occurrences: {n}");
    engine.until("Result: draw by *");
    lives(&mut engine);
}

/// Everything in one piece, then the end of input at once: it must end, and soon.
#[test]
fn races_of_stop_quit_and_the_end() {
    let scripts: &[&[&str]] = &[
        &[],
        &["stop"],
        &["quit"],
        &["ponderhit", "stop", "ponderhit", "quit"],
        &["uci", "go infinite"],
        &["uci", "go infinite", "quit"],
        &["uci", "go ponder movetime 10"],
        &["uci", "go ponder movetime 10", "ponderhit"],
        &["uci", "go ponder infinite", "ponderhit", "quit"],
        &["uci", "go infinite", "go infinite", "stop", "stop", "go infinite"],
        &["uci", "go depth 3", "go depth 3", "stop", "quit"],
        &["uci", "go infinite", "ucinewgame", "setoption name Hash value 1", "go infinite"],
        &["uci", "go infinite", "setoption name Threads value 3", "go infinite", "bench 1", "quit"],
        &["uci", "go infinite", "ucci", "go depth infinite"],
        &["ucci", "go", "uci", "go infinite", "quit"],
        &["ucci", "go", "go", "position startpos", "stop", "go", "stop", "stop"],
        &["ucci", "go ponder time 1", "ponderhit draw", "quit"],
        &["ucci", "setoption batch true", "go nodes 10", "go depth 1"],
        &["ucci", "go depth infinite"],
    ];
    for script in scripts {
        let start = Instant::now();
        let mut engine = Engine::start();
        for line in *script {
            engine.say(line);
        }
        let rest = engine.finish();
        let went = script.iter().any(|line| line.starts_with("go"));
        let answered = rest.iter().any(|line| line.starts_with("bestmove"));
        assert_eq!(went, answered, "{script:?}: {rest:?}");
        assert!(start.elapsed() < Duration::from_secs(30), "{script:?}");
    }
}

#[test]
fn a_reader_that_is_gone_does_no_harm() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_chuhe"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("chuhe starts");
    drop(child.stdout.take());
    let mut input = child.stdin.take().expect("a pipe");
    for line in ["uci", "position startpos", "go depth 3", "d", "help", "quit"] {
        writeln!(input, "{line}").expect("it reads on");
    }
    assert!(child.wait().expect("a child of ours").success());
}
