#![expect(unsafe_code, reason = "tasks write disjoint column stripes of one matrix")]
//! Forward and backward pass of the feature transformer over a chunk of rows: one task per tile.

use super::aligned::AlignedVec;
use super::kernel::{Kernel, Pieces, Stripe, TILE};
use super::rows::{ByFeature, Grouped};
use rayon::prelude::*;
use std::cell::RefCell;

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

thread_local! {
    /// The packed gradient of one tile: kept, so that a step allocates nothing.
    static PACKED: RefCell<AlignedVec> = RefCell::new(AlignedVec::zeros(0));
}

/// Adds the gradient of a chunk to `gradient` (tile-major like the weights) and `bias_gradient`.
///
/// `x` is what [`forward`] wrote; `pieces` is the gradient with respect to it. The order of the sums does not
/// depend on the number of threads, nor on how a batch is cut into chunks: rows that share a feature share a bucket,
/// so grouping keeps them in rising order.
pub fn backward(
    kernel: &dyn Kernel,
    by_feature: &ByFeature,
    rows: &Grouped,
    x: &[f32],
    pieces: Pieces<'_>,
    gradient: &mut [f32],
    bias_gradient: &mut [f32],
    clip: Option<f32>,
) {
    let tile_len = by_feature.features() * TILE;
    let columns = bias_gradient.len();
    assert!(columns.is_multiple_of(TILE) && gradient.len() == by_feature.features() * columns, "whole tiles");
    let (bias_gradient, _) = bias_gradient.as_chunks_mut::<TILE>();
    gradient.par_chunks_mut(tile_len.max(1)).zip(bias_gradient).enumerate().with_max_len(1).for_each(
        |(tile, (gradient, bias_gradient))| {
            PACKED.with_borrow_mut(|packed| {
                let needed = by_feature.row_count() * TILE;
                if packed.len() < needed {
                    *packed = AlignedVec::zeros(needed);
                }
                let packed = &mut packed[..needed];
                kernel.mask(x, pieces, rows, tile * TILE, packed, bias_gradient, clip);
                kernel.gather(by_feature, rows, packed, gradient);
            });
        },
    );
}
