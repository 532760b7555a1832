//! Whole runs: the same twice, in two parts, stopped by a NaN; checkpoints and exports.

use crate::support::{Runs, conduct, numbers, record_file};
use nnue_format::net::Overwrite;
use std::path::{Path, PathBuf};
use trainer::checkpoint::{self, Checkpoint, CheckpointError};
use trainer::export::{BOUND, Bound, ExportError, export};
use trainer::run::{self, Outcome, RunError};

const CONFIG: &str = "
[net]
architecture = 'half-kp 2x128-16-16-1'
[training]
seed = 3
batch_size = 150
steps = 20
[learning_rate]
start = 3e-3
warmup_steps = 2
[validation]
fraction = 0.25
every_steps = 6
[filters]
random_skip = 0.1
[checkpoint]
every_steps = 8
keep = 2
";

fn start(runs: &Runs, name: &str, stop_after: Option<u64>) -> Result<Outcome, RunError> {
    runs.start(name, CONFIG, stop_after)
}

fn newest(run: &Path) -> PathBuf {
    checkpoint::locate(run).unwrap()
}

#[test]
fn ten_and_ten_steps_are_twenty_and_twice_the_same() {
    let runs = Runs::of(40);
    let whole = start(&runs, "whole", None).unwrap();
    assert!(whole.complete && whole.steps == 20);
    let again = start(&runs, "again", None).unwrap();
    assert_eq!(whole.loss.to_bits(), again.loss.to_bits());
    assert_eq!(numbers(&runs.out("whole")), numbers(&runs.out("again")), "the same twice");

    let half = start(&runs, "halves", Some(10)).unwrap();
    assert!(!half.complete && half.steps == 10);
    assert!(newest(&runs.out("halves")).ends_with("step-000000000010"));
    let halves = run::resume(&runs.out("halves"), conduct(None)).unwrap();
    assert!(halves.complete);
    assert_eq!(halves.loss.to_bits(), whole.loss.to_bits());
    assert_eq!(numbers(&runs.out("whole")), numbers(&runs.out("halves")), "10 + 10 = 20");

    // Killed between two checkpoints: what came after the newest is done again.
    start(&runs, "killed", Some(13)).unwrap();
    let killed = runs.out("killed");
    std::fs::remove_dir_all(newest(&killed)).unwrap();
    assert!(newest(&killed).ends_with("step-000000000008"));
    start(&runs, "killed", None).unwrap();
    assert_eq!(numbers(&runs.out("whole")), numbers(&killed), "the same command goes on");

    // Finished runs stay as they are; other plans do not touch them.
    let complete = start(&runs, "whole", None).unwrap();
    assert_eq!((complete.complete, complete.steps), (true, whole.steps));
    assert!((complete.loss - whole.loss).abs() < 1e-12);
    let other = CONFIG.replace("seed = 3", "seed = 4");
    let refused = run::start(&other, &runs.data, &runs.out("whole"), conduct(None)).unwrap_err();
    assert!(matches!(refused, RunError::Folder { .. }), "{refused}");
    assert!(run::resume(&runs.out("nothing"), conduct(None)).is_err());
}

#[test]
fn a_fixed_seed_gives_the_committed_loss() {
    let runs = Runs::of(40);
    let outcome = start(&runs, "run", None).unwrap();
    let found = [outcome.loss, outcome.validation_loss.unwrap(), outcome.material_validation_loss.unwrap()];
    // Measured on an AVX2 machine; other CPUs may round the dense layers differently.
    let close = found.iter().zip(COMMITTED).all(|(found, committed)| (found - committed).abs() < 1e-4);
    assert!(close, "found {found:?}, committed {COMMITTED:?}");
}

/// Training loss, validation loss, validation loss of material alone.
const COMMITTED: [f64; 3] = [0.024_662_538, 0.038_345_071, 0.007_568_241];

#[test]
fn a_nan_stops_at_its_step_and_keeps_the_last_good_checkpoint() {
    let runs = Runs::of(40);
    start(&runs, "run", Some(9)).unwrap();
    let out = runs.out("run");
    let folder = newest(&out);
    let mut bad = Checkpoint::read(&folder).unwrap();
    bad.parameters.iter_mut().find(|p| p.name == "stack0.out.bias").unwrap().weights[0] = f32::NAN;
    // Such a state is never written …
    bad.state.step = 10;
    let refused = bad.write(&out, 2).unwrap_err();
    assert!(matches!(refused, CheckpointError::NotFinite { .. }), "{refused}");
    assert!(refused.to_string().contains("stack0.out.bias[0]"), "{refused}");
    assert_eq!(newest(&out), folder);
    // … so it is smuggled in, digests and all.
    poison(&folder);
    let before = numbers(&out);
    let stopped = run::resume(&out, conduct(None)).unwrap_err();
    assert!(matches!(stopped, RunError::NotFinite { step: 10, .. }), "{stopped}");
    assert!(stopped.to_string().contains("step-000000000009"), "{stopped}");
    assert_eq!(numbers(&out), before, "nothing was written after it");
    let diagnosis = diagnosis(&out, 10);
    assert_eq!(
        (&diagnosis["seed"], &diagnosis["epoch"], &diagnosis["batch"]),
        (&3.into(), &1.into(), &9.into())
    );
    let positions = std::fs::read_to_string(out.join("diverged/step-000000000010/positions.tsv")).unwrap();
    assert_eq!(positions.lines().count(), 151, "the heading and the batch");
    let fen = positions.lines().nth(77).unwrap().split('\t').next().unwrap();
    xiangqi::Position::from_fen(fen).unwrap();
    let bad: Vec<&str> = diagnosis["weights"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|part| part["not_finite"] != 0)
        .map(|part| part["name"].as_str().unwrap())
        .collect();
    assert_eq!(bad, ["stack0.out.weight"], "the last of the file");
}

#[test]
fn an_absurd_learning_rate_stops_the_run_and_keeps_the_last_good_checkpoint() {
    let runs = Runs::of(40);
    let out = runs.out("run");
    // Beyond f32: the step itself is no number. The warm-up stays below until its last step.
    let config =
        CONFIG.replace("start = 3e-3", "start = 5e38").replace("warmup_steps = 2", "warmup_steps = 0");
    let config = config.replace("every_steps = 8", "every_steps = 1");
    let stopped = run::start(&config, &runs.data, &out, conduct(None)).unwrap_err();
    let RunError::NotFinite { step, what, last, diagnosis: folder } = &stopped else { panic!("{stopped}") };
    assert!(what.contains("NaN") || what.contains("inf"), "{what}");
    assert!(Path::new(folder).join("weights.safetensors").exists(), "{folder}");
    let diagnosis = diagnosis(&out, *step);
    assert_eq!(diagnosis["what"].as_str().unwrap(), what);
    assert!(diagnosis["gradients"].as_array().is_some_and(|parts| !parts.is_empty()));
    match checkpoint::locate(&out) {
        Ok(good) => {
            assert_eq!(last, &good.display().to_string());
            let good = Checkpoint::read(&good).unwrap();
            assert!(good.parameters.iter().all(|p| p.weights.iter().all(|w| w.is_finite())));
        }
        Err(error) => assert!(last == "none yet" && matches!(error, CheckpointError::NotFound(_)), "{error}"),
    }
    // Once more is the same once more.
    let again = run::resume(&out, conduct(None)).unwrap_err();
    assert!(matches!(again, RunError::NotFinite { step: found, .. } if found == *step), "{again}");
}

fn diagnosis(run: &Path, step: u64) -> serde_json::Value {
    let path = run.join(format!("diverged/step-{step:012}/diverged.json"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Makes the last float of a checkpoint's weights a NaN and the manifest agree.
fn poison(folder: &Path) {
    use sha2::{Digest, Sha256};
    let path = folder.join("weights.safetensors");
    let mut bytes = std::fs::read(&path).unwrap();
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    std::fs::write(&path, &bytes).unwrap();
    let mut manifest = checkpoint::read_manifest(folder).unwrap();
    let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    manifest.files.insert("weights.safetensors".to_owned(), digest);
    std::fs::write(folder.join("manifest.json"), serde_json::to_vec(&manifest).unwrap()).unwrap();
}

#[test]
fn checkpoints_are_kept_checked_and_exported() {
    let runs = Runs::of(40);
    start(&runs, "run", None).unwrap();
    let out = runs.out("run");
    let mut kept: Vec<String> = std::fs::read_dir(out.join("checkpoints"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    kept.sort();
    assert_eq!(kept, ["best", "step-000000000016", "step-000000000020"], "the two newest, and the best");

    let net = runs.out("net.nnue");
    let exported = export(&out, &net, BOUND, Overwrite::No).unwrap();
    assert!(exported.mean_error > 0.0 && exported.mean_error <= exported.worst_error);
    assert_eq!(
        export(&newest(&out), &net, BOUND, Overwrite::No).unwrap(),
        exported,
        "once more, the same bytes"
    );
    let (_, id) = nnue_format::net::read(&net).unwrap();
    assert_eq!(id.to_string(), exported.id);
    let other = newest(&out).with_file_name("step-000000000016");
    assert!(export(&other, &net, BOUND, Overwrite::No).is_err(), "another net is not overwritten unasked");
    let strict = Bound { mean: 1e-9, worst: 1e-9 };
    let missed = runs.out("missed.nnue");
    let error = export(&out, &missed, strict, Overwrite::No).unwrap_err();
    assert!(matches!(error, ExportError::Error { .. }) && !missed.exists(), "{error}");

    let weights = newest(&out).join("weights.safetensors");
    let mut bytes = std::fs::read(&weights).unwrap();
    bytes[1000] ^= 1;
    std::fs::write(&weights, bytes).unwrap();
    let error = Checkpoint::read(&out).unwrap_err();
    assert!(matches!(error, CheckpointError::Digest { .. }), "{error}");
    assert!(matches!(export(&out, &missed, BOUND, Overwrite::No), Err(ExportError::Checkpoint(_))));
}

#[test]
fn changed_data_are_refused() {
    let runs = Runs::of(40);
    start(&runs, "run", Some(4)).unwrap();
    record_file(&runs.data[0], 0..39, 5);
    let error = run::resume(&runs.out("run"), conduct(None)).unwrap_err();
    assert!(error.to_string().contains("games.rec") && error.to_string().contains("SHA-256"), "{error}");
}

#[test]
fn settings_are_checked() {
    use trainer::config::Config;
    for (from, to) in [
        ("batch_size = 150", "batch_size = 0"),
        ("batch_size = 150", "batchsize = 150"),
        ("start = 3e-3", "start = 0.0"),
        ("fraction = 0.25", "fraction = 1.0"),
        ("random_skip = 0.1", "random_skip = -0.1"),
        ("half-kp", "half-pk"),
        ("steps = 20", "steps = 0\nepochs = 0"),
    ] {
        assert!(Config::parse(&CONFIG.replacen(from, to, 1)).is_err(), "{to}");
    }
    for name in ["classic", "quickstart", "default"] {
        let path = format!("{}/configs/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        Config::parse(&std::fs::read_to_string(&path).unwrap()).unwrap_or_else(|e| panic!("{path}: {e}"));
    }
    let shown = format!("{}/configs/classic.toml", env!("CARGO_MANIFEST_DIR"));
    let shown = Config::parse(&std::fs::read_to_string(shown).unwrap()).unwrap();
    let bare = Config::parse("[net]\narchitecture = 'classic'").unwrap();
    assert_eq!(shown, bare, "the commented file shows the defaults");
}
