//! Books, variety, ends and rule sets: what a plan says is what is played, by any number of threads, interrupted or not.

#[expect(dead_code, reason = "not every test file needs all of it")]
mod common;

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arena::openings::Book;
use common::{HashPlayer, open, plan, play_from, read, starts};
use datagen::commands::verify::check;
use datagen::openings::{Starts, StartsError};
use datagen::plan::{BookPlan, Count, Plan, SearchLimit, Variety};
use datagen::play::play_on;
use datagen::player::{EnginePlayer, Player};
use datagen::run;
use datagen::sink::{Opened, SinkError};
use engine::eval::EvalSource;
use nnue_format::record::{GameRecord, Reader, Start};
use xiangqi::Game;
use xiangqi::judge::RuleSet;

/// Positions with a rook each and kings a file apart, all different, and two lines from the start position.
fn book_text(positions: usize) -> String {
    let squares = ["r8", "1r7", "2r6", "6r2", "7r1", "8r"];
    let fens = (0..positions).map(|i| {
        let (black, red) = (squares[i % 6], squares[i / 6 % 6].to_uppercase());
        let pawns = ["9", "p8", "2p6", "6p2"][i / 36 % 4];
        format!("4k4/9/{black}/{pawns}/9/9/9/{red}/9/3K5 w - - 0 1\n")
    });
    fens.chain(["h2e2 h9g7\n".to_owned(), "position startpos moves b2e2\n".to_owned()]).collect()
}

/// The plan with a book of these positions, and its starts.
fn with_book(mut plan: Plan, folder: &Path, positions: usize, wrap: bool) -> (Plan, Starts) {
    let path = folder.join(format!("开局 {positions}.txt"));
    std::fs::write(&path, book_text(positions)).unwrap();
    let book = Book::open(&path, RuleSet::Competition, None).unwrap();
    let openings = book.len() as u64;
    plan.opening.book = Some(BookPlan { sha256: book.sha256(), openings, plies: None, wrap });
    (plan.opening.min_plies, plan.opening.max_plies) = if wrap { (1, 4) } else { (0, 0) };
    plan.check().unwrap();
    let starts = Starts::new(&plan, Some(book)).unwrap();
    (plan, starts)
}

/// Plays with one thread, with eight, and with interruptions in between: the same bytes.
fn play_thrice(name: &str, plan: &Plan, starts: &Starts, folder: &Path) -> Vec<GameRecord> {
    let [one, eight, torn] = ["one", "eight", "torn"].map(|kind| folder.join(format!("{name} {kind}.rec")));
    play_from(starts, &one, plan, 1, None).unwrap();
    play_from(starts, &eight, plan, 8, None).unwrap();
    for stop_at in [3, 9, 20] {
        play_from(starts, &torn, plan, 1 + stop_at as usize % 3, Some(stop_at));
    }
    play_from(starts, &torn, plan, 2, None).unwrap();
    let bytes = std::fs::read(&one).unwrap();
    assert!(bytes == std::fs::read(&eight).unwrap(), "{name}: eight threads play other games than one");
    assert!(bytes == std::fs::read(&torn).unwrap(), "{name}: interrupted runs play other games");
    let verdict = check(&mut Reader::open(&one).unwrap());
    assert_eq!(verdict.damage, [], "{name}");
    read(&one).0
}

#[test]
fn each_opening_of_a_book_is_used_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut base = plan(Count::WholeBook, 1);
    base.opening.balance_nodes = 0;
    let (plan, starts) = with_book(base, folder.path(), 100, false);
    let games = play_thrice("book", &plan, &starts, folder.path());
    let begins = |game: &GameRecord| match &game.start {
        Start::Fen(fen) => format!("{fen}\n"),
        _ => game.opening.iter().map(|mv| format!("{mv} ")).collect(),
    };
    let found: BTreeSet<String> = games.iter().map(begins).collect();
    assert_eq!((games.len(), found.len()), (102, 102));
    assert!(found.contains("h2e2 h9g7 ") && found.contains("b2e2 "), "lines stand as the opening's moves");
    let in_order: Vec<String> = games.iter().map(begins).collect();
    let written: Vec<String> = book_text(100).lines().map(|line| format!("{line}\n")).collect();
    let kept = in_order.iter().zip(&written).filter(|(a, b)| a == b).count();
    assert!(kept < 10, "{kept} openings stand where the book has them");
}

#[test]
fn one_sided_openings_of_a_book_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let (plan, starts) = with_book(plan(Count::WholeBook, 1), folder.path(), 100, false);
    let games = play_thrice("balanced", &plan, &starts, folder.path());
    assert!((40..90).contains(&games.len()), "{} of 102: two thirds lie within ±100 of ±150", games.len());
    for game in games {
        let position = game.start.position().unwrap();
        let mut along = Game::new(position);
        game.opening.iter().for_each(|&mv| _ = along.play(mv));
        assert!(HashPlayer.search(&along, plan.limit).score.0.abs() <= 100);
    }
}

#[test]
fn used_up_books_say_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let (plan, starts) = with_book(plan(Count::Positions(1 << 40), 1), folder.path(), 30, false);
    let out = folder.path().join("a.rec");
    // And again, from what is kept.
    let errors = [3, 1].map(|threads| {
        let mut sink = match open(&out, &plan) {
            Ok(Opened::Run(sink)) => *sink,
            Ok(Opened::Complete(_)) => panic!("nothing is complete"),
            Err(error) => return error.to_string(),
        };
        let stop = Arc::new(AtomicBool::new(false));
        let ended = run::play(&plan, &starts, threads, &mut sink, &stop, |_| HashPlayer, &mut |_| {});
        ended.unwrap_err().to_string()
    });
    assert!(
        errors[0].contains("32 openings are used up after") && errors[0].contains("--book-wrap"),
        "{errors:?}"
    );
    assert_eq!(errors[0], errors[1]);
    let mut more = plan.clone();
    more.count = Count::Games(33);
    let refused = more.check().unwrap_err().to_string();
    assert!(refused.contains("--games is 33") && refused.contains("32 openings"), "{refused}");
}

#[test]
fn books_begin_again_with_other_random_plies() {
    let folder = tempfile::tempdir().unwrap();
    let (plan, starts) = with_book(plan(Count::Games(150), 2), folder.path(), 30, true);
    let games = play_thrice("wrap", &plan, &starts, folder.path());
    let begins: HashSet<_> = games.iter().map(|game| (format!("{:?}", game.start), &game.opening)).collect();
    assert_eq!((games.len(), begins.len()), (150, 150));
    let fens: HashSet<_> = games.iter().map(|game| format!("{:?}", game.start)).collect();
    assert_eq!(fens.len(), 31, "30 positions and the start position");
    assert!(games.iter().all(|game| (1..=6).contains(&game.opening.len())));
}

#[test]
fn another_book_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (mut plan, _) = with_book(plan(Count::Games(5), 2), folder.path(), 30, false);
    let other = |text: &str| {
        let path = folder.path().join("other");
        std::fs::write(&path, text).unwrap();
        Book::open(&path, RuleSet::Competition, None).unwrap()
    };
    assert!(matches!(Starts::new(&plan, Some(other("h2e2"))), Err(StartsError::OtherBook { .. })));
    assert!(matches!(Starts::new(&plan, None), Err(StartsError::OtherBook { .. })));
    plan.adjudication.max_plies = 2;
    let book = other(&book_text(30));
    assert!(matches!(Starts::new(&plan, Some(book)), Err(StartsError::Long { number: 31, plies: 2, .. })));
}

#[test]
fn other_moves_are_played_where_the_plan_wants_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut plan = plan(Count::Games(40), 3);
    let plain = play_thrice("plain", &plan, &starts(&plan), folder.path());
    assert!(plain.iter().flat_map(|game| &game.plies).all(|ply| !ply.flags.is_not_best()));

    plan.variety = Variety { lines: 3, margin: 20, plies: 12, ..Variety::default() };
    let games = play_thrice("lines", &plan, &starts(&plan), folder.path());
    let not_best = |games: &[GameRecord], plies: std::ops::Range<usize>| {
        let inside = games.iter().flat_map(|game| game.plies.iter().skip(plies.start).take(plies.len()));
        let flags: Vec<bool> = inside.map(|ply| ply.flags.is_not_best()).collect();
        (flags.iter().filter(|&&flag| flag).count() * 1000).checked_div(flags.len()).unwrap_or(0)
    };
    // Behind by 0, 8, 16 of a margin of 20: 21, 13 and 5 parts, so 18 of 39 are not the best.
    assert!((380..550).contains(&not_best(&games, 0..12)), "{} per mille", not_best(&games, 0..12));
    assert_eq!(not_best(&games, 12..5000), 0);
    scores_are_the_best_moves(&games);

    plan.variety = Variety { random_per_mille: 50, ..Variety::default() };
    let games = play_thrice("random", &plan, &starts(&plan), folder.path());
    assert!((25..75).contains(&not_best(&games, 0..5000)), "{} per mille", not_best(&games, 0..5000));
    scores_are_the_best_moves(&games);
}

/// The score of every ply is what the player says of the position, and the flag tells whether its move was played.
fn scores_are_the_best_moves(games: &[GameRecord]) {
    for record in games {
        let mut game = Game::new(record.start.position().unwrap());
        record.opening.iter().for_each(|&mv| _ = game.play(mv));
        for ply in &record.plies {
            let choice = HashPlayer.search(&game, SearchLimit::default());
            assert_eq!((ply.score, ply.flags.is_not_best()), (choice.score, Some(ply.mv) != choice.best));
            game.play(ply.mv);
        }
    }
}

/// Whatever the rules, every game is legal, and its end is what the judge says of it.
#[test]
fn all_rule_sets() {
    let folder = tempfile::tempdir().unwrap();
    for rules in RuleSet::ALL {
        let mut plan = plan(Count::Games(60), 4);
        plan.rules = rules.name().to_owned();
        // Nothing but the rules ends these games.
        (plan.adjudication.resign_plies, plan.adjudication.draw_plies) = (0, 0);
        plan.adjudication.max_plies = 4096;
        let games = play_thrice(rules.name(), &plan, &starts(&plan), folder.path());
        assert!(games.iter().all(|game| !game.reason.is_adjudicated() && game.rules == rules));
    }
}

/// Real searches: a recorded game is played again from its record alone.
#[test]
fn games_are_played_again_from_their_records() {
    let folder = tempfile::tempdir().unwrap();
    let mut plan = plan(Count::Games(2), 5);
    plan.limit = SearchLimit { nodes: Some(400), soft_nodes: Some(50), ..SearchLimit::default() };
    plan.variety = Variety { lines: 3, margin: 60, plies: 20, random_per_mille: 20, random_plies: 0 };
    plan.adjudication.resign_mate = true;
    let out = folder.path().join("a.rec");
    let mut sink = match open(&out, &plan).unwrap() {
        Opened::Run(sink) => *sink,
        Opened::Complete(_) => panic!("nothing is complete"),
    };
    let stop = Arc::new(AtomicBool::new(false));
    let player = |stop| EnginePlayer::new(plan.hash_mib, EvalSource::Hce, RuleSet::Competition, stop);
    run::play(&plan, &starts(&plan), 2, &mut sink, &stop, player, &mut |_| {}).unwrap();
    sink.publish(|_, _| Ok::<(), SinkError>(())).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let mut again = player(Arc::clone(&stop));
    for record in read(&out).0 {
        assert!(record.plies.iter().any(|ply| ply.flags.is_not_best()), "nothing to test");
        let mut game = Game::new(record.start.position().unwrap());
        record.opening.iter().for_each(|&mv| _ = game.play(mv));
        let played = play_on(&plan, record.number, record.start.clone(), game, &mut again, &stop).unwrap();
        assert_eq!(played.map(|(game, _)| game), Some(record));
    }
}
