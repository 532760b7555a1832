//! The CUDA backend as far as a CPU can prove it: its operations against the CPU's model and `embedding_bag`, its kernels
//! (compiled as C++) against its operations, and that NVRTC compiles them.

use crate::support::{arch, floats, relative};
use nnue_format::Architecture;
use std::rc::Rc;
use tch::{Device, Kind, Tensor};
use trainer::backend::cpu::kernel::{AdamSlices, AdamStep, Kernel, KernelKind};
use trainer::backend::cpu::scalar::Scalar;
use trainer::backend::cuda::check::{Checked, check, spread_positions};
use trainer::backend::cuda::launch::{Launcher, compile};
use trainer::backend::cuda::nvrtc::NvrtcError;
use trainer::backend::cuda::packed::{Packed, Packer};
use trainer::backend::cuda::transformer::sort;
use trainer::backend::cuda::{DeviceChoice, DeviceNet, Engine, Precision, Transformer};
use trainer::data::Batch;
use trainer::loss::Loss;
use trainer::model::Model;
use trainer::model::net::Net;
use trainer::optim::UpdateStep;
use trainer::optim::update::Lookahead;

const ARCHITECTURES: [&str; 6] = [
    "half-kp 2x128-16-32-1",
    "half-kp-hm 2x128-16-32-1 pairwise",
    "half-ka-hm 2x128-8-16-1 crelu 8-stacks psqt",
    "half-ka-hm-ab 2x128-16-32-1 pairwise 16-stacks psqt",
    "half-kp-hm 2x192-16-8-1 crelu psqt",
    "half-ka-hm 2x128-8-8-1 pairwise 16-stacks",
];

fn loss() -> Loss {
    Loss { lambda: 0.8, ..Loss::default() }
}

fn adam(step: u64) -> AdamStep {
    AdamStep::at(step, 1e-2, (0.9, 0.99), 1e-7, 0.01, f32::INFINITY)
}

fn values(tensor: &Tensor) -> Vec<f32> {
    Vec::try_from(&tensor.to_kind(Kind::Float).reshape([-1])).unwrap()
}

fn tensor(values: &[f32], shape: &[i64]) -> Tensor {
    Tensor::from_slice(values).view(shape)
}

fn device_net(arch: &Architecture, engine: Engine, transformer: Transformer) -> DeviceNet {
    DeviceNet::new(arch, true, 11, Rc::new(engine), Some(transformer)).unwrap()
}

fn packed(arch: &Architecture, batch: &Batch) -> Packed {
    let mut packer = Packer::new(arch.features(), arch.stack_count(), Device::Cpu).unwrap();
    packer.pack(&batch.samples, 0..batch.len(), Some(&loss())).unwrap()
}

fn positions(arch: &Architecture, count: usize) -> Batch {
    spread_positions(arch, count).unwrap()
}

#[test]
fn a_device_computes_what_plain_code_does() {
    for text in ARCHITECTURES {
        for (precision, kernels) in
            [(Precision::F32, false), (Precision::Bf16, false), (Precision::Bf16, true)]
        {
            let engine = Rc::new(Engine::host(precision, kernels));
            let checked = check(&engine, &arch(text), 150).unwrap();
            assert!(checked.len() >= if kernels { 15 } else { 8 }, "{text}: {}", checked.len());
            for checked in checked {
                assert!(checked.passes(), "{text}, {precision:?}, kernels {kernels}: {checked:?}");
            }
        }
    }
}

#[test]
fn a_check_that_finds_something_fails() {
    let checked = |error| Checked { name: "it".to_owned(), error, tolerance: 1e-3 };
    assert!(checked(1e-3).passes() && !checked(2e-3).passes() && !checked(f64::NAN).passes());
}

#[test]
fn sorting_by_feature_cuts_long_features_into_segments() {
    let arch = arch("half-ka-hm-ab 2x128-16-32-1 crelu psqt");
    let features = arch.inputs();
    let batch = spread_positions(&arch, 700).unwrap();
    let packed = packed(&arch, &batch);
    let used = packed.rows_of.iter().filter(|rows| **rows > 0).count();
    assert!(used > 4 && used < packed.rows_of.len(), "{used} buckets: full and empty ones");
    // The own king stands in every row.
    let by_feature = sort(&packed.indices, features).unwrap();
    let segments = Vec::<i32>::try_from(&by_feature.segments).unwrap();
    let most = segments.windows(2).map(|two| two[1] - two[0]).max().unwrap();
    assert!(most >= 2, "a feature with several segments");
    assert!(*segments.last().unwrap() as usize <= by_feature.most);
}

#[test]
fn updates_are_those_of_the_cpu() {
    // A flat parameter: the same numbers as the CPU's kernel, by the kernel and nearly by torch's operations.
    const N: usize = 1003;
    let limits = vec![0.98; N];
    let ok = Tensor::from_slice(&[1f32]);
    let (mut w, mut m, mut v) = (floats(1, N, 1.0), vec![0.0; N], vec![0.0; N]);
    let state =
        || [tensor(&floats(1, N, 1.0), &[N as i64]), tensor(&m, &[N as i64]), tensor(&v, &[N as i64])];
    let (kernel, operations) = (state(), state());
    let limits = tensor(&limits, &[N as i64]);
    for step in 1..=10 {
        let gradient = floats(100 + step, N, 0.3);
        let g = tensor(&gradient, &[N as i64]);
        let settings = AdamStep { limit: 0.98, ..adam(step) };
        let slices = (&mut w[..], &mut gradient.clone()[..], &mut m[..], &mut v[..]);
        let (weights, gradient, first, second) = slices;
        Scalar.adam(AdamSlices { weights, gradient, first, second }, &settings);
        let [a, b, c] = &kernel;
        Launcher::Host.adam_flat([a, &g, b, c, &limits], &ok, &settings).unwrap();
        let [a, b, c] = &operations;
        Engine::host(Precision::F32, false).adam([a, b, c], &g, Some(&limits), &ok, &settings).unwrap();
    }
    for (name, state) in [("kernel", &kernel), ("operations", &operations)] {
        for (found, expected) in state.iter().zip([&w, &m, &v]) {
            // Torch's operations may multiply and add at once; the kernel may not.
            let error = relative(&values(found), expected);
            assert!(error <= if name == "kernel" { 0.0 } else { 1e-6 }, "{name}: {error}");
        }
    }
    assert!(w.iter().filter(|w| w.abs() == 0.98).count() > 5, "some are at the limit");
    // A loss that was not finite: nothing moves any more.
    let [a, b, c] = &kernel;
    let bad = Tensor::from_slice(&[0f32]);
    let g = tensor(&floats(7, N, 1.0), &[N as i64]);
    Launcher::Host.adam_flat([a, &g, b, c, &limits], &bad, &adam(11)).unwrap();
    assert_eq!(values(a), w);
}

#[test]
fn factorised_tables_are_updated_and_clipped_as_on_the_cpu() {
    let arch = arch("half-ka-hm 2x128-8-8-1 crelu 8-stacks psqt");
    for factorised in [true, false] {
        let mut model = Model::new(&arch, factorised, 11, KernelKind::best());
        let net = |precision, kernels| {
            let engine = Engine::host(precision, kernels);
            DeviceNet::new(&arch, factorised, 11, Rc::new(engine), Some(Transformer::Bucketed)).unwrap()
        };
        let mut nets = [net(Precision::F32, false), net(Precision::Bf16, true)];
        // The same gradients for all, large steps, so that merged weights reach their limits.
        for number in 1..=6 {
            // The devices scale before they add up a factor's gradient, the CPU after: where it nearly cancels, a small
            // epsilon would make much of the difference.
            let rate = |rate| AdamStep::at(number, rate, (0.9, 0.99), 1e-3, 0.0, f32::INFINITY);
            // Groups, clipping of the norm and slow weights as well.
            let lookahead = Some(Lookahead { part: 0.5, now: number == 3 });
            let max_norm = Some(50.0);
            let settings = UpdateStep { biases: rate(0.1), max_norm, lookahead, ..rate(1.2).into() };
            let (features, l1, psqt) = (arch.inputs(), arch.l1(), arch.psqt_columns());
            let (g, p) = (floats(1, features * l1, 1.0), floats(2, features * psqt, 1.0));
            use trainer::backend::cpu::tile::from_rows;
            model.table.gradient().copy_from_slice(&from_rows(&g, features, l1));
            model.psqt.as_mut().unwrap().gradient().copy_from_slice(&from_rows(&p, features, psqt));
            Net::update(&mut model, &settings).unwrap();
            for net in &mut nets {
                let gathered = net.gathered().unwrap();
                let columns = l1 + (2 * psqt).next_multiple_of(8);
                let all = gathered.gradients[0].narrow(0, 0, (features * columns) as i64);
                let all = all.view([features as i64, columns as i64]);
                all.narrow(1, 0, l1 as i64).copy_(&tensor(&g, &[features as i64, l1 as i64]));
                all.narrow(1, l1 as i64, psqt as i64).copy_(&tensor(&p, &[features as i64, psqt as i64]));
                drop((all, gathered));
                net.update(&settings).unwrap();
            }
        }
        let expected = Net::parameters(&model).unwrap();
        let limit = nnue_format::quant::clip::FT_WEIGHT;
        let merged = model.float_net().unwrap().merge().unwrap();
        let at_limit = merged.layers.ft_weights.iter().filter(|w| w.abs() >= limit * 0.999_999).count();
        assert!(at_limit > 100, "{at_limit} merged weights are at the limit");
        for net in &nets {
            for (found, expected) in net.parameters().unwrap().iter().zip(&expected) {
                let error = relative(&found.weights, &expected.weights);
                assert!(error < 1e-3, "{}, factorised {factorised}: {error}", found.name);
                let slow = [found, expected].map(|p| p.state("slow").unwrap().to_vec());
                let error = relative(&slow[0], &slow[1]);
                assert!(error < 1e-3, "{}, slow weights: {error}", found.name);
            }
        }
    }
}

#[test]
fn a_device_net_learns_and_is_deterministic() {
    let arch = arch("half-ka-hm 2x128-16-16-1 pairwise 8-stacks psqt");
    let batch = positions(&arch, 128);
    let run = |way, seed_steps: u64| {
        let mut net = device_net(&arch, Engine::host(Precision::Bf16, true), way);
        for number in 1..=seed_steps {
            net.gradients(&batch, &loss(), batch.len()).unwrap();
            let step = AdamStep::at(number, 2e-3, (0.9, 0.999), 1e-8, 0.0, f32::INFINITY);
            net.update(&step.into()).unwrap();
        }
        (net.losses(true).unwrap(), net.parameters().unwrap())
    };
    let (losses, parameters) = run(Transformer::Bucketed, 70);
    assert_eq!(losses.len(), 70, "every loss is handed out");
    assert!(losses[69] < losses[0] / 10.0, "{} became {}", losses[0], losses[69]);
    let (again, same) = run(Transformer::Bucketed, 70);
    assert_eq!(losses, again);
    assert_eq!(parameters, same);
    // The sparse way starts with the same loss, and gives the same each time too.
    let (sparse, sparse_parameters) = run(Transformer::Sparse, 5);
    assert!((sparse[0] / losses[0] - 1.0).abs() < 1e-4);
    assert_eq!(run(Transformer::Sparse, 5).1, sparse_parameters);
}

#[test]
fn gradients_add_up_and_a_nan_changes_nothing() {
    let arch = arch("half-kp-hm 2x128-8-8-1");
    let (one, two) = (positions(&arch, 60), positions(&arch, 90));
    let net = || device_net(&arch, Engine::host(Precision::F32, false), Transformer::Bucketed);
    let gathered = |batches: &[&Batch]| {
        let mut net = net();
        for batch in batches {
            net.gradients(batch, &loss(), 100).unwrap();
        }
        let gathered = net.gathered().unwrap();
        (values(&gathered.gradients[0]), f64::try_from(&gathered.loss).unwrap())
    };
    let ((a, loss_a), (b, loss_b), (both, loss_both)) =
        (gathered(&[&one]), gathered(&[&two]), gathered(&[&one, &two]));
    let sum: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    assert!(relative(&both, &sum) < 1e-6);
    assert!((loss_both - loss_a - loss_b).abs() < 1e-9);

    let mut net = net();
    let before = net.parameters().unwrap();
    for number in 1..=3 {
        net.gradients(&one, &loss(), 100).unwrap();
        if number == 1 {
            let _ = net.gathered().unwrap().loss.fill_(f64::NAN);
        }
        net.update(&adam(number).into()).unwrap();
    }
    let losses = net.losses(true).unwrap();
    assert!(losses.len() == 3 && losses[0].is_nan() && losses[1].is_finite(), "{losses:?}");
    assert_eq!(net.parameters().unwrap(), before, "weights and moments are those before the NaN");
}

#[test]
fn rows_of_another_architecture_are_refused() {
    let (small, large) = (arch("half-ka-hm 2x128-8-8-1"), arch("half-ka-hm-ab 2x128-8-8-1 8-stacks"));
    let batch = positions(&large, 300);
    let mut packer = Packer::new(small.features(), 1, Device::Cpu).unwrap();
    let error = packer.pack(&batch.samples, 0..300, None).err().unwrap().to_string();
    assert!(error.contains("stack") || error.contains("bucket"), "{error}");
    let mut packer = Packer::new(small.features(), 8, Device::Cpu).unwrap();
    let error = packer.pack(&batch.samples, 0..300, None).err().unwrap().to_string();
    assert!(error.contains("one bucket of 6"), "{error}");
}

#[test]
fn nvrtc_compiles_every_kernel_without_a_gpu() {
    for (capability, expected) in
        [((8, 0), "sm_80"), ((9, 0), "sm_90"), ((10, 0), "sm_100"), ((99, 0), "compute_")]
    {
        match compile(capability) {
            Ok(image) => {
                assert!(image.architecture.starts_with(expected), "{}", image.architecture);
                for kernel in trainer::backend::cuda::launch::KERNELS {
                    let name = kernel.to_bytes();
                    assert!(image.bytes.windows(name.len()).any(|part| part == name), "{kernel:?}");
                }
            }
            // `scripts/setup-libtorch.py --nvrtc` gets it; the test suite's own set-up does.
            Err(NvrtcError::Missing(what)) => println!("SKIPPED: {what}"),
            Err(error) => panic!("{capability:?}: {error}"),
        }
    }
    let broken = trainer::backend::cuda::nvrtc::Nvrtc::open().map(|nvrtc| nvrtc.compile("int x = ;", (8, 0)));
    if let Ok(result) = broken {
        let error = result.unwrap_err().to_string();
        assert!(error.contains("kernels.cu(1)") && error.contains("sm_80"), "{error}");
    }
}

#[test]
fn without_a_gpu_the_reason_is_given() {
    if tch::Cuda::is_available() {
        println!("SKIPPED: there is a GPU");
        return;
    }
    let error = Engine::cuda(0).err().unwrap().to_string();
    assert!(error.starts_with("no GPU: "), "{error}");
}

#[test]
fn gpu_check_is_rehearsed_on_the_cpu() {
    let mut lines = Vec::new();
    let report =
        trainer::gpu_check::run(DeviceChoice::Cpu, 0, &mut |line| lines.push(line.to_owned())).unwrap();
    assert!(report.passes(), "{lines:#?}");
    assert_eq!(report.checks.len(), 4, "two architectures in two precisions");
    assert_eq!(report.skipped.len(), 5, "no time, so nothing is measured, and that is said");
    assert!(lines.iter().filter(|line| line.starts_with("SKIPPED")).count() == 5);
}
