//! Matches with an engine that misbehaves on request: every failure is a loss of the right kind, and
//! nothing but the plan decides the result.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use arena::adjudicate::Adjudication;
use arena::external::{EngineSpec, Waits};
use arena::game::GameSettings;
use arena::limit::Limit;
use arena::openings::BookOrder;
use arena::outcome::{FailureKind, Side};
use arena::plan::{Match, OpeningPlan, Plan, PlayerSpec};
use arena::protocol::Protocol;
use arena::runner::{Outputs, RunError, Summary, run};
use arena::stats::{Model, Sprt};
use xiangqi::judge::RuleSet;

fn fake(arguments: &str) -> PlayerSpec {
    let program = env!("CARGO_BIN_EXE_chuhe-fake-engine").to_owned();
    let words = std::iter::once(program).chain(arguments.split_whitespace().map(str::to_owned)).collect();
    let protocol = arguments.starts_with("ucci").then_some(Protocol::Ucci);
    let protocol = protocol.or(Some(Protocol::Uci));
    PlayerSpec::Engine(EngineSpec { words, options: Vec::new(), protocol, rank_base: None })
}

fn plan(a: &str, b: &str, pairs: u64) -> Plan {
    Plan {
        players: [fake(a), fake(b)],
        hash_mib: 1,
        pairs,
        seed: 5,
        openings: OpeningPlan::Random { plies: 6, balance_nodes: 0, balance_cp: 0 },
        settings: GameSettings {
            rules: RuleSet::Competition,
            limit: Limit::Nodes(1),
            margin_ms: 0,
            adjudication: Adjudication::default(),
        },
        waits: Waits {
            start: Duration::from_secs(60),
            thought: Duration::from_secs(60),
            stop: Duration::from_secs(60),
        },
        sprt: None,
        concurrency: 1,
    }
}

fn try_play(plan: Plan, outputs: &Outputs) -> Result<Summary, RunError> {
    let game = Match::prepare(plan).expect("ready");
    run(&game, outputs, &AtomicBool::new(false), &mut |_| {})
}

fn play(plan: Plan) -> Summary {
    try_play(plan, &Outputs::default()).expect("played")
}

/// A fails in each of its games and loses both; B does nothing wrong.
fn fails(plan: Plan, kind: FailureKind) {
    let summary = play(plan);
    let [a, b] = summary.tally.failures;
    assert_eq!(a.of(kind), 2, "{kind:?}: {a:?}");
    assert_eq!((a.total(), b.total()), (2, 0), "{kind:?}");
    assert_eq!(summary.tally.pentanomial, [1, 0, 0, 0, 0], "{kind:?}");
    assert_eq!(summary.tally.reasons.get(kind.name()), Some(&2), "{kind:?}");
}

#[test]
fn every_failure_is_a_loss_of_its_kind() {
    fails(plan("crash:1", "", 1), FailureKind::Crash);
    fails(plan("crash:4", "", 1), FailureKind::Crash);
    fails(plan("exit:3", "", 1), FailureKind::Disconnect);
    fails(plan("illegal:3", "", 1), FailureKind::IllegalMove);
    fails(plan("variant illegal:3", "", 1), FailureKind::IllegalMove);
    fails(plan("nonsense:2", "", 1), FailureKind::IllegalMove);
    fails(plan("none:3", "", 1), FailureKind::NoMove);
    fails(plan("ucci none:3", "", 1), FailureKind::NoMove);
    #[cfg(unix)]
    fails(plan("close:2", "", 1), FailureKind::Disconnect);
}

/// Engines that answer late or never, all at once, since each case waits its time out.
#[test]
fn waits_are_bounded() {
    let case = |arguments: &str, limit: Limit, stop_ms: u64| {
        let mut plan = plan(arguments, "", 1);
        plan.settings.limit = limit;
        plan.waits.thought = Duration::from_secs(4);
        plan.waits.stop = Duration::from_millis(stop_ms);
        plan
    };
    let clock = Limit::Clock("4".parse().expect("a time control"));
    let cases = [
        (case("hang:2", Limit::Nodes(1), 100), FailureKind::Hang),
        (case("hang:2", clock, 100), FailureKind::Hang),
        (case("late:2", Limit::Nodes(1), 60_000), FailureKind::Hang),
        (case("late:2", Limit::MoveTime(4000), 60_000), FailureKind::TimeLoss),
        (case("late:2", clock, 60_000), FailureKind::TimeLoss),
    ];
    std::thread::scope(|scope| {
        for (plan, kind) in cases {
            scope.spawn(move || fails(plan, kind));
        }
    });
}

#[test]
fn both_sides_failures_are_told_apart() {
    let summary = play(plan("crash:3", "illegal:2", 2));
    let [a, b] = summary.tally.failures;
    assert_eq!((a.total(), b.total(), b.of(FailureKind::IllegalMove)), (0, 4, 4));
    assert_eq!(summary.tally.pentanomial, [0, 0, 0, 0, 2]);
    assert!(!summary.tally.is_flagged(Side::A));
    let summary = play(plan("", "crash:3", 2));
    assert!(summary.tally.is_flagged(Side::B), "four crashes");
}

#[test]
fn resigning_is_no_failure() {
    let summary = play(plan("ucci resign:3", "", 1));
    assert_eq!(summary.tally.pentanomial, [1, 0, 0, 0, 0]);
    assert_eq!(summary.tally.reasons.get("resignation"), Some(&2));
    assert_eq!(summary.tally.failures[0].total(), 0);
}

#[test]
fn protocols_rank_bases_and_garbage_change_nothing() {
    let expected = play(plan("", "", 2)).tally;
    assert_eq!(expected.failures.map(|counts| counts.total()), [0, 0]);
    for (a, b) in
        [("variant", ""), ("", "variant"), ("variant", "variant"), ("ucci", "variant"), ("garbage", "")]
    {
        assert_eq!(play(plan(a, b, 2)).tally, expected, "{a} against {b}");
    }
    for value in [None, Some("0"), Some("1")] {
        let mut ranked = plan("first-rank", "", 2);
        if let (PlayerSpec::Engine(spec), Some(value)) = (&mut ranked.players[0], value) {
            spec.options.push(("First Rank".to_owned(), Some(value.to_owned())));
        }
        assert_eq!(play(ranked).tally, expected, "First Rank {value:?}");
    }
}

#[test]
fn a_player_that_does_not_start_ends_the_match() {
    std::thread::scope(|scope| {
        for arguments in ["silent", "deaf"] {
            scope.spawn(move || {
                let mut plan = plan("", arguments, 1);
                plan.waits.start = Duration::from_secs(4);
                let error = try_play(plan, &Outputs::default()).expect_err("refused");
                assert!(matches!(error, RunError::Start(_)), "{arguments}: {error}");
            });
        }
    });
    let mut missing = plan("", "", 1);
    missing.players[0] = PlayerSpec::parse("/no/such/engine --option").expect("a command");
    let error = try_play(missing, &Outputs::default()).expect_err("refused").to_string();
    assert!(error.contains("/no/such/engine"), "{error}");
}

#[test]
fn threads_do_not_change_the_result() {
    let dir = tempfile::tempdir().expect("a folder");
    let pgn = |name: &str| Outputs { pgn: Some(dir.path().join(name)), journal: None };
    let mut plan = plan("", "crash:40", 12);
    let one = try_play(plan.clone(), &pgn("one.pgn")).expect("played");
    plan.concurrency = 4;
    let four = try_play(plan, &pgn("four.pgn")).expect("played");
    assert_eq!(one.tally, four.tally);
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).expect("written");
    assert!(read("one.pgn") == read("four.pgn"), "the games differ");
    assert_eq!(read("one.pgn").matches("[Event ").count(), 24);
    assert!(!dir.path().join("one.pgn.partial").exists());
}

#[test]
fn a_test_stops_at_the_same_pair_with_any_number_of_threads() {
    let mut plan = plan("", "crash:2", 400);
    plan.sprt = Some(Sprt::new(0.0, 300.0, 0.05, 0.05, Model::Normalized).expect("a test"));
    let one = play(plan.clone());
    assert!(one.tally.pairs() < 400 && one.surplus == 0, "{:?}", one.tally);
    plan.concurrency = 3;
    let three = play(plan);
    assert_eq!(one.tally, three.tally);
}

fn pairs_in(path: &Path) -> Vec<u64> {
    let text = std::fs::read_to_string(path).expect("a journal");
    text.lines()
        .skip(1)
        .map(|line| {
            let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
            value["pair"].as_u64().expect("a pair")
        })
        .collect()
}

#[test]
fn a_cut_journal_is_continued() {
    let dir = tempfile::tempdir().expect("a folder");
    let outputs = Outputs {
        journal: Some(dir.path().join("对局.journal")),
        pgn: Some(dir.path().join("对局.pgn")),
    };
    let path = outputs.journal.clone().expect("set");
    let whole = try_play(plan("", "crash:30", 6), &outputs).expect("played");
    let pgn = std::fs::read(dir.path().join("对局.pgn")).expect("written");
    let bytes = std::fs::read(&path).expect("written");
    for cut in [bytes.len() / 2, bytes.len() - 3, bytes.len()] {
        std::fs::write(&path, &bytes[..cut]).expect("cut");
        let again = try_play(plan("", "crash:30", 6), &outputs).expect("played");
        assert_eq!(again.tally, whole.tally, "cut at {cut}");
        assert_eq!(pairs_in(&path), [0, 1, 2, 3, 4, 5], "cut at {cut}");
        assert_eq!(again.continued == 6, cut == bytes.len());
        assert!(std::fs::read(dir.path().join("对局.pgn")).expect("written") == pgn, "the games differ");
    }
    let error = try_play(plan("", "crash:30", 7), &outputs).expect_err("refused").to_string();
    assert!(error.contains("pairs is 6 there and 7 here"), "{error}");
}

#[test]
fn books_are_played() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("book");
    let fen = "1Cbakabnr/9/rc5c1/p1p1p1p1p/9/2P6/P3P1P1P/7C1/9/RNBAKABNR b - - 2 2";
    std::fs::write(&path, format!("{fen}\nh2e2 h9g7 h0g2\n")).expect("written");
    let mut with_book = plan("variant", "ucci", 2);
    with_book.openings =
        OpeningPlan::Book { path, order: BookOrder::Sequential, plies: Some(2), wrap: false };
    let pgn = dir.path().join("pgn");
    let summary = try_play(with_book, &Outputs { journal: None, pgn: Some(pgn.clone()) }).expect("played");
    assert_eq!(summary.tally.failures.map(|counts| counts.total()), [0, 0]);
    let games = std::fs::read_to_string(pgn).expect("written");
    assert_eq!(games.matches(&format!("[FEN \"{fen}\"]")).count(), 2);
    assert_eq!(games.matches("\n\n2... ").count(), 2, "Black moves first, at move 2");
    assert_eq!(games.matches("\n\n1. H2-E2 H9-G7 2. ").count(), 2);
}
