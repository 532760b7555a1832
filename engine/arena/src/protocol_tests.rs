use super::*;
use crate::limit::Clocks;

const ZERO: Dialect = Dialect { protocol: Protocol::Uci, rank_base: 0, milliseconds: true };
const ONE: Dialect = Dialect { protocol: Protocol::Uci, rank_base: 1, milliseconds: true };
const UCCI: Dialect = Dialect { protocol: Protocol::Ucci, rank_base: 0, milliseconds: false };

fn game(moves: &str) -> Game {
    let mut game = Game::new(Position::start());
    for word in moves.split_whitespace() {
        game.try_play(word.parse().expect("a move")).expect("legal");
    }
    game
}

#[test]
fn every_move_survives_both_rank_bases() {
    for (from, to) in Square::all().flat_map(|from| Square::all().map(move |to| (from, to))) {
        if from != to {
            let mv = Move::new(from, to);
            assert_eq!(ZERO.write_move(mv), mv.to_string());
            for dialect in [ZERO, ONE] {
                assert_eq!(dialect.read_move(&dialect.write_move(mv)), Some(mv));
            }
        }
    }
}

#[test]
fn ranks_are_moved() {
    let mv: Move = "a9a8".parse().expect("a move");
    assert_eq!(ONE.write_move(mv), "a10a9");
    assert_eq!(ONE.read_move("a10a9"), Some(mv));
    assert_eq!(ONE.read_move("H3E3").map(|mv| mv.to_string()), Some("h2e2".to_owned()));
    for word in
        ["", "a", "a1", "a1a1", "a0a1", "a1a0", "a11a9", "j1j2", "a1b", "a1b2x", "a1b2c3", "象2e2", "a-1a2"]
    {
        assert_eq!(ONE.read_move(word), None, "{word}");
    }
    assert_eq!(ZERO.read_move("a10a9"), None);
}

#[test]
fn positions_are_said() {
    assert_eq!(ZERO.position(&game("")), "position startpos");
    assert_eq!(ONE.position(&game("h2e2 h9g7")), "position startpos moves h3e3 h10g8");
    let captured = game("h2e2 h9g7 e2e6 a9a8");
    let line = UCCI.position(&captured);
    assert!(line.starts_with("position fen rnbakab1r/"), "{line}");
    assert!(line.ends_with(" moves a9a8"), "{line}");
}

#[test]
fn limits_are_said() {
    let game = game("h2e2");
    let control = "40/60+0.5".parse().expect("a time control");
    let mut clocks = Clocks::new(control);
    clocks.press(Color::Red, 2500);
    let turn = |limit| Turn { game: &game, limit, clocks: Some(clocks), margin_ms: 0 };
    let check = |limit, uci: &str, ucci: &str| {
        assert_eq!(ZERO.go(&turn(limit)), uci);
        assert_eq!(UCCI.go(&turn(limit)), ucci);
    };
    check(Limit::Nodes(5), "go nodes 5", "go nodes 5");
    check(Limit::Depth(5), "go depth 5", "go depth 5");
    check(Limit::MoveTime(1500), "go movetime 1500", "go time 1 movestogo 1");
    check(
        Limit::Clock(control),
        "go wtime 58000 btime 60000 winc 500 binc 500 movestogo 40",
        "go time 60 movestogo 40 opptime 58",
    );
}

#[test]
fn answers_are_read() {
    let best = |word: &str| Said::Best(word.to_owned());
    for (line, expected) in [
        ("bestmove h2e2", best("h2e2")),
        ("bestmove h2e2 ponder h9g7", best("h2e2")),
        ("bestmove h2e2 draw", best("h2e2")),
        ("bestmove h2e2 resign", Said::Resigns),
        ("bestmove resign", Said::Resigns),
        ("bestmove (none)", Said::NoMove),
        ("bestmove", Said::NoMove),
        ("nobestmove", Said::NoMove),
        (
            "info depth 3 score cp -31 nodes 77 pv h2e2",
            Said::Info { score: Some(-31), bound: false, nodes: Some(77) },
        ),
        ("info score mate 2", Said::Info { score: Some(Score::MATE - 3), bound: false, nodes: None }),
        ("info score mate -2", Said::Info { score: Some(-Score::MATE + 4), bound: false, nodes: None }),
        ("info depth 3 score 31 pv h2e2", Said::Info { score: Some(31), bound: false, nodes: None }),
        ("info score cp 40 lowerbound nodes 5", Said::Info { score: Some(40), bound: true, nodes: Some(5) }),
        ("info multipv 1 score cp 40 pv h2e2", Said::Info { score: Some(40), bound: false, nodes: None }),
        ("info multipv 2 score cp 30 pv h2e2", Said::Info { score: None, bound: false, nodes: None }),
        ("info score cp 31998", Said::Info { score: Some(Score::EVAL_LIMIT), bound: false, nodes: None }),
        ("info string score cp 99999999", Said::Info { score: None, bound: false, nodes: None }),
        ("info score cp 999999999999", Said::Info { score: None, bound: false, nodes: None }),
        ("", Said::Other),
        ("BESTMOVE h2e2", Said::Other),
    ] {
        assert_eq!(read_line(line), expected, "{line}");
    }
}

#[test]
fn introductions_are_read() {
    let mut uci = Introduction::default();
    uci.read(Protocol::Uci, "id name Some Engine 1.0");
    uci.read(Protocol::Uci, "option name Clear Hash type button");
    uci.read(Protocol::Uci, "option name UCI_Variant type combo default chess var chess var xiangqi");
    assert_eq!(uci.name.as_deref(), Some("Some Engine 1.0"));
    assert!(uci.option("clear hash").is_some());
    assert!(uci.option("UCI_Variant").is_some_and(|rest| rest.contains("var xiangqi")));
    uci.read(Protocol::Uci, "option name First Rank type spin default 0 min 0 max 1");
    assert_eq!(uci.default_of("first rank"), Some("0"));
    assert_eq!(uci.default_of("Clear Hash"), None);
    let mut ucci = Introduction::default();
    ucci.read(Protocol::Ucci, "option usemillisec type check default false");
    assert!(ucci.option("usemillisec").is_some());
}
