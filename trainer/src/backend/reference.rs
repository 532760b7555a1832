//! The feature transformer as anyone would write it: torch's `embedding_bag` under autograd.
//!
//! Slow and obvious; the kernels of [`super::cpu`] are measured against it.

use super::cpu::SparseRows;
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
    let (indices, offsets) = (Tensor::from_slice(&indices), Tensor::from_slice(&offsets));
    const SUM: i64 = 0;
    let (sums, ..) =
        Tensor::f_embedding_bag(weights, &indices, &offsets, false, SUM, false, None::<Tensor>, true)?;
    let sums = sums.f_to_kind(Kind::Float)?.f_add(bias)?;
    match clip {
        Some(clip) => sums.f_clamp(0.0, f64::from(clip)),
        None => Ok(sums),
    }
}
