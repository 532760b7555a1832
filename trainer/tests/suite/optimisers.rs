//! Optimisers against their formulas, and that every setting of training reaches the weights and survives a resume.

use crate::support::{Runs, arch, batch, conduct, trained};
use tch::Tensor;
use trainer::backend::cpu::kernel::KernelKind;
use trainer::checkpoint::Checkpoint;
use trainer::config::{Config, OptimiserConfig, OptimiserKind, PerGroup, ScoreScale};
use trainer::export::{BOUND, export};
use trainer::loss::Loss;
use trainer::model::Model;
use trainer::model::net::Net;
use trainer::model::weights::Parameter;
use trainer::optim::UpdateStep;
use trainer::run::{self, Outcome};

fn net(text: &str, factorised: bool) -> Box<dyn Net> {
    Box::new(Model::new(&arch(text), factorised, 11, KernelKind::best()))
}

fn values(tensor: &Tensor) -> Vec<f64> {
    Vec::<f32>::try_from(tensor.reshape([-1])).unwrap().into_iter().map(f64::from).collect()
}

/// RAdam and lookahead as in their papers, in f64.
struct Reference {
    weights: Vec<f64>,
    slow: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Reference {
    fn step(&mut self, gradient: &[f64], t: i32, rate: f64, decay: f64) {
        let (b1, b2, epsilon) = (0.9f64, 0.99f64, 1e-6);
        let longest = 2.0 / (1.0 - b2) - 1.0;
        let length = longest - 2.0 * f64::from(t) * b2.powi(t) / (1.0 - b2.powi(t));
        for (i, &g) in gradient.iter().enumerate() {
            self.first[i] = b1 * self.first[i] + (1.0 - b1) * g;
            self.second[i] = b2 * self.second[i] + (1.0 - b2) * g * g;
            let mean = self.first[i] / (1.0 - b1.powi(t));
            let moved = if length > 5.0 {
                let square =
                    (length - 4.0) * (length - 2.0) * longest / ((longest - 4.0) * (longest - 2.0) * length);
                square.sqrt() * mean / ((self.second[i] / (1.0 - b2.powi(t))).sqrt() + epsilon)
            } else {
                mean
            };
            self.weights[i] = self.weights[i] * (1.0 - rate * decay) - rate * moved;
            if t % 3 == 0 {
                self.slow[i] += 0.25 * (self.weights[i] - self.slow[i]);
                self.weights[i] = self.slow[i];
            }
        }
    }
}

#[test]
fn ranger_is_its_formula() {
    let mut net = net("half-kp 2x128-8-8-1", false);
    let batch = batch(net.architecture(), 3, 400);
    let config = OptimiserConfig {
        kind: OptimiserKind::Ranger,
        beta2: PerGroup::All(0.99),
        epsilon: PerGroup::All(1e-6),
        weight_decay: PerGroup::All(0.1),
        lookahead_steps: 3,
        lookahead_part: 0.25,
        ..OptimiserConfig::default()
    };
    // Gathered gradients are those of the table, its biases, and the layers in order.
    let watched = [("ft.bias", 1), ("stack0.dense1.weight", 2), ("stack0.out.bias", 7)];
    let find = |net: &dyn Net, name: &str| -> Parameter {
        net.parameters().unwrap().into_iter().find(|p| p.name == name).unwrap()
    };
    let mut references = watched.map(|(name, _)| {
        let weights: Vec<f64> = find(&*net, name).weights.into_iter().map(f64::from).collect();
        let zeros = vec![0.0; weights.len()];
        Reference { slow: weights.clone(), weights, first: zeros.clone(), second: zeros }
    });
    for t in 1..=12 {
        net.gradients(&batch, &Loss::default(), batch.len()).unwrap();
        let gathered = net.gathered().unwrap();
        for ((_, place), reference) in watched.iter().zip(&mut references) {
            reference.step(&values(&gathered.gradients[*place]), t, 1e-2, 0.1);
        }
        drop(gathered);
        net.update(&UpdateStep::at(&config, t as u64, 1e-2)).unwrap();
        for ((name, _), reference) in watched.iter().zip(&references) {
            let found = find(&*net, name);
            for (found, expected) in [
                (&found.weights[..], &reference.weights),
                (found.state("slow").unwrap(), &reference.slow),
                (found.state("second").unwrap(), &reference.second),
            ] {
                let difference = found.iter().zip(expected).map(|(a, b)| (f64::from(*a) - b).abs());
                let worst = difference.fold(0.0, f64::max);
                assert!(worst < 2e-5, "{name}, step {t}: {worst}");
            }
        }
    }
}

#[test]
fn a_long_gradient_is_scaled_down_whatever_the_threads() {
    let text = "half-ka-hm 2x128-8-8-1 8-stacks psqt";
    let config = |norm: f64| OptimiserConfig { clip_norm: norm, ..OptimiserConfig::default() };
    let stepped = |threads: usize, norm: f64, scale: f64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut net = net(text, true);
            let batch = batch(net.architecture(), 5, 300);
            net.gradients(&batch, &Loss::default(), 1).unwrap();
            let mut square = 0.0;
            for mut tensor in net.gathered().unwrap().gradients {
                square += values(&tensor).iter().map(|g| g * g).sum::<f64>();
                let _ = tensor.g_mul_scalar_(scale);
            }
            net.update(&UpdateStep::at(&config(norm), 1, 1e-2)).unwrap();
            (square.sqrt(), net.parameters().unwrap())
        })
    };
    let (norm, plain) = stepped(1, 0.0, 1.0);
    assert!(norm > 1.0, "{norm}");
    assert!(stepped(1, norm * 1.01, 1.0).1 == plain, "a short one is left alone, bit for bit");
    let (_, clipped) = stepped(1, norm / 4.0, 1.0);
    assert!(clipped == stepped(3, norm / 4.0, 1.0).1, "three threads give the same bits");
    let (_, scaled) = stepped(1, 0.0, 0.25);
    for (clipped, scaled) in clipped.iter().zip(&scaled) {
        let pairs = clipped.state("first").unwrap().iter().zip(scaled.state("first").unwrap());
        let worst = pairs.map(|(a, b)| (a - b).abs() / b.abs().max(1e-9)).fold(0f32, f32::max);
        assert!(worst < 1e-4, "{}: {worst}", clipped.name);
    }
}

const CONFIG: &str = "
[net]
architecture = 'half-kp 2x128-8-8-1'
[training]
seed = 3
batch_size = 100
steps = 3
[learning_rate]
start = 3e-3
shape = 'constant'
[validation]
fraction = 0.2
every_steps = 2
";

fn start(runs: &Runs, name: &str, config: &str, stop_after: Option<u64>) -> Outcome {
    runs.start(name, config, stop_after).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A line in place of a setting of [`CONFIG`], or in a table that it has or has not.
fn with(table: &str, line: &str) -> String {
    let key = line.split(['=', ' ']).next().unwrap_or_default();
    let kept: Vec<&str> = CONFIG.lines().filter(|old| !old.starts_with(&format!("{key} "))).collect();
    let text = kept.join("\n");
    let head = format!("[{table}]");
    if text.contains(&head) {
        text.replacen(&head, &format!("{head}\n{line}"), 1)
    } else {
        format!("{text}\n{head}\n{line}\n")
    }
}

#[test]
fn every_setting_of_training_reaches_the_weights() {
    let runs = Runs::of(20);
    start(&runs, "base", CONFIG, None);
    let base = trained(&runs.out("base"));
    let settings = [
        ("net", "factorised = false"),
        ("training", "seed = 4"),
        ("training", "batch_size = 90"),
        ("learning_rate", "start = 4e-3"),
        ("learning_rate", "shape = 'linear'"),
        ("learning_rate", "shape = 'exponential'"),
        ("learning_rate", "shape = 'step'\nevery_steps = 2"),
        ("learning_rate", "shape = 'step'\ngamma = 0.5\nevery_steps = 2"),
        ("learning_rate", "shape = 'one_cycle'"),
        ("learning_rate", "shape = 'one_cycle'\nrise = 0.6"),
        ("learning_rate", "shape = 'one_cycle'\nrise_from = 0.5"),
        ("learning_rate", "warmup_steps = 2"),
        ("optimiser", "kind = 'ranger'"),
        ("optimiser", "kind = 'ranger'\nlookahead_steps = 2"),
        ("optimiser", "kind = 'ranger'\nlookahead_steps = 2\nlookahead_part = 0.4"),
        ("optimiser", "beta1 = 0.8"),
        ("optimiser", "beta2 = 0.9"),
        ("optimiser", "epsilon = 1e-3"),
        ("optimiser", "weight_decay = 0.5"),
        ("optimiser", "weight_decay = { feature_transformer = 0.5, dense = 0.0, biases = 0.0 }"),
        ("optimiser", "weight_decay = { feature_transformer = 0.0, dense = 0.5, biases = 0.0 }"),
        ("optimiser", "weight_decay = { feature_transformer = 0.0, dense = 0.0, biases = 0.5 }"),
        ("optimiser", "rate = { feature_transformer = 1.0, dense = 0.0, biases = 1.0 }"),
        ("optimiser", "clip_norm = 1e-3"),
        ("loss", "score_scale = 300.0"),
        ("loss", "score_scale = 'fit'"),
        ("loss", "output_scale = 300.0"),
        ("loss", "offset = 200.0"),
        ("loss", "lambda_start = 0.9"),
        ("loss", "lambda_end = 0.5"),
        ("loss", "lambda_end = 0.5\nlambda_shape = 'cosine'"),
        ("loss", "power = 2.5"),
        ("loss", "asymmetry = 0.3"),
    ];
    let mut seen = vec![("base".to_owned(), base)];
    for (number, (table, line)) in settings.into_iter().enumerate() {
        let name = format!("run{number}");
        start(&runs, &name, &with(table, line), None);
        let found = trained(&runs.out(&name));
        // A cosine is a line at its middle, so three steps show λ's way only in other steps.
        let text = format!("{table}: {line}");
        let twin = seen.iter().find(|(_, numbers)| numbers[0] == found[0]).map(|(name, _)| name.clone());
        let expected = text.contains("lambda_shape").then(|| "loss: lambda_end = 0.5".to_owned());
        assert_eq!(twin, expected, "{text} trains the same weights");
        seen.push((text, found));
    }
}

#[test]
fn a_ranger_with_everything_resumes_exactly() {
    let runs = Runs::of(20);
    let more = CONFIG.replace("steps = 3", "steps = 20").replace("shape = 'constant'", "shape = 'one_cycle'");
    let config = format!(
        "{more}[optimiser]\nkind = 'ranger'\nclip_norm = 0.05\nlookahead_steps = 4\nbeta2 = 0.95\n\
         weight_decay = {{ feature_transformer = 0.1, dense = 0.01, biases = 0 }}\n\
         [loss]\nscore_scale = 'fit'\npower = 2.5\nasymmetry = 0.2\noffset = 100\nlambda_shape = 'cosine'\n"
    );
    let whole = start(&runs, "whole", &config, None);
    assert!(whole.complete && !whole.plateau);
    // Between two drawings, and on one.
    for (name, stop) in [("ten", 10), ("twelve", 12)] {
        start(&runs, name, &config, Some(stop));
        let resumed = run::resume(&runs.out(name), conduct(None)).unwrap();
        assert!(trained(&runs.out(name)) == trained(&runs.out("whole")), "{stop} and the rest are 20");
        assert_eq!(resumed.best.map(|best| best.step), whole.best.as_ref().map(|best| best.step));
    }
    let last = Checkpoint::read(&runs.out("ten")).unwrap();
    assert!(last.parameters.iter().all(|p| p.state.len() == 3 && p.state("slow").is_some()));
    let scale = last.run.score_scale;
    assert!((20.0..5000.0).contains(&scale) && scale != 400.0, "fitted {scale}");
    // Whoever has only the net knows the scale too.
    let net = runs.out("ranger.nnue");
    export(&runs.out("ten"), &net, BOUND, nnue_format::net::Overwrite::No).unwrap();
    let text = nnue_format::net::read(&net).unwrap().0.description.config;
    assert_eq!(Config::parse(&text).unwrap().loss.score_scale, ScoreScale::Fixed(scale), "{text}");
}

#[test]
fn a_plateau_ends_the_run_and_the_best_is_kept() {
    let runs = Runs::of(20);
    // Far too small a rate to find anything, after a first step that does.
    let pieces = "[[learning_rate.pieces]]\nsteps = 2\nstart = 3e-3\nshape = 'constant'\n\
                  [[learning_rate.pieces]]\nshape = 'constant'\nstart = 1e-12\n";
    let config = with("training", "steps = 40\nstop_after_plateau = 3\nplateau_delta = 1e-6")
        .replace("start = 3e-3\nshape = 'constant'", "")
        + "\n"
        + pieces;
    let whole = start(&runs, "whole", &config, None);
    assert!(whole.complete && whole.plateau, "{whole:?}");
    assert_eq!((whole.steps, whole.total_steps), (8, 40), "two steps and three stale validations");
    let best = whole.best.clone().unwrap();
    let kept = Checkpoint::read(&best.checkpoint).unwrap();
    assert!(best.step >= 2 && kept.state.step == best.step, "{best:?}");
    assert_eq!(kept.state.validation, Some((best.step, best.validation_loss)));
    let halves = start(&runs, "halves", &config, Some(5));
    assert!(!halves.complete && !halves.plateau);
    let halves = run::resume(&runs.out("halves"), conduct(None)).unwrap();
    assert_eq!((halves.steps, halves.plateau), (8, true));
    assert!(trained(&runs.out("halves")) == trained(&runs.out("whole")));
    // It is a checkpoint like any other.
    export(&best.checkpoint, &runs.out("best.nnue"), BOUND, nnue_format::net::Overwrite::No).unwrap();
    // Killed after its last checkpoint and before its result, the run knows that it is over.
    std::fs::remove_file(runs.out("whole").join("result.json")).unwrap();
    let again = run::resume(&runs.out("whole"), conduct(None)).unwrap();
    assert_eq!((again.steps, again.plateau), (8, true));
    let off = with("checkpoint", "best = false");
    assert!(start(&runs, "off", &off, None).best.is_none());
    assert!(!runs.out("off").join("checkpoints/best").exists());
}

#[test]
fn bad_settings_are_named() {
    for (table, line, named) in [
        ("optimiser", "kind = 'sgd'", "kind"),
        ("optimiser", "beta1 = 1.0", "optimiser.beta1"),
        ("optimiser", "kind = 'ranger'\nbeta2 = 0.5", "optimiser.beta2"),
        ("optimiser", "weight_decay = { dense = 0.1 }", "feature_transformer"),
        ("optimiser", "clip_norm = -1.0", "optimiser.clip_norm"),
        ("learning_rate", "shape = 'step'\nevery_epochs = 0", "every_epochs"),
        ("learning_rate", "rise_from = 0.0", "learning_rate.rise_from"),
        ("learning_rate", "pieces = [{ steps = 1 }]", "learning_rate.pieces"),
        ("loss", "score_scale = 'fitted'", "fit"),
        ("loss", "score_scale = 0.0", "loss.score_scale"),
        ("loss", "lambda_shape = 'step'", "lambda_shape"),
        ("loss", "asymmetry = -1.0", "loss.asymmetry"),
    ] {
        let error = Config::parse(&with(table, line)).unwrap_err().to_string();
        assert!(error.contains(named), "{line}: {error}");
    }
    let pieces =
        "[net]\narchitecture = 'classic'\n[learning_rate]\npieces = [{ start = 0.1 }, { steps = 5 }]";
    assert!(Config::parse(pieces).unwrap_err().to_string().contains("learning_rate.pieces"));
}

/// The commented configuration shows every setting there is.
#[test]
fn the_classic_configuration_shows_every_setting() {
    let text =
        std::fs::read_to_string(format!("{}/configs/classic.toml", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let shown: toml::Table = text.parse().unwrap();
    let all = toml::Table::try_from(Config::parse("[net]\narchitecture = 'classic'").unwrap()).unwrap();
    let mut settings = 0;
    for (name, table) in &all {
        for setting in table.as_table().into_iter().flat_map(|table| table.keys()) {
            let found = shown.get(name).and_then(|table| table.get(setting));
            assert!(found.is_some(), "classic.toml does not show {name}.{setting}");
            settings += 1;
        }
    }
    assert!(settings > 40, "{settings} settings");
}
