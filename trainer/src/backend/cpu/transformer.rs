#![expect(unsafe_code, reason = "tasks write disjoint column stripes of one matrix")]
//! Forward and backward pass of the feature transformer over a chunk of rows: one task per tile.

use super::kernel::{Kernel, Stripe, TILE};
use super::rows::{ByFeature, Grouped};
use rayon::prelude::*;

/// A pointer that tasks share; each uses its own columns.
#[derive(Clone, Copy)]
struct Shared(*mut f32);
// SAFETY: the only user, `forward`, gives every task columns of its own.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    fn get(self) -> *mut f32 {
        self.0
    }
}

/// `out[r][c] = clamp(bias[c] + Σ weights[f][c], 0, clip)` for every row; no clamp when `clip` is none.
///
/// `weights` is tile-major, `[bias.len() / TILE][features][TILE]`; `out` is row-major, `rows × bias.len()`.
pub fn forward(
    kernel: &dyn Kernel,
    weights: &[f32],
    bias: &[f32],
    rows: &Grouped,
    out: &mut [f32],
    clip: Option<f32>,
) {
    let columns = bias.len();
    let tile_len = rows.features() * TILE;
    assert!(
        columns.is_multiple_of(TILE) && weights.len() == rows.features() * columns,
        "weights are whole tiles"
    );
    assert!(out.len() >= rows.len() * columns, "out holds every row");
    let shared = Shared(out.as_mut_ptr());
    let (bias, _) = bias.as_chunks::<TILE>();
    bias.par_iter().zip(weights.par_chunks(tile_len.max(1))).enumerate().with_max_len(1).for_each(
        |(tile, (bias, weights))| {
            // SAFETY: `out` is borrowed exclusively for this call and holds rows × columns floats; tile < columns /
            // TILE, and every tile has its own task, so its columns are written by nobody else.
            let mut stripe = unsafe { Stripe::new(shared.get(), rows.len(), columns, tile * TILE) };
            kernel.forward(weights, bias, rows, &mut stripe, clip);
        },
    );
}

/// Adds the gradient of a chunk to `gradient` (tile-major like the weights).
///
/// `packed` is the gradient of the sums, `[tiles][rows][TILE]`, rows at their places in `grouped`. The order of the sums
/// does not depend on the number of threads, nor on how a batch is cut into chunks: rows that share a feature share a
/// bucket, so grouping keeps them in rising order.
pub fn backward(
    kernel: &dyn Kernel,
    by_feature: &ByFeature,
    grouped: &Grouped,
    packed: &[f32],
    gradient: &mut [f32],
) {
    let tile_len = by_feature.features() * TILE;
    let packed_len = grouped.len() * TILE;
    if packed_len == 0 || tile_len == 0 {
        return;
    }
    assert!(gradient.len().is_multiple_of(tile_len), "whole tiles");
    assert!(packed.len() / packed_len >= gradient.len() / tile_len, "a packed tile for each");
    let tiles = gradient.par_chunks_mut(tile_len).zip(packed.par_chunks(packed_len));
    tiles.with_max_len(1).for_each(|(gradient, packed)| kernel.gather(by_feature, grouped, packed, gradient));
}
