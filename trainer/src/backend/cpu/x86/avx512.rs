#![expect(unsafe_code, reason = "vector loads and stores, and calls of functions for detected instructions")]
//! 512-bit vectors: sixteen floats each, two to a tile.

use super::super::kernel::{AdamSlices, AdamStep, Kernel, Pieces, Stripe, TILE};
use super::super::rows::{ByFeature, Grouped};
use super::super::scalar;
use std::arch::x86_64::*;

/// Vectors in a tile.
const N: usize = TILE / 16;

/// The kernel; a value of it exists only where the CPU has the instructions.
pub struct Avx512(());

impl Avx512 {
    /// The kernel, if this CPU has AVX-512 F, BW, DQ and VL.
    pub fn detect() -> Option<Avx512> {
        (is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl"))
        .then_some(Avx512(()))
    }
}

impl Kernel for Avx512 {
    fn name(&self) -> &'static str {
        "avx512"
    }

    fn forward(
        &self,
        weights: &[f32],
        bias: &[f32; TILE],
        rows: &Grouped,
        out: &mut Stripe<'_>,
        clip: Option<f32>,
    ) {
        // SAFETY: self exists, so the CPU has the instructions.
        unsafe { forward(weights, bias, rows, out, clip) }
    }

    fn mask(
        &self,
        x: &[f32],
        gradient: Pieces<'_>,
        rows: &Grouped,
        column: usize,
        packed: &mut [f32],
        bias_gradient: &mut [f32; TILE],
        clip: Option<f32>,
    ) {
        // SAFETY: self exists, so the CPU has the instructions.
        unsafe { mask(x, gradient, rows, column, packed, bias_gradient, clip) }
    }

    fn gather(&self, by_feature: &ByFeature, rows: &Grouped, packed: &[f32], gradient: &mut [f32]) {
        // SAFETY: self exists, so the CPU has the instructions.
        unsafe { gather(by_feature, rows, packed, gradient) }
    }

    fn adam(&self, state: AdamSlices<'_>, step: &AdamStep) {
        // SAFETY: self exists, so the CPU has the instructions.
        unsafe { adam(state, step) }
    }
}

/// Reads tiles that are about to be needed in no order: in order the processor fetches them far faster.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn read_ahead(tiles: &[[f32; TILE]]) {
    let mut any = _mm512_setzero_ps();
    for tile in tiles {
        for line in tile.as_chunks::<16>().0 {
            // SAFETY: a line is at least as long as a vector.
            any = _mm512_or_ps(any, unsafe { _mm512_loadu_ps(line.as_ptr()) });
        }
    }
    std::hint::black_box(any);
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn load(from: &[f32; TILE]) -> [__m512; N] {
    let mut tile = [_mm512_setzero_ps(); N];
    for (vector, part) in tile.iter_mut().zip(from.as_chunks::<16>().0) {
        // SAFETY: a part is as long as a vector.
        *vector = unsafe { _mm512_loadu_ps(part.as_ptr()) };
    }
    tile
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn store(to: &mut [f32; TILE], tile: [__m512; N]) {
    for (vector, part) in tile.into_iter().zip(to.as_chunks_mut::<16>().0) {
        // SAFETY: a part is as long as a vector.
        unsafe { _mm512_storeu_ps(part.as_mut_ptr(), vector) };
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn add(a: [__m512; N], b: [__m512; N]) -> [__m512; N] {
    let mut sum = a;
    for k in 0..N {
        sum[k] = _mm512_add_ps(a[k], b[k]);
    }
    sum
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn forward(weights: &[f32], bias: &[f32; TILE], rows: &Grouped, out: &mut Stripe<'_>, clip: Option<f32>) {
    let (weights, _) = weights.as_chunks::<TILE>();
    assert!(weights.len() >= rows.features() && out.rows() >= rows.len(), "a tile holds every feature");
    let zero = _mm512_setzero_ps();
    let bias = load(bias);
    for (bucket, places) in rows.buckets().enumerate() {
        if rows.pays_to_read_ahead(&places) {
            let end = ((bucket + 1) * rows.group()).min(weights.len());
            read_ahead(&weights[bucket * rows.group()..end]);
        }
        for place in places {
            let mut sum = bias;
            for &feature in rows.row(place) {
                // SAFETY: Grouped keeps feature < features, and features <= weights.len() was asserted.
                sum = add(sum, load(unsafe { weights.get_unchecked(usize::from(feature)) }));
            }
            if let Some(clip) = clip {
                let clip = _mm512_set1_ps(clip);
                for value in &mut sum {
                    // In this order of operands a NaN stays a NaN.
                    *value = _mm512_max_ps(zero, _mm512_min_ps(clip, *value));
                }
            }
            store(out.row(rows.rows()[place] as usize), sum);
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn mask(
    x: &[f32],
    gradient: Pieces<'_>,
    rows: &Grouped,
    column: usize,
    packed: &mut [f32],
    bias_gradient: &mut [f32; TILE],
    clip: Option<f32>,
) {
    let zero = _mm512_setzero_ps();
    let mut bias = load(bias_gradient);
    let (tiles, _) = packed.as_chunks_mut::<TILE>();
    for (row, &place) in rows.places().iter().enumerate() {
        let mut part = load(gradient.row(row, column));
        if let Some(clip) = clip {
            let clip = _mm512_set1_ps(clip);
            let active = load(super::super::kernel::tile_at(x, row * gradient.stride + column));
            for k in 0..N {
                let inside = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(active[k], zero)
                    & _mm512_cmp_ps_mask::<_CMP_LT_OQ>(active[k], clip);
                part[k] = _mm512_maskz_mov_ps(inside, part[k]);
            }
        }
        bias = add(bias, part);
        store(&mut tiles[place as usize], part);
    }
    store(bias_gradient, bias);
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn gather(by_feature: &ByFeature, rows: &Grouped, packed: &[f32], gradient: &mut [f32]) {
    let (packed, _) = packed.as_chunks::<TILE>();
    assert!(packed.len() >= by_feature.row_count(), "every row was packed");
    let tiles = gradient.as_chunks_mut::<TILE>().0.chunks_mut(rows.group());
    for ((bucket, places), tiles) in rows.buckets().enumerate().zip(tiles) {
        if rows.pays_to_read_ahead(&places) {
            read_ahead(&packed[places]);
        }
        for (slot, sum) in tiles.iter_mut().enumerate() {
            let places = by_feature.places_of(bucket * rows.group() + slot);
            if places.is_empty() {
                continue;
            }
            let mut total = load(sum);
            for &place in places {
                // SAFETY: ByFeature keeps place < row_count, and row_count <= packed.len() was asserted.
                total = add(total, load(unsafe { packed.get_unchecked(place as usize) }));
            }
            store(sum, total);
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn adam(state: AdamSlices<'_>, step: &AdamStep) {
    scalar::adam(state, step);
}
