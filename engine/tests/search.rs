//! What the search promises: the same result every time, exact node counts, mates that are mates,
//! wins by rule that are not shown as mates.

use engine::bench::POSITIONS;
use engine::eval::EvalSource;
use engine::protocol::game_from;
use engine::search::{Limits, SearchResult, Searcher};
use xiangqi::{Game, Move, Position, Score};

fn game(fen: &str) -> Game {
    Game::new(Position::from_fen(fen).unwrap_or_else(|error| panic!("{fen}: {error}")))
}

fn search(game: &Game, limits: &Limits) -> SearchResult {
    Searcher::new(16, EvalSource::Hce).search(game, limits, &mut |_| {})
}

#[test]
fn the_same_search_gives_the_same_result() {
    let mut searcher = Searcher::new(4, EvalSource::Hce);
    for fen in POSITIONS.iter().step_by(4) {
        let game = game(fen);
        let limits = Limits::nodes(3000);
        searcher.new_game();
        let first = searcher.search(&game, &limits, &mut |_| {});
        searcher.new_game();
        let second = searcher.search(&game, &limits, &mut |_| {});
        assert_eq!(first, second, "after new_game: {fen}");
        let fresh = Searcher::new(4, EvalSource::Hce).search(&game, &limits, &mut |_| {});
        assert_eq!(first, fresh, "by a new searcher: {fen}");
    }
}

#[test]
fn node_limits_hold_to_the_node() {
    for nodes in [1, 2, 10, 100, 777, 5000] {
        let found = search(&Game::new(Position::start()), &Limits::nodes(nodes));
        assert_eq!(found.nodes, nodes);
        assert!(found.best.is_some() && !found.pv.is_empty(), "{nodes} nodes");
    }
}

/// The iteration that reaches the soft limit is the last, and it is whole: its result is that of a search to its depth.
#[test]
fn soft_node_limits_end_with_the_iteration() {
    for fen in POSITIONS {
        for soft in [1, 500, 3000] {
            let limits = Limits { soft_nodes: Some(soft), ..Limits::default() };
            let found = search(&game(fen), &limits);
            assert!(found.nodes >= soft, "{fen}: {} of {soft} nodes", found.nodes);
            assert_eq!(found, search(&game(fen), &Limits::depth(found.depth)), "{fen}: {soft}");
            if found.depth > 1 {
                let before = search(&game(fen), &Limits::depth(found.depth - 1));
                assert!(before.nodes < soft, "{fen}: the iteration before had {} of {soft}", before.nodes);
            }
            let bounded = Limits { nodes: Some(soft + 20), ..limits };
            assert!(search(&game(fen), &bounded).nodes <= soft + 20, "{fen}: {soft}");
        }
    }
}

#[test]
fn lines_are_legal_and_bounded() {
    for fen in POSITIONS {
        let game = game(fen);
        let limits = Limits { multi_pv: 3, ..Limits::nodes(2000) };
        let mut searcher = Searcher::new(4, EvalSource::Hce);
        let mut reports = 0;
        let found = searcher.search(&game, &limits, &mut |info| {
            reports += 1;
            assert!(!info.line.pv.is_empty(), "{fen}: a report without a move");
        });
        assert!(reports > 0 && found.best == found.pv.first().copied(), "{fen}");
        let legal = game.position().legal_moves();
        let wanted = legal.len().min(3);
        assert!(found.lines.len() == wanted || found.depth == 0, "{fen}: {} lines", found.lines.len());
        for pair in found.lines.windows(2) {
            assert!(pair[0].score >= pair[1].score && pair[0].pv[0] != pair[1].pv[0], "{fen}");
        }
        for line in &found.lines {
            assert!(line.score.0.abs() < Score::INFINITE, "{fen}");
            let mut along = game.clone();
            for &mv in &line.pv {
                along.try_play(mv).unwrap_or_else(|error| panic!("{fen}: {error}"));
            }
        }
    }
}

#[test]
fn only_the_moves_asked_for_are_searched() {
    let game = Game::new(Position::start());
    let asked: Vec<Move> = ["a0a1", "i3i4"].iter().filter_map(|text| text.parse().ok()).collect();
    let limits = Limits { search_moves: asked.clone(), ..Limits::depth(5) };
    assert!(search(&game, &limits).best.is_some_and(|mv| asked.contains(&mv)));
}

#[test]
fn without_a_legal_move_there_is_no_best_one() {
    let mated = search(&game("3k5/9/9/9/9/9/9/9/4R4/3RK4 b"), &Limits::depth(3));
    assert_eq!((mated.best, mated.score), (None, Score::mated_in(0)));
}

#[test]
fn a_win_by_rule_is_no_mate() {
    // The rook chases the unprotected cannon, which has no other safe place (a report from practice): by the rules
    // the chaser must give way, and the engine must not call that mate.
    let start =
        Position::from_fen("3ak1b2/4a4/9/8p/3P5/4R3P/7n1/4B4/1Cr1A4/3AK1B2 w - - 0 1").expect("a position");
    let round = ["b1b0", "c1c0", "b0b1", "c0c1"];
    for rounds in 0..3 {
        let moves: Vec<&str> = std::iter::repeat_n(round, rounds).flatten().collect();
        let game = game_from(start.clone(), &moves).expect("legal moves");
        let found = search(&game, &Limits::nodes(20_000));
        assert_eq!(found.score.mate_plies(), None, "after {rounds} rounds: {:?}", found.pv);
    }
}

#[test]
fn public_reports_of_false_mates_stay_right() {
    // (FEN, moves): positions in which engines of others claimed a mate that there was not.
    let cases = [
        (
            "1rbaka3/3r5/n1c1b4/p1p1R3p/9/2c3P2/P3P3P/2NC2N2/4A4/R1BAK1B2 b - - 0 12",
            "d8d5 d2f2 d5f5 c0e2 c4c3 a3a4 b9b8 e6e4 f5f3 g2h4 b8h8 g4g5 f3g3 g5f5 g3h3 h4g6 h8h6 f5f6 h3f3 g6h4 f3h3",
        ),
        ("3aka1r1/9/1c1C4c/p2r4p/1R4p2/5n3/P3P1P1P/2N3N2/4A4/R1B1KAB2 w", ""),
        ("3aka3/4n4/9/9/9/9/9/7C1/7r1/3AK4 w", ""),
        ("5R3/4k4/9/4r4/9/9/5p3/5A3/5K3/9 b", ""),
    ];
    for (fen, moves) in cases {
        let moves: Vec<&str> = moves.split_whitespace().collect();
        let start = Position::from_fen(fen).expect(fen);
        let game = game_from(start, &moves).expect("legal moves");
        let found = search(&game, &Limits::nodes(60_000));
        assert_eq!(found.score.mate_plies(), None, "{fen}: {:?}", found.pv);
    }
}

#[test]
fn several_threads_search_too() {
    let mut searcher = Searcher::new(16, EvalSource::Hce);
    searcher.set_threads(3);
    let game = Game::new(Position::start());
    let found = searcher.search(&game, &Limits::depth(8), &mut |_| {});
    assert!(found.best.is_some() && found.depth == 8);
    let found = searcher.search(&game, &Limits::nodes(20_000), &mut |_| {});
    assert!(found.best.is_some() && found.nodes >= 20_000);
}

#[test]
fn the_table_can_be_looked_into_from_outside() {
    let mut searcher = Searcher::new(1, EvalSource::Hce);
    let view = searcher.table_view();
    let start = Position::start();
    assert_eq!(view.probe(&start), None, "nothing has been searched");
    let found = searcher.search(&Game::new(start.clone()), &Limits::depth(4), &mut |_| {});
    let entry = view.probe(&start).expect("the root was searched");
    assert_eq!((entry.mv, entry.depth), (found.best, 4));
    searcher.set_hash(1);
    assert_eq!(view.probe(&start), None, "the old table is gone");
}
