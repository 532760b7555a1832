//! What is computed with torch's operations or, where they were compiled, with our own kernels: two ways to one result.
//!
//! The operations run on any device. So the tests hold them, on the CPU, against the CPU's own model, and the kernels
//! against them.

use super::DeviceError;
use super::driver::Gpu;
use super::kernels::{Sizes, TableState};
use super::launch::{KERNELS, Launcher, compile};
use super::packed::Packed;
use crate::backend::cpu::AdamStep;
use tch::{Cuda, Device, Kind, Tensor};

/// What large matrix products read; all sums and all weights that are kept are f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// bfloat16: tensor cores, half the traffic.
    Bf16,
    /// f32, for GPUs without it, and for tests.
    F32,
}

impl Precision {
    /// Torch's name for it.
    pub fn kind(self) -> Kind {
        match self {
            Precision::Bf16 => Kind::BFloat16,
            Precision::F32 => Kind::Float,
        }
    }
}

/// A device and the ways to compute on it.
pub struct Engine {
    /// The device.
    pub device: Device,
    /// What large products read.
    pub precision: Precision,
    /// Our kernels; none with [`Precision::F32`].
    pub kernels: Option<Launcher>,
    /// Can torch multiply bfloat16 into f32?
    mixed_products: bool,
    /// What could not be had, for people.
    pub notes: Vec<String>,
}

/// `CUDA` compute capability from which on bfloat16 is fast.
const BF16_CAPABILITY: (i32, i32) = (8, 0);

impl Engine {
    /// GPU number `index` of those that this process sees.
    ///
    /// # Errors
    /// [`DeviceError::NoGpu`] says what is missing.
    pub fn cuda(index: usize) -> Result<Engine, DeviceError> {
        let count = if Cuda::is_available() { Cuda::device_count() } else { 0 };
        if index as i64 >= count {
            return Err(DeviceError::NoGpu(no_gpu(index, count)));
        }
        let device = Device::Cuda(index);
        // Makes the context, and shows now whether torch can use the device at all.
        let one = Tensor::f_ones([16, 16], (Kind::BFloat16, device))?;
        let gpu = Gpu::open(index)?;
        let capability = gpu.capability()?;
        let precision = if capability >= BF16_CAPABILITY { Precision::Bf16 } else { Precision::F32 };
        let out = Tensor::f_zeros([16, 16], (Kind::Float, device))?;
        let mixed_products = one.f_mm_dtype_out(&out, &one, Kind::Float).is_ok();
        let mut notes = Vec::new();
        if !mixed_products {
            notes.push("torch has no bfloat16 product into f32 here: converting first".to_owned());
        }
        let kernels = match (precision, compile(capability)) {
            (Precision::F32, _) => None,
            (_, Ok(image)) => Some(Launcher::Gpu { module: Box::new(gpu.load(&image, &KERNELS)?), index }),
            (_, Err(error)) => {
                notes.push(format!("no kernels of our own, torch's operations instead: {error}"));
                None
            }
        };
        Ok(Engine { device, precision, kernels, mixed_products, notes })
    }

    /// The CPU, to prove what a GPU computes; `kernels` takes our kernels too, slowly.
    pub fn host(precision: Precision, kernels: bool) -> Engine {
        let kernels = (kernels && precision == Precision::Bf16).then_some(Launcher::Host);
        Engine { device: Device::Cpu, precision, kernels, mixed_products: false, notes: Vec::new() }
    }

    /// Device and precision, for people.
    pub fn name(&self) -> String {
        let device = match self.device {
            Device::Cuda(index) => format!("GPU {index}"),
            _ => "CPU by the operations of a GPU".to_owned(),
        };
        let kernels = match &self.kernels {
            Some(Launcher::Gpu { module, .. }) => format!("kernels for {}", module.architecture()),
            Some(Launcher::Host) => "kernels as C++".to_owned(),
            None => "no kernels of our own".to_owned(),
        };
        format!("{device}, {} products, {kernels}", format!("{:?}", self.precision).to_lowercase())
    }

    /// The same without our own kernels.
    pub fn without_kernels(&self) -> Engine {
        let Engine { device, precision, mixed_products, .. } = *self;
        Engine { device, precision, kernels: None, mixed_products, notes: self.notes.clone() }
    }

    /// `out = a b`; a and b of the engine's precision, `out` f32.
    ///
    /// # Errors
    /// What torch reports.
    pub fn product(&self, out: &Tensor, a: &Tensor, b: &Tensor) -> Result<(), DeviceError> {
        let _ = match (self.precision, self.mixed_products) {
            (Precision::F32, _) => a.f_mm_out(out, b)?,
            (_, true) => a.f_mm_dtype_out(out, b, Kind::Float)?,
            (_, false) => a.f_to_kind(Kind::Float)?.f_mm_out(out, &b.f_to_kind(Kind::Float)?)?,
        };
        Ok(())
    }

    /// f32 memory of a shape, with any values.
    ///
    /// # Errors
    /// What torch reports.
    pub fn empty(&self, shape: &[i64], kind: Kind) -> Result<Tensor, DeviceError> {
        Ok(Tensor::f_empty(shape, (kind, self.device))?)
    }

    /// `[rows, width]`: 1 where the feature of a slot is active. Columns from `slots` on mean nothing.
    ///
    /// # Errors
    /// [`DeviceError`].
    pub fn multihot(&self, batch: &Packed, slots: usize, width: usize) -> Result<Tensor, DeviceError> {
        let shape = [batch.rows() as i64, width as i64];
        if let Some(kernels) = &self.kernels {
            let x = self.empty(&shape, Kind::BFloat16)?;
            kernels.multihot(&batch.indices, &x, slots)?;
            return Ok(x);
        }
        let indices = batch.indices.f_to_kind(Kind::Int64)?;
        // Where there is no feature: the column after the last slot.
        let none = Tensor::f_full([1], slots as i64, (Kind::Int64, self.device))?;
        let slot = indices.f_remainder(slots as i64)?.f_where_self(&indices.f_ge(0)?, &none)?;
        let mut x = Tensor::f_zeros(shape, (self.precision.kind(), self.device))?;
        Ok(x.f_scatter_value_(1, &slot, 1)?)
    }

    /// The inputs of the dense layers, `[positions, 2 side]`, and PSQT values `[positions]`, from the sums in their places.
    ///
    /// # Errors
    /// [`DeviceError`].
    pub fn activate(
        &self,
        sizes: &Sizes,
        (sums, bias): (&Tensor, &Tensor),
        batch: &Packed,
    ) -> Result<(Tensor, Tensor), DeviceError> {
        let positions = batch.positions as i64;
        let shape = [positions, 2 * sizes.side() as i64];
        if let Some(kernels) = &self.kernels {
            let inputs = self.empty(&shape, Kind::BFloat16)?;
            let values = self.empty(&[positions], Kind::Float)?;
            let places = (&batch.place, &batch.stacks);
            kernels.activate(sizes, (sums, bias), places, (&inputs, &values))?;
            return Ok((inputs, values));
        }
        let rows = sums.f_index_select(0, &batch.place.f_to_kind(Kind::Int64)?)?;
        let x = clipped(&rows, bias, sizes)?;
        let inputs = match halves(&x, sizes)? {
            Some((a, b)) => a.f_mul(&b)?,
            None => x,
        };
        let inputs = inputs.f_reshape(shape)?.f_to_kind(self.precision.kind())?;
        if sizes.psqt == 0 {
            return Ok((inputs, Tensor::f_zeros([positions], (Kind::Float, self.device))?));
        }
        let (l1, psqt) = (sizes.l1 as i64, sizes.psqt as i64);
        let parts = rows.f_narrow(1, l1, psqt)?.f_add(&rows.f_narrow(1, l1 + psqt, psqt)?)?;
        let chosen = parts.f_gather(1, &twice(&batch.stacks)?, false)?.f_view([positions, 2])?;
        Ok((inputs, chosen.f_select(1, 0)?.f_sub(&chosen.f_select(1, 1)?)?))
    }

    /// The gradient of the sums, `[rows, columns]` in their places, from those of [`Engine::activate`]'s results.
    ///
    /// # Errors
    /// [`DeviceError`].
    pub fn deactivate(
        &self,
        sizes: &Sizes,
        (sums, bias): (&Tensor, &Tensor),
        batch: &Packed,
        (inputs, values): (&Tensor, &Tensor),
    ) -> Result<Tensor, DeviceError> {
        let shape = [batch.rows() as i64, sizes.columns as i64];
        let g = self.empty(&shape, self.precision.kind())?;
        if let Some(kernels) = &self.kernels {
            let places = (&batch.place, &batch.stacks);
            kernels.deactivate(sizes, (sums, bias), places, (inputs, values), &g)?;
            return Ok(g);
        }
        let place = batch.place.f_to_kind(Kind::Int64)?;
        let x = clipped(&sums.f_index_select(0, &place)?, bias, sizes)?;
        let d = inputs.f_reshape([shape[0], sizes.side() as i64])?;
        let d = match halves(&x, sizes)? {
            Some((a, b)) => Tensor::f_cat(&[d.f_mul(&b)?, d.f_mul(&a)?], 1)?,
            None => d,
        };
        let inside = x.f_gt(0.0)?.f_logical_and(&x.f_lt(f64::from(sizes.clip))?)?;
        let mut parts = vec![d.f_mul(&inside)?];
        let options = (Kind::Float, self.device);
        if sizes.psqt > 0 {
            let values = values.f_view([-1, 1])?;
            let values = Tensor::f_cat(&[values.shallow_clone(), values.f_neg()?], 1)?.f_view([-1, 1])?;
            let mut whole = Tensor::f_zeros([shape[0], sizes.psqt as i64], options)?;
            let whole = whole.f_scatter_(1, &twice(&batch.stacks)?, &values)?;
            parts.extend(self.split(&whole)?);
        }
        let used = sizes.l1 + 2 * sizes.psqt;
        parts.push(Tensor::f_zeros([shape[0], (sizes.columns - used) as i64], options)?);
        let mut g = g;
        Ok(g.f_index_copy_(0, &place, &Tensor::f_cat(&parts, 1)?.f_to_kind(self.precision.kind())?)?)
    }

    /// A value as the sum of two that the engine's precision holds.
    fn split(&self, whole: &Tensor) -> Result<[Tensor; 2], DeviceError> {
        let high = whole.f_to_kind(self.precision.kind())?.f_to_kind(Kind::Float)?;
        let low = whole.f_sub(&high)?;
        Ok([high, low])
    }

    /// Writes merged rows `[features, width]` into their columns of the matrix that the transformer reads.
    ///
    /// # Errors
    /// What torch reports.
    pub fn write_merged(
        &self,
        merged: &Tensor,
        rows: &Tensor,
        (from, split): (usize, usize),
    ) -> Result<(), DeviceError> {
        let width = rows.size()[1];
        let put = |from: usize, rows: &Tensor| merged.f_narrow(1, from as i64, width)?.f_copy_(rows);
        if split == 0 {
            put(from, rows)?;
        } else {
            let [high, low] = self.split(rows)?;
            put(from, &high)?;
            put(from + split, &low)?;
        }
        Ok(())
    }

    /// One Adam update by torch's operations; `limit` is a number or a tensor like the weights. Nothing changes where `ok`
    /// is 0.
    ///
    /// # Errors
    /// What torch reports.
    pub fn adam(
        &self,
        [weights, first, second]: [&Tensor; 3],
        gradient: &Tensor,
        limit: Option<&Tensor>,
        ok: &Tensor,
        step: &AdamStep,
    ) -> Result<(), DeviceError> {
        let number = |value: f32| f64::from(value);
        let g = &gradient.f_mul_scalar(number(step.scale))?;
        let m = first.f_mul_scalar(number(step.beta1))?.f_add(&g.f_mul_scalar(number(1.0 - step.beta1))?)?;
        let square = g.f_mul_scalar(number(1.0 - step.beta2))?.f_mul(g)?;
        let v = second.f_mul_scalar(number(step.beta2))?.f_add(&square)?;
        let size = v.f_mul_scalar(number(step.correction2))?.f_sqrt()?.f_add_scalar(number(step.epsilon))?;
        let mean = m.f_mul_scalar(number(step.correction1))?.f_mul_scalar(number(step.rate))?;
        let decayed = weights.f_sub(&weights.f_mul_scalar(number(step.shrink))?)?;
        let mut w = decayed.f_sub(&mean.f_div(&size)?)?;
        if let Some(limit) = limit {
            w = w.f_clamp_tensor(Some(&limit.f_neg()?), Some(limit))?;
        }
        self.keep_if(ok, [(weights, &w), (first, &m), (second, &v)])
    }

    /// Puts new values in place of old ones unless `ok` is 0.
    ///
    /// # Errors
    /// What torch reports.
    pub fn keep_if<const N: usize>(
        &self,
        ok: &Tensor,
        pairs: [(&Tensor, &Tensor); N],
    ) -> Result<(), DeviceError> {
        let ok = ok.f_ne(0.0)?;
        for (old, new) in pairs {
            old.shallow_clone().f_copy_(&new.f_where_self(&ok, old)?)?;
        }
        Ok(())
    }

    /// The gradient of a table out of the transformer's columns.
    ///
    /// # Errors
    /// What torch reports.
    pub fn table_gradient(&self, gradient: &Tensor, table: &TableState<'_>) -> Result<Tensor, DeviceError> {
        let (from, width) = (table.from as i64, table.width as i64);
        let high = gradient.f_narrow(1, from, width)?;
        if table.split == 0 {
            return Ok(high);
        }
        Ok(high.f_add(&gradient.f_narrow(1, from + table.split as i64, width)?)?)
    }
}

/// `clamp(rows + bias, 0, clip)` of the first L1 columns.
fn clipped(rows: &Tensor, bias: &Tensor, sizes: &Sizes) -> Result<Tensor, DeviceError> {
    let x = rows.f_narrow(1, 0, sizes.l1 as i64)?.f_add(bias)?;
    Ok(x.f_clamp(0.0, f64::from(sizes.clip))?)
}

/// Both halves of rows whose products are taken.
fn halves(x: &Tensor, sizes: &Sizes) -> Result<Option<(Tensor, Tensor)>, DeviceError> {
    if !sizes.pairwise {
        return Ok(None);
    }
    let side = sizes.side() as i64;
    Ok(Some((x.f_narrow(1, 0, side)?, x.f_narrow(1, side, side)?)))
}

/// The stacks of positions as indices of their rows, i64 `[rows, 1]`.
fn twice(stacks: &Tensor) -> Result<Tensor, DeviceError> {
    Ok(stacks.f_to_kind(Kind::Int64)?.f_view([-1, 1])?.f_expand([-1, 2], false)?.f_reshape([-1, 1])?)
}

fn no_gpu(index: usize, count: i64) -> String {
    if count > 0 {
        return format!("there is no GPU {index}; this process sees {count}, counted from 0");
    }
    let cuda = crate::torch::library_folder().is_some_and(|lib| lib.join("libtorch_cuda.so").exists());
    if !cuda {
        return "the libtorch in use is that for CPUs alone; point LD_LIBRARY_PATH at the torch/lib of a full torch 2.11 \
                (`python3 scripts/setup-libtorch.py --full` makes one)"
            .to_owned();
    }
    match Gpu::open(0) {
        Err(error) => error.to_string(),
        Ok(_) => "torch finds no GPU, though the driver does; is CUDA_VISIBLE_DEVICES set?".to_owned(),
    }
}
