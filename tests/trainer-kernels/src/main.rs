//! Do the trainer's kernels agree on this CPU? For CPUs and emulators without a toolchain: one program, no files, no
//! libtorch. Prints what it checked; exit 1 at the first difference.
//!
//! `cargo run --release -p trainer-kernels [KERNEL…]`; names of kernels make one that the CPU lacks an error.
//!
//! The feature transformer and the optimiser must give the scalar kernel's bits. The dense layers must give each
//! other's bits where vectors do them, and the scalar one's numbers within rounding.

#[allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "a part of the trainer, of which not all is used"
)]
#[path = "../../../trainer/src/backend/cpu/mod.rs"]
mod cpu;

use cpu::dense::{Hidden, Inputs, Scattered, Shape, Stack, StackGradients};
use cpu::kernel::{AdamSlices, Kernel, KernelKind, TILE};
use cpu::{AdamStep, AlignedVec, ByFeature, Grouped, SparseRows, backward, forward};
use nnue_format::Architecture;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::process::ExitCode;

/// Blocks of 16 and of 8 outputs, both activations, several tiles, one bucket and many.
const ARCHITECTURES: [&str; 4] = [
    "half-ka-hm-ab 2x128-32-32-1 crelu",
    "half-kp 2x192-16-8-1 crelu",
    "half-ka-hm 2x256-8-24-1 pairwise",
    "half-kp-hm 2x128-48-16-1 pairwise",
];
/// Positions: more than a block of the backward pass, and a rest.
const POSITIONS: usize = 103;
const CLIP: f32 = 255.0 / 256.0;
/// Greatest error of the scalar dense layers, relative to the norm.
const ROUNDING: f32 = 2e-5;

fn main() -> ExitCode {
    let result = run();
    if let Err(message) = &result {
        eprintln!("{message}");
    }
    // The only program of an emulated PC takes the kernel with it when it ends, and what the serial port still holds.
    if std::process::id() == 1 {
        std::thread::sleep(std::time::Duration::from_secs(5));
    }
    if result.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run() -> Result<(), String> {
    let named: Vec<String> = std::env::args().skip(1).collect();
    let kinds = if named.is_empty() {
        KernelKind::available()
    } else {
        named.iter().map(|name| name.parse()).collect::<Result<_, _>>().map_err(|error| format!("{error}"))?
    };
    println!("kernels: {}", kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(" "));
    let scalar = KernelKind::Scalar.get().map_err(|error| format!("{error}"))?;
    for (seed, name) in ARCHITECTURES.iter().enumerate() {
        let case = Case::new(name, seed as u64)?;
        let (exact, dense) = (case.exact(&*scalar)?, case.dense(&*scalar));
        let mut first_vector: Option<(&str, Vec<Vec<f32>>)> = None;
        for &kind in &kinds {
            let kernel = kind.get().map_err(|error| format!("{error}"))?;
            for (part, (found, expected)) in case.exact(&*kernel)?.iter().zip(&exact).enumerate() {
                same_bits(found, expected)
                    .map_err(|e| format!("{name}, {}, part {part}: {e}", kind.name()))?;
            }
            let found = case.dense(&*kernel);
            for (part, (found, expected)) in found.iter().zip(&dense).enumerate() {
                let error = distance(found, expected);
                if error.is_nan() || error > ROUNDING {
                    return Err(format!(
                        "{name}, dense layers of {}, part {part}: off by {error}",
                        kind.name()
                    ));
                }
            }
            match &first_vector {
                _ if kind == KernelKind::Scalar => (),
                None => first_vector = Some((kind.name(), found)),
                Some((other, expected)) => {
                    for (part, (found, expected)) in found.iter().zip(expected).enumerate() {
                        same_bits(found, expected).map_err(|error| {
                            format!(
                                "{name}, dense layers of {} and {other}, part {part}: {error}",
                                kind.name()
                            )
                        })?;
                    }
                }
            }
        }
        println!("{name}: {POSITIONS} positions, equal");
    }
    println!("all equal");
    Ok(())
}

/// Random rows, weights and gradients of one architecture.
struct Case {
    shape: Shape,
    features: usize,
    group: usize,
    indices: Vec<u16>,
    offsets: Vec<u32>,
    table: AlignedVec,
    bias: Vec<f32>,
    layers: [Vec<f32>; 6],
    outputs: Vec<f32>,
}

impl Case {
    fn new(name: &str, seed: u64) -> Result<Case, String> {
        let arch: Architecture = name.parse().map_err(|error| format!("{name}: {error}"))?;
        let shape = Shape::of(&arch);
        let (features, group) = (arch.inputs(), arch.features().slot_count());
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (mut indices, mut offsets) = (Vec::new(), vec![0]);
        for _ in 0..2 * POSITIONS {
            let bucket = rng.next_u64() as usize % (features / group);
            let active = rng.next_u64() as usize % 33;
            indices.extend((0..active).map(|_| (bucket * group + rng.next_u64() as usize % group) as u16));
            offsets.push(indices.len() as u32);
        }
        let mut floats = |len: usize, size: f32| -> Vec<f32> {
            (0..len).map(|_| ((rng.next_u64() >> 40) as f32 / (1 << 23) as f32 - 1.0) * size).collect()
        };
        let Shape { l1, inputs, l2, l3, .. } = shape;
        let table = AlignedVec::from_slice(&floats(features * l1, 0.15));
        let bias = floats(l1, 0.8);
        let sizes = [(l2 * inputs, 0.2), (l2, 0.5), (l3 * l2, 0.5), (l3, 0.5), (l3, 1.0), (1, 1.0)];
        let layers = sizes.map(|(len, size)| floats(len, size));
        let outputs = floats(POSITIONS, 0.1);
        Ok(Case { shape, features, group, indices, offsets, table, bias, layers, outputs })
    }

    fn grouped(&self) -> Result<Grouped, String> {
        let rows =
            SparseRows::new(&self.indices, &self.offsets, self.features).map_err(|e| format!("{e}"))?;
        let mut grouped = Grouped::default();
        grouped.rebuild(&rows, self.group);
        Ok(grouped)
    }

    fn sums(&self, kernel: &dyn Kernel, grouped: &Grouped) -> AlignedVec {
        let mut x = AlignedVec::zeros(2 * POSITIONS * self.shape.l1);
        forward(kernel, &self.table, &self.bias, grouped, &mut x, Some(CLIP));
        x
    }

    /// What must be the same to the last bit: the sums, the gradient of the table, three updates.
    fn exact(&self, kernel: &dyn Kernel) -> Result<[Vec<f32>; 3], String> {
        let grouped = self.grouped()?;
        let x = self.sums(kernel, &grouped);
        let mut by_feature = ByFeature::default();
        by_feature.rebuild(&grouped);
        let mut gradient = AlignedVec::zeros(self.table.len());
        // The sums serve as their own gradient.
        backward(kernel, &by_feature, &grouped, &x, &mut gradient);
        let mut weights = self.table.to_vec();
        let (mut first, mut second) = (vec![0.0; weights.len()], vec![0.0; weights.len()]);
        for step in 1..=3 {
            let mut gradient = gradient.to_vec();
            let settings = AdamStep::at(step, 1e-2, (0.9, 0.99), 1e-7, 0.01, 0.12);
            let (weights, gradient) = (&mut weights[..], &mut gradient[..]);
            let state = AdamSlices { weights, gradient, first: &mut first, second: &mut second };
            kernel.adam(state, &settings);
        }
        Ok([x.to_vec(), gradient.to_vec(), weights])
    }

    /// The dense layers: outputs, gradient of the sums, of the transformer's biases, of the six parameters.
    fn dense(&self, kernel: &dyn Kernel) -> Vec<Vec<f32>> {
        let Ok(grouped) = self.grouped() else { return Vec::new() };
        let x = self.sums(kernel, &grouped);
        let stack = Stack::new(self.shape, std::array::from_fn(|layer| &self.layers[layer][..]));
        let inputs = Inputs { x: &x, len: POSITIONS, clip: CLIP };
        let mut hidden = Hidden::new(self.shape, POSITIONS);
        kernel.dense_forward(&stack, &inputs, &mut hidden);
        let mut gradients = StackGradients::new(self.shape);
        let mut ft_bias = vec![0.0; self.shape.l1];
        let mut packed = AlignedVec::zeros(x.len());
        let tiles = self.shape.l1 / TILE;
        for mut places in Scattered::split(&mut packed, tiles, &grouped, 2 * POSITIONS) {
            let (outputs, gradients) = (&self.outputs, &mut gradients);
            kernel.dense_backward(&stack, &inputs, &hidden, outputs, gradients, &mut ft_bias, &mut places);
        }
        let mut found = vec![hidden.outputs, packed.to_vec(), ft_bias];
        found.extend(gradients.layers);
        found
    }
}

fn same_bits(found: &[f32], expected: &[f32]) -> Result<(), String> {
    if found.len() != expected.len() {
        return Err(format!("{} numbers for {}", found.len(), expected.len()));
    }
    match found.iter().zip(expected).position(|(a, b)| a.to_bits() != b.to_bits()) {
        Some(at) => Err(format!("{} for {} at {at}", found[at], expected[at])),
        None => Ok(()),
    }
}

/// Norm of the difference over the norm of what is expected.
fn distance(found: &[f32], expected: &[f32]) -> f32 {
    let norm = |values: &mut dyn Iterator<Item = f32>| values.map(|x| x * x).sum::<f32>().sqrt();
    let difference = norm(&mut found.iter().zip(expected).map(|(a, b)| a - b));
    difference / norm(&mut expected.iter().copied()).max(1e-30)
}
