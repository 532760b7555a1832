//! The loader: same batches whatever the threads, the split disjoint, the filters counted.

use crate::support::{OPENING, arch, game, record_file};
use std::collections::BTreeMap;
use trainer::config::{Config, FilterConfig};
use trainer::data::loader::{Item, Plan};
use trainer::data::samples::Encoder;
use trainer::data::source::{Part, Source};
use trainer::data::{Batch, DataError, FilterCounts, Loader, Samples, Split};

const GAMES: u64 = 60;

fn plan(source: Source, change: impl FnOnce(&mut Config)) -> Plan {
    let text = "[net]\narchitecture = 'half-ka-hm-ab 2x128-8-8-1 16-stacks'\n[training]\nbatch_size = 100\n\
                [validation]\nfraction = 0.3\n[loader]\nwindow = 700\n";
    let mut config = Config::parse(text).unwrap();
    change(&mut config);
    Plan::new(&config, source, Encoder::new(&arch(&config.net.architecture)).unwrap())
}

fn source(folder: &std::path::Path) -> Source {
    let a = record_file(&folder.join("a.rec"), 0..GAMES / 2, 4);
    let b = record_file(&folder.join("b.rec"), GAMES / 2..GAMES, 7);
    Source::open(&[a, b], false).unwrap()
}

fn epoch(plan: &Plan, epoch: u64) -> (Vec<Batch>, FilterCounts) {
    let mut loader = Loader::start(plan, epoch);
    let mut batches = Vec::new();
    loop {
        match loader.next_item().unwrap() {
            Item::Batch(batch) => batches.push(batch),
            Item::End(counts) => return (batches, counts),
        }
    }
}

/// How often each position (by its features) occurs.
fn positions<'a>(samples: impl IntoIterator<Item = &'a Samples>) -> BTreeMap<(Vec<u16>, i16), usize> {
    let mut found = BTreeMap::new();
    for samples in samples {
        for i in 0..samples.len() {
            *found.entry((samples.row(2 * i).to_vec(), samples.scores[i])).or_insert(0) += 1;
        }
    }
    found
}

#[test]
fn batches_depend_on_seed_and_epoch_alone() {
    let folder = tempfile::tempdir().unwrap();
    let source = source(folder.path());
    let with = |threads: usize, queue: usize, seed: u64| {
        plan(source.clone(), |config| {
            config.loader.threads = threads;
            config.loader.queue = queue;
            config.training.seed = seed;
        })
    };
    let (first, counts) = epoch(&with(1, 4, 1), 0);
    assert!(first.len() > 10 && counts.kept > 1000, "{} batches, {counts}", first.len());
    assert!(first[..first.len() - 1].iter().all(|batch| batch.len() == 100), "only the last may be short");
    assert_eq!(first.iter().map(Batch::len).sum::<usize>() as u64, counts.kept);
    assert_eq!(epoch(&with(3, 1, 1), 0), (first.clone(), counts), "threads change nothing");
    let (second, _) = epoch(&with(1, 4, 1), 1);
    assert_ne!(first, second, "another epoch, another order");
    let all = |batches: &[Batch]| positions(batches.iter().map(|batch| &batch.samples));
    assert_eq!(all(&first), all(&second), "but the same positions");
    let stacks_in_order = first.iter().all(|batch| batch.samples.stacks.is_sorted());
    assert!(stacks_in_order && first.iter().any(|batch| batch.samples.stacks[0] < 15));
    let runs = first[0].stack_runs(0, first[0].len());
    assert_eq!(runs.iter().map(|(_, start, end)| end - start).sum::<usize>(), first[0].len());
    let (other, _) = epoch(&with(1, 4, 2), 0);
    assert_ne!(all(&first), all(&other), "another seed, another split");
}

#[test]
fn two_epochs_show_each_position_and_its_mirror_image() {
    let folder = tempfile::tempdir().unwrap();
    let source = source(folder.path());
    let classic = |mirror: bool| {
        plan(source.clone(), |config| {
            config.net.architecture = "classic".to_owned();
            config.loader.mirror = mirror;
        })
    };
    let all = |plan: &Plan, number: u64| {
        let (batches, _) = epoch(plan, number);
        let mut found: Vec<Vec<u16>> = Vec::new();
        for samples in batches.iter().map(|batch| &batch.samples) {
            found.extend((0..samples.len()).map(|i| {
                let mut row = samples.row(2 * i).to_vec();
                row.sort_unstable();
                row
            }));
        }
        found.sort();
        found
    };
    let plain = all(&classic(false), 0);
    assert_eq!(plain, all(&classic(false), 1));
    let (even, odd) = (all(&classic(true), 0), all(&classic(true), 1));
    assert!(even != plain && odd != plain && even != odd);
    assert_eq!(even, all(&classic(true), 2), "every other epoch is alike");
    // Each position is plain in one of the two epochs.
    let kept = |epoch: &[Vec<u16>]| plain.iter().filter(|row| epoch.binary_search(row).is_ok()).count();
    assert!(kept(&even) + kept(&odd) >= plain.len());
    assert!(kept(&even) > plain.len() / 3 && kept(&odd) > plain.len() / 3);
}

#[test]
fn a_loader_can_be_dropped_at_any_time() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(source(folder.path()), |config| config.loader.threads = 3);
    for taken in 0..4 {
        let mut loader = Loader::start(&plan, 0);
        for _ in 0..taken {
            assert!(matches!(loader.next_item().unwrap(), Item::Batch(_)));
        }
    }
}

#[test]
fn training_and_validation_share_no_game() {
    let folder = tempfile::tempdir().unwrap();
    let source = source(folder.path());
    let plan = plan(source.clone(), |config| {
        config.filters = FilterConfig {
            marked: false,
            in_check: false,
            captures: false,
            max_score: 0,
            ..FilterConfig::default()
        };
    });
    let part = |part: Part| {
        let (mut samples, mut counts) = (Samples::new(), FilterCounts::default());
        let mut decoder = plan.decoder();
        for block in 0..source.blocks().len() {
            decoder.decode(block, part, 0, &mut samples, &mut counts, |_| {}).unwrap();
        }
        samples
    };
    let (training, validation) = (part(Part::Training), part(Part::Validation));
    let split = Split::new(1, 0.3);
    let plies = |side: bool| -> usize {
        (0..GAMES).filter(|&n| split.is_validation(n) == side).map(|n| game(n).plies.len()).sum()
    };
    assert_eq!((training.len(), validation.len()), (plies(false), plies(true)));
    assert!(validation.len() > 300, "{} positions", validation.len());
    // What the loader hands out is the training side, all of it.
    let (batches, _) = epoch(&plan, 0);
    assert_eq!(positions(batches.iter().map(|batch| &batch.samples)), positions([&training]));
}

/// The counts of one block pass over all games, with these filters.
fn counts(source: &Source, change: impl FnOnce(&mut FilterConfig)) -> FilterCounts {
    let none = FilterConfig {
        marked: false,
        in_check: false,
        captures: false,
        max_score: 0,
        ..FilterConfig::default()
    };
    let plan = plan(source.clone(), |config| {
        config.validation.fraction = 0.0;
        config.filters = none;
        change(&mut config.filters);
    });
    epoch(&plan, 0).1
}

#[test]
fn each_filter_takes_what_it_should() {
    let folder = tempfile::tempdir().unwrap();
    let source = source(folder.path());
    // By hand, from the games themselves.
    let (mut all, mut early, mut mates, mut not_best, mut captures, mut checks) = (0, 0, 0, 0, 0, 0);
    let mut marked = 0;
    for number in 0..GAMES {
        let game = game(number);
        let mut walk = game.positions().unwrap();
        while let Some(next) = walk.next() {
            let (position, ply) = next.unwrap();
            let Some((score, flags)) = ply.scored else { continue };
            all += 1;
            marked += u64::from(flags.is_skipped());
            early += u64::from(ply.number < 20);
            mates += u64::from(score.0.abs() > 5000);
            not_best += u64::from(flags.is_not_best());
            captures += u64::from(position.piece_on(ply.mv.to()).is_some());
            checks += u64::from(position.in_check());
        }
    }
    assert!(early > 100 && mates > 50 && not_best > 100 && captures > 50 && checks > 20);
    let open = counts(&source, |_| {});
    assert_eq!((open.kept, open.unscored), (all, GAMES * OPENING as u64));
    assert!(FilterConfig::default().marked && marked > 100);
    let taken = counts(&source, |f| f.marked = true);
    assert_eq!((taken.marked, taken.kept), (marked, all - marked));
    let taken = counts(&source, |f| f.early_plies = 20);
    assert_eq!((taken.early, taken.kept), (early, all - early));
    let taken = counts(&source, |f| f.max_score = 5000);
    assert_eq!((taken.score, taken.kept), (mates, all - mates));
    let taken = counts(&source, |f| f.not_best = true);
    assert_eq!((taken.not_best, taken.kept), (not_best, all - not_best));
    let taken = counts(&source, |f| f.captures = true);
    assert_eq!((taken.captures, taken.kept), (captures, all - captures));
    let taken = counts(&source, |f| f.in_check = true);
    assert_eq!((taken.in_check, taken.kept), (checks, all - checks));
    let taken = counts(&source, |f| f.random_skip = 0.25);
    let share = taken.random as f64 / all as f64;
    assert!((0.21..0.29).contains(&share) && taken.random + taken.kept == all, "{share}");
}

#[test]
fn damage_names_its_file_and_can_be_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = record_file(&folder.path().join("games.rec"), 0..20, 4);
    let mut bytes = std::fs::read(&path).unwrap();
    let source = Source::open(std::slice::from_ref(&path), false).unwrap();
    bytes[source.blocks()[2].offset as usize + 200] ^= 0x10;
    std::fs::write(&path, bytes).unwrap();
    let source = Source::open(std::slice::from_ref(&path), false).unwrap();
    let strict = plan(source.clone(), |_| {});
    let mut loader = Loader::start(&strict, 0);
    let error = loop {
        match loader.next_item() {
            Ok(Item::Batch(_)) => {}
            Ok(Item::End(_)) => panic!("the damage was not seen"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, DataError::Read { .. }) && error.to_string().contains("games.rec"), "{error}");
    let lenient = plan(source, |config| config.loader.skip_damage = true);
    let (_, counts) = epoch(&lenient, 0);
    assert_eq!(counts.damaged_blocks, 1);
    assert!(counts.kept > 300);
    let missing = Source::open(&[folder.path().join("none.rec")], false).unwrap_err();
    assert!(missing.to_string().contains("none.rec"), "{missing}");
}
