//! One weight table of the feature transformer, with or without factors.
//!
//! What the kernels see is the *merged* table: `merged[f] = own[f] + factor[slot(f)]`. A gradient of the merged
//! row is the gradient of both summands, so the factor costs one pass over the table a step and nothing in the
//! kernels. After each update the merged weight is clipped to what an exported net can hold.

use crate::backend::cpu::kernel::{AdamSlices, AdamStep, Kernel, TILE};
use crate::backend::cpu::{AlignedVec, tile};
use crate::optim::Param;
use nnue_format::features::FeatureSet;
use rayon::prelude::*;

/// Rows that are updated and merged at a time, so that they are still in the cache.
const ROWS: usize = 64;

/// Rows shared by all buckets.
pub struct Factor {
    /// The shared rows, tile-major `[tiles][slots][TILE]`.
    pub param: Param,
    /// The shared row of each feature.
    slot_of: Vec<u16>,
    slots: usize,
    /// own + factor, tile-major like the table.
    merged: AlignedVec,
}

/// A table `[features][columns]`, kept tile-major with its columns filled up to whole tiles.
pub struct Table {
    features: usize,
    columns: usize,
    /// A row for each feature; its `gradient` is that of the merged row.
    pub own: Param,
    /// Shared rows, if the net is factorised.
    pub factor: Option<Factor>,
}

impl Table {
    /// A table of the row-major `own` (`features × columns`) and, for a factorised net, `factor` (`slots × columns`).
    pub fn new(set: FeatureSet, columns: usize, own: &[f32], factor: Option<&[f32]>) -> Table {
        let features = set.inputs();
        let own = Param::new(tile::from_rows(own, features, columns));
        let factor = factor.map(|rows| Factor {
            param: Param::new(tile::from_rows(rows, set.slot_count(), columns)),
            slot_of: (0..features).map(|f| set.virtual_index(f) as u16).collect(),
            slots: set.slot_count(),
            merged: AlignedVec::zeros(own.weights.len()),
        });
        let mut table = Table { features, columns, own, factor };
        table.merge();
        table
    }

    /// Columns, without the filling.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Rows of the table.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Shared rows; 0 without factors.
    pub fn slots(&self) -> usize {
        self.factor.as_ref().map_or(0, |factor| factor.slots)
    }

    /// What the kernels read: tile-major, factors added.
    pub fn merged(&self) -> &[f32] {
        match &self.factor {
            Some(factor) => &factor.merged,
            None => &self.own.weights,
        }
    }

    /// Where the kernels add the gradient of the merged table.
    pub fn gradient(&mut self) -> &mut [f32] {
        &mut self.own.gradient
    }

    /// The merged table and the place of its gradient.
    pub fn merged_and_gradient(&mut self) -> (&[f32], &mut [f32]) {
        let merged = match &self.factor {
            Some(factor) => &factor.merged,
            None => &self.own.weights,
        };
        (merged, &mut self.own.gradient)
    }

    /// Adds the factors anew, after weights were set from outside.
    pub fn merge(&mut self) {
        let Some(factor) = &mut self.factor else { return };
        let tile_len = self.features * TILE;
        let slot_len = factor.slots * TILE;
        let own = self.own.weights.par_chunks(tile_len);
        let shared = factor.param.weights.par_chunks(slot_len);
        factor.merged.par_chunks_mut(tile_len).zip(own.zip(shared)).for_each(|(merged, (own, shared))| {
            let rows = merged.as_chunks_mut::<TILE>().0.iter_mut().zip(own.as_chunks::<TILE>().0);
            for ((merged, own), &slot) in rows.zip(&factor.slot_of) {
                let shared = &shared.as_chunks::<TILE>().0[usize::from(slot)];
                for k in 0..TILE {
                    merged[k] = own[k] + shared[k];
                }
            }
        });
    }

    /// Makes the weights slow ones, where there are none yet.
    pub fn begin_slow(&mut self) {
        self.own.begin_slow();
        if let Some(factor) = &mut self.factor {
            factor.param.begin_slow();
        }
    }

    /// Lookahead on the table and its factors. What lies between two tables within the limits is within them.
    pub fn look_ahead(&mut self, part: f32) {
        self.own.look_ahead(part);
        if let Some(factor) = &mut self.factor {
            factor.param.look_ahead(part);
        }
        self.merge();
    }

    /// One Adam update with the gathered gradient; then clips the merged weights to `-limit..=limit` by changing
    /// the table's own weights. `step.limit` is not used.
    pub fn update(&mut self, kernel: &dyn Kernel, step: &AdamStep, limit: f32) {
        let Some(factor) = &mut self.factor else {
            self.own.update(kernel, &AdamStep { limit, ..*step });
            return;
        };
        let free = AdamStep { limit: f32::INFINITY, ..*step };
        let tile_len = self.features * TILE;
        let slot_len = factor.slots * TILE;
        let own = &mut self.own;
        let param = &mut factor.param;
        let slot_of = &factor.slot_of;
        let own =
            own.weights.par_chunks_mut(tile_len).zip(own.gradient.par_chunks_mut(tile_len)).zip(
                own.history.first.par_chunks_mut(tile_len).zip(own.history.second.par_chunks_mut(tile_len)),
            );
        let shared = param.weights.par_chunks_mut(slot_len).zip(param.gradient.par_chunks_mut(slot_len)).zip(
            param.history.first.par_chunks_mut(slot_len).zip(param.history.second.par_chunks_mut(slot_len)),
        );
        factor.merged.par_chunks_mut(tile_len).zip(own.zip(shared)).with_max_len(1).for_each(
            |(merged, (((w, g), (m, v)), ((sw, sg), (sm, sv))))| {
                sum_by_slot(g, slot_of, sg);
                let state = AdamSlices { weights: &mut *sw, gradient: sg, first: sm, second: sv };
                kernel.adam(state, &free);
                update_and_merge(kernel, &free, limit, (w, g, m, v), merged, sw, slot_of);
            },
        );
    }
}

/// `sums[slot] += Σ gradient[f]` over the features of each slot, in rising order of features.
fn sum_by_slot(gradient: &[f32], slot_of: &[u16], sums: &mut [f32]) {
    let (sums, _) = sums.as_chunks_mut::<TILE>();
    for (row, &slot) in gradient.as_chunks::<TILE>().0.iter().zip(slot_of) {
        let sum = &mut sums[usize::from(slot)];
        for k in 0..TILE {
            sum[k] += row[k];
        }
    }
}

type Slices<'a> = (&'a mut [f32], &'a mut [f32], &'a mut [f32], &'a mut [f32]);

/// Updates one tile of the table block by block, and merges and clips each block while it is in the cache.
fn update_and_merge(
    kernel: &dyn Kernel,
    step: &AdamStep,
    limit: f32,
    (w, g, m, v): Slices<'_>,
    merged: &mut [f32],
    shared: &[f32],
    slot_of: &[u16],
) {
    const LEN: usize = ROWS * TILE;
    let (shared, _) = shared.as_chunks::<TILE>();
    let blocks = w.chunks_mut(LEN).zip(g.chunks_mut(LEN)).zip(m.chunks_mut(LEN).zip(v.chunks_mut(LEN)));
    for ((block, merged), slots) in blocks.zip(merged.chunks_mut(LEN)).zip(slot_of.chunks(ROWS)) {
        let ((weights, gradient), (first, second)) = block;
        kernel.adam(AdamSlices { weights: &mut *weights, gradient, first, second }, step);
        let rows = weights.as_chunks_mut::<TILE>().0.iter_mut().zip(merged.as_chunks_mut::<TILE>().0);
        for ((own, merged), &slot) in rows.zip(slots) {
            let shared = &shared[usize::from(slot)];
            for k in 0..TILE {
                let sum = own[k] + shared[k];
                // A NaN is neither above nor below and stays, so that the loss shows it.
                let clipped = if sum > limit { limit } else { sum };
                let clipped = if clipped < -limit { -limit } else { clipped };
                if clipped != sum && !sum.is_nan() {
                    own[k] = clipped - shared[k];
                }
                // Not `clipped`: the difference was rounded, and a resumed run adds up what it reads.
                merged[k] = own[k] + shared[k];
            }
        }
    }
}
