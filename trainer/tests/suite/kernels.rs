//! Kernels against each other, against torch, and against formulas.

use crate::support::{arch, batch, floats, relative};
use tch::Tensor;
use trainer::backend::cpu::kernel::{AdamSlices, Kernel, KernelKind, TILE};
use trainer::backend::cpu::scalar::Scalar;
use trainer::backend::cpu::{AdamStep, AlignedVec, ByFeature, Grouped, backward, forward, tile};
use trainer::backend::reference;
use trainer::data::Batch;
use trainer::model::table::Table;

const CLIP: f32 = 255.0 / 256.0;
const COLUMNS: usize = 64;

fn vector_kernels() -> Vec<Box<dyn Kernel>> {
    KernelKind::available().into_iter().map(|kind| kind.get().unwrap()).collect()
}

/// Weights and bias that leave sums below, inside and above the clip.
fn weights(features: usize) -> (Vec<f32>, Vec<f32>) {
    (floats(1, features * COLUMNS, 0.15), floats(2, COLUMNS, 0.8))
}

struct Passed {
    x: AlignedVec,
    gradient: AlignedVec,
}

/// Forward, and backward of a gradient `out` of the sums, worked on by groups of `group` features.
fn pass(
    kernel: &dyn Kernel,
    batch: &Batch,
    (features, group): (usize, usize),
    out: &[f32],
    clip: Option<f32>,
) -> Passed {
    let (weights, bias) = weights(features);
    let rows = batch.rows(features).unwrap();
    let mut x = AlignedVec::zeros(rows.len() * COLUMNS);
    let mut grouped = Grouped::default();
    grouped.rebuild(&rows, group);
    forward(kernel, &tile::from_rows(&weights, features, COLUMNS), &bias, &grouped, &mut x, clip);
    let mut by_feature = ByFeature::default();
    by_feature.rebuild(&grouped);
    let mut packed = AlignedVec::zeros(out.len());
    for (row, &place) in grouped.places().iter().enumerate() {
        for column in 0..COLUMNS {
            let inside = clip.is_none_or(|clip| {
                (0.0..clip).contains(&x[row * COLUMNS + column]) && x[row * COLUMNS + column] > 0.0
            });
            let at = (column / TILE * rows.len() + place as usize) * TILE + column % TILE;
            packed[at] = if inside { out[row * COLUMNS + column] } else { 0.0 };
        }
    }
    let mut gradient = AlignedVec::zeros(features * COLUMNS);
    backward(kernel, &by_feature, &grouped, &packed, &mut gradient);
    Passed { x, gradient }
}

#[test]
fn transformer_equals_embedding_bag() {
    for (text, clip) in
        [("classic", Some(CLIP)), ("half-ka-hm-ab 2x128-8-8-1", Some(CLIP)), ("classic", None)]
    {
        let arch = arch(text);
        let features = arch.inputs();
        let batch = batch(&arch, 3, 300);
        let out = floats(5, 2 * batch.len() * COLUMNS, 1.0);
        let (weights, bias) = weights(features);
        let shape = [features as i64, COLUMNS as i64];
        let w = Tensor::from_slice(&weights).view(shape).set_requires_grad(true);
        let b = Tensor::from_slice(&bias).set_requires_grad(true);
        let rows = batch.rows(features).unwrap();
        let expected = reference::transform(&w, &b, &rows, clip).unwrap();
        let g = Tensor::from_slice(&out).view([-1, COLUMNS as i64]);
        let loss = (&expected * &g).sum(tch::Kind::Float);
        let gradients = Tensor::run_backward(&[&loss], &[&w], false, false);
        let values = |t: &Tensor| Vec::<f32>::try_from(t.detach().reshape([-1])).unwrap();
        for kernel in vector_kernels() {
            let found = pass(&*kernel, &batch, (features, arch.features().slot_count()), &out, clip);
            let name = kernel.name();
            assert!(relative(&found.x, &values(&expected)) < 1e-5, "{name} forward, {text}");
            let gradient = tile::to_rows(&found.gradient, features, COLUMNS);
            assert!(relative(&gradient, &values(&gradients[0])) < 1e-6, "{name} weight gradient, {text}");
            // Not vacuous: much is clipped, much is not, and most rows are touched by something.
            if clip.is_some() {
                let inside = found.x.iter().filter(|x| **x > 0.0 && **x < CLIP).count();
                let share = inside as f32 / found.x.len() as f32;
                assert!((0.2..0.9).contains(&share), "{share} of the sums are inside");
            }
            assert!(gradient.iter().filter(|g| **g != 0.0).count() > 1000);
        }
    }
}

#[test]
fn vector_kernels_equal_the_scalar_one_bit_for_bit() {
    let arch = arch("half-ka-hm 2x128-8-8-1");
    let batch = batch(&arch, 4, 200);
    let mut out = floats(6, 2 * batch.len() * COLUMNS, 1.0);
    out[77] = f32::NAN;
    let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    for clip in [Some(CLIP), None] {
        let sorted = (arch.inputs(), arch.features().slot_count());
        let expected = pass(&Scalar, &batch, sorted, &out, clip);
        for kernel in vector_kernels() {
            let found = pass(&*kernel, &batch, sorted, &out, clip);
            assert_eq!(bits(&found.x), bits(&expected.x), "{} forward", kernel.name());
            assert_eq!(bits(&found.gradient), bits(&expected.gradient), "{} gradient", kernel.name());
            // Nor does it matter in which order the rows are worked on.
            let unsorted = pass(&*kernel, &batch, (arch.inputs(), arch.inputs()), &out, clip);
            assert_eq!(bits(&unsorted.gradient), bits(&expected.gradient), "{} unsorted", kernel.name());
        }
    }
    for kernel in vector_kernels() {
        let (expected, found) = (adam(&Scalar), adam(&*kernel));
        assert_eq!(bits(&found), bits(&expected), "{} Adam", kernel.name());
    }
}

/// Ten updates of 1003 weights with some settings; weights and both moments.
fn adam(kernel: &dyn Kernel) -> Vec<f32> {
    const N: usize = 1003;
    let mut weights = floats(1, N, 1.0);
    let (mut first, mut second) = (vec![0.0; N], vec![0.0; N]);
    for step in 1..=10 {
        let mut gradient = floats(100 + step, N, 0.3);
        let (weights, gradient) = (&mut weights[..], &mut gradient[..]);
        let settings = AdamStep::at(step, 1e-2, (0.9, 0.99), 1e-7, 0.01, 0.98);
        let state = AdamSlices { weights, gradient, first: &mut first, second: &mut second };
        kernel.adam(state, &settings);
        assert!(gradient.iter().all(|g| *g == 0.0), "the gradient is zeroed");
    }
    [weights, first, second].concat()
}

#[test]
fn adam_equals_the_formula_in_f64() {
    const N: usize = 1003;
    let found = adam(&*KernelKind::best());
    let mut weights: Vec<f64> = floats(1, N, 1.0).into_iter().map(f64::from).collect();
    let (mut first, mut second) = (vec![0.0; N], vec![0.0; N]);
    for step in 1..=10 {
        for (i, g) in floats(100 + step, N, 0.3).into_iter().map(f64::from).enumerate() {
            first[i] = 0.9 * first[i] + 0.1 * g;
            second[i] = 0.99 * second[i] + 0.01 * g * g;
            let mean = first[i] / (1.0 - 0.9f64.powi(step as i32));
            let square = second[i] / (1.0 - 0.99f64.powi(step as i32));
            let moved = weights[i] * (1.0 - 1e-2 * 0.01) - 1e-2 * mean / (square.sqrt() + 1e-7);
            weights[i] = moved.clamp(-0.98, 0.98);
        }
    }
    let mut clipped = 0;
    for (found, expected) in found[..N].iter().zip(&weights) {
        assert!((f64::from(*found) - expected).abs() < 2e-6, "{found} for {expected}");
        clipped += usize::from(found.abs() == 0.98);
    }
    assert!((5..N / 2).contains(&clipped), "{clipped} weights at the limit");
}

#[test]
fn a_scaled_gradient_is_a_shorter_one() {
    const N: usize = 77;
    for kernel in vector_kernels() {
        let moved = |size: f32, scale: f32| {
            let (mut weights, mut first, mut second) = (floats(1, N, 1.0), vec![0.0; N], vec![0.0; N]);
            let mut gradient = floats(2, N, size);
            let step = AdamStep { scale, ..AdamStep::at(1, 1e-2, (0.9, 0.99), 0.1, 0.0, 0.98) };
            let state = AdamSlices {
                weights: &mut weights,
                gradient: &mut gradient,
                first: &mut first,
                second: &mut second,
            };
            kernel.adam(state, &step);
            [weights, first, second].concat()
        };
        assert_eq!(moved(1.0, 0.25), moved(0.25, 1.0), "{}", kernel.name());
        assert_ne!(moved(1.0, 0.25), moved(1.0, 1.0), "{}", kernel.name());
    }
}

#[test]
fn a_factor_is_a_second_row_and_the_merged_weight_is_clipped() {
    let arch = arch("half-kp-hm 2x128-8-8-1");
    let set = arch.features();
    let (features, slots) = (set.inputs(), set.slot_count());
    let own = floats(8, features * COLUMNS, 0.5);
    let factor = floats(9, slots * COLUMNS, 0.5);
    let gradient = floats(10, features * COLUMNS, 1.0);
    let mut table = Table::new(set, COLUMNS, &own, Some(&factor));
    let merged = tile::to_rows(table.merged(), features, COLUMNS);
    for f in 0..features {
        let c = f % COLUMNS;
        let sum = own[f * COLUMNS + c] + factor[(f % slots) * COLUMNS + c];
        assert_eq!(merged[f * COLUMNS + c], sum, "feature {f}");
    }
    table.gradient().copy_from_slice(&tile::from_rows(&gradient, features, COLUMNS));
    let limit = 0.7;
    let step = AdamStep::at(1, 0.01, (0.9, 0.999), 1e-8, 0.0, f32::INFINITY);
    table.update(&*KernelKind::best(), &step, limit);
    // The first step of Adam moves a weight by the rate against the sign of its gradient; the factor's gradient is the
    // sum over all buckets.
    let merged = tile::to_rows(table.merged(), features, COLUMNS);
    let (mut at_limit, buckets) = (0, features / slots);
    for f in (0..features).step_by(7) {
        let (slot, c) = (f % slots, f % COLUMNS);
        let shared: f32 = (0..buckets).map(|b| gradient[(b * slots + slot) * COLUMNS + c]).sum();
        let moved = own[f * COLUMNS + c] - 0.01 * gradient[f * COLUMNS + c].signum()
            + factor[slot * COLUMNS + c]
            - 0.01 * shared.signum();
        let expected = moved.clamp(-limit, limit);
        assert!((merged[f * COLUMNS + c] - expected).abs() < 1e-5, "feature {f}: {expected}");
        at_limit += usize::from(moved.abs() > limit);
    }
    assert!(at_limit > 10, "{at_limit} weights were clipped");
    assert!(table.gradient().iter().all(|g| *g == 0.0), "the gradient is zeroed");
}

#[test]
fn rows_are_worked_on_bucket_by_bucket() {
    let arch = arch("half-ka-hm-ab 2x128-8-8-1");
    let slots = arch.features().slot_count();
    let batch = batch(&arch, 5, 300);
    let rows = batch.rows(arch.inputs()).unwrap();
    let mut grouped = Grouped::default();
    grouped.rebuild(&rows, slots);
    // The same by a stable sort.
    let bucket = |row: u32| usize::from(rows.row(row as usize)[0]) / slots;
    let mut expected: Vec<u32> = (0..rows.len() as u32).collect();
    expected.sort_by_key(|&row| bucket(row));
    assert_eq!(grouped.rows(), expected);
    assert!((0..rows.len()).all(|place| grouped.row(place) == rows.row(expected[place] as usize)));
    assert!(bucket(expected[0]) < bucket(expected[rows.len() - 1]), "several buckets occur");
    assert!(grouped.places().iter().enumerate().all(|(row, &place)| expected[place as usize] == row as u32));
}

#[test]
fn kernels_are_found_by_name() {
    assert_eq!("scalar".parse(), Ok(KernelKind::Scalar));
    assert!("sse".parse::<KernelKind>().is_err());
    assert!(KernelKind::available().contains(&KernelKind::Scalar));
    assert_eq!(TILE % 16, 0);
}
