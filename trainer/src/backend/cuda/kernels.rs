#![expect(unsafe_code, reason = "kernels read and write the memory of tensors, whose sizes are checked here")]
//! The kernels of `kernels.cu` as functions of tensors.
//!
//! Sizes, kinds and devices are checked here. What lies *in* the index tensors (feature below the number of features,
//! places below the number of rows, stacks below the number of stacks) was checked when the batch was packed
//! ([`super::packed`]), the only maker of them.

use super::DeviceError;
use super::launch::{Adam, Argument, Grid, Launcher, int};
use super::packed::ACTIVE;
use crate::backend::cpu::AdamStep;
use tch::{Kind, Tensor};

const HALF: Kind = Kind::BFloat16;
/// Threads of a block that works along a row.
const THREADS: usize = 128;

/// The sizes by which the kernels between the transformer and the dense layers go.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Sums of the feature transformer.
    pub l1: usize,
    /// Columns of the PSQT, 0 without.
    pub psqt: usize,
    /// All columns of the transformer, a multiple of 8.
    pub columns: usize,
    /// Products of pairs?
    pub pairwise: bool,
    /// The upper end of the activation.
    pub clip: f32,
}

impl Sizes {
    /// Inputs of the first dense layer from one side.
    pub fn side(&self) -> usize {
        if self.pairwise { self.l1 / 2 } else { self.l1 }
    }
}

/// The indices of a chunk sorted by feature, on the device.
pub struct ByFeature {
    /// Places of indices in the order of their features, i64.
    pub order: Tensor,
    /// Where each feature begins in it, i32 `[features + 1]`.
    pub offsets: Tensor,
    /// Where each feature's segments begin, i32 `[features + 1]`.
    pub segments: Tensor,
    /// Rows of a segment.
    pub segment: usize,
    /// No fewer than there are segments.
    pub most: usize,
}

/// A parameter that is a table, and what its update touches.
pub struct TableState<'a> {
    /// Weights, both moments: f32 `[rows, width]`.
    pub state: [&'a Tensor; 3],
    /// First column of its gradient.
    pub from: usize,
    /// Columns between the two parts of its gradient; 0: it has one.
    pub split: usize,
    /// Columns.
    pub width: usize,
}

fn sized(tensor: &Tensor, least: usize, what: &str) -> Result<(), DeviceError> {
    if tensor.numel() >= least {
        return Ok(());
    }
    Err(DeviceError::Tensor(format!("{what} has {} elements, expected {least} or more", tensor.numel())))
}

impl Launcher {
    fn sized(&self, tensor: &Tensor, kind: Kind, least: usize, what: &str) -> Result<Argument, DeviceError> {
        sized(tensor, least, what)?;
        self.memory(tensor, kind)
    }

    /// `[rows, width]` of ones where a feature is active.
    ///
    /// # Errors
    /// [`DeviceError`].
    pub fn multihot(&self, indices: &Tensor, x: &Tensor, slots: usize) -> Result<(), DeviceError> {
        let (rows, width) = x.size2().map_err(DeviceError::from)?;
        let (rows, width) = (rows as usize, width as usize);
        let mut arguments = [
            self.sized(indices, Kind::Int16, rows * ACTIVE, "indices")?,
            self.sized(x, HALF, rows * width, "x")?,
            int(slots)?,
            int(width)?,
        ];
        eights(width)?;
        // SAFETY: the signature in kernels.cu; rows × ACTIVE indices and rows × width places, checked above.
        unsafe { self.run(c"multihot", Grid::new(rows, width / 8)?, &mut arguments) }
    }

    /// `sums[row] = Σ weights[feature]`, `[rows, columns]` and `[features, columns]`.
    ///
    /// # Errors
    /// [`DeviceError`].
    pub fn sparse_forward(
        &self,
        indices: &Tensor,
        weights: &Tensor,
        sums: &Tensor,
    ) -> Result<(), DeviceError> {
        let (rows, columns) = sums.size2()?;
        let (rows, columns) = (rows as usize, columns as usize);
        same_columns(weights, columns)?;
        let mut arguments = [
            self.sized(indices, Kind::Int16, rows * ACTIVE, "indices")?,
            self.memory(weights, HALF)?,
            self.memory(sums, Kind::Float)?,
            int(columns)?,
        ];
        eights(columns)?;
        // SAFETY: the signature in kernels.cu; sizes checked above, indices are below the features by their making.
        unsafe { self.run(c"sparse_forward", Grid::new(rows, columns / 8)?, &mut arguments) }
    }

    /// `gradient[feature] = Σ g[row]` over the rows in which the feature is active; both have `columns` columns.
    ///
    /// # Errors
    /// [`DeviceError`].
    pub fn sparse_backward(
        &self,
        by_feature: &ByFeature,
        g: &Tensor,
        gradient: &Tensor,
    ) -> Result<(), DeviceError> {
        let (features, columns) = gradient.size2()?;
        let (features, columns) = (features as usize, columns as usize);
        same_columns(g, columns)?;
        eights(columns)?;
        let rows = g.size()[0] as usize;
        let ByFeature { order, offsets, segments, segment, most } = by_feature;
        let options = (Kind::Float, gradient.device());
        let partial = Tensor::f_empty([*most as i64, columns as i64], options)?;
        let order = self.sized(order, Kind::Int64, rows * ACTIVE, "order")?;
        let offsets = self.sized(offsets, Kind::Int, features + 1, "offsets")?;
        let segments = self.sized(segments, Kind::Int, features + 1, "segments")?;
        let (g, partial) = (self.memory(g, HALF)?, self.memory(&partial, Kind::Float)?);
        let gradient = self.memory(gradient, Kind::Float)?;
        let (features_int, columns_int) = (int(features)?, int(columns)?);
        let mut arguments =
            [order, offsets, segments, g, gradient, partial, features_int, columns_int, int(*segment)?];
        let mut reduce = [segments, partial, gradient, columns_int];
        // SAFETY: the signatures in kernels.cu; sizes checked above; order, offsets and segments are made by
        // `transformer::sort` of one set of indices, so places are below rows × ACTIVE and segments at most `most`.
        unsafe {
            self.run(c"sparse_backward", Grid::new(*most, columns / 8)?, &mut arguments)?;
            self.run(c"sparse_reduce", Grid::new(features, THREADS)?, &mut reduce)
        }
    }

    /// The inputs of the dense layers `[positions, 2 side]` and the PSQT values `[positions]`.
    ///
    /// # Errors
    /// [`DeviceError`].
    pub fn activate(
        &self,
        sizes: &Sizes,
        (sums, bias): (&Tensor, &Tensor),
        (place, stacks): (&Tensor, &Tensor),
        (inputs, values): (&Tensor, &Tensor),
    ) -> Result<(), DeviceError> {
        let positions = stacks.numel();
        let [l1, columns, psqt, pairwise] = self.shape(sizes)?;
        let mut arguments = [
            self.sized(sums, Kind::Float, 2 * positions * sizes.columns, "sums")?,
            self.sized(bias, Kind::Float, sizes.l1, "bias")?,
            self.sized(place, Kind::Int, 2 * positions, "place")?,
            self.memory(stacks, Kind::Int)?,
            self.sized(inputs, HALF, positions * 2 * sizes.side(), "inputs")?,
            self.sized(values, Kind::Float, positions, "values")?,
            l1,
            columns,
            psqt,
            pairwise,
            Argument::Float(sizes.clip),
        ];
        // SAFETY: the signature in kernels.cu; sizes checked above, places are below the rows by their making.
        unsafe { self.run(c"activate", Grid::new(positions, THREADS)?, &mut arguments) }
    }

    /// The gradient `g` `[rows, columns]` of the sums, rows in their places.
    ///
    /// # Errors
    /// [`DeviceError`].
    pub fn deactivate(
        &self,
        sizes: &Sizes,
        (sums, bias): (&Tensor, &Tensor),
        (place, stacks): (&Tensor, &Tensor),
        (inputs, values): (&Tensor, &Tensor),
        g: &Tensor,
    ) -> Result<(), DeviceError> {
        let positions = stacks.numel();
        let [l1, columns, psqt, pairwise] = self.shape(sizes)?;
        let mut arguments = [
            self.sized(sums, Kind::Float, 2 * positions * sizes.columns, "sums")?,
            self.sized(bias, Kind::Float, sizes.l1, "bias")?,
            self.sized(place, Kind::Int, 2 * positions, "place")?,
            self.memory(stacks, Kind::Int)?,
            self.sized(inputs, Kind::Float, positions * 2 * sizes.side(), "gradient of the inputs")?,
            self.sized(values, Kind::Float, positions, "gradient of the values")?,
            self.sized(g, HALF, 2 * positions * sizes.columns, "g")?,
            l1,
            columns,
            psqt,
            pairwise,
            Argument::Float(sizes.clip),
        ];
        // SAFETY: as for `activate`.
        unsafe { self.run(c"deactivate", Grid::new(positions, THREADS)?, &mut arguments) }
    }

    fn shape(&self, sizes: &Sizes) -> Result<[Argument; 4], DeviceError> {
        eights(sizes.columns)?;
        if sizes.l1 + 2 * sizes.psqt > sizes.columns {
            return Err(DeviceError::Tensor(format!("{sizes:?}: too few columns")));
        }
        Ok([int(sizes.l1)?, int(sizes.columns)?, int(sizes.psqt)?, Argument::Int(i32::from(sizes.pairwise))])
    }

    /// One Adam update of weights that have limits of their own; all six are of one length.
    ///
    /// # Errors
    /// [`DeviceError`].
    pub fn adam_flat(
        &self,
        [weights, gradient, first, second, limits]: [&Tensor; 5],
        ok: &Tensor,
        step: &AdamStep,
    ) -> Result<(), DeviceError> {
        let count = weights.numel();
        let mut arguments = [
            self.memory(weights, Kind::Float)?,
            self.sized(gradient, Kind::Float, count, "gradient")?,
            self.sized(first, Kind::Float, count, "first moments")?,
            self.sized(second, Kind::Float, count, "second moments")?,
            self.sized(limits, Kind::Float, count, "limits")?,
            self.sized(ok, Kind::Float, 1, "ok")?,
            int(count)?,
            Argument::Adam(Adam::from(step)),
        ];
        // SAFETY: the signature in kernels.cu; sizes checked above, the kernel stops at `count`.
        unsafe { self.run(c"adam_flat", Grid::new(count.div_ceil(THREADS), THREADS)?, &mut arguments) }
    }

    /// One Adam update of shared rows `[slots, width]`; their gradient is summed over the buckets of `gradient`
    /// (`[buckets × slots, columns]`).
    ///
    /// # Errors
    /// [`DeviceError`].
    pub fn adam_shared(
        &self,
        shared: &TableState<'_>,
        gradient: &Tensor,
        ok: &Tensor,
        step: &AdamStep,
    ) -> Result<(), DeviceError> {
        let (features, columns) = gradient.size2()?;
        let slots = shared.state[0].size()[0] as usize;
        let [w, m, v] = self.table(shared, slots, columns as usize)?;
        let mut arguments = [
            w,
            self.memory(gradient, Kind::Float)?,
            m,
            v,
            self.sized(ok, Kind::Float, 1, "ok")?,
            int(features as usize / slots.max(1))?,
            int(shared.width)?,
            int(columns as usize)?,
            int(shared.from)?,
            int(shared.split)?,
            Argument::Adam(Adam::from(step)),
        ];
        // SAFETY: the signature in kernels.cu; sizes checked above and in `table`.
        unsafe { self.run(c"adam_shared", Grid::new(slots, THREADS)?, &mut arguments) }
    }

    /// One Adam update of a table's own rows `[features, width]`, clipped together with the shared rows to ±`limit`; the
    /// merged rows go to `merged` (`[features, columns]`). `step.limit` is not used.
    ///
    /// # Errors
    /// [`DeviceError`].
    pub fn adam_table(
        &self,
        own: &TableState<'_>,
        shared: Option<&Tensor>,
        (gradient, merged): (&Tensor, &Tensor),
        ok: &Tensor,
        (step, limit): (&AdamStep, f32),
    ) -> Result<(), DeviceError> {
        let (features, columns) = gradient.size2()?;
        let (features, columns) = (features as usize, columns as usize);
        let [w, m, v] = self.table(own, features, columns)?;
        let slots = shared.map_or(1, |shared| shared.size()[0] as usize);
        let shared = match shared {
            Some(shared) => self.sized(shared, Kind::Float, slots * own.width, "shared rows")?,
            None => Argument::Memory(std::ptr::null_mut()),
        };
        let mut arguments = [
            w,
            self.memory(gradient, Kind::Float)?,
            m,
            v,
            shared,
            self.sized(merged, HALF, features * columns, "merged rows")?,
            self.sized(ok, Kind::Float, 1, "ok")?,
            int(slots)?,
            int(own.width)?,
            int(columns)?,
            int(own.from)?,
            int(own.split)?,
            Argument::Float(limit),
            Argument::Adam(Adam::from(&AdamStep { limit: f32::INFINITY, ..*step })),
        ];
        // SAFETY: the signature in kernels.cu; sizes checked above and in `table`.
        unsafe { self.run(c"adam_table", Grid::new(features, THREADS)?, &mut arguments) }
    }

    fn table(
        &self,
        table: &TableState<'_>,
        rows: usize,
        columns: usize,
    ) -> Result<[Argument; 3], DeviceError> {
        if table.from + table.split + table.width > columns {
            return Err(DeviceError::Tensor("a table's columns are beyond those of its gradient".to_owned()));
        }
        let [w, m, v] = table.state;
        let part = |tensor| self.sized(tensor, Kind::Float, rows * table.width, "a table");
        Ok([part(w)?, part(m)?, part(v)?])
    }
}

fn eights(columns: usize) -> Result<(), DeviceError> {
    if columns.is_multiple_of(8) && columns > 0 {
        return Ok(());
    }
    Err(DeviceError::Tensor(format!("{columns} columns, expected a multiple of 8")))
}

fn same_columns(matrix: &Tensor, columns: usize) -> Result<(), DeviceError> {
    let (_, found) = matrix.size2()?;
    if found as usize == columns {
        return Ok(());
    }
    Err(DeviceError::Tensor(format!("a matrix of {found} columns beside one of {columns}")))
}
