//! Laws of runs: the same plan gives the same bytes, however many threads play and however often they are
//! interrupted.

mod common;

use std::path::Path;

use common::{open, plan, play, read};
use datagen::commands::verify::{Damage, check};
use datagen::plan::Count;
use datagen::seed::game_rng;
use datagen::sink::{Opened, Paths, SinkError};
use nnue_format::record::Reader;
use tempfile::TempDir;

fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn the_same_plan_gives_the_same_bytes() {
    let folder = folder();
    let plan = plan(Count::Games(400), 1);
    let [a, b, c] = ["a", "b", "c"].map(|name| folder.path().join(name));
    let totals = play(&a, &plan, 1, None).unwrap();
    assert_eq!(totals.games, 400);
    assert_eq!(play(&b, &plan, 1, None), Some(totals));
    assert_eq!(play(&c, &plan, 3, None), Some(totals));
    assert_eq!(bytes(&a), bytes(&b));
    assert_eq!(bytes(&a), bytes(&c));
    let (games, errors) = read(&a);
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(games.len(), 400);
    let rest: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(rest.len(), 3, "nothing else is left: {rest:?}");
}

#[test]
fn another_seed_gives_other_games() {
    let folder = folder();
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
    play(&a, &plan(Count::Games(20), 1), 1, None).unwrap();
    play(&b, &plan(Count::Games(20), 2), 1, None).unwrap();
    let (a, b) = (read(&a).0, read(&b).0);
    assert!(
        a.iter()
            .all(|game| b.iter().all(|other| (&game.opening, &game.plies) != (&other.opening, &other.plies)))
    );
}

#[test]
fn what_is_played_passes_verification() {
    let folder = folder();
    let out = folder.path().join("file with blanks 楚河.rec");
    let totals = play(&out, &plan(Count::Games(100), 3), 2, None).unwrap();
    let verdict = check(&mut Reader::open(&out).unwrap());
    assert_eq!((verdict.games, verdict.positions), (100, totals.positions));
    assert_eq!(verdict.damage, []);
    let reasons: std::collections::BTreeSet<_> = read(&out).0.iter().map(|game| game.reason.word()).collect();
    assert!(reasons.len() >= 3, "too few kinds of ends to test anything: {reasons:?}");
}

#[test]
fn verification_finds_what_is_wrong() {
    let folder = folder();
    let out = folder.path().join("a.rec");
    let mut plan = plan(Count::Games(60), 4);
    (plan.adjudication.draw_plies, plan.adjudication.max_plies) = (0, 400);
    play(&out, &plan, 1, None).unwrap();
    let mut damaged = bytes(&out);
    let at = damaged.len() / 2;
    damaged[at] ^= 1;
    let verdict = check(&mut Reader::new(std::io::Cursor::new(&damaged)).unwrap());
    assert_eq!(verdict.games, 0, "all games are in one block");
    assert!(matches!(&verdict.damage[..], [Damage { offset, .. }] if *offset <= at as u64), "{verdict:?}");
    let mut game = read(&out).0.into_iter().find(|game| !game.reason.is_adjudicated()).unwrap();
    assert_eq!(datagen::validate::game::check_game(&game), Ok(()));
    game.plies.pop();
    assert!(datagen::validate::game::check_game(&game).is_err());
}

#[test]
fn positions_are_exact() {
    let folder = folder();
    for wanted in [1, 99, 1000, 12_345] {
        let [a, b] = ["a", "b"].map(|name| folder.path().join(format!("{name}{wanted}")));
        let plan = plan(Count::Positions(wanted), 5);
        assert_eq!(play(&a, &plan, 1, None).unwrap().positions, wanted);
        let verdict = check(&mut Reader::open(&a).unwrap());
        assert_eq!((verdict.positions, verdict.damage), (wanted, vec![]));
        play(&b, &plan, 2, Some(3));
        assert_eq!(play(&b, &plan, 2, None).unwrap().positions, wanted);
        assert_eq!(bytes(&a), bytes(&b));
    }
}

/// Stops runs at random moments, tears their files at random places, and goes on: always the same bytes.
#[test]
fn interrupted_and_torn_runs_end_with_the_same_bytes() {
    let folder = folder();
    // Enough plies for several blocks.
    let plan = plan(Count::Games(1000), 6);
    let whole = folder.path().join("whole");
    play(&whole, &plan, 1, None).unwrap();
    let whole = bytes(&whole);
    let mut rng = game_rng(6, 6);
    for trial in 0..6 {
        let out = folder.path().join(format!("torn {trial}"));
        let Paths { partial, journal, .. } = Paths::new(&out);
        for _ in 0..3 {
            let threads = 1 + rng.below(2) as usize;
            if play(&out, &plan, threads, Some(1 + rng.below(999))).is_some() {
                break;
            }
            for path in [&partial, &journal] {
                let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
                let length = file.metadata().unwrap().len();
                if rng.below(2) == 0 {
                    file.set_len(length - rng.below(length.min(3000))).unwrap();
                }
            }
        }
        play(&out, &plan, 2, None).unwrap();
        assert_eq!(bytes(&out), whole, "trial {trial}");
        assert!(!partial.exists() && !journal.exists());
    }
}

#[test]
fn damage_in_an_unfinished_file_is_played_again() {
    let folder = folder();
    let plan = plan(Count::Games(1000), 7);
    let [whole, out] = ["whole", "out"].map(|name| folder.path().join(name));
    play(&whole, &plan, 1, None).unwrap();
    assert_eq!(play(&out, &plan, 1, Some(900)), None);
    let partial = Paths::new(&out).partial;
    let mut torn = bytes(&partial);
    let at = torn.len() * 2 / 3;
    torn[at] ^= 0x10;
    std::fs::write(&partial, torn).unwrap();
    play(&out, &plan, 1, None).unwrap();
    assert_eq!(bytes(&out), bytes(&whole));
}

#[test]
fn finished_files_are_left_alone() {
    let folder = folder();
    let out = folder.path().join("a.rec");
    let plan = plan(Count::Games(5), 8);
    let totals = play(&out, &plan, 1, None).unwrap();
    let before = bytes(&out);
    assert!(matches!(open(&out, &plan), Ok(Opened::Complete(found)) if found == totals));
    assert_eq!(bytes(&out), before);
    let mut other = plan.clone();
    other.seed += 1;
    match open(&out, &other) {
        Err(SinkError::OtherPlan { differences, .. }) => assert_eq!(differences, "seed: 8 there, 9 here"),
        other => panic!("{other:?}"),
    }
    std::fs::write(&out, b"something dear to somebody").unwrap();
    assert!(matches!(open(&out, &plan), Err(SinkError::NotARecord { .. })));
    assert_eq!(bytes(&out), b"something dear to somebody");
}

#[test]
fn unfinished_files_of_another_plan_are_refused() {
    let folder = folder();
    let out = folder.path().join("a.rec");
    // More games than a worker may be ahead of what is written, so that the run cannot end before it is stopped.
    let plan = plan(Count::Games(500), 9);
    assert_eq!(play(&out, &plan, 1, Some(10)), None);
    let partial = Paths::new(&out).partial;
    let before = bytes(&partial);
    let mut other = plan.clone();
    other.limit.nodes = Some(2);
    assert!(matches!(open(&out, &other), Err(SinkError::OtherPlan { .. })));
    assert_eq!(bytes(&partial), before);
    std::fs::write(
        &partial,
        b"something dear to somebody, longer than a header is, so that it is no cut one..",
    )
    .unwrap();
    assert!(matches!(open(&out, &plan), Err(SinkError::NotARecord { .. })));
}

#[test]
fn two_processes_do_not_write_one_file() {
    let folder = folder();
    let out = folder.path().join("a.rec");
    let plan = plan(Count::Games(50), 10);
    let first = open(&out, &plan).unwrap();
    // Locks belong to open files, so a second one in this process is as good as another process.
    assert!(matches!(open(&out, &plan), Err(SinkError::Locked { .. })));
    drop(first);
    assert!(open(&out, &plan).is_ok());
}

#[test]
fn openings_do_not_repeat_and_run_out_with_a_message() {
    let folder = folder();
    let mut few = plan(Count::Games(20), 11);
    (few.opening.min_plies, few.opening.max_plies, few.opening.balance_nodes) = (1, 1, 0);
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
    play(&a, &few, 1, None).unwrap();
    play(&b, &few, 3, None).unwrap();
    assert_eq!(bytes(&a), bytes(&b));
    let games = read(&a).0;
    let openings: std::collections::HashSet<_> = games.iter().map(|game| game.opening.clone()).collect();
    assert_eq!(openings.len(), 20);
    assert!(games.last().unwrap().number > 19, "repeated openings leave their numbers unused");
    // 44 moves from the start position.
    few.count = Count::Games(45);
    let mut sink = match open(&folder.path().join("c"), &few).unwrap() {
        Opened::Run(sink) => *sink,
        Opened::Complete(_) => panic!("nothing is complete"),
    };
    let stop = std::sync::Arc::new(false.into());
    let error = datagen::run::play(
        &few,
        &common::starts(&few),
        2,
        &mut sink,
        &stop,
        |_| common::HashPlayer,
        &mut |_| {},
    )
    .unwrap_err();
    assert!(error.to_string().contains("after 44 games"), "{error}");
}
