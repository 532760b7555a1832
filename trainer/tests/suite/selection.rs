//! Which games and positions the loader trains on.

use crate::batches::{GAMES, plan, positions, source, unpacked};
use crate::support::{OPENING, file_of_games, game, record_file};
use nnue_format::record::{GameHead, GameRecord, Ply, mirrored_move};
use std::path::Path;
use trainer::config::{Config, FilterConfig};
use trainer::data::decode::Part;
use trainer::data::packed::Packed;
use trainer::data::source::{Role, Source};
use trainer::data::split::Side;
use trainer::data::survey::survey;
use trainer::data::{FilterCounts, Location, Plan, Samples, Split};
use trainer::validate::ValidationSet;
use xiangqi::{Move, Position};

fn off() -> FilterConfig {
    FilterConfig { marked: false, in_check: false, captures: false, max_score: 0, ..FilterConfig::default() }
}

fn part(plan: &Plan, part: Part) -> Samples {
    let (mut packed, mut counts) = (Packed::new(), FilterCounts::default());
    let mut decoder = plan.decoder();
    for block in 0..plan.source.blocks().len() {
        decoder.sample(block, part, &mut packed, &mut counts, |_| {}).unwrap();
    }
    unpacked(&packed)
}

#[test]
fn training_and_validation_share_no_game() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(source(folder.path()), |config| config.filters = off());
    let (training, validation) = (part(&plan, Part::Training), part(&plan, Part::Validation));
    let split = Split::new(1, 0.3);
    let plies = |wanted: Side| -> usize {
        let side = |game: &GameRecord| {
            let moves: Vec<Move> = game.moves().collect();
            split.side(&game.start, &moves).unwrap()
        };
        (0..GAMES).map(game).filter(|game| side(game) == wanted).map(|game| game.plies.len()).sum()
    };
    assert_eq!((training.len(), validation.len()), (plies(Side::Training), plies(Side::Validation)));
    assert!(validation.len() > 300, "{} positions", validation.len());
    // What the loader's fast way packs is the training side, all of it.
    let (mut packed, mut counts) = (Packed::new(), FilterCounts::default());
    let mut decoder = plan.decoder();
    for block in 0..plan.source.blocks().len() {
        decoder.pack(block, 0, &mut packed, &mut counts).unwrap();
    }
    assert_eq!(unpacked(&packed), training);
    let openings = OPENING as u64 * GAMES;
    assert_eq!(counts.kept + counts.unscored + counts.other_split, plan.source.positions() + openings);
    let set = ValidationSet::read(&plan, 1 << 20).unwrap();
    assert_eq!(positions([&set.batch.samples]), positions([&validation]));
    assert_eq!(set.fens.len(), validation.len());
}

/// The game seen in a mirror, under another number.
fn mirrored(number: u64, new_number: u64) -> GameRecord {
    let mut game = game(number);
    game.number = new_number;
    game.opening.iter_mut().for_each(|mv| *mv = mirrored_move(*mv));
    game.plies.iter_mut().for_each(|ply| ply.mv = mirrored_move(ply.mv));
    game
}

#[test]
fn the_same_game_is_on_one_side_under_any_number() {
    let folder = tempfile::tempdir().unwrap();
    let a = record_file(&folder.path().join("a.rec"), 0..30, 4);
    let again = (0..30).map(|number| GameRecord { number: 900 - number, ..game(number) });
    let b = file_of_games(&folder.path().join("b.rec"), again.rev(), 3);
    let c = file_of_games(&folder.path().join("c.rec"), (0..30).map(|n| mirrored(n, n)), 9);
    let of = |path: &Path, wanted: Part| {
        let source = Source::open(&[path.to_path_buf()], false).unwrap();
        part(&plan(source, |config| config.filters = off()), wanted)
    };
    for wanted in [Part::Training, Part::Validation] {
        let found = of(&a, wanted);
        assert!(found.len() > 300);
        assert_eq!(positions([&found]), positions([&of(&b, wanted)]));
        // The feature set of this test mirrors by itself.
        assert_eq!(found.len(), of(&c, wanted).len());
    }
}

#[test]
fn games_of_validation_files_are_not_trained_on() {
    let folder = tempfile::tempdir().unwrap();
    let training = record_file(&folder.path().join("training.rec"), 0..30, 4);
    // Ten games that are in both, under other numbers or mirrored, and ten that are not.
    let games = (20..30)
        .map(|number| if number % 2 == 0 { mirrored(number, 70 + number) } else { game(number) })
        .chain((100..110).map(game));
    let validation = file_of_games(&folder.path().join("validation.rec"), games, 5);
    let files = [
        (Role::Training(0), Location::from(training.as_path())),
        (Role::Validation, Location::from(validation.as_path())),
    ];
    let plan = plan(Source::open_all(&files, false).unwrap(), |config| config.filters = off());
    let plies = |games: std::ops::Range<u64>| -> u64 { games.map(|n| game(n).plies.len() as u64).sum() };
    let found = survey(&plan, 1000).unwrap();
    assert_eq!(found.epoch_positions, plies(0..20));
    assert_eq!(found.counts.in_validation_files, plies(20..30) + 10 * OPENING as u64);
    assert_eq!(found.counts.other_split, 0, "the share does not count beside files");
    let set = ValidationSet::read(&plan, 1 << 20).unwrap();
    assert_eq!(set.batch.len() as u64, plies(20..30) + plies(100..110));
}

/// What the filters do to all games.
fn counts(source: &Source, change: impl FnOnce(&mut FilterConfig)) -> FilterCounts {
    let plan = plan(source.clone(), |config: &mut Config| {
        config.validation.fraction = 0.0;
        config.filters = off();
        change(&mut config.filters);
    });
    survey(&plan, usize::MAX).unwrap().counts
}

/// How many scored positions of the games have this, by hand.
fn by_hand(mut has: impl FnMut(&GameHead, &Position, &Ply, &[Position]) -> bool) -> u64 {
    let mut found = 0;
    for game in (0..GAMES).map(game) {
        let head = game.head();
        let mut walk = game.positions().unwrap();
        let mut before: Vec<Position> = Vec::new();
        while let Some(next) = walk.next() {
            let (position, ply) = next.unwrap();
            found += u64::from(ply.scored.is_some() && has(&head, position, &ply, &before));
            before.push(position.clone());
        }
    }
    found
}

#[test]
fn each_filter_takes_what_it_should() {
    let folder = tempfile::tempdir().unwrap();
    let source = source(folder.path());
    let all = source.positions();
    let open = counts(&source, |_| {});
    assert_eq!((open.kept, open.unscored), (all, GAMES * OPENING as u64));
    assert!(FilterConfig::default().marked);
    let check = |taken: u64, least: u64, change: fn(&mut FilterConfig), count: fn(&FilterCounts) -> u64| {
        let found = counts(&source, change);
        assert!(taken >= least, "{taken} positions are too few to tell");
        assert_eq!((count(&found), found.kept), (taken, all - taken), "{found}");
    };
    let flags = |ply: &Ply| ply.scored.unwrap().1;
    let marked = by_hand(|_, _, ply, _| flags(ply).is_skipped());
    check(marked, 100, |f| f.marked = true, |c| c.marked);
    check(by_hand(|_, _, ply, _| ply.number < 20), 100, |f| f.early_plies = 20, |c| c.early);
    let great = by_hand(|_, _, ply, _| ply.scored.unwrap().0.0.abs() > 5000);
    check(great, 50, |f| f.max_score = 5000, |c| c.score);
    let not_best = by_hand(|_, _, ply, _| flags(ply).is_not_best());
    check(not_best, 100, |f| f.not_best = true, |c| c.not_best);
    let captures = by_hand(|_, position, ply, _| position.piece_on(ply.mv.to()).is_some());
    check(captures, 50, |f| f.captures = true, |c| c.captures);
    check(by_hand(|_, position, _, _| position.in_check()), 20, |f| f.in_check = true, |c| c.in_check);
    let pieces = |position: &Position| position.occupied().count();
    let few = by_hand(|_, position, _, _| pieces(position) < 26);
    check(few, 100, |f| f.min_pieces = 26, |c| c.pieces);
    let many = by_hand(|_, position, _, _| pieces(position) > 30);
    check(many, 100, |f| f.max_pieces = 30, |c| c.pieces);
    let quiet = by_hand(|_, position, _, _| position.no_capture_plies() > 9);
    check(quiet, 50, |f| f.max_quiet_plies = 9, |c| c.quiet_plies);
}

#[test]
fn repetitions_are_seen_within_their_game() {
    let folder = tempfile::tempdir().unwrap();
    // Both sides' rooks to and fro: from ply 4 on every position was there before.
    let mut games = [game(0), game(0)];
    for (number, game) in (0..).zip(&mut games) {
        game.number = number;
        game.opening.clear();
        game.plies.truncate(14);
        let moves = ["a0a1", "a9a8", "a1a0", "a8a9"].iter().cycle();
        game.plies.iter_mut().zip(moves).for_each(|(ply, mv)| ply.mv = mv.parse().unwrap());
    }
    let path = file_of_games(&folder.path().join("games.rec"), games, 2);
    let found = counts(&Source::open(&[path], false).unwrap(), |f| f.repetitions = true);
    assert_eq!((found.repetitions, found.kept), (20, 8), "{found}");
}

#[test]
fn filters_by_chance_take_their_share() {
    let folder = tempfile::tempdir().unwrap();
    let source = source(folder.path());
    let all = source.positions();
    let near = |found: u64, expected: f64| {
        let deviation = expected.sqrt();
        assert!((found as f64 - expected).abs() < 4.0 * deviation, "{found}, expected about {expected}");
    };
    let taken = counts(&source, |f| f.random_skip = 0.25);
    // The rounding of a block is at most 2.
    let blocks = source.blocks().len() as f64;
    assert!((taken.random as f64 - 0.25 * all as f64).abs() < 2.0 * blocks, "{taken}");
    assert_eq!(taken.random + taken.kept, all);
    // Plies 4 to 43 fade from all to none.
    let taken = counts(&source, |f| (f.early_plies, f.soft_early_plies) = (4, 44));
    let mut expected = 0.0;
    by_hand(|_, _, ply, _| {
        expected += 44usize.saturating_sub(ply.number) as f64 / 40.0;
        false
    });
    assert_eq!(taken.early, 0);
    near(taken.soft_early, expected);
    assert_eq!(taken.soft_early + taken.kept, all);
    // P(win) = 1 / (1 + exp((110 - score) / 200)), P(loss) likewise, the rest are draws.
    let taken = counts(&source, |f| f.disagreement = 0.8);
    let mut expected = 0.0;
    by_hand(|head, position, ply, _| {
        let score = f64::from(ply.scored.unwrap().0.0);
        let win = |score: f64| 1.0 / (1.0 + ((110.0 - score) / 200.0).exp());
        let chances = [win(-score), 1.0 - win(score) - win(-score), win(score)];
        let outcome = usize::from(head.outcome.half_points(position.side_to_move()));
        expected += 0.8 * (1.0 - chances[outcome]);
        false
    });
    assert!(expected > 300.0);
    near(taken.disagreement, expected);
    assert_eq!(taken.disagreement + taken.kept, all);
    assert_eq!(counts(&source, |f| f.disagreement = 0.8), taken, "the same ones each time");
}
