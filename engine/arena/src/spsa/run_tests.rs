use rand_core::Rng;

use super::*;
use crate::openings::stream;
use crate::spsa::Parameter;

/// Games decided by chance and by how near each side is to the best values: a stand-in for an engine.
struct Hill {
    best: [f64; 3],
    /// Distance, in parts of a parameter's range of 100, that costs a certain win.
    width: f64,
    /// Sets `stop` at this pair.
    stops_at: Option<(u64, Arc<AtomicBool>)>,
}

impl Contestant for Hill {
    fn play(&mut self, pair: u64, sides: &[Vec<i32>; 2]) -> Result<PairPoints, NoPair> {
        if let Some((at, stop)) = &self.stops_at
            && pair >= *at
        {
            stop.store(true, Ordering::Relaxed);
            return Err(NoPair::Interrupted);
        }
        let distance = |side: &Vec<i32>| -> f64 {
            side.iter().zip(self.best).map(|(value, best)| (f64::from(*value) - best).powi(2)).sum()
        };
        let ahead = (distance(&sides[1]) - distance(&sides[0])) / (self.width * self.width);
        let mut rng = stream(77, pair);
        let points = [(); 2].map(|()| {
            let chance = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
            // A third of the games is drawn between equals.
            let (win, loss) = (1.0 / 3.0 + ahead, 1.0 / 3.0 - ahead);
            if chance < win {
                2
            } else if chance > 1.0 - loss {
                0
            } else {
                1
            }
        });
        Ok(PairPoints { points, note: (pair == 3).then(|| "a note".to_owned()) })
    }
}

fn settings(iterations: u64, batch: u64, ahead: u64) -> Settings {
    let lines = ["x,20,0,100,4,0.004", "y,80,0,100,4,0.004", "z,50,0,100,4,0.004"];
    Settings {
        parameters: lines.iter().map(|line| Parameter::parse(line).expect(line)).collect(),
        iterations,
        batch,
        ahead,
        seed: 9,
        alpha: 0.602,
        gamma: 0.101,
        stability: 0.1,
    }
}

const BEST: [f64; 3] = [60.0, 40.0, 50.0];

fn tune(
    settings: &Settings,
    journal: &Path,
    concurrency: usize,
    stops_at: Option<u64>,
) -> Result<Tuned, SpsaError> {
    let stop = Arc::new(AtomicBool::new(false));
    let contestant = |_: &Arc<AtomicBool>| -> Box<dyn Contestant> {
        Box::new(Hill { best: BEST, width: 60.0, stops_at: stops_at.map(|at| (at, Arc::clone(&stop))) })
    };
    run(settings, &json!("a hill"), journal, (&contestant, concurrency), &stop, &mut |_| {})
}

#[test]
fn it_climbs() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut settings = settings(400, 4, 1);
    settings.parameters.iter_mut().for_each(|parameter| parameter.r_end = 0.02);
    let tuned = tune(&settings, &folder.path().join("j"), 2, None).expect("tuned");
    assert!(!tuned.interrupted && tuned.games.iter().sum::<u64>() == 2 * settings.pairs());
    assert_eq!(tuned.failures, 1);
    for (now, best) in tuned.trajectory.now().iter().zip(BEST) {
        assert!((now - best).abs() < 12.0, "{:?} for {BEST:?}", tuned.trajectory.now());
    }
}

#[test]
fn an_interrupted_run_goes_the_same_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = settings(30, 3, 1);
    let expected = tune(&settings, &folder.path().join("whole"), 1, None).expect("tuned").trajectory;
    assert_eq!(tune(&settings, &folder.path().join("threads"), 4, None).expect("tuned").trajectory, expected);
    let path = folder.path().join("parts");
    for stops_at in [1, 10, 11, 40, 89] {
        let part = tune(&settings, &path, 2, Some(stops_at)).expect("a part");
        assert!(part.interrupted, "at {stops_at}");
        // A kill may also tear the last line.
        let bytes = std::fs::read(&path).expect("the journal");
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        if lines > 3 {
            std::fs::write(&path, &bytes[..bytes.len() - 9]).expect("a torn journal");
        }
    }
    let whole = tune(&settings, &path, 3, None).expect("tuned");
    assert!(whole.continued > 60 && !whole.interrupted);
    assert_eq!(whole.trajectory, expected);
    let again = tune(&settings, &path, 3, Some(0)).expect("nothing to play");
    assert_eq!((again.continued, again.interrupted), (90, false));
    assert_eq!(again.trajectory, expected);
}

#[test]
fn the_way_depends_on_the_plan_and_other_plans_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("j");
    let base = settings(20, 2, 1);
    let expected = tune(&base, &path, 1, None).expect("tuned").trajectory;
    let others = [
        Settings { seed: 10, ..base.clone() },
        Settings { ahead: 0, ..base.clone() },
        Settings { alpha: 0.5, ..base.clone() },
    ];
    for other in &others {
        let error = tune(other, &path, 1, None).expect_err("another plan").to_string();
        assert!(error.contains("another"), "{error}");
    }
    let own = tune(&others[0], &folder.path().join("other seed"), 1, None).expect("tuned");
    assert_ne!(own.trajectory, expected);
}

#[test]
fn an_engine_that_cannot_play_ends_the_run() {
    struct Broken;
    impl Contestant for Broken {
        fn play(&mut self, pair: u64, _: &[Vec<i32>; 2]) -> Result<PairPoints, NoPair> {
            Err(NoPair::Error(ContestError::Game { pair, what: "no board".to_owned() }))
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let make = |_: &Arc<AtomicBool>| -> Box<dyn Contestant> { Box::new(Broken) };
    let never = AtomicBool::new(false);
    let path = folder.path().join("j");
    let error = run(&settings(9, 2, 0), &Value::Null, &path, (&make, 2), &never, &mut |_| {});
    assert!(error.expect_err("it cannot").to_string().contains("no board"));
}
