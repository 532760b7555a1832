//! A net in training on a device.
//!
//! A step is put into the device's stream and not waited for: while it runs, the next batch is packed and copied. What is
//! read back are the losses, `HALF` at a time, when they have long been there.

use super::DeviceError;
use super::choose::Timing;
use super::compute::Engine;
use super::packed::{Packed, Packer};
use super::params::Params;
use super::stream::Download;
use super::transformer::Transformer;
use crate::backend::cpu::kernel::KernelKind;
use crate::data::Batch;
use crate::loss::Loss;
use crate::model::net::{Gathered, Net};
use crate::model::weights::{Parameter, WeightsError};
use crate::model::{Model, ModelError, Parts};
use crate::optim::UpdateStep;
use nnue_format::Architecture;
use std::rc::Rc;
use tch::{Device, Kind, TchError, Tensor};

/// Positions computed at once; larger batches come in parts, so that memory has a bound (some 8 GB at 1024 wide).
const CHUNK: usize = 1 << 17;
/// Losses that are read back together, and how many more may wait on the device meanwhile.
const HALF: usize = 32;

/// The net.
pub struct DeviceNet {
    arch: Architecture,
    engine: Rc<Engine>,
    params: Params,
    packer: Packer,
    /// The way of the transformer; none before the first batch has chosen.
    transformer: Option<Transformer>,
    gradient: Tensor,
    /// Nothing is gathered in `gradient`.
    fresh: bool,
    /// The summed loss since the last update, f64 `[1]`.
    loss: Tensor,
    /// 0 once a loss was not finite, f32 `[1]`.
    ok: Tensor,
    /// Losses of steps, f64 `[2 HALF]`, `filled` of them.
    ring: Tensor,
    filled: usize,
    download: Option<Download>,
    /// Losses read back and not asked for yet.
    known: Vec<f64>,
    notes: Vec<String>,
}

impl DeviceNet {
    /// A net with the first weights that the CPU's model draws from `seed`. Without a `transformer` the first batch is
    /// used to measure which is faster.
    ///
    /// # Errors
    /// [`DeviceError`].
    pub fn new(
        arch: &Architecture,
        factorised: bool,
        seed: u64,
        engine: Rc<Engine>,
        transformer: Option<Transformer>,
    ) -> Result<DeviceNet, ModelError> {
        let device = engine.device;
        let params = Params::zeros(&engine, arch, factorised)?;
        let packer = Packer::new(arch.features(), arch.stack_count(), device).map_err(ModelError::from)?;
        let zeros = |len: usize, kind| Tensor::f_zeros([len as i64], (kind, device));
        let transformer = match (transformer, &engine.kernels) {
            (Some(Transformer::Sparse), None) => {
                let what = "--transformer sparse needs kernels of our own, which there are not".to_owned();
                return Err(
                    DeviceError::Option([vec![what], engine.notes.clone()].concat().join("; ")).into()
                );
            }
            (None, None) => Some(Transformer::Bucketed),
            (transformer, _) => transformer,
        };
        let mut net = DeviceNet {
            arch: *arch,
            packer,
            transformer,
            gradient: zeros(params.gradient_len(), Kind::Float)?,
            fresh: true,
            loss: zeros(1, Kind::Double)?,
            ok: Tensor::f_ones([1], (Kind::Float, device))?,
            ring: zeros(2 * HALF, Kind::Double)?,
            filled: 0,
            download: None,
            known: Vec::new(),
            notes: engine.notes.clone(),
            params,
            engine,
        };
        let first = Model::new(arch, factorised, seed, KernelKind::best());
        net.put(&first.parameters()?).map_err(|error| match error {
            WeightsError::Torch(error) => ModelError::from(error),
            other => DeviceError::Tensor(other.to_string()).into(),
        })?;
        Ok(net)
    }

    /// The device and the ways to compute on it.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Waits until the device has done everything it was given.
    pub fn synchronise(&self) {
        if let Device::Cuda(index) = self.engine.device {
            tch::Cuda::synchronize(index as i64);
        }
    }

    fn put(&mut self, parameters: &[Parameter]) -> Result<(), WeightsError> {
        self.params.set_parameters(parameters)?;
        self.params.merge_all(&self.engine).map_err(|error| match error {
            DeviceError::Torch(error) => WeightsError::Torch(error),
            other => WeightsError::Torch(TchError::Torch(other.to_string())),
        })
    }

    /// Forward and backward for some positions, gradients into `gradient`; gives the summed loss.
    fn pass(
        &self,
        packed: &Packed,
        transformer: Transformer,
        (loss, divisor): (&Loss, usize),
        gradient: &Tensor,
    ) -> Result<Tensor, DeviceError> {
        let Params { sizes, shape, merged, .. } = &self.params;
        let (engine, slots) = (&self.engine, self.arch.features().slot_count());
        let (bias, layers) = (self.params.bias()?, self.params.layers()?);
        let forward = transformer.forward(engine, packed, slots, merged)?;
        let (inputs, values) = engine.activate(sizes, (&forward.sums, &bias), packed)?;
        let pass = shape.forward(engine, &layers, (&inputs, &values), &packed.stacks)?;

        let outputs = pass.outputs.f_detach()?.set_requires_grad(true);
        let sum = loss.sum(&outputs, &packed.targets.f_view([-1, 1])?)?;
        let mean = sum.f_div_scalar(divisor as f64)?;
        let outputs = Tensor::f_run_backward(&[mean], &[&outputs], false, false)?.remove(0);

        let flat = self.params.flat_of(gradient)?;
        let gradients = self.params.layers_of(&flat)?;
        let inputs = shape.backward(engine, (&layers, &gradients), &pass, &inputs, &outputs)?;
        let g =
            engine.deactivate(sizes, (&forward.sums, &bias), packed, (&inputs, &outputs.f_view([-1])?))?;
        let l1 = sizes.l1 as i64;
        let of_bias = g.f_narrow(1, 0, l1)?.f_sum_dim_intlist(&[0i64][..], false, Kind::Float)?;
        flat.f_narrow(0, 0, l1)?.f_copy_(&of_bias)?;
        let table = self.params.table_of(gradient)?;
        transformer.backward(engine, packed, slots, &forward, (&g, &table))?;
        Ok(sum.f_detach()?.f_to_kind(Kind::Double)?.f_view([1])?)
    }

    /// The way of the transformer; measured with these positions if it is still open.
    fn chosen(&mut self, packed: &Packed, loss: (&Loss, usize)) -> Result<Transformer, DeviceError> {
        if let Some(transformer) = self.transformer {
            return Ok(transformer);
        }
        // Nothing is gathered before the first batch, so its buffer is free to be written.
        let timing = self.time(packed, loss, &Transformer::ALL)?;
        let transformer = timing.faster();
        self.notes.push(format!("transformer {timing}; --transformer takes one without asking"));
        self.transformer = Some(transformer);
        Ok(transformer)
    }

    fn time(
        &self,
        packed: &Packed,
        loss: (&Loss, usize),
        ways: &[Transformer],
    ) -> Result<Timing, DeviceError> {
        Timing::measure(ways, |transformer| {
            let _ = self.pass(packed, transformer, loss, &self.gradient)?;
            self.synchronise();
            Ok(())
        })
    }

    /// Times forward and backward by some ways; what was gathered is lost.
    ///
    /// # Errors
    /// [`ModelError`].
    pub fn time_passes(
        &mut self,
        batch: &Batch,
        loss: &Loss,
        ways: &[Transformer],
    ) -> Result<Timing, ModelError> {
        let end = batch.len().min(CHUNK);
        let packed = self.packer.pack(&batch.samples, 0..end, Some(loss))?;
        self.fresh = true;
        Ok(self.time(&packed, (loss, batch.len()), ways)?)
    }

    fn gather(&mut self, batch: &Batch, loss: &Loss, divisor: usize) -> Result<(), DeviceError> {
        for start in (0..batch.len()).step_by(CHUNK) {
            let end = (start + CHUNK).min(batch.len());
            let packed = self.packer.pack(&batch.samples, start..end, Some(loss))?;
            let transformer = self.chosen(&packed, (loss, divisor))?;
            let sum = if self.fresh {
                self.pass(&packed, transformer, (loss, divisor), &self.gradient)?
            } else {
                let more = self.gradient.f_empty_like()?;
                let sum = self.pass(&packed, transformer, (loss, divisor), &more)?;
                let _ = self.gradient.f_add_(&more)?;
                sum
            };
            self.fresh = false;
            let _ = self.loss.f_add_(&sum)?;
        }
        Ok(())
    }

    fn step(&mut self, step: &UpdateStep) -> Result<(), DeviceError> {
        if self.fresh {
            let _ = self.gradient.f_zero_()?;
        }
        let finite = self.loss.f_isfinite()?.f_to_kind(Kind::Float)?;
        let _ = self.ok.f_mul_(&finite)?;
        self.params.update(&self.engine, &self.gradient, &self.ok, step)?;
        self.fresh = true;
        if self.filled == 2 * HALF {
            self.read_back(true)?;
        }
        self.ring.f_narrow(0, self.filled as i64, 1)?.f_copy_(&self.loss)?;
        self.filled += 1;
        let _ = self.loss.f_zero_()?;
        Ok(())
    }

    /// Reads losses back: all of them and waiting with `wait`, else a full half when the one before has come.
    fn read_back(&mut self, wait: bool) -> Result<(), DeviceError> {
        if let Some(download) = &self.download {
            match download.take(wait)? {
                Some(losses) => self.known.extend(losses),
                None => return Ok(()),
            }
            self.download = None;
        }
        if self.filled < if wait { 1 } else { HALF } {
            return Ok(());
        }
        // A copy, since the ring is written again before this one has been read.
        let download = Download::start(&self.ring.f_narrow(0, 0, self.filled as i64)?.f_detach_copy()?)?;
        self.filled = 0;
        match download.take(wait)? {
            Some(losses) => self.known.extend(losses),
            None => self.download = Some(download),
        }
        Ok(())
    }
}

impl Net for DeviceNet {
    fn architecture(&self) -> &Architecture {
        &self.arch
    }

    fn device(&self) -> String {
        let way = self.transformer.map_or("to be measured".to_owned(), |way| way.to_string());
        format!("{}, transformer {way}", self.engine.name())
    }

    fn gradients(&mut self, batch: &Batch, loss: &Loss, divisor: usize) -> Result<(), ModelError> {
        Ok(self.gather(batch, loss, divisor)?)
    }

    fn gathered(&mut self) -> Result<Gathered<'_>, ModelError> {
        if self.fresh {
            let _ = self.gradient.f_zero_()?;
            self.fresh = false;
        }
        Ok(Gathered::new(self.loss.shallow_clone(), vec![self.gradient.shallow_clone()]))
    }

    fn update(&mut self, step: &UpdateStep) -> Result<(), ModelError> {
        let _guard = tch::no_grad_guard();
        Ok(self.step(step)?)
    }

    fn losses(&mut self, wait: bool) -> Result<Vec<f64>, ModelError> {
        self.read_back(wait)?;
        Ok(std::mem::take(&mut self.known))
    }

    fn outputs(&mut self, batch: &Batch) -> Result<Vec<f32>, ModelError> {
        let _guard = tch::no_grad_guard();
        let mut found = Vec::with_capacity(batch.len());
        // Before the first step nothing is measured; both ways give the same.
        let transformer = self.transformer.unwrap_or(Transformer::Bucketed);
        let (bias, layers) = (self.params.bias()?, self.params.layers()?);
        let Params { sizes, shape, merged, .. } = &self.params;
        for start in (0..batch.len()).step_by(CHUNK) {
            let end = (start + CHUNK).min(batch.len());
            let packed = self.packer.pack(&batch.samples, start..end, None)?;
            let slots = self.arch.features().slot_count();
            let forward = transformer.forward(&self.engine, &packed, slots, merged)?;
            let (inputs, values) = self.engine.activate(sizes, (&forward.sums, &bias), &packed)?;
            let pass = shape.forward(&self.engine, &layers, (&inputs, &values), &packed.stacks)?;
            let outputs = pass.outputs.f_to_device(Device::Cpu)?.f_reshape([-1])?;
            found.extend(Vec::<f32>::try_from(&outputs)?);
        }
        Ok(found)
    }

    fn parameters(&self) -> Result<Vec<Parameter>, ModelError> {
        Ok(self.params.parameters()?)
    }

    fn set_parameters(&mut self, parameters: &[Parameter]) -> Result<(), WeightsError> {
        self.put(parameters)
    }

    fn parts(&self) -> Parts {
        Parts::default()
    }

    fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }
}
