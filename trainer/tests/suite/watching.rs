//! What a run writes to be watched, and what reports say of it.

use crate::support::{arch, batch, conduct, events, record_file, start_config};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use trainer::export::{BOUND, Bound, export};
use trainer::run;
use trainer::watch::proto::Content;
use trainer::watch::{Statistics, read_curve};

const CONFIG: &str = "
[net]
architecture = 'half-ka-hm 2x128-8-16-1 pairwise 8-stacks psqt'
[training]
seed = 3
batch_size = 150
steps = 24
[learning_rate]
start = 3e-3
[validation]
fraction = 0.25
every_steps = 8
[checkpoint]
every_steps = 8
keep = 2
";

fn program(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_chuhe-train")).args(args).output().unwrap()
}

fn json(args: &[&str]) -> Value {
    let output = program(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A run of 24 steps, the first 11 of them by another call.
fn run(folder: &Path) -> (PathBuf, PathBuf) {
    let data = record_file(&folder.join("games.rec"), 0..40, 5);
    let out = folder.join("run");
    start_config(CONFIG, std::slice::from_ref(&data), &out, Some(11)).unwrap();
    run::resume(&out, conduct(None)).unwrap();
    (out, data)
}

#[test]
fn curve_events_and_reports_tell_one_story() {
    let folder = tempfile::tempdir().unwrap();
    let (out, data) = run(folder.path());

    // The curve and the events have every step once, with the same numbers.
    let rows = read_curve(&out).unwrap();
    let steps: Vec<u64> = rows.iter().map(|row| row.step).collect();
    assert_eq!(steps, (1..=24).collect::<Vec<u64>>());
    let looked: Vec<u64> = rows.iter().filter(|row| row.weight_norm.is_some()).map(|row| row.step).collect();
    assert_eq!(looked, [8, 16, 24], "with each validation");
    let events = events(&out);
    assert_eq!(events.iter().map(|(step, _)| *step as u64).collect::<Vec<u64>>(), steps);
    for (row, (step, values)) in rows.iter().zip(&events) {
        let scalar = |tag: &str| {
            values.iter().find(|value| value.tag == tag).and_then(|value| match value.content {
                Some(Content::Scalar(value)) => Some(value),
                _ => None,
            })
        };
        let close = |a: Option<f32>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => (f64::from(a) - b).abs() <= 1e-5 * b.abs().max(1e-3),
            (None, None) => true,
            _ => false,
        };
        assert!(close(scalar("loss/training"), Some(row.loss)), "step {step}");
        assert!(close(scalar("loss/validation"), row.validation_loss), "step {step}");
        assert!(close(scalar("schedule/learning_rate"), Some(row.learning_rate)), "step {step}");
        assert!(close(scalar("norm/gradients"), row.gradient_norm), "step {step}");
        let histograms = values.iter().filter(|value| matches!(value.content, Some(Content::Histogram(_))));
        assert_eq!(histograms.count(), if row.weight_norm.is_some() { 12 } else { 0 }, "step {step}");
        let named = |start: &str| values.iter().any(|value| value.tag.starts_with(start));
        assert_eq!(named("gradient_norm/dense1.weight"), row.weight_norm.is_some());
    }

    // The report: one page without anything to fetch, and the same figures as JSON.
    let found = json(&["report", text(&out), "--json", "--out", text(&out.join("page.html"))]);
    let page = fs::read_to_string(out.join("page.html")).unwrap();
    for word in
        ["Training loss", "dense1.weight", "Quantisation", "Predicted winning", "own rook 车", "batch_size"]
    {
        assert!(page.contains(word), "{word} is not in the page");
    }
    assert!(!page.contains("<script") && !page.contains("src=") && !page.contains("@import"));
    assert_eq!(found["runs"][0]["rows"].as_array().unwrap().len(), 24);
    let validation = rows[23].validation_loss.unwrap();
    let reported = found["data"]["loss"].as_f64().unwrap();
    assert!((validation - reported).abs() < 1e-8, "the last row says {validation}, the report {reported}");
    let positions = found["net"]["quantisation"]["positions"].as_u64().unwrap();
    let sum: u64 = found["net"]["quantisation"]["histogram"]["counts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|count| count.as_u64().unwrap())
        .sum();
    assert_eq!(sum, positions);

    // The same loss by `validate`, of the checkpoint and, by its integers, nearly so of the net.
    let of_run = json(&["validate", text(&out), "--json"]);
    assert!((of_run["validation_loss"].as_f64().unwrap() - validation).abs() < 1e-8);
    let by_pieces = of_run["buckets"]["by_pieces"].as_array().unwrap();
    let counted: u64 = by_pieces.iter().map(|bucket| bucket["positions"].as_u64().unwrap()).sum();
    assert_eq!(Some(counted), of_run["positions"].as_u64());
    let net = folder.path().join("net.nnue");
    let wide = Bound { mean: 100.0 * BOUND.mean, worst: 100.0 * BOUND.worst };
    export(&out, &net, wide, nnue_format::net::Overwrite::No).unwrap();
    let of_net = json(&["validate", text(&net), "--data", text(&data), "--json"]);
    let difference = (of_net["validation_loss"].as_f64().unwrap() - validation).abs();
    assert!(difference < 0.05 * validation, "{difference} of {validation}");
    assert_eq!(of_net["positions"], of_run["positions"]);

    // Two runs over each other, and one that has no checkpoint yet.
    let early = folder.path().join("early");
    fs::create_dir(&early).unwrap();
    fs::copy(out.join("manifest.json"), early.join("manifest.json")).unwrap();
    let both = folder.path().join("both.html");
    let mut beside = Command::new(env!("CARGO_BIN_EXE_chuhe-train"));
    beside.args(["report", "run", "early", "--out", "both.html"]).current_dir(folder.path());
    assert!(beside.output().unwrap().status.success(), "names without a folder");
    let page = fs::read_to_string(&both).unwrap();
    assert!(page.contains("in progress or stopped") && page.contains("positions (millions)"));
    let refused = program(&["report", text(&out), "--out", text(&data)]);
    assert!(!refused.status.success(), "records are not overwritten by a page");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("games.rec"));

    inspections(&out, &net);
    if std::env::var_os("CHUHE_FULL").is_some_and(|value| value == "1") {
        tensorboard_reads(&out);
    }
}

/// TensorBoard's own reader finds the same steps and losses. It is taken from the Python that
/// `CHUHE_TENSORBOARD_PYTHON` names, or from `python3`.
fn tensorboard_reads(out: &Path) {
    const SCRIPT: &str = "
import sys, json
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
found = EventAccumulator(sys.argv[1], size_guidance={'scalars': 0, 'histograms': 0})
found.Reload()
scalars = {tag: [[e.step, e.value] for e in found.Scalars(tag)] for tag in found.Tags()['scalars']}
histograms = {tag: [[e.step, e.histogram_value.num] for e in found.Histograms(tag)] for tag in found.Tags()['histograms']}
print(json.dumps({'scalars': scalars, 'histograms': histograms}))
";
    let python = std::env::var_os("CHUHE_TENSORBOARD_PYTHON").unwrap_or("python3".into());
    let output = Command::new(python).args(["-c", SCRIPT]).arg(out.join("tensorboard")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("No module named 'tensorboard'") {
        eprintln!("SKIPPED: this Python has no tensorboard; name one in CHUHE_TENSORBOARD_PYTHON");
        return;
    }
    assert!(output.status.success(), "{said}");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = read_curve(out).unwrap();
    let scalar =
        |tag: &str| -> Vec<(u64, f64)> { serde_json::from_value(found["scalars"][tag].clone()).unwrap() };
    let training = scalar("loss/training");
    assert_eq!(training.len(), rows.len());
    for ((step, loss), row) in training.iter().zip(&rows) {
        assert!(*step == row.step && (loss - row.loss).abs() < 1e-6, "{step} {loss} {row:?}");
    }
    let steps = |values: Vec<(u64, f64)>| values.iter().map(|(step, _)| *step).collect::<Vec<u64>>();
    assert_eq!(steps(scalar("loss/validation")), [8, 16, 24]);
    let weights: Vec<(u64, f64)> =
        serde_json::from_value(found["histograms"]["weights/ft.weight"].clone()).unwrap();
    assert_eq!(weights, [8, 16, 24].map(|step| (step, 4134.0 * 128.0)));
}

fn inspections(out: &Path, net: &Path) {
    let one = json(&["inspect", text(out), "--json"]);
    assert_eq!(one["step"], 24);
    let size = one["sizes"].as_array().unwrap().iter().find(|size| size["name"] == "ft.weight").unwrap();
    assert!(
        size["state"]["first"].as_f64().unwrap() > 0.0 && size["state"]["second"].as_f64().unwrap() > 0.0
    );

    let before = out.join("checkpoints/step-000000000016");
    let two = json(&["inspect", text(&before), text(out), "--json"]);
    assert_eq!((two["config"].as_array().unwrap().len(), two["run"].as_array().unwrap().len()), (0, 0));
    assert_eq!((&two["state"][0]["step"], &two["state"][1]["step"]), (&16.into(), &24.into()));
    let far = two["parameters"][0]["weights"].as_f64().unwrap();
    assert!(far > 0.0 && far < 10.0, "{far}");

    let net = json(&["inspect", text(net), "--json"]);
    assert_eq!(net["architecture"], one["run"]["architecture"]);
    assert_eq!(net["layers"].as_array().unwrap().len(), 9);
}

#[test]
fn what_is_looked_at_is_what_the_model_does() {
    use trainer::model::Model;
    let arch = arch("half-ka-hm 2x128-8-16-1 crelu 8-stacks");
    let batch = batch(&arch, 5, 700);
    let model = Model::new(&arch, true, 4, trainer::backend::cpu::kernel::KernelKind::best());
    let merged = model.float_net().unwrap().merge().unwrap();
    let statistics = Statistics::of(&merged, &batch.samples, 700);
    let weights: f64 = model
        .parameters()
        .unwrap()
        .iter()
        .filter(|parameter| parameter.name.contains("dense1.weight"))
        .flat_map(|parameter| &parameter.weights)
        .map(|&weight| f64::from(weight).powi(2))
        .sum();
    let found = statistics.weights.iter().find(|weights| weights.name == "dense1.weight").unwrap();
    assert!((found.norm - weights.sqrt()).abs() < 1e-6 * found.norm);
    // The mean of the clipped sums, by the slow way.
    let (mut sum, mut zero) = (0.0, 0u32);
    for row in 0..2 * batch.len() {
        let mut sums = merged.layers.ft_biases.clone();
        for &feature in batch.samples.row(row) {
            sums += &merged.layers.ft_weights.row(usize::from(feature));
        }
        zero += sums.iter().filter(|sum| **sum <= 0.0).count() as u32;
        let inside = sums.iter().filter(|sum| **sum > 0.0 && **sum < nnue_format::quant::FT_CLIP);
        sum += inside.map(|&sum| f64::from(sum)).sum::<f64>();
    }
    let ft = &statistics.activations[0];
    assert!((ft.histogram.sum - sum).abs() < 1e-3 * sum, "{} and {sum}", ft.histogram.sum);
    assert!((ft.zero - f64::from(zero) / (2.0 * 700.0 * 128.0)).abs() < 1e-12);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let again = pool.install(|| Statistics::of(&merged, &batch.samples, 700));
    assert_eq!(again, statistics, "whatever the number of threads");
}
