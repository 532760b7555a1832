//! Everything a device computes, held against something plain: our kernels against torch's operations, both ways of the
//! transformer against `embedding_bag`, updates against the CPU's bits, whole steps against the CPU's model.
//!
//! `chuhe-train gpu-check` runs this on a GPU; the tests run the same on the CPU.

use super::DeviceError;
use super::compute::{Engine, Precision};
use super::kernels::Sizes;
use super::net::DeviceNet;
use super::packed::{Packed, Packer};
use super::params::Params;
use super::transformer::Transformer;
use crate::backend::cpu::kernel::{AdamSlices, AdamStep, Kernel, KernelKind};
use crate::backend::cpu::scalar::Scalar;
use crate::backend::reference;
use crate::chance::{Purpose, generator, symmetric};
use crate::data::Batch;
use crate::data::batch::Place;
use crate::data::samples::Encoder;
use crate::data::synthetic::random_play;
use crate::loss::Loss;
use crate::model::net::Net;
use crate::model::weights::Parameter;
use crate::model::{Model, ModelError};
use nnue_format::Architecture;
use serde::Serialize;
use std::rc::Rc;
use tch::{Device, Kind, Tensor};

/// One comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Checked {
    /// What was compared.
    pub name: String,
    /// The greatest difference, relative to the greatest value.
    pub error: f64,
    /// What is allowed.
    pub tolerance: f64,
}

impl Checked {
    /// Is the error within the tolerance? A NaN is not.
    pub fn passes(&self) -> bool {
        self.error <= self.tolerance
    }

    fn new(name: impl Into<String>, found: &[f32], expected: &[f32], tolerance: f64) -> Checked {
        Checked { name: name.into(), error: difference(found, expected), tolerance }
    }
}

/// What the whole step may differ by where products are bfloat16: 8 bits of weights, activations and gradients, and a unit
/// near the end of its range may fall on the other side.
const BF16_OUTPUT: f64 = 3e-2;
/// Such a unit is much of the gradient of a stack that few positions of the batch have; little of the whole.
const BF16_GRADIENT: f64 = 0.2;
const BF16_WHOLE: f64 = 3e-2;
/// The order of f32 sums alone.
const SUMS: f64 = 2e-5;

/// Compares everything for one architecture on `positions` random positions.
///
/// # Errors
/// [`ModelError`] when something cannot be computed at all.
pub fn check(engine: &Rc<Engine>, arch: &Architecture, positions: usize) -> Result<Vec<Checked>, ModelError> {
    let batch = spread_positions(arch, positions)?;
    let mut packer = Packer::new(arch.features(), arch.stack_count(), engine.device)?;
    let packed = packer.pack(&batch.samples, 0..batch.len(), Some(&loss()))?;
    let mut found = Vec::new();
    if engine.kernels.is_some() {
        found.extend(kernels(engine, arch, &packed)?);
    }
    found.extend(update(engine)?);
    for way in ways(engine) {
        found.extend(transformer(engine, way, arch, (&batch, &packed))?);
        found.extend(step(engine, way, arch, &batch)?);
    }
    Ok(found)
}

/// The ways of the transformer that an engine has.
pub fn ways(engine: &Engine) -> Vec<Transformer> {
    let has = |way: &Transformer| *way == Transformer::Bucketed || engine.kernels.is_some();
    Transformer::ALL.into_iter().filter(has).collect()
}

fn loss() -> Loss {
    Loss { lambda: 0.8, ..Loss::default() }
}

/// Positions from all phases of random games, so that several stacks and buckets occur.
///
/// # Errors
/// [`ModelError`] for an architecture that cannot be encoded.
pub fn spread_positions(arch: &Architecture, count: usize) -> Result<Batch, ModelError> {
    const EVERY: usize = 4;
    let encoder = Encoder::new(arch).map_err(|error| DeviceError::Option(error.to_string()))?;
    let samples = [random_play(&encoder, 77, EVERY * count)];
    let chosen: Vec<Place> = Place::all(&samples).into_iter().step_by(EVERY).collect();
    Ok(Batch::gather(&samples, &chosen))
}

fn kernels(engine: &Engine, arch: &Architecture, packed: &Packed) -> Result<Vec<Checked>, DeviceError> {
    let plain = engine.without_kernels();
    let sizes: Sizes = Params::zeros(&plain, arch, false)?.sizes;
    let (rows, slots) = (packed.rows(), arch.features().slot_count());
    let width = (slots + 1).next_multiple_of(16);
    let hot = |engine: &Engine| -> Result<Vec<f32>, DeviceError> {
        values(&engine.multihot(packed, slots, width)?.f_narrow(1, 0, slots as i64)?)
    };
    let mut found = vec![Checked::new("kernel multihot = operations", &hot(engine)?, &hot(&plain)?, 0.0)];

    let sums = random(engine.device, 3, 0.7, &[rows, sizes.columns])?;
    let bias = random(engine.device, 4, 0.5, &[sizes.l1])?;
    let (inputs, value) = engine.activate(&sizes, (&sums, &bias), packed)?;
    let (expected_inputs, expected_value) = plain.activate(&sizes, (&sums, &bias), packed)?;
    let name = "kernel activate = operations";
    found.push(Checked::new(name, &values(&inputs)?, &values(&expected_inputs)?, 0.0));
    let name = "kernel activate, PSQT = operations";
    found.push(Checked::new(name, &values(&value)?, &values(&expected_value)?, 1e-6));

    let d = random(engine.device, 5, 1.0, &[packed.positions, 2 * sizes.side()])?;
    let dv = random(engine.device, 6, 1.0, &[packed.positions])?;
    let back = |engine: &Engine| -> Result<Vec<f32>, DeviceError> {
        values(&engine.deactivate(&sizes, (&sums, &bias), packed, (&d, &dv))?)
    };
    found.push(Checked::new("kernel deactivate = operations", &back(engine)?, &back(&plain)?, 0.0));
    Ok(found)
}

/// Ten updates against the CPU's kernel: the same bits by a kernel; torch's operations may fuse.
fn update(engine: &Engine) -> Result<Vec<Checked>, DeviceError> {
    const N: usize = 5000;
    const LIMIT: f32 = 0.98;
    let mut host = [numbers(1, 1.0, N), vec![0.0; N], vec![0.0; N]];
    let shape = [N as i64];
    let put = |values: &[f32]| Tensor::from_slice(values).f_view(shape)?.f_to_device(engine.device);
    let state = [put(&host[0])?, put(&host[1])?, put(&host[2])?];
    let (limits, ok) = (put(&[LIMIT; N])?, Tensor::f_ones([1], (Kind::Float, engine.device))?);
    for number in 1..=10 {
        let mut gradient = numbers(100 + number, 0.3, N);
        let g = put(&gradient)?;
        let step = AdamStep { limit: LIMIT, ..adam(number) };
        let [weights, first, second] = &mut host;
        Scalar.adam(AdamSlices { weights, gradient: &mut gradient, first, second }, &step);
        let [w, m, v] = &state;
        match &engine.kernels {
            Some(kernels) => kernels.adam_flat([w, &g, m, v, &limits], &ok, &step)?,
            None => engine.adam([w, m, v], &g, Some(&limits), &ok, &step)?,
        }
    }
    let (what, tolerance) = if engine.kernels.is_some() { ("kernel", 0.0) } else { ("operations", 1e-6) };
    let mut found = Vec::new();
    for (name, (state, host)) in ["weights", "first", "second"].iter().zip(state.iter().zip(&host)) {
        found.push(Checked::new(format!("Adam, {what}, {name} = CPU"), &values(state)?, host, tolerance));
    }
    Ok(found)
}

fn transformer(
    engine: &Engine,
    way: Transformer,
    arch: &Architecture,
    (batch, packed): (&Batch, &Packed),
) -> Result<Vec<Checked>, ModelError> {
    let (features, slots) = (arch.inputs(), arch.features().slot_count());
    let columns = Params::zeros(engine, arch, false)?.sizes.columns;
    let kind = engine.precision.kind();
    let w = random(engine.device, 8, 0.15, &[features, columns])?.f_to_kind(kind)?;
    let g = random(engine.device, 9, 1.0, &[packed.rows(), columns])?.f_to_kind(kind)?;
    // embedding_bag gets the same rounded numbers, so that only the order of sums differs.
    let leaf = w.f_to_kind(Kind::Float)?.f_detach_copy()?.set_requires_grad(true);
    let none = Tensor::f_zeros([columns as i64], (Kind::Float, engine.device))?;
    let expected = reference::transform(&leaf, &none, &batch.rows(features)?, None)?;
    let place = packed.place.f_to_kind(Kind::Int64)?;
    let sum = expected.f_mul(&g.f_to_kind(Kind::Float)?.f_index_select(0, &place)?)?.f_sum(Kind::Float)?;
    let expected_gradient = Tensor::f_run_backward(&[&sum], &[&leaf], false, false)?.remove(0);

    let forward = way.forward(engine, packed, slots, &w)?;
    // Any value: all of it must be written.
    let gradient = Tensor::f_full([features as i64, columns as i64], 7.0, (Kind::Float, engine.device))?;
    way.backward(engine, packed, slots, &forward, (&g, &gradient))?;
    let (found, expected) = (forward.sums.f_index_select(0, &place)?, expected.f_detach()?);
    let name = |what: &str| format!("{way} {what} = embedding_bag");
    Ok(vec![
        Checked::new(name("forward"), &values(&found)?, &values(&expected)?, SUMS),
        Checked::new(name("backward"), &values(&gradient)?, &values(&expected_gradient)?, SUMS),
    ])
}

/// A step's outputs before it, losses, and parameters after it.
type Taken = (Vec<f32>, Vec<f64>, Vec<Parameter>);

fn step(
    engine: &Rc<Engine>,
    way: Transformer,
    arch: &Architecture,
    batch: &Batch,
) -> Result<Vec<Checked>, ModelError> {
    const SEED: u64 = 11;
    let one = |net: &mut dyn Net| -> Result<Taken, ModelError> {
        let outputs = net.outputs(batch)?;
        net.gradients(batch, &loss(), batch.len())?;
        let early = net.losses(false)?;
        net.update(&adam(1).into())?;
        Ok((outputs, [early, net.losses(true)?].concat(), net.parameters()?))
    };
    let (outputs, losses, parameters) = one(&mut Model::new(arch, true, SEED, KernelKind::best()))?;
    let mut net = DeviceNet::new(arch, true, SEED, engine.clone(), Some(way))?;
    let (found_outputs, found_losses, found_parameters) = one(&mut net)?;
    let (output, gradient, whole) = match engine.precision {
        Precision::F32 => (SUMS, SUMS, SUMS),
        Precision::Bf16 => (BF16_OUTPUT, BF16_GRADIENT, BF16_WHOLE),
    };
    let error = match (&found_losses[..], &losses[..]) {
        ([found], [expected]) => (found / expected - 1.0).abs(),
        _ => f64::NAN,
    };
    // After one step from nothing the first moment is a tenth of the gradient.
    let first = |p: &Parameter| p.state("first").unwrap_or_default().to_vec();
    let (mut worst, mut squares) = ((String::new(), 0.0), [0.0; 2]);
    for found in &found_parameters {
        let expected = parameters.iter().find(|expected| expected.name == found.name);
        let (found_first, expected) = (first(found), expected.map(first).unwrap_or_default());
        let error = difference(&found_first, &expected);
        if error > worst.1 || error.is_nan() {
            worst = (found.name.clone(), if error.is_nan() { f64::INFINITY } else { error });
        }
        for (a, b) in found_first.iter().zip(&expected) {
            squares[0] += f64::from(a - b).powi(2);
            squares[1] += f64::from(*b).powi(2);
        }
    }
    let (parameter, worst) = worst;
    Ok(vec![
        Checked::new(format!("{way} outputs = CPU model"), &found_outputs, &outputs, output),
        Checked { name: format!("{way} loss = CPU model"), error, tolerance: output },
        Checked {
            name: format!("{way} gradients = CPU model (norm of all)"),
            error: (squares[0] / squares[1]).sqrt(),
            tolerance: whole,
        },
        Checked {
            name: format!("{way} gradients = CPU model (worst: {parameter})"),
            error: worst,
            tolerance: gradient,
        },
    ])
}

fn adam(step: u64) -> AdamStep {
    AdamStep::at(step, 1e-2, (0.9, 0.99), 1e-7, 0.01, f32::INFINITY)
}

/// The greatest difference, relative to the greatest size of `expected`; NaN when the lengths differ.
fn difference(found: &[f32], expected: &[f32]) -> f64 {
    if found.len() != expected.len() {
        return f64::NAN;
    }
    let mut worst = 0f64;
    for (a, b) in found.iter().zip(expected) {
        let error = f64::from((a - b).abs());
        // `max` would drop a NaN.
        worst = if error > worst || error.is_nan() { error } else { worst };
        if worst.is_nan() {
            return worst;
        }
    }
    worst / expected.iter().map(|b| f64::from(b.abs())).fold(1e-30, f64::max)
}

fn numbers(seed: u64, size: f32, len: usize) -> Vec<f32> {
    let mut rng = generator(seed, Purpose::Synthetic, 1, 0);
    (0..len).map(|_| symmetric(&mut rng) * size).collect()
}

fn random(device: Device, seed: u64, size: f32, shape: &[usize]) -> Result<Tensor, DeviceError> {
    let values = numbers(seed, size, shape.iter().product());
    let shape: Vec<i64> = shape.iter().map(|&size| size as i64).collect();
    Ok(Tensor::from_slice(&values).f_view(&shape[..])?.f_to_device(device)?)
}

fn values(tensor: &Tensor) -> Result<Vec<f32>, DeviceError> {
    Ok(Vec::try_from(&tensor.f_to_device(Device::Cpu)?.f_to_kind(Kind::Float)?.f_reshape([-1])?)?)
}
