//! The feature transformer on a device, in two ways that give the same sums and gradients:
//!
//! * **bucketed** – for each bucket of the feature set, its rows as a matrix of zeros and ones times the bucket's weights:
//!   a dense product, much of it by zero, but on tensor cores;
//! * **sparse** – our own kernels add up the weights of the active features alone.
//!
//! Which is faster depends on the feature set, the width and the GPU: [`super::choose`] measures.

use super::DeviceError;
use super::compute::Engine;
use super::kernels::ByFeature;
use super::packed::{ACTIVE, Packed};
use std::fmt;
use std::str::FromStr;
use tch::{Kind, Tensor};

/// Rows of a segment of the sparse backward pass: long enough to be worth a block, short enough that a king that stands in
/// every row is the work of many blocks.
const SEGMENT: usize = 256;

/// One of the two ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transformer {
    /// Dense products by bucket.
    Bucketed,
    /// Sums of rows.
    Sparse,
}

impl Transformer {
    /// Both.
    pub const ALL: [Transformer; 2] = [Transformer::Bucketed, Transformer::Sparse];
}

impl fmt::Display for Transformer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Transformer::Bucketed => "bucketed",
            Transformer::Sparse => "sparse",
        })
    }
}

impl FromStr for Transformer {
    type Err = DeviceError;

    fn from_str(text: &str) -> Result<Transformer, DeviceError> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.to_string() == text)
            .ok_or_else(|| DeviceError::Option(format!("transformer {text:?}, expected bucketed or sparse")))
    }
}

/// A forward pass: the sums, and what its way back needs.
pub struct Forward {
    /// f32 `[rows, columns]`, rows in their places, without bias.
    pub sums: Tensor,
    inputs: Option<Tensor>,
}

impl Transformer {
    /// The sums of the weights (`[features, columns]`, the engine's precision) of every row's features.
    ///
    /// # Errors
    /// [`DeviceError`]; the sparse way needs kernels.
    pub fn forward(
        self,
        engine: &Engine,
        batch: &Packed,
        slots: usize,
        weights: &Tensor,
    ) -> Result<Forward, DeviceError> {
        let columns = weights.size2()?.1;
        let sums = engine.empty(&[batch.rows() as i64, columns], Kind::Float)?;
        if self == Transformer::Sparse {
            kernels(engine)?.sparse_forward(&batch.indices, weights, &sums)?;
            return Ok(Forward { sums, inputs: None });
        }
        // One column for "no feature", then up to whole vectors.
        let width = (slots + 1).next_multiple_of(16);
        let x = engine.multihot(batch, slots, width)?;
        for_buckets(batch, |bucket, start, rows| {
            let x = x.f_narrow(0, start, rows)?.f_narrow(1, 0, slots as i64)?;
            let weights = weights.f_narrow(0, bucket * slots as i64, slots as i64)?;
            engine.product(&sums.f_narrow(0, start, rows)?, &x, &weights)
        })?;
        Ok(Forward { sums, inputs: Some(x) })
    }

    /// Writes the gradient of the weights, f32 `[features, columns]`, from that of the sums, `[rows, columns]` in
    /// the engine's precision.
    ///
    /// # Errors
    /// [`DeviceError`].
    pub fn backward(
        self,
        engine: &Engine,
        batch: &Packed,
        slots: usize,
        forward: &Forward,
        (g, gradient): (&Tensor, &Tensor),
    ) -> Result<(), DeviceError> {
        let features = gradient.size2()?.0 as usize;
        let x = match (self, &forward.inputs) {
            (Transformer::Bucketed, Some(x)) => x,
            _ => {
                let by_feature = sort(&batch.indices, features)?;
                return kernels(engine)?.sparse_backward(&by_feature, g, gradient);
            }
        };
        let mut done = vec![false; batch.rows_of.len()];
        for_buckets(batch, |bucket, start, rows| {
            done[bucket as usize] = true;
            let x = x.f_narrow(0, start, rows)?.f_narrow(1, 0, slots as i64)?;
            let gradient = gradient.f_narrow(0, bucket * slots as i64, slots as i64)?;
            engine.product(&gradient, &x.f_tr()?, &g.f_narrow(0, start, rows)?)
        })?;
        for bucket in (0..done.len()).filter(|&bucket| !done[bucket]) {
            let _ = gradient.f_narrow(0, (bucket * slots) as i64, slots as i64)?.f_zero_()?;
        }
        Ok(())
    }
}

/// Calls `each` with number, first place and rows of every bucket that has rows.
fn for_buckets(
    batch: &Packed,
    mut each: impl FnMut(i64, i64, i64) -> Result<(), DeviceError>,
) -> Result<(), DeviceError> {
    let mut start = 0;
    for (bucket, &rows) in batch.rows_of.iter().enumerate() {
        if rows > 0 {
            each(bucket as i64, start, rows as i64)?;
        }
        start += rows as i64;
    }
    Ok(())
}

/// Sorts the indices (`[rows, ACTIVE]`) by feature, on their device and without waiting for it.
///
/// # Errors
/// What torch reports.
pub fn sort(indices: &Tensor, features: usize) -> Result<ByFeature, DeviceError> {
    let device = indices.device();
    let keys = indices.f_view([-1])?.f_to_kind(Kind::Int)?;
    // Stable, so that the rows of a feature keep their order and sums are always the same.
    let (sorted, order) = keys.f_sort_stable(true, 0, false)?;
    let names = Tensor::f_arange(features as i64 + 1, (Kind::Int, device))?;
    // Places without a feature are -1 and come before feature 0.
    let offsets = names.f_searchsorted(&sorted, true, false, "left", None::<Tensor>)?;
    let counts =
        offsets.f_narrow(0, 1, features as i64)?.f_sub(&offsets.f_narrow(0, 0, features as i64)?)?;
    let each = counts.f_add_scalar(SEGMENT as i64 - 1)?.f_div_scalar_mode(SEGMENT as i64, "floor")?;
    let mut segments = Tensor::f_zeros([features as i64 + 1], (Kind::Int, device))?;
    segments.f_narrow(0, 1, features as i64)?.f_copy_(&each.f_cumsum(0, Kind::Int)?)?;
    let _ = &mut segments;
    // A feature has at most one segment that is not full.
    let most = features + indices.numel() / SEGMENT;
    Ok(ByFeature { order, offsets, segments, segment: SEGMENT, most })
}

fn kernels(engine: &Engine) -> Result<&super::launch::Launcher, DeviceError> {
    engine.kernels.as_ref().ok_or_else(|| {
        DeviceError::Option(
            "the sparse transformer needs kernels, which were not compiled; take --transformer bucketed"
                .to_owned(),
        )
    })
}

// A row of indices is as long as the kernels think.
const _: () = assert!(ACTIVE == 32);
