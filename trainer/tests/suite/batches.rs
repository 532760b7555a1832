//! The loader: the same batches whatever the threads, the ranks and where a run was resumed.

use crate::support::{arch, record_file};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use trainer::config::Config;
use trainer::data::decode::Part;
use trainer::data::lane::Lane;
use trainer::data::packed::Packed;
use trainer::data::samples::Encoder;
use trainer::data::source::{Role, Source};
use trainer::data::survey::survey;
use trainer::data::{Batch, DataError, FilterCounts, Loader, Location, Plan, Samples, Share};

pub(crate) const GAMES: u64 = 60;

pub(crate) fn plan(source: Source, change: impl FnOnce(&mut Config)) -> Plan {
    let text = "[net]\narchitecture = 'half-ka-hm-ab 2x128-8-8-1 16-stacks'\n[training]\nbatch_size = 100\n\
                [validation]\nfraction = 0.3\n[loader]\nwindow = 700\n";
    let mut config = Config::parse(text).unwrap();
    change(&mut config);
    Plan::new(&config, source, Encoder::new(&arch(&config.net.architecture)).unwrap()).unwrap()
}

pub(crate) fn source(folder: &Path) -> Source {
    let a = record_file(&folder.join("a.rec"), 0..GAMES / 2, 4);
    let b = record_file(&folder.join("b.rec"), GAMES / 2..GAMES, 7);
    Source::open(&[a, b], false).unwrap()
}

fn batches(plan: &Plan, from: u64, count: usize) -> Vec<Batch> {
    let mut loader = Loader::start(plan, from);
    (0..count).map(|_| loader.next_batch().unwrap()).collect()
}

/// How often each position (by its features and score) occurs.
pub(crate) type Positions = BTreeMap<(Vec<u16>, i16), usize>;

pub(crate) fn positions<'a>(samples: impl IntoIterator<Item = &'a Samples>) -> Positions {
    let mut found = BTreeMap::new();
    for samples in samples {
        for i in 0..samples.len() {
            *found.entry((samples.row(2 * i).to_vec(), samples.scores[i])).or_insert(0) += 1;
        }
    }
    found
}

pub(crate) fn unpacked(packed: &Packed) -> Samples {
    let mut samples = Samples::new();
    packed.append_to(&mut samples);
    samples
}

/// The training positions of these blocks in pass `pass`.
fn decoded(plan: &Plan, blocks: impl IntoIterator<Item = u32>, pass: u64) -> Samples {
    let (mut packed, mut counts) = (Packed::new(), FilterCounts::default());
    let mut decoder = plan.decoder();
    for block in blocks {
        decoder.pack(block as usize, pass, &mut packed, &mut counts).unwrap();
    }
    assert_eq!(counts.kept as usize, packed.len());
    unpacked(&packed)
}

fn lane(plan: &Plan, number: usize, given: u64) -> Lane {
    let stop = Arc::new(AtomicBool::new(false));
    Lane::new(plan, plan.lanes()[number].clone(), given, stop).unwrap()
}

#[test]
fn batches_depend_on_seed_and_step_alone() {
    let folder = tempfile::tempdir().unwrap();
    let source = source(folder.path());
    let with = |lanes: usize, threads: usize, queue: usize, seed: u64| {
        plan(source.clone(), |config| {
            config.filters.random_skip = 0.2;
            config.loader.lanes = lanes;
            config.loader.threads = threads;
            config.loader.queue = queue;
            config.training.seed = seed;
        })
    };
    for lanes in [1, 3] {
        let first = with(lanes, 1, 4, 1);
        let epoch = survey(&first, usize::MAX).unwrap();
        assert!(epoch.exact && epoch.epoch_positions > 1000, "{epoch:?}");
        // Several times through the data.
        let count = 4 * epoch.epoch_positions as usize / 100;
        let all = batches(&first, 0, count);
        assert!(all.iter().all(|batch| batch.len() == 100), "every batch is full");
        assert_eq!(batches(&with(lanes, 3, 1, 1), 0, count), all, "threads change nothing");
        for from in [1, 7, count - 20, count - 3] {
            // Once with the counts of the plan that was used already, once without.
            let tail = &all[from..(from + 3).min(count)];
            assert_eq!(batches(&with(lanes, 2, 2, 1), from as u64, tail.len()), tail, "from {from}");
            assert_eq!(batches(&first, from as u64, tail.len()), tail, "from {from}, counted before");
        }
        assert_ne!(batches(&with(lanes, 1, 4, 2), 0, 3), all[..3], "another seed");
        let stacks_in_order = all.iter().all(|batch| batch.samples.stacks.is_sorted());
        assert!(stacks_in_order && all.iter().any(|batch| batch.samples.stacks[0] < 15));
        let runs = all[0].stack_runs(0, 100);
        assert_eq!(runs.iter().map(|(_, start, end)| end - start).sum::<usize>(), 100);
    }
}

#[test]
fn ranks_share_every_batch() {
    let folder = tempfile::tempdir().unwrap();
    let mut plan = plan(source(folder.path()), |config| config.loader.lanes = 3);
    let whole = batches(&plan, 5, 6);
    for world in [2, 3, 7] {
        let mut found = vec![Vec::new(); whole.len()];
        for rank in 0..world {
            plan.share = Share { rank, world };
            let part = batches(&plan, 5, 6);
            assert!(part.iter().all(|batch| batch.len() == plan.share.slice(100).len()));
            found.iter_mut().zip(part).for_each(|(all, batch)| all.push(batch.samples));
        }
        for (parts, batch) in found.iter().zip(&whole) {
            assert_eq!(positions(parts), positions([&batch.samples]), "{world} ranks");
        }
    }
}

#[test]
fn a_pass_gives_each_position_once_in_windows_counted_after_the_filters() {
    let folder = tempfile::tempdir().unwrap();
    let source = source(folder.path());
    for (lanes, skip) in [(1, 0.0), (4, 0.0), (2, 0.6)] {
        let plan = plan(source.clone(), |config| {
            config.loader.lanes = lanes;
            config.loader.window = 400;
            config.filters.random_skip = skip;
        });
        let size = plan.sets[0].window;
        assert_eq!(size, 400 / lanes);
        let before = |blocks: &[u32]| -> usize {
            blocks.iter().map(|&block| source.blocks()[block as usize].positions as usize).sum()
        };
        for number in 0..lanes {
            let mut lane = lane(&plan, number, 0);
            for pass in 0..2 {
                let order: Vec<u32> =
                    plan.block_order(0, pass).into_iter().skip(number).step_by(lanes).collect();
                // The windows by hand: blocks until there are enough positions, the last one with all that is left.
                let mut first = 0;
                while first < order.len() {
                    let mut end = first + 1;
                    while end < order.len()
                        && (decoded(&plan, order[first..end].to_vec(), pass).len() < size
                            || before(&order[end..]) < size)
                    {
                        end += 1;
                    }
                    let window = decoded(&plan, order[first..end].to_vec(), pass);
                    let found = lane.take(window.len(), &(0..window.len())).unwrap();
                    assert_eq!(positions([&found]), positions([&window]), "lane {number} of {lanes}");
                    assert_ne!(found.scores, window.scores, "in another order");
                    assert!(window.len() >= size || end == order.len());
                    first = end;
                }
            }
        }
        let all = survey(&plan, usize::MAX).unwrap().epoch_positions as usize;
        assert_eq!(decoded(&plan, plan.block_order(0, 0), 0).len(), all);
    }
}

#[test]
fn two_passes_show_each_position_and_its_mirror_image() {
    let folder = tempfile::tempdir().unwrap();
    let source = source(folder.path());
    let rows = |mirror: bool, pass: u64| {
        let plan = plan(source.clone(), |config| {
            config.net.architecture = "classic".to_owned();
            config.loader.mirror = mirror;
        });
        let samples = decoded(&plan, plan.block_order(0, pass), pass);
        let row = |i: usize| {
            let mut row = samples.row(2 * i).to_vec();
            row.sort_unstable();
            row
        };
        let mut found: Vec<Vec<u16>> = (0..samples.len()).map(row).collect();
        found.sort();
        found
    };
    let plain = rows(false, 0);
    assert_eq!(plain, rows(false, 1));
    let (even, odd) = (rows(true, 0), rows(true, 1));
    assert!(even != plain && odd != plain && even != odd);
    assert_eq!(even, rows(true, 2), "every other pass is alike");
    // Each position is plain in one of the two passes.
    let kept = |pass: &[Vec<u16>]| plain.iter().filter(|row| pass.binary_search(row).is_ok()).count();
    assert!(kept(&even) + kept(&odd) >= plain.len());
    assert!(kept(&even) > plain.len() / 3 && kept(&odd) > plain.len() / 3);
}

/// Two data sets: games 0 to 29, and 30 to 59.
fn two_sets(folder: &Path) -> Source {
    let a = record_file(&folder.join("a.rec"), 0..GAMES / 2, 4);
    let b = record_file(&folder.join("b.rec"), GAMES / 2..GAMES, 7);
    let named = |set: usize, path: &PathBuf| (Role::Training(set), Location::from(path.as_path()));
    Source::open_all(&[named(0, &a), named(1, &b)], false).unwrap()
}

#[test]
fn sets_have_their_share_of_every_batch() {
    let folder = tempfile::tempdir().unwrap();
    let source = two_sets(folder.path());
    let data = |weight: Option<f64>| {
        let text = weight.map_or(String::new(), |weight| format!("\nweight = {weight}"));
        toml::from_str(&format!("path = 'unused'{text}")).unwrap()
    };
    let weighted = |first: Option<f64>, second: Option<f64>| {
        plan(source.clone(), |config| config.data = vec![data(first), data(second)])
    };
    let plan = weighted(Some(3.0), Some(1.0));
    assert_eq!([&plan.sets[0].slice, &plan.sets[1].slice], [&(0..75), &(75..100)]);
    assert_eq!([plan.sets[0].window, plan.sets[1].window], [525, 175]);
    let of_second = positions([&decoded(&plan, plan.sets[1].blocks.clone(), 0)]);
    let of_first = positions([&decoded(&plan, plan.sets[0].blocks.clone(), 0)]);
    for batch in batches(&plan, 0, 40) {
        let found = positions([&batch.samples]);
        let of = |set: &Positions| -> usize {
            found.iter().filter(|(position, _)| set.contains_key(*position)).map(|(_, count)| count).sum()
        };
        // A few positions are in both sets.
        assert!(of(&of_first) >= 75 && of(&of_second) >= 25, "{} {}", of(&of_first), of(&of_second));
        assert!(of(&of_first) <= 80 && of(&of_second) <= 30, "{} {}", of(&of_first), of(&of_second));
    }
    let by_positions = weighted(None, None);
    let share = by_positions.sets[0].blocks.iter().map(|&b| f64::from(source.blocks()[b as usize].positions));
    let share = 100.0 * share.sum::<f64>() / source.positions() as f64;
    assert_eq!(by_positions.sets[0].slice, 0..share.round() as usize);
    let config = |first: f64| {
        let text = "[net]\narchitecture = 'classic'\n[training]\nbatch_size = 100\n";
        let mut config = Config::parse(text).unwrap();
        config.data = vec![data(Some(first)), data(Some(1.0))];
        config
    };
    let none = Plan::new(&config(0.001), source, Encoder::new(&arch("classic")).unwrap());
    let error = none.err().map(|error| error.to_string()).unwrap();
    assert!(error.contains("data set 1 of 2") && error.contains("greater weight"), "{error}");
}

#[test]
fn a_loader_can_be_dropped_at_any_time() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(source(folder.path()), |config| {
        config.loader.threads = 3;
        config.loader.lanes = 5;
    });
    for taken in 0..4 {
        let mut loader = Loader::start(&plan, 0);
        for _ in 0..taken {
            assert_eq!(loader.next_batch().unwrap().len(), 100);
        }
    }
}

/// The error a loader ends with.
fn error_of(plan: &Plan) -> DataError {
    let mut loader = Loader::start(plan, 0);
    for _ in 0..1000 {
        if let Err(error) = loader.next_batch() {
            return error;
        }
    }
    panic!("nothing was found wrong");
}

#[test]
fn damage_names_its_file_and_can_be_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = record_file(&folder.path().join("games.rec"), 0..20, 4);
    let mut bytes = std::fs::read(&path).unwrap();
    let source = Source::open(std::slice::from_ref(&path), false).unwrap();
    bytes[source.blocks()[2].offset as usize + 200] ^= 0x10;
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, bytes).unwrap();
    let source = Source::open(std::slice::from_ref(&path), false).unwrap();
    for (lanes, threads) in [(1, 1), (4, 2), (4, 4)] {
        let strict = plan(source.clone(), |config| {
            config.loader.lanes = lanes;
            config.loader.threads = threads;
        });
        let error = error_of(&strict);
        assert!(matches!(error, DataError::Read { .. }), "{error}");
        assert!(error.to_string().contains("games.rec"), "{error}");
    }
    let lenient = plan(source, |config| config.loader.skip_damage = true);
    let found = survey(&lenient, usize::MAX).unwrap();
    assert_eq!(found.counts.damaged_blocks, 1);
    assert!(found.epoch_positions > 300);
    assert_eq!(batches(&lenient, 0, 20).len(), 20);
    let missing = Source::open(&[folder.path().join("none.rec")], false).unwrap_err();
    assert!(missing.to_string().contains("none.rec"), "{missing}");
}

#[test]
fn a_file_that_goes_away_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(source(folder.path()), |config| config.loader.threads = 2);
    std::fs::remove_file(folder.path().join("b.rec")).unwrap();
    let error = error_of(&plan);
    assert!(error.to_string().contains("b.rec"), "{error}");
}

#[test]
fn filters_that_leave_nothing_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(source(folder.path()), |config| config.filters.min_pieces = 33);
    for error in [survey(&plan, 10).unwrap_err(), error_of(&plan)] {
        assert!(matches!(error, DataError::Empty { .. }), "{error}");
        assert!(error.to_string().contains("by pieces"), "{error}");
    }
}

#[test]
fn counting_and_packing_agree() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(source(folder.path()), |config| config.filters.random_skip = 0.3);
    let mut decoder = plan.decoder();
    for block in 0..plan.source.blocks().len() {
        let (mut packed, mut a, mut b) = (Packed::new(), FilterCounts::default(), FilterCounts::default());
        let passed = decoder.pack(block, 3, &mut packed, &mut a).unwrap();
        assert_eq!(decoder.count(block, 3, &mut b).unwrap(), passed);
        assert_eq!(a, b);
        assert_eq!(a.kept + a.random, u64::from(passed));
        // The slow way, game by game, finds the same ones and knows no random skip.
        let (mut slow, mut counts) = (Packed::new(), FilterCounts::default());
        decoder.sample(block, Part::Training, &mut slow, &mut counts, |_| {}).unwrap();
        assert_eq!(counts.kept, u64::from(passed));
    }
}
