//! The model: gradients, learning, and what it is as a net of nnue-format.

use crate::support::{arch, batch};
use nnue_format::quant::clip;
use nnue_format::{Architecture, QuantiseError};
use trainer::backend::cpu::kernel::{AdamStep, KernelKind};
use trainer::calibrate::correct_biases;
use trainer::data::samples::Encoder;
use trainer::data::synthetic::random_positions;
use trainer::data::{Batch, Samples};
use trainer::export::parity;
use trainer::loss::Loss;
use trainer::model::Model;
use trainer::model::net::Net;
use trainer::model::weights::{Parameter, StateTensor};
use xiangqi::Position;

const ARCHITECTURES: [&str; 5] = [
    "classic",
    "half-kp-hm 2x128-16-32-1 pairwise",
    "half-ka-hm 2x128-8-16-1 crelu 8-stacks psqt",
    "half-ka-hm-ab 2x128-16-32-1 pairwise 16-stacks psqt",
    "half-ka-hm-ab 2x192-16-8-1 crelu psqt",
];

fn model(arch: &Architecture, factorised: bool) -> Model {
    Model::new(arch, factorised, 11, KernelKind::best())
}

fn loss() -> Loss {
    Loss { lambda: 0.8, ..Loss::default() }
}

fn step(model: &mut Model, batch: &Batch, number: u64, rate: f64) -> f64 {
    let sum = model.gradients(batch, &loss(), batch.len()).unwrap();
    model.update(&AdamStep::at(number, rate, (0.9, 0.999), 1e-8, 0.0, f32::INFINITY).into()).unwrap();
    sum / batch.len() as f64
}

#[test]
fn every_architecture_learns_a_batch_by_heart_and_is_the_net_nnue_format_knows() {
    for text in ARCHITECTURES {
        let arch = arch(text);
        let encoder = Encoder::new(&arch).unwrap();
        let (mut samples, mut fens) = (Samples::new(), Vec::new());
        let mut seen = 0;
        random_positions(5, 4 * 128, |position| {
            seen += 1;
            if seen % 4 != 0 {
                return;
            }
            let score = (fens.len() as i32 * 37) % 1200 - 600;
            encoder.push(&mut samples, position, score, (fens.len() % 3) as u8);
            fens.push(position.fen());
        });
        let batch = Batch::all(&samples);
        let mut model = model(&arch, true);
        let first = step(&mut model, &batch, 1, 1e-3);
        let mut last = first;
        for number in 2..=200 {
            last = step(&mut model, &batch, number, if number < 150 { 1e-3 } else { 2e-4 });
        }
        assert!(last < first / 10.0 && last < 3e-3, "{text}: loss {first} became {last}");

        // The same outputs without torch; `Batch` is ordered by stack.
        let outputs = model.outputs(&batch).unwrap();
        let merged = model.float_net().unwrap().merge().unwrap();
        let mut order: Vec<usize> = (0..fens.len()).collect();
        order.sort_by_key(|&i| samples.stacks[i]);
        for (&i, output) in order.iter().zip(&outputs) {
            let position = Position::from_fen(&fens[i]).unwrap();
            let expected = merged.evaluate(&position);
            assert!((output - expected).abs() < 2e-4, "{text}: {output} for {expected} at {}", fens[i]);
        }
        let positions: Vec<Position> = fens.iter().map(|fen| Position::from_fen(fen).unwrap()).collect();
        let mut quantised = merged.quantise().unwrap();
        let before = parity(&merged, &quantised, &positions).unwrap();
        correct_biases(&merged, &mut quantised, &positions);
        quantised.check().unwrap();
        let after = parity(&merged, &quantised, &positions).unwrap();
        assert!(after.mean < 10.0 && after.worst < 100.0, "{text}: {after:?}");
        assert!(
            after.mean < before.mean.max(5.0),
            "{text}: settling the biases took {before:?} to {after:?}"
        );
    }
}

#[test]
fn gradients_are_those_of_the_loss() {
    // Central differences along one weight of every parameter, in a net without factors.
    let arch = arch("half-ka-hm 2x128-8-16-1 pairwise 8-stacks psqt");
    let batch = batch(&arch, 21, 200);
    let mut model = model(&arch, false);
    for number in 1..=5 {
        step(&mut model, &batch, number, 1e-2);
    }
    let parameters = model.parameters().unwrap();
    model.gradients(&batch, &loss(), 1).unwrap();
    let gradients = gathered(&mut model, &parameters);
    let at = |model: &mut Model, name: &str, place: usize, change: f32| -> f64 {
        let mut changed = parameters.clone();
        let parameter = changed.iter_mut().find(|p| p.name == name).unwrap();
        parameter.weights[place] += change;
        model.set_parameters(&changed).unwrap();
        model.gradients(&batch, &loss(), 1).unwrap()
    };
    let stack = batch.samples.stacks[100];
    for (name, gradient) in gradients {
        if name.starts_with("stack") && !name.starts_with(&format!("stack{stack}.")) {
            continue;
        }
        // The weight that matters most.
        let (place, expected) =
            gradient.iter().enumerate().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).unwrap();
        const H: f32 = 2e-3;
        let slope = (at(&mut model, &name, place, H) - at(&mut model, &name, place, -H)) / f64::from(2.0 * H);
        let expected = f64::from(*expected);
        assert!(
            (slope - expected).abs() < 0.03 * expected.abs(),
            "{name}[{place}]: {expected}, slope {slope}"
        );
        assert!(expected != 0.0, "{name} has no gradient");
    }
}

#[test]
fn gathered_sums_are_the_nets_own_memory() {
    let arch = arch("half-ka-hm 2x128-8-16-1 crelu 8-stacks psqt");
    let batch = batch(&arch, 22, 100);
    let doubled = |twice: bool| {
        let mut net: Box<dyn Net> = Box::new(model(&arch, true));
        net.gradients(&batch, &loss(), batch.len()).unwrap();
        let gathered = net.gathered().unwrap();
        assert_eq!(gathered.gradients.len(), 3 + 8 * 6);
        if twice {
            for mut tensor in gathered.gradients.into_iter().chain([gathered.loss]) {
                let _ = tensor.g_add_(&tensor.copy());
            }
        }
        let losses = net.losses(false).unwrap();
        assert!(losses.len() == 1 && net.losses(true).unwrap().is_empty());
        net.update(&AdamStep::at(1, 1e-3, (0.9, 0.999), 1e-8, 0.0, f32::INFINITY).into()).unwrap();
        (losses[0], net.parameters().unwrap())
    };
    let ((loss, once), (sum, twice)) = (doubled(false), doubled(true));
    assert_eq!(sum, 2.0 * loss);
    for (once, twice) in once.iter().zip(&twice) {
        // A factor's gradient comes from the table's.
        let pairs = once.state("first").unwrap().iter().zip(twice.state("first").unwrap());
        assert!(pairs.clone().all(|(a, b)| (2.0 * a - b).abs() <= 1e-6 * b.abs()), "{}", once.name);
        // Not every stack occurs in a batch this small.
        let touched = once.name.starts_with("stack") || pairs.clone().any(|(a, _)| *a != 0.0);
        assert!(touched, "{} has a gradient", once.name);
    }
}

/// The gathered gradients by name, row-major.
fn gathered(model: &mut Model, parameters: &[Parameter]) -> Vec<(String, Vec<f32>)> {
    use trainer::backend::cpu::tile::to_rows;
    let mut found = Vec::new();
    for Parameter { name, shape, .. } in parameters {
        let gradient = match name.as_str() {
            "ft.weight" => to_rows(&model.table.own.gradient, shape[0], shape[1]),
            "psqt.weight" => to_rows(&model.psqt.as_ref().unwrap().own.gradient, shape[0], shape[1]),
            "ft.bias" => model.bias.gradient.to_vec(),
            _ => {
                let (stack, layer) = name.strip_prefix("stack").unwrap().split_once('.').unwrap();
                let layer = trainer::model::dense::LAYERS.iter().position(|l| *l == layer).unwrap();
                model.dense.stacks[stack.parse::<usize>().unwrap()][layer].gradient.to_vec()
            }
        };
        found.push((name.clone(), gradient));
    }
    found
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let arch = arch("half-kp 2x128-8-8-1");
    // More than one chunk, and a last piece that is not full.
    let batch = batch(&arch, 9, 5000);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut model = model(&arch, true);
            let losses: Vec<u64> =
                (1..=2).map(|number| step(&mut model, &batch, number, 1e-3).to_bits()).collect();
            (losses, model.parameters().unwrap())
        })
    };
    let one = run(1);
    assert!(one == run(3), "three threads give other numbers than one");
    assert!(one == run(1), "the same twice");
}

#[test]
fn parameters_round_trip_and_missing_ones_are_named() {
    let arch = arch("half-ka-hm-ab 2x128-16-32-1 pairwise 16-stacks psqt");
    let mut model = model(&arch, true);
    step(&mut model, &batch(&arch, 2, 300), 1, 1e-2);
    let parameters = model.parameters().unwrap();
    let mut other = Model::new(&arch, true, 99, KernelKind::best());
    assert_ne!(other.parameters().unwrap(), parameters);
    other.set_parameters(&parameters).unwrap();
    assert_eq!(other.parameters().unwrap(), parameters);
    let batch = batch(&arch, 3, 100);
    assert_eq!(other.outputs(&batch).unwrap(), model.outputs(&batch).unwrap());
    let error = other.set_parameters(&parameters[1..]).unwrap_err().to_string();
    assert!(error.contains("ft.weight"), "{error}");
    let mut short = parameters.clone();
    short.last_mut().unwrap().weights.pop();
    assert!(other.set_parameters(&short).is_err());

    // Optimisers may remember more than two moments; a state that is not whole is refused, none at all is a beginning.
    let mut more = parameters.clone();
    for Parameter { weights, state, .. } in &mut more {
        state
            .push(StateTensor { name: "slow".to_owned(), values: weights.iter().map(|w| w + 1.0).collect() });
    }
    other.set_parameters(&more).unwrap();
    assert_eq!(other.parameters().unwrap(), more);
    more[0].state.remove(1);
    let error = other.set_parameters(&more).unwrap_err().to_string();
    assert!(error.contains("ft.weight.second"), "{error}");
    more.iter_mut().for_each(|parameter| parameter.state.clear());
    other.set_parameters(&more).unwrap();
    let begun = other.parameters().unwrap();
    assert!(begun.iter().all(|p| p.state.len() == 2 && p.state("first").unwrap().iter().all(|m| *m == 0.0)));
}

#[test]
fn a_weight_that_does_not_fit_is_named() {
    let arch = arch("classic");
    let mut net = model(&arch, true).float_net().unwrap();
    net.layers.dense1_weights[[0, 3, 5]] = 1.25;
    let error = net.clone().merge().unwrap().quantise().unwrap_err();
    assert!(matches!(error, QuantiseError::OutOfRange { .. }));
    let text = error.to_string();
    assert!(text.contains("dense1_weights[0, 3, 5]") && text.contains("1.25"), "{text}");
    // The trainer keeps every weight inside: a rate that throws them about changes nothing of that.
    let batch = batch(&arch, 4, 200);
    let mut model = model(&arch, true);
    for number in 1..=20 {
        step(&mut model, &batch, number, 0.5);
    }
    let merged = model.float_net().unwrap().merge().unwrap();
    let largest = merged.layers.ft_weights.iter().fold(0f32, |a, w| a.max(w.abs()));
    assert!(largest > 1.0 && largest <= clip::FT_WEIGHT * 1.000_001, "{largest}");
    let largest = merged.layers.dense1_weights.iter().fold(0f32, |a, w| a.max(w.abs()));
    assert_eq!(largest, clip::DENSE1_WEIGHT);
    merged.quantise().unwrap();
    // The limits are those of own row and factor as they are added up when a run is resumed or exported.
    let bits = |model: &Model| model.table.merged().iter().map(|w| w.to_bits()).collect::<Vec<_>>();
    let mut resumed = Model::new(&arch, true, 1, KernelKind::best());
    resumed.set_parameters(&model.parameters().unwrap()).unwrap();
    assert!(bits(&resumed) == bits(&model), "a resumed run has the same merged weights");
}
