//! Reports by users of other engines whose cause lay in the search: what ours does with them. Each names the report.

use engine::eval::EvalSource;
use engine::protocol::game_from;
use engine::search::{Clock, Limits, SearchResult, Searcher};
use xiangqi::judge::{self, Conduct, GameResult, RuleSet};
use xiangqi::{Game, Position, Score};

const SETS: [RuleSet; 3] = [RuleSet::Competition, RuleSet::Asian, RuleSet::AllowChase];
const NODES: u64 = 8000;

/// The game after these moves; an empty FEN is the start position.
fn game(fen: &str, moves: &str) -> Game {
    let start = if fen.is_empty() { Position::start() } else { Position::from_fen(fen).expect(fen) };
    let moves: Vec<&str> = moves.split_whitespace().collect();
    game_from(start, &moves).unwrap_or_else(|error| panic!("{fen}: {error}"))
}

fn search(game: &Game, rules: RuleSet, limits: &Limits) -> SearchResult {
    let mut searcher = Searcher::new(4, EvalSource::Hce);
    searcher.set_rules(rules);
    searcher.search(game, limits, &mut |_| {})
}

fn best(game: &Game, rules: RuleSet) -> String {
    search(game, rules, &Limits::nodes(NODES)).best.map_or(String::new(), |mv| mv.to_string())
}

fn score(game: &Game, rules: RuleSet) -> Score {
    search(game, rules, &Limits::nodes(NODES)).score
}

/// The first `count` of these moves.
fn first(moves: &str, count: usize) -> String {
    moves.split_whitespace().take(count).collect::<Vec<_>>().join(" ")
}

/// Pikafish #145: a rook that chases a cannon must give way at the third standing; that was shown as mate in one.
#[test]
fn report_3_a_repetition_that_wins_is_no_mate() {
    let fen = "3ak1b2/4a4/9/8p/3P5/4R3P/7n1/4B4/1Cr1A4/3AK1B2 w - - 0 1";
    let moves = "b1b0 c1c0 b0b1 c0c1 b1b0 c1c0 b0b1 c0c1";
    for rules in SETS {
        for count in 0..=8 {
            let found = score(&game(fen, &first(moves, count)), rules);
            assert_eq!(found.mate_plies(), None, "{rules}, after {count} plies");
        }
    }
    // The chaser sees that its next chase would lose, and gives way; without the rule it would go on.
    let closing = game(fen, &first(moves, 7));
    assert_ne!(best(&closing, RuleSet::Competition), "c0c1");
    assert_eq!(best(&closing, RuleSet::AllowChase), "c0c1");
    // By a rule that judges the second standing it is a win by rule already in the second round.
    let second = score(&game(fen, &first(moves, 6)), RuleSet::Asian);
    assert_eq!(second, Score(Score::RULE_WIN - 1));
}

/// Pikafish #113, #146; Fairy-Stockfish #635; pychess-variants #843: mates that were none.
#[test]
fn reports_4_to_7_no_mate_is_invented() {
    let repeats = "d8d5 d2f2 d5f5 c0e2 c4c3 a3a4 b9b8 e6e4 f5f3 g2h4 b8h8 g4g5 f3g3 g5f5 g3h3 h4g6 h8h6 f5f6 h3f3 \
                   g6h4 f3h3";
    let cases = [
        ("4", "1rbaka3/3r5/n1c1b4/p1p1R3p/9/2c3P2/P3P3P/2NC2N2/4A4/R1BAK1B2 b - - 0 12", repeats, false),
        ("5", "3aka1r1/9/1c1C4c/p2r4p/1R4p2/5n3/P3P1P1P/2N3N2/4A4/R1B1KAB2 w", "", false),
        ("6", "3aka3/4n4/9/9/9/9/9/7C1/7r1/3AK4 w", "", true),
        ("6", "5R3/4k4/9/4r4/9/9/5p3/5A3/5K3/9 b", "", true),
    ];
    for (number, fen, moves, drawn) in cases {
        for rules in SETS {
            let found = search(&game(fen, moves), rules, &Limits::nodes(30_000));
            assert_eq!(found.score.mate_plies(), None, "report {number}, {rules}: {:?}", found.pv);
            // Black must chase or check; it may mix both, so it does not lose by the second standing.
            let drawn = drawn && rules == RuleSet::Competition;
            assert!(!drawn || found.score.0.abs() <= 150, "report {number}: {:?}", found.score);
        }
    }
    let seven = score(&game("c3k2C1/4a4/6R2/9/9/9/9/9/9/3K5 w", ""), RuleSet::Competition);
    assert_ne!(seven.mate_plies(), Some(1), "it is no mate in one");
}

/// Pikafish #28: both sides chase, which is a draw by the competition rules. The engine knows, and so it is not the
/// side that has to give way.
#[test]
fn report_8_mutual_chase_is_a_draw() {
    let moves = "h2e2 b9c7 h0g2 b7a7 b2d2 a9b9 b0c2 h9g7 c3c4 g6g5 i0h0 i9h9 h0h6 h7i7 h6g6 i7i8 a0a2 f9e8 a2b2 b9b2 \
                 d2b2 i8g8 g6f6 g9e7 f6f8 a7a8 b2b8 e8d7 b8b3 d9e8 b3b8 e8d9 b8b3 d9e8 b3b8 e8d9";
    let verdict = judge::repetition(&game("", moves), RuleSet::Competition).expect("the third standing");
    assert_eq!(
        (verdict.result, verdict.red, verdict.black),
        (GameResult::Draw, Conduct::PerpetualChase, Conduct::PerpetualChase)
    );
    let before = game("", &first(moves, 35));
    assert!(score(&before, RuleSet::Competition).0.abs() < 60, "a draw can be had");
}

/// Fairy-Stockfish #570 and -NNUE #19, Pikafish #27: a side that is worse chases, and loses by it.
#[test]
fn report_8_the_chaser_gives_way() {
    let moves = "g3g4 b9c7 h0g2 c6c5 c0e2 c9e7 i0i1 h9i7 i1c1 b7b9 c3c4 c5c4 c1c4 b9c9 c4b4 i9i8 a0a1 i8f8 i3i4 f8f5 \
                 a1d1 d9e8 d1d6 i6i5 i4i5 f5i5 b4b3 i5i3 g2f4 i3f3 f4d5 c7d5 d6d5 c9d9 d0e1 e8d7 d5b5 a9c9 b0c2 h7h3 \
                 b2b0 c9c6 b0d0 c6d6 b5b9 f3g3 h2f2 h3h6 b9d9 e9d9 b3b9 d9d8 e1d2 d6c6 c2b4 c6c3 b9e9 g3e3 b4d5 c3a3 \
                 d5c7 a3b3 e9d9 d8e8 d9d7 e8f8 d7e7 f9e8 f0e1 b3b7 c7d9 e8d9 e7b7 h6h0 f2f0 h0f0 d0f0 f8e8 b7g7 e3d3 \
                 g7g9 d3d7 f0f3 d7d3 f3f7 e6e5 g9i9 i7h5 i9i5 d3f3 f7c7 f3h3 c7h7 h5g7 i5e5 e8f8 h7i7 h3i3 i7h7 i3h3 \
                 h7i7 h3i3 i7h7 i3h3";
    let verdict = judge::repetition(&game("", moves), RuleSet::Competition).expect("the third standing");
    assert_eq!((verdict.result, verdict.black), (GameResult::BlackLoses, Conduct::PerpetualChase));
    let closing = game("", &first(moves, 103));
    for rules in [RuleSet::Competition, RuleSet::Asian] {
        assert_ne!(best(&closing, rules), "i3h3", "{rules}: that loses by rule");
        assert!(!score(&closing, rules).is_decided(), "{rules}: Black can give way");
    }
    assert_eq!(best(&closing, RuleSet::AllowChase), "i3h3", "where chasing is allowed, it draws");

    // Pikafish #27: there is a check in the cycle, so by the competition rules nobody chases.
    let checks = "c3c4 g6g5 h2e2 b9c7 b0c2 h9g7 c2d4 i9h9 h0g2 h7i7 i0i1 c9e7 b2b4 d9e8 e2d2 a6a5 c0e2 a9a6 a0a1 h9h6 \
                  b4b0 e6e5 b0c0 e5e4 d4c6 h6d6 d2c2 c7e6 e3e4 e6f4 i1b1 g7h5 b1b3 a6a9 g3g4 a9d9 f0e1 g5g4 c2d2 b7d7 \
                  d2d7 d9d7 g2f4 g4f4 e4e5 i7i3 b3h3 i3i0 h3h0 i0i1 e5e6 d6d5 c0c1 i1i3 h0h3 i3i0 h3h0 i0i3 h0h3 i3i0 \
                  h3h0 i0i3";
    let verdict = judge::repetition(&game("", checks), RuleSet::Competition).expect("the third standing");
    assert_eq!(verdict.result, GameResult::Draw);
    for count in 54..62 {
        let found = score(&game("", &first(checks, count)), RuleSet::Competition);
        assert!(!found.is_decided(), "after {count} plies: {found}");
    }
}

/// chessdb #15: checks by two rooks and a cannon in turn, no two moves of the round alike, are perpetual check.
#[test]
fn report_9_checks_by_several_pieces_are_perpetual() {
    let fen = "3ak3C/4a2R1/9/4p3p/2r1rcR2/4C4/1n2P3P/B3B4/4A4/1c2KA3 w";
    let opening = "g5g9 f5f9 g9g5 f9f5 h8h9 e8f9 h9h6 f9e8";
    let round = "g5g9 f5f9 g9g5 f9f5 h6h9 e8f9 h9h6 f9e8";
    let twice = format!("{opening} {round} {round}");
    let verdict = judge::repetition(&game(fen, &twice), RuleSet::Competition).expect("the third standing");
    assert_eq!((verdict.result, verdict.red), (GameResult::RedLoses, Conduct::PerpetualCheck));
    for (rules, count) in [(RuleSet::Competition, 23), (RuleSet::Asian, 15), (RuleSet::AllowChase, 15)] {
        let closing = game(fen, &first(&twice, count));
        let found = search(&closing, rules, &Limits::nodes(NODES));
        assert_eq!(found.score, Score(Score::RULE_WIN - 1), "{rules}: Black's reply wins by rule");
        let before = game(fen, &first(&twice, count - 1));
        assert_ne!(best(&before, rules), "h9h6", "{rules}: Red does not go on checking");
    }
}

/// Pikafish #72: an assertion failed where a mate was near and time was limited.
#[test]
fn report_17_a_mate_under_a_time_limit() {
    let position = game("4k1rr1/9/9/9/9/9/9/9/9/5K3 w - - 0 0", "f0f1");
    let limits = Limits { movetime_ms: Some(3000), depth: Some(30), ..Limits::default() };
    for rules in SETS {
        let found = search(&position, rules, &limits);
        assert_eq!(found.score.mate_plies(), Some(1), "{rules}: {:?}", found.pv);
    }
}

/// Pikafish #132: no early end once a mate is proven. Under a clock ours ends, and for data it is asked to; a fixed
/// depth is searched to its end, which analysis may want.
#[test]
fn report_19_a_proven_mate_ends_the_search() {
    let position = game("4k4/9/9/9/9/9/9/9/R8/3K4R w", "");
    let clock = Clock { time_ms: 3_600_000, increment_ms: 0, moves_to_go: Some(1) };
    let deep = Limits { depth: Some(60), ..Limits::default() };
    let cases = [
        ("clock", Limits { clock: Some(clock), ..deep.clone() }, true),
        ("asked for", Limits { stop_at_mate: true, ..deep.clone() }, true),
        ("mate", Limits { mate: Some(2), ..deep }, true),
        ("depth", Limits::depth(12), false),
    ];
    for (name, limits, early) in cases {
        let found = search(&position, RuleSet::Competition, &limits);
        assert_eq!(found.score.mate_plies(), Some(3), "{name}: {:?}", found.pv);
        assert_eq!(found.depth < limits.depth.unwrap_or(0), early, "{name}: depth {}", found.depth);
    }
}
