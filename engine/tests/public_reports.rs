//! Reports of other engines' users, each with the behaviour that is right here, over the protocol.
//!
//! The number of a test is the number of its report in our list of 19: the project and the issue are named in each. What
//! those reports ask of the search alone is tested on the searcher in `public_reports_search.rs`.

mod common;

use common::{Engine, fits};

fn uci() -> Engine {
    Engine::greeted("uci")
}

/// Sets a position that must be taken.
fn set(engine: &mut Engine, position: &str) {
    engine.say(position);
    engine.say("isready");
    engine.expect("readyok");
}

/// Searches and gives what was said, the answer last.
fn go(engine: &mut Engine, limit: &str) -> Vec<String> {
    engine.say(limit);
    engine.until("bestmove *")
}

fn fen(engine: &mut Engine) -> String {
    engine.say("d");
    let lines = engine.until("Result: *");
    let fen = lines.iter().find_map(|line| line.strip_prefix("Fen: "));
    fen.expect("d shows the FEN").to_owned()
}

fn infos(lines: &[String]) -> Vec<&String> {
    lines.iter().filter(|line| line.starts_with("info depth")).collect()
}

fn last_info(lines: &[String]) -> &str {
    infos(lines).last().expect("an info line")
}

fn assert_no_mate(lines: &[String]) {
    assert!(!lines.iter().any(|line| line.contains("score mate")), "{lines:#?}");
}

/// Pikafish #15: a bad FEN ended the engine.
#[test]
fn report_01_a_bad_fen_is_an_error_and_no_end() {
    let mut engine = uci();
    set(&mut engine, "position startpos moves h2e2");
    let before = fen(&mut engine);
    for bad in ["foobar", "", "9/9/9 w", "foobar w - - 0 1", "rnbakabnr/9/9/9/9/9/9/9/9/RNBAKABNX w"] {
        engine.say(&format!("position fen {bad}"));
        engine.expect("info string error: position: *; the old position stays");
        assert_eq!(fen(&mut engine), before, "{bad}");
    }
    assert!(fits("bestmove {move}*", go(&mut engine, "go depth 2").last().expect("an answer")));
    engine.finish();
}

/// Pikafish #65: moves of another game were played on the board as far as they went.
#[test]
fn report_02_a_move_list_is_refused_at_its_first_illegal_move() {
    let mut engine = uci();
    let before = fen(&mut engine);
    engine.say("position fen 1Cba1rb2/4kn3/1R7/p2R4p/4p4/2p6/P1r5P/4B4/9/2BAKA3 w moves b7e7 b0c2 a3a4");
    engine.expect("info string error: position: move 2 of the list, \"b0c2\": *; the old position stays");
    assert_eq!(fen(&mut engine), before);
    engine.finish();
}

/// Pikafish #145: a win by the repetition rule was shown as mate in one.
#[test]
fn report_03_a_win_by_rule_is_no_mate() {
    let mut engine = uci();
    let start = "3ak1b2/4a4/9/8p/3P5/4R3P/7n1/4B4/1Cr1A4/3AK1B2 w - - 0 1";
    // Black's chariot chases the cannon: by the third standing Black has lost.
    let cycle = "b1b0 c1c0 b0b1 c0c1";
    set(&mut engine, &format!("position fen {start} moves {cycle} {cycle}"));
    engine.say("d");
    engine.until("Result: black_loses by repetition");
    set(&mut engine, &format!("position fen {start} moves {cycle} b1b0 c1c0 b0b1"));
    let lines = go(&mut engine, "go depth 6 searchmoves c0c1");
    assert_no_mate(&lines);
    assert!(fits("* score cp -{n} *", last_info(&lines)), "{lines:#?}");
    assert!(lines.iter().any(|line| fits("info string rule loss in * (no mate), *", line)), "{lines:#?}");
    engine.finish();
}

/// Pikafish #113: mate in one at the root after a game with repetitions.
#[test]
fn report_04_no_mate_after_repetitions() {
    let mut engine = uci();
    set(
        &mut engine,
        "position fen 1rbaka3/3r5/n1c1b4/p1p1R3p/9/2c3P2/P3P3P/2NC2N2/4A4/R1BAK1B2 b - - 0 12 moves d8d5 d2f2 d5f5 c0e2 c4c3 a3a4 b9b8 e6e4 f5f3 g2h4 b8h8 g4g5 f3g3 g5f5 g3h3 h4g6 h8h6 f5f6 h3f3 g6h4 f3h3",
    );
    assert_no_mate(&go(&mut engine, "go depth 8"));
    engine.finish();
}

/// Pikafish #146: mate in one in a plain position.
#[test]
fn report_05_no_mate_in_a_plain_position() {
    let mut engine = uci();
    set(&mut engine, "position fen 3aka1r1/9/1c1C4c/p2r4p/1R4p2/5n3/P3P1P1P/2N3N2/4A4/R1B1KAB2 w");
    assert_no_mate(&go(&mut engine, "go depth 8"));
    engine.finish();
}

/// Fairy-Stockfish #635: false mates by counting the second standing.
#[test]
fn report_06_drawn_endings_are_no_mates() {
    let mut engine = uci();
    for position in ["3aka3/4n4/9/9/9/9/9/7C1/7r1/3AK4 w", "5R3/4k4/9/4r4/9/9/5p3/5A3/5K3/9 b"] {
        engine.say("ucinewgame");
        set(&mut engine, &format!("position fen {position}"));
        assert_no_mate(&go(&mut engine, "go depth 8"));
    }
    engine.finish();
}

/// PyChess variants #843: a check by chariot and cannon was called mate.
#[test]
fn report_07_a_check_that_can_be_answered_is_no_mate_in_one() {
    let mut engine = uci();
    set(&mut engine, "position fen c3k2C1/4a4/6R2/9/9/9/9/9/9/3K5 w");
    let lines = go(&mut engine, "go depth 8");
    assert!(!lines.iter().any(|line| line.contains("score mate 1 ")), "{lines:#?}");
    engine.finish();
}

/// Pikafish #27, #28; Fairy-Stockfish #570: games lost, or wrongly given, for chasing. A chase of both sides is a draw.
#[test]
fn report_08_chases_are_judged() {
    let mut engine = uci();
    let chase =
        "position fen 3a1kb2/4a4/4r3b/7c1/9/9/9/8R/7CC/3K5 w moves i2h2 h6i6 h2i2 i6h6 i2h2 h6i6 h2i2 i6h6";
    let mutual =
        "position fen 3ak4/c2R1R2c/4b4/9/9/9/9/9/9/4K4 w moves f8f6 d9e8 f6f8 e8d9 f8f6 d9e8 f6f8 e8d9";
    for (position, result) in
        [(chase, "Result: red_loses by repetition"), (mutual, "Result: draw by repetition")]
    {
        set(&mut engine, position);
        engine.say("d");
        assert_eq!(engine.until("Result: *").last().expect("a line"), result);
    }
    // Where only perpetual check is forbidden, the first is a draw too.
    engine.say("setoption name Repetition Rule value AllowChase");
    set(&mut engine, chase);
    engine.say("d");
    engine.until("Result: draw by repetition");
    engine.finish();
}

/// chessdb #15: long alternating checks by several pieces were not seen as perpetual.
#[test]
fn report_09_checks_by_several_pieces_are_perpetual() {
    let mut engine = uci();
    let start = "3ak3C/4a2R1/9/4p3p/2r1rcR2/4C4/1n2P3P/B3B4/4A4/1c2KA3 w";
    let cycle = "g5g9 f5f9 g9g5 f9f5 h8h9 e8f9 h9h6 f9e8";
    set(&mut engine, &format!("position fen {start} moves g5g9 f5f9 g9g5 f9f5"));
    engine.say(&format!("position fen {start} moves {cycle}"));
    engine.say("isready");
    engine.expect("readyok");
    assert_no_mate(&go(&mut engine, "go depth 4"));
    engine.finish();
}

/// Fairy-Stockfish #405: which moves count for the natural limit. 120 plies without capture, or as the option says.
#[test]
fn report_10_the_natural_limit_counts_as_it_is_said() {
    let mut engine = uci();
    let at = |count: u32| format!("position fen 4k4/9/9/9/9/9/9/p8/9/R2K5 w - - {count} 60 moves a0b0");
    let result = |engine: &mut Engine| {
        engine.say("d");
        engine.until("Result: *").pop().expect("a line")
    };
    set(&mut engine, &at(118));
    assert_eq!(result(&mut engine), "Result: ongoing");
    set(&mut engine, &at(119));
    assert_eq!(result(&mut engine), "Result: draw by natural_limit");
    engine.say("setoption name Sixty Move Rule value false");
    assert_eq!(result(&mut engine), "Result: ongoing");
    engine.say("setoption name Sixty Move Rule value true");
    engine.say("setoption name Rule60MaxPly value 40");
    set(&mut engine, &at(38));
    assert_eq!(result(&mut engine), "Result: ongoing");
    set(&mut engine, &at(39));
    assert_eq!(result(&mut engine), "Result: draw by natural_limit");
    engine.finish();
}

/// LiGround #187, Fairy-Stockfish #219: FENs without counters were refused.
#[test]
fn report_11_short_fens_and_other_letters_are_read() {
    let mut engine = uci();
    let board = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR";
    let letters = "rheakaehr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RHEAKAEHR";
    for text in [
        format!("{board} w"),
        format!("{board} r"),
        format!("{board} w - -"),
        format!("{board} w - - 0"),
        format!("{board} w - - 0 1"),
        format!("{board} w – – 0 1"),
        format!("{board} w 0 1"),
        format!("{letters} r"),
    ] {
        set(&mut engine, "position fen 3k5/9/9/9/9/9/9/9/9/R3K4 w");
        set(&mut engine, &format!("position fen {text}"));
        assert_eq!(fen(&mut engine), xiangqi::fen::START, "{text}");
    }
    engine.finish();
}

/// Pikafish #73: analysis of a position in which the kings face each other.
#[test]
fn report_12_positions_that_cannot_be_are_refused() {
    let mut engine = uci();
    engine.say("position fen 3R2b2/4k4/b8/p1P5p/9/6C2/1n5rP/6N1B/9/2B1KA3 b");
    engine.expect("info string error: position: the kings face each other on file e; the old position stays");
    engine.say("position fen 3k5/9/9/9/9/9/9/9/9/3RK4 w");
    engine
        .expect("info string error: position: black is in check, but red is to move; the old position stays");
    // The move of the report opens the file between the kings.
    engine.say("position fen 3R2b2/4k4/b8/p1P5p/9/4n1C2/1n5rP/6N1B/4A4/2B1KA3 b moves e4g3 e1d2");
    engine.expect("info string error: position: move 2 of the list, \"e1d2\": *; the old position stays");
    assert_eq!(fen(&mut engine), xiangqi::fen::START);
    engine.finish();
}

/// A net of random weights in a folder of its own.
fn net(folder: &std::path::Path, name: &str) -> std::path::PathBuf {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let made = std::process::Command::new(env!("CARGO_BIN_EXE_chuhe"))
        .args(["net", "random", "--arch", "half-kp 2x128-16-32-1 crelu", "--seed", "3", "--out"])
        .arg(&path)
        .output()
        .expect("chuhe runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    path
}

/// Pikafish #29, #42, #80, #130, #142: a net that was no net was noticed at the first search, and ended the engine.
#[test]
fn report_13_a_broken_net_is_named_and_the_old_one_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let good = net(folder.path(), "good.nnue");
    let bytes = std::fs::read(&good).expect("the net");
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("a file");
        path
    };
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 1;
    let mut version = bytes.clone();
    version[8] ^= 0x40;
    let mut engine = uci();
    engine.say(&format!("setoption name EvalFile value {}", good.display()));
    engine.expect("info string evaluation: net *");
    engine.say("eval");
    let before = engine.expect("info string evaluation net *");
    for (name, bytes) in [
        ("empty.nnue", &bytes[..0]),
        ("cut.nnue", &bytes[..bytes.len() - 7]),
        ("longer.nnue", &[&bytes[..], b"x"].concat()),
        ("flipped.nnue", &flipped),
        ("version.nnue", &version),
        ("text.nnue", b"PK\x03\x04 this is an archive, not a net"),
    ] {
        let path = file(name, bytes);
        engine.say(&format!("setoption name EvalFile value {}", path.display()));
        engine.expect(&format!("info string error: net {}: *; the old net stays", path.display()));
        engine.say("eval");
        assert_eq!(engine.expect("info string evaluation net *"), before, "{name}");
    }
    engine.say(&format!("setoption name EvalFile value {}", folder.path().display()));
    engine.expect("info string error: net *; the old net stays");
    assert!(fits("bestmove {move}*", go(&mut engine, "go depth 2").last().expect("an answer")));
    engine.finish();
}

/// Stockfish #3424: paths with blanks and letters beyond ASCII.
#[test]
fn report_14_paths_with_blanks_and_any_letters() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = net(folder.path(), "sp  ace 路径/русский 皮卡.nnue");
    let out = folder.path().join("aus  gabe 网.nnue");
    let mut engine = uci();
    engine.say(&format!("setoption name EvalFile value {}", path.display()));
    engine.expect("info string evaluation: net *");
    engine.say(&format!("export_net {}", out.display()));
    engine.expect("info string the net in use was written to *");
    assert_eq!(std::fs::read(&out).expect("the copy"), std::fs::read(&path).expect("the net"));
    std::fs::write(&out, "something else").expect("a file");
    engine.say(&format!("export_net {}", out.display()));
    engine.expect("info string error: export_net: *");
    assert_eq!(std::fs::read(&out).expect("the file"), b"something else");
    engine.finish();
    let mut engine = Engine::greeted("ucci");
    engine.say(&format!("setoption evalfile {}", path.display()));
    engine.expect("info message evaluation: net *");
    engine.say("quit");
    assert_eq!(engine.finish(), ["bye"]);
}

/// Fairy-Stockfish #530, #57, #133, #490: which protocol is spoken.
#[test]
fn report_15_every_dialect_is_answered_in_its_own_words() {
    for (greeting, option) in [
        ("uci", "option name Hash type spin default {n} min {n} max {n}"),
        ("ucicyclone", "option name Hash type spin default {n} min {n} max {n}"),
        ("ucci", "option hashsize type spin min {n} max {n} default {n}"),
    ] {
        let mut engine = Engine::start();
        engine.say(greeting);
        let lines = engine.until(&format!("{greeting}ok"));
        assert!(lines.iter().any(|line| fits(option, line)), "{lines:#?}");
        if greeting == "ucci" {
            let names = lines.iter().filter_map(|line| line.strip_prefix("option "));
            let split: Vec<_> = names.map(|line| line.split(" type ").next()).collect();
            assert!(split.iter().all(|name| name.is_some_and(|name| !name.contains(' '))), "{split:?}");
        }
        engine.say("quit");
        engine.finish();
    }
    // A GUI that tries one protocol and then the other.
    let mut engine = Engine::greeted("ucci");
    engine.ask("uci", "uciok");
    engine.say("startpos moves h2e2");
    assert!(fits("bestmove {move} ponder {move}", go(&mut engine, "go depth 2").last().expect("an answer")));
    engine.ask("ucci", "ucciok");
    engine.say("stop");
    engine.expect("nobestmove");
    engine.finish();
}

/// python-chinese-chess #7: the last info line was a bound with an empty line of play.
#[test]
fn report_16_the_last_info_has_a_score_and_a_move() {
    let mut engine = uci();
    for limit in [
        "go movetime 50",
        "go movetime 1",
        "go nodes 1",
        "go nodes 777",
        "go wtime 200 btime 200",
        "go depth 5",
    ] {
        for position in
            ["startpos", "fen 4k1rr1/9/9/9/9/9/9/9/9/5K3 w", "fen 3aka3/4n4/9/9/9/9/9/7C1/7r1/3AK4 w"]
        {
            set(&mut engine, &format!("position {position}"));
            let lines = go(&mut engine, limit);
            let info = last_info(&lines);
            assert!(fits("info depth {n} * score * pv {move}*", info), "{info}");
            assert!(!info.contains("bound"), "{info}");
            let answer = lines.last().expect("an answer");
            let best = answer.split(' ').nth(1).expect("a move");
            assert!(fits(&format!("* pv {best}*"), info), "{info}\n{answer}");
        }
    }
    engine.finish();
}

/// Pikafish #72: an assertion in a tiny position.
#[test]
fn report_17_a_mate_in_a_tiny_position_is_found_at_once() {
    let mut engine = uci();
    set(&mut engine, "position fen 4k1rr1/9/9/9/9/9/9/9/9/5K3 w - - 0 0 moves f0f1");
    let lines = go(&mut engine, "go movetime 300");
    assert!(fits("* score mate 1 *", last_info(&lines)), "{lines:#?}");
    engine.finish();
}

/// Pikafish #51: half of the threads seemed idle, and nobody could tell why.
#[test]
fn report_18_threads_and_processors_are_told() {
    let mut engine = uci();
    engine.say("setoption name Threads value 3");
    let lines = go(&mut engine, "go depth 2");
    assert!(fits("info string threads 3, CPUs allowed {n}, NUMA nodes {n} (*", &lines[0]), "{lines:#?}");
    engine.finish();
}

/// Pikafish #132: time was thought away after a proven mate.
#[test]
fn report_19_a_clock_is_not_thought_away_after_a_mate() {
    let mut engine = uci();
    set(&mut engine, "position fen 4k1rr1/9/9/9/9/9/9/9/9/5K3 w - - 0 0 moves f0f1");
    // Ten minutes on the clock: were they used, the wait for the answer would be too long.
    let lines = go(&mut engine, "go wtime 3600000 btime 3600000");
    assert!(fits("* score mate 1 *", last_info(&lines)), "{lines:#?}");
    engine.finish();
}
