//! First weights from nets and checkpoints: the same function where it should be, errors where it cannot be.

use crate::support::{Runs, arch, conduct};
use nnue_format::net::{NetFile, Overwrite};
use nnue_format::{FloatNet, QuantisedNet};
use std::path::{Path, PathBuf};
use trainer::backend::cpu::kernel::KernelKind;
use trainer::checkpoint::{self, Checkpoint};
use trainer::data::synthetic::random_positions;
use trainer::export::{Bound, export};
use trainer::init;
use trainer::model::Model;
use trainer::model::weights::float_net;
use trainer::run::{self, Outcome, RunError};
use xiangqi::{Color, Position};

fn float(net: &QuantisedNet) -> FloatNet {
    FloatNet { layers: net.dequantise().layers, ..FloatNet::zeros(&net.arch) }
}

fn positions() -> Vec<Position> {
    let mut found = Vec::new();
    random_positions(8, 400, |position| found.push(position.clone()));
    found
}

#[test]
fn a_grown_net_is_the_same_function() {
    let positions = positions();
    for (from, to) in [
        ("half-kp 2x128-8-8-1 crelu", "half-kp 2x128-8-8-1 crelu"),
        ("half-kp 2x128-8-8-1 crelu", "half-kp 2x192-16-24-1 crelu"),
        ("half-ka-hm 2x128-8-8-1 pairwise", "half-ka-hm 2x256-8-16-1 pairwise 16-stacks"),
        (
            "half-ka-hm 2x128-8-8-1 pairwise 8-stacks psqt",
            "half-ka-hm-ab 2x192-8-8-1 pairwise 16-stacks psqt",
        ),
        ("half-kp-hm 2x128-8-8-1 crelu psqt", "half-ka-hm 2x128-8-8-1 crelu 8-stacks psqt"),
        ("half-kp-hm 2x128-8-8-1 crelu", "half-ka-hm-ab 2x128-16-8-1 crelu psqt"),
        // Without a mirror on either side only, since half-kp knows none.
        ("half-kp 2x128-8-8-1 crelu", "half-kp-hm 2x128-8-8-1 crelu"),
        ("half-kp 2x128-8-8-1 crelu", "half-ka-hm-ab 2x192-16-8-1 crelu 16-stacks psqt"),
    ] {
        let (old, new) = (arch(from), arch(to));
        let source = float(&QuantisedNet::random(&old, 5));
        let expected = source.clone().merge().unwrap();
        let plain = !old.features().needs_board_view() && new.features().needs_board_view();
        let mirrored = |p: &Position| Color::ALL.into_iter().any(|side| new.features().view(p, side).mirror);
        for factorised in [false, true] {
            let mut model = Model::new(&new, factorised, 9, KernelKind::best());
            let parameters = init::parameters(&source, &new, model.parameters().unwrap()).unwrap();
            model.set_parameters(&parameters).unwrap();
            let found = model.float_net().unwrap().merge().unwrap();
            let mut compared = 0;
            for position in positions.iter().filter(|position| !(plain && mirrored(position))) {
                assert_eq!(found.evaluate(position), expected.evaluate(position), "{from} to {to}");
                compared += 1;
            }
            assert!(compared > 20, "{from} to {to}: {compared} positions");
            // What is new can learn: its neurons see the board.
            if new.l1() > old.l1() {
                let last = found.layers.ft_weights.column(new.l1() - 1);
                assert!(last.iter().filter(|w| **w != 0.0).count() > last.len() / 2);
            }
        }
    }
}

#[test]
fn what_cannot_be_is_said() {
    for (from, to, what) in [
        ("half-kp 2x256-8-8-1 crelu", "half-kp 2x128-8-8-1 crelu", "L1 would shrink from 256 to 128"),
        ("half-kp 2x128-8-16-1 crelu", "half-kp 2x128-8-8-1 crelu", "L3"),
        ("half-kp 2x128-8-8-1 crelu", "half-kp 2x128-8-8-1 pairwise", "activations"),
        ("half-kp 2x128-8-8-1 crelu psqt", "half-kp 2x128-8-8-1 crelu", "PSQT"),
        ("half-kp 2x128-8-8-1 crelu 16-stacks", "half-kp 2x128-8-8-1 crelu 8-stacks", "16 stacks to 8"),
        ("half-ka-hm-ab 2x128-8-8-1 crelu", "half-ka-hm 2x128-8-8-1 crelu", "half-ka-hm-ab to half-ka-hm"),
        ("half-ka-hm 2x128-8-8-1 crelu", "half-kp-hm 2x128-8-8-1 crelu", "features"),
        ("half-kp-hm 2x128-8-8-1 crelu", "half-kp 2x128-8-8-1 crelu", "features"),
    ] {
        let source = float(&QuantisedNet::zeros(&arch(from)));
        let fresh = Model::new(&arch(to), true, 1, KernelKind::best()).parameters().unwrap();
        let error = init::parameters(&source, &arch(to), fresh).unwrap_err().to_string();
        assert!(error.contains(what) && error.contains("--init"), "{error}");
    }
    let small = arch("half-kp 2x128-8-8-1 crelu");
    let mut large = QuantisedNet::zeros(&small);
    large.layers.ft_weights[[7, 3]] = 1000;
    large.check().unwrap();
    let fresh = Model::new(&small, true, 1, KernelKind::best()).parameters().unwrap();
    let error = init::parameters(&float(&large), &small, fresh).unwrap_err().to_string();
    assert!(error.contains("ft.weight[899] is 3.90625, beyond ±3.75"), "{error}");
    let missing = init::read(Path::new("no/such.nnue")).unwrap_err().to_string();
    assert!(missing.contains("no/such.nnue"), "{missing}");
}

const CONFIG: &str = "
[net]
architecture = 'half-ka-hm 2x128-8-8-1 pairwise 8-stacks psqt'
[training]
batch_size = 100
steps = 6
[learning_rate]
start = 3e-3
[validation]
fraction = 0.2
[checkpoint]
keep = 3
";

/// Nets of a few steps on few positions may be off by more than real ones.
const LOOSE: Bound = Bound { mean: 100.0, worst: 1000.0 };

fn start(runs: &Runs, name: &str, init: Option<&Path>, config: &str) -> Result<Outcome, RunError> {
    run::start_from(init, config, &runs.data, &runs.out(name), conduct(None))
}

fn exported(runs: &Runs, checkpoint: &Path, name: &str) -> NetFile {
    export(checkpoint, &runs.out(name), LOOSE, Overwrite::No).unwrap();
    nnue_format::net::read(&runs.out(name)).unwrap().0
}

fn first(run: &Path) -> PathBuf {
    run.join("checkpoints/step-000000000000")
}

#[test]
fn checkpoint_net_checkpoint_net_are_the_same_bytes() {
    let runs = Runs::of(20);
    start(&runs, "run", None, CONFIG).unwrap();
    let net = exported(&runs, &runs.out("run"), "first.nnue");
    let init = runs.out("first.nnue");
    for (name, config) in
        [("factorised", CONFIG.to_owned()), ("plain", CONFIG.replace("psqt'", "psqt'\nfactorised = false"))]
    {
        let outcome = start(&runs, name, Some(&init), &config).unwrap();
        assert!(outcome.complete && outcome.steps == 6);
        let again = exported(&runs, &first(&runs.out(name)), &format!("{name}.nnue"));
        let (_, id) = net.to_bytes().unwrap();
        assert_eq!(again.description.parent, id.to_string());
        let same = NetFile { net: again.net, description: net.description.clone() };
        assert!(same.to_bytes().unwrap() == net.to_bytes().unwrap(), "{name}");
        let trained = exported(&runs, &runs.out(name), &format!("{name}-trained.nnue"));
        assert!(trained.net != net.net, "and then it trains");
    }
    // From the checkpoint itself: the same weights, factors and all, and an optimiser that begins anew.
    start(&runs, "on", Some(&runs.out("run")), CONFIG).unwrap();
    let (old, new) =
        (Checkpoint::read(&runs.out("run")).unwrap(), Checkpoint::read(&first(&runs.out("on"))).unwrap());
    for (old, new) in old.parameters.iter().zip(&new.parameters) {
        assert!(old.name == new.name && old.weights == new.weights, "{}", old.name);
        assert!(new.state("second").unwrap().iter().all(|v| *v == 0.0));
    }
    let arch = arch(&old.run.architecture);
    assert!(float_net(&arch, &new.parameters).unwrap().ft_factor.is_some());
}

#[test]
fn a_run_remembers_what_it_began_with() {
    let runs = Runs::of(20);
    let init = runs.out("begin.nnue");
    let write = |seed: u64| {
        let net = QuantisedNet::random(&arch("half-kp-hm 2x128-8-8-1 pairwise"), seed);
        NetFile { net, description: Default::default() }.write(&init, Overwrite::Yes).unwrap()
    };
    let id = write(1);
    start(&runs, "run", Some(&init), CONFIG).unwrap();
    let run = runs.out("run");
    let origin = Checkpoint::read(&run).unwrap().run.init.unwrap();
    assert_eq!((origin.sha256, origin.net), (id.to_string(), true));
    let error = start(&runs, "run", None, CONFIG).unwrap_err().to_string();
    assert!(error.contains("other first weights"), "{error}");
    // Killed before its first checkpoint, it begins again from the same file …
    let weights =
        |run: &Path| std::fs::read(checkpoint::locate(run).unwrap().join("weights.safetensors")).unwrap();
    let whole = weights(&run);
    std::fs::remove_dir_all(run.join("checkpoints")).unwrap();
    std::fs::remove_file(run.join("result.json")).unwrap();
    run::resume(&run, conduct(None)).unwrap();
    assert!(weights(&run) == whole);
    // … and not from another one.
    write(2);
    std::fs::remove_dir_all(run.join("checkpoints")).unwrap();
    std::fs::remove_file(run.join("result.json")).unwrap();
    let error = run::resume(&run, conduct(None)).unwrap_err().to_string();
    assert!(error.contains("begin.nnue") && error.contains(&id.to_string()), "{error}");
}
