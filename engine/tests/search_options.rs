//! What the options of the protocols mean to the search: limits, rules, weakened play.

use engine::bench::POSITIONS;
use engine::eval::EvalSource;
use engine::search::{Clock, Info, Limits, ScoreBound, SearchResult, Searcher, Skill};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use xiangqi::judge::{DrawRule, RuleSet, Rules};
use xiangqi::{Game, Move, Position, Score};

fn game(fen: &str) -> Game {
    Game::new(Position::from_fen(fen).unwrap_or_else(|error| panic!("{fen}: {error}")))
}

fn played(fen: &str, moves: &str) -> Game {
    let mut game = game(fen);
    for text in moves.split_whitespace() {
        let mv: Move = text.parse().expect("a move");
        game.try_play(mv).expect("a legal move");
    }
    game
}

fn searcher(rules: impl Into<Rules>) -> Searcher {
    let mut searcher = Searcher::new(4, EvalSource::Hce);
    searcher.set_rules(rules);
    searcher
}

fn search(game: &Game, limits: &Limits) -> SearchResult {
    searcher(RuleSet::default()).search(game, limits, &mut |_| {})
}

fn limited(plies: u16) -> Rules {
    Rules { natural_limit: plies, ..Rules::default() }
}

fn drawn(draws: DrawRule) -> Rules {
    Rules { draws, ..Rules::default() }
}

fn text(found: &SearchResult) -> String {
    found.best.map_or("none".to_owned(), |mv| mv.to_string())
}

#[test]
fn banned_moves_are_not_played() {
    let start = Game::new(Position::start());
    let free = search(&start, &Limits::depth(4));
    let banned_moves = vec![free.best.expect("a move")];
    let found = search(&start, &Limits { banned_moves, ..Limits::depth(4) });
    assert!(found.best.is_some() && found.best != free.best);
    let all: Vec<Move> = start.position().legal_moves().to_vec();
    let none = search(&start, &Limits { banned_moves: all, ..Limits::depth(4) });
    assert_eq!(
        (none.best, none.score.mate_plies()),
        (None, None),
        "no move may be searched, but it is no mate"
    );
}

#[test]
fn more_lines_than_moves_are_all_of_them() {
    let start = Game::new(Position::start());
    let found = search(&start, &Limits { multi_pv: 500, ..Limits::depth(2) });
    assert_eq!(found.lines.len(), start.position().legal_moves().len());
}

/// However short the search, its last word is a line with a move, and that move is played.
#[test]
fn the_last_report_is_what_is_played() {
    let stop = || Some(Arc::new(AtomicBool::new(true)));
    let tiny = [
        Limits { stop: stop(), ..Limits::default() },
        Limits { stop: stop(), multi_pv: 3, ..Limits::default() },
        Limits { depth: Some(1), nodes: Some(1), movetime_ms: Some(1), ..Limits::default() },
        Limits::nodes(1),
        Limits::nodes(40),
        Limits::nodes(700),
        Limits { multi_pv: 4, ..Limits::nodes(300) },
        Limits { movetime_ms: Some(0), overhead_ms: 5000, ..Limits::default() },
    ];
    for fen in POSITIONS {
        let game = game(fen);
        for limits in &tiny {
            let mut last: Option<Info> = None;
            let found = searcher(RuleSet::default()).search(&game, limits, &mut |info| {
                if info.multi_pv == 1 {
                    last = Some(info.clone());
                }
            });
            let last = last.unwrap_or_else(|| panic!("{fen} {limits:?}: no report"));
            assert_eq!(last.line.pv.first().copied(), found.best, "{fen} {limits:?}");
            assert_eq!(last.line.score, found.score, "{fen} {limits:?}");
            assert!(found.best.is_some_and(|mv| game.position().legal_moves().contains(&mv)), "{fen}");
            assert!(last.depth >= 1 && last.line.score.0.abs() < Score::INFINITE, "{fen} {limits:?}");
        }
    }
}

#[test]
fn whole_searches_end_with_an_exact_score() {
    for fen in POSITIONS.iter().step_by(5) {
        let mut last = None;
        searcher(RuleSet::default()).search(&game(fen), &Limits::depth(5), &mut |info| {
            last = Some((info.depth, info.bound));
        });
        assert_eq!(last, Some((5, ScoreBound::Exact)), "{fen}");
    }
}

#[test]
fn a_mate_that_is_asked_for_ends_the_search() {
    let two_rooks = game("4k4/9/9/9/9/9/9/9/R8/3K4R w");
    let most = 300_000;
    let found = search(&two_rooks, &Limits { mate: Some(2), ..Limits::nodes(most) });
    assert_eq!(found.score.mate_plies(), Some(3));
    assert!(found.nodes < most);
    // The other side's mate ends it as well.
    let lost = played("4k4/9/9/9/9/9/9/9/R8/3K4R w", "i0i8");
    let found = search(&lost, &Limits { mate: Some(1), ..Limits::nodes(most) });
    assert!(found.score.mate_plies() == Some(-2) && found.nodes < most, "{:?}", found.score);
    // A mate in three moves is none in two.
    let found = search(&two_rooks, &Limits { mate: Some(1), ..Limits::nodes(5000) });
    assert_eq!(found.nodes, 5000);
}

#[test]
fn a_win_by_rule_is_not_the_mate_that_is_asked_for() {
    let fen = "3ak1b2/4a4/9/8p/3P5/4R3P/7n1/4B4/1Cr1A4/3AK1B2 w - - 0 1";
    let chased = played(fen, "b1b0 c1c0 b0b1 c0c1 b1b0 c1c0");
    let limits = Limits { mate: Some(1), ..Limits::nodes(4000) };
    let found = searcher(RuleSet::Asian).search(&chased, &limits, &mut |_| {});
    assert!(found.score.is_rule_win() && found.nodes == 4000, "{found:?}");
}

/// Two rooks mate in three plies; at 118 the limit comes first.
const NEAR_THE_LIMIT: &str = "4k4/9/9/9/9/9/9/9/R8/3K4R w - - 118 80";

#[test]
fn the_natural_limit_is_as_it_is_set() {
    let near = game(NEAR_THE_LIMIT);
    let mut searcher = searcher(RuleSet::default());
    let mut score = |plies: u16| {
        searcher.set_rules(limited(plies));
        searcher.search(&near, &Limits::depth(6), &mut |_| {}).score
    };
    let mate = Score::mate_in(3);
    // One searcher for all: what it learns by one limit it must forget for the next.
    for (plies, expected) in [
        (Rules::NO_LIMIT, mate),
        (120, Score::DRAW),
        (121, mate),
        (150, mate),
        (120, Score::DRAW),
        (1, Score::DRAW),
    ] {
        assert_eq!(score(plies), expected, "a limit of {plies}");
    }
}

#[test]
fn draws_count_as_they_are_set() {
    // Red must take the last pawn; two kings are a draw.
    let last_pawn = game("4k4/9/9/9/9/9/9/9/3p5/3K5 w");
    let red_wins = Score(Score::RULE_WIN - 1);
    for (draws, expected) in [
        (DrawRule::None, Score::DRAW),
        (DrawRule::DrawAsRedWin, red_wins),
        (DrawRule::DrawAsBlackWin, -red_wins),
        (DrawRule::DrawRepAsRedWin, Score::DRAW),
        (DrawRule::DrawRepAsBlackWin, Score::DRAW),
    ] {
        let found = searcher(drawn(draws)).search(&last_pawn, &Limits::depth(4), &mut |_| {});
        assert_eq!(found.score, expected, "{draws:?}");
    }
    // So is the natural limit.
    let near = game(NEAR_THE_LIMIT);
    for (draws, expected) in [
        (DrawRule::DrawAsRedWin, Score(Score::RULE_WIN - 2)),
        (DrawRule::DrawAsBlackWin, Score(-Score::RULE_WIN + 2)),
        (DrawRule::DrawRepAsBlackWin, Score::DRAW),
    ] {
        let found = searcher(drawn(draws)).search(&near, &Limits::depth(6), &mut |_| {});
        assert_eq!(found.score, expected, "{draws:?}");
    }
}

/// Knights that go out and home again; Black's next move home would be the third standing.
const HOME: &str = "h0g2 h9g7 g2h0 g7h9 h0g2 h9g7 g2h0";

#[test]
fn a_repetition_that_wins_is_sought_and_one_that_loses_is_shunned() {
    let start = xiangqi::fen::START;
    let closing = played(start, HOME);
    for draws in [DrawRule::DrawAsBlackWin, DrawRule::DrawRepAsBlackWin] {
        let found = searcher(drawn(draws)).search(&closing, &Limits::depth(5), &mut |_| {});
        assert_eq!((text(&found).as_str(), found.score), ("g7h9", Score(Score::RULE_WIN - 1)), "{draws:?}");
        assert_eq!(found.score.mate_plies(), None);
    }
    for draws in [DrawRule::DrawAsRedWin, DrawRule::DrawRepAsRedWin] {
        let found = searcher(drawn(draws)).search(&closing, &Limits::depth(5), &mut |_| {});
        assert!(text(&found) != "g7h9" && !found.score.is_decided(), "{draws:?}: {found:?}");
    }
}

/// A win by repetition belongs to the game, not to the position: the table must not carry it over.
#[test]
fn wins_by_repetition_do_not_leak_through_the_table() {
    let mut searcher = searcher(drawn(DrawRule::DrawAsBlackWin));
    let closing = played(xiangqi::fen::START, HOME);
    for depth in 1..=6 {
        let won = searcher.search(&closing, &Limits::depth(depth), &mut |_| {});
        assert!(won.score.is_rule_win());
        for without_history in [closing.position(), &Position::start()] {
            let game = Game::new(without_history.clone());
            let found = searcher.search(&game, &Limits::depth(depth), &mut |_| {});
            assert!(!found.score.is_decided(), "depth {depth}: {found:?}");
        }
    }
}

fn skilled(level_x100: u32, seed: u64) -> Limits {
    Limits { skill: Some(Skill { level_x100, seed }), ..Limits::depth(6) }
}

#[test]
fn weakened_play_is_seeded_and_only_the_move_is_weakened() {
    let start = Game::new(Position::start());
    let mut reports = Vec::new();
    let mut told = |info: &Info| reports.push((info.depth, info.multi_pv, info.line.clone()));
    let analysis = Limits { multi_pv: Skill::LINES, ..Limits::depth(6) };
    let full = searcher(RuleSet::default()).search(&start, &analysis, &mut told);
    let mut moves = Vec::new();
    for seed in 0..12 {
        let mut weak_reports = Vec::new();
        let mut told = |info: &Info| weak_reports.push((info.depth, info.multi_pv, info.line.clone()));
        let found = searcher(RuleSet::default()).search(&start, &skilled(0, seed), &mut told);
        let again = search(&start, &skilled(0, seed));
        assert_eq!(found, again, "seed {seed}");
        assert_eq!(weak_reports, reports, "what is reported is the analysis of four lines");
        assert_eq!((&found.lines, found.nodes), (&full.lines, full.nodes));
        assert_eq!(found.best, found.pv.first().copied());
        moves.push(text(&found));
    }
    moves.sort();
    moves.dedup();
    assert!(moves.len() > 1, "the lowest level plays different moves: {moves:?}");
    let unweakened = search(&start, &skilled(Skill::FULL, 3));
    assert_eq!(unweakened, search(&start, &Limits::depth(6)), "full strength is no weakening at all");
}

#[test]
fn weak_levels_mate_when_they_can_and_obey_the_moves_asked_for() {
    let two_rooks = played("4k4/9/9/9/9/9/9/9/R8/3K4R w", "i0i8 e9f9");
    assert_eq!(search(&two_rooks, &Limits { ..skilled(1900, 1) }).score.mate_plies(), Some(1));
    let only: Vec<Move> = vec!["a1a5".parse().expect("a move")];
    let found = search(&two_rooks, &Limits { search_moves: only, ..skilled(0, 1) });
    assert_eq!(text(&found), "a1a5");
}

#[test]
fn time_in_nodes_is_exact_and_repeats() {
    let start = Game::new(Position::start());
    let movetime = Limits { movetime_ms: Some(7), nodes_per_ms: Some(100), ..Limits::default() };
    assert_eq!(search(&start, &movetime).nodes, 700);
    let clock = Clock { time_ms: 1000, increment_ms: 5, moves_to_go: None };
    let limits = Limits { clock: Some(clock), nodes_per_ms: Some(20), ..Limits::default() };
    let mut searcher = searcher(RuleSet::default());
    let mut play = || {
        searcher.new_game();
        let mut game = start.clone();
        let mut nodes = Vec::new();
        for _ in 0..8 {
            // The GUI's clock never moves: what is spent is kept by the searcher, for each side.
            let found = searcher.search(&game, &limits, &mut |_| {});
            nodes.push(found.nodes);
            game.try_play(found.best.expect("a move")).expect("a legal move");
        }
        (nodes, game.moves().collect::<Vec<_>>())
    };
    let first = play();
    assert_eq!(first, play());
    let spent: u64 = first.0.iter().step_by(2).sum();
    assert!(spent > 0 && spent <= 20 * (1000 + 4 * 5), "{:?}", first.0);
}

/// With little left the moves grow shorter, though the clock that is told stays full.
#[test]
fn time_in_nodes_runs_out() {
    let start = Game::new(Position::start());
    let clock = Clock { time_ms: 100, increment_ms: 0, moves_to_go: Some(2) };
    let limits = Limits { clock: Some(clock), nodes_per_ms: Some(50), ..Limits::default() };
    let mut searcher = searcher(RuleSet::default());
    let mut total = 0;
    for _ in 0..30 {
        total += searcher.search(&start, &limits, &mut |_| {}).nodes;
    }
    assert!(total <= 100 * 50 + 30, "{total} nodes of a clock of 5000");
}

#[test]
fn rules_that_do_not_change_keep_the_table() {
    let start = Game::new(Position::start());
    let mut searcher = searcher(RuleSet::default());
    let first = searcher.search(&start, &Limits::depth(7), &mut |_| {}).nodes;
    searcher.set_rules(RuleSet::default());
    assert!(searcher.search(&start, &Limits::depth(7), &mut |_| {}).nodes < first, "it remembers");
    searcher.set_rules(RuleSet::Asian);
    searcher.set_rules(RuleSet::default());
    let view = searcher.table_view();
    assert_eq!(view.probe(&Position::start()), None, "other rules: forgotten");
}

#[test]
fn a_search_stopped_before_it_began_has_searched_every_move_once() {
    for fen in POSITIONS.iter().take(8) {
        let whole = search(&game(fen), &Limits::depth(1));
        let stop = Some(Arc::new(AtomicBool::new(true)));
        let stopped = search(&game(fen), &Limits { stop, ..Limits::default() });
        assert!(stopped.depth >= 1, "{fen}: {}", text(&stopped));
        assert!(stopped.nodes >= whole.nodes, "{fen}: {}", text(&stopped));
        let legal = game(fen).position().legal_moves();
        assert!(stopped.best.is_some_and(|mv| legal.contains(&mv)), "{fen}");
    }
}
