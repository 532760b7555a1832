//! The net as anyone would write it: torch's `embedding_bag` and linear layers under autograd.
//!
//! Slow and obvious; the kernels of [`super::cpu`] are measured against it.

use super::cpu::SparseRows;
use nnue_format::quant::HIDDEN_CLIP;
use tch::{Kind, TchError, Tensor};

/// `clamp(bias + Σ weights[f], 0, clip)` for every row, no clamp without `clip`; `weights` is `[features, columns]`, `bias` `[columns]`, the result
/// `[rows, columns]` with a graph behind it.
///
/// # Errors
/// What torch reports, as when shapes do not fit.
pub fn transform(
    weights: &Tensor,
    bias: &Tensor,
    rows: &SparseRows<'_>,
    clip: Option<f32>,
) -> Result<Tensor, TchError> {
    let mut indices: Vec<i64> = Vec::new();
    let mut offsets: Vec<i64> = vec![0];
    for row in 0..rows.len() {
        indices.extend(rows.row(row).iter().map(|&f| i64::from(f)));
        offsets.push(indices.len() as i64);
    }
    let on_device = |values: &[i64]| Tensor::from_slice(values).f_to_device(weights.device());
    let (indices, offsets) = (on_device(&indices)?, on_device(&offsets)?);
    const SUM: i64 = 0;
    let (sums, ..) =
        Tensor::f_embedding_bag(weights, &indices, &offsets, false, SUM, false, None::<Tensor>, true)?;
    let sums = sums.f_to_kind(Kind::Float)?.f_add(bias)?;
    match clip {
        Some(clip) => sums.f_clamp(0.0, f64::from(clip)),
        None => Ok(sums),
    }
}

/// The outputs `[rows, 1]` of one stack for clipped sums `x`, `[rows, 2 L1]`; `layers` are its six parameters in the
/// order of [`crate::model::dense::LAYERS`].
///
/// # Errors
/// What torch reports.
pub fn dense(x: &Tensor, layers: &[Tensor], pairwise: bool) -> Result<Tensor, TchError> {
    let inputs = if pairwise {
        let halves = x.f_view([x.size()[0], 2, 2, -1])?;
        halves.f_select(2, 0)?.f_mul(&halves.f_select(2, 1)?)?.f_view([x.size()[0], -1])?
    } else {
        x.shallow_clone()
    };
    let layer = |x: &Tensor, i: usize| x.f_linear(&layers[i], Some(&layers[i + 1]));
    let limit = f64::from(HIDDEN_CLIP);
    let hidden = layer(&inputs, 0)?.f_clamp(0.0, limit)?;
    let hidden = layer(&hidden, 2)?.f_clamp(0.0, limit)?;
    layer(&hidden, 4)
}
