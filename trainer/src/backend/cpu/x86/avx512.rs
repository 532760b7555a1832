#![expect(unsafe_code, reason = "vector loads and stores, and calls of functions for detected instructions")]
//! 512-bit vectors: sixteen floats each, two to a tile.

use super::super::aligned::is_aligned;
use super::super::dense::{self, Hidden, Inputs, Scattered, Stack, StackGradients};
use super::super::kernel::{AdamSlices, AdamStep, Kernel, Stripe, TILE};
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
        (is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("avx512f")
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

    fn gather(&self, by_feature: &ByFeature, rows: &Grouped, packed: &[f32], gradient: &mut [f32]) {
        // SAFETY: self exists, so the CPU has the instructions.
        unsafe { gather(by_feature, rows, packed, gradient) }
    }

    fn dense_forward(&self, stack: &Stack, inputs: &Inputs<'_>, hidden: &mut Hidden) {
        // SAFETY: self exists, so the CPU has the instructions.
        unsafe { dense_forward(stack, inputs, hidden) }
    }

    fn dense_backward(
        &self,
        stack: &Stack,
        inputs: &Inputs<'_>,
        hidden: &Hidden,
        outputs: &[f32],
        gradients: &mut StackGradients,
        ft_bias: &mut [f32],
        sums: &mut Scattered<'_>,
    ) {
        // SAFETY: self exists, so the CPU has the instructions.
        unsafe { dense_backward(stack, inputs, hidden, outputs, gradients, ft_bias, sums) }
    }

    fn adam(&self, state: AdamSlices<'_>, step: &AdamStep) {
        // SAFETY: self exists, so the CPU has the instructions.
        unsafe { adam(state, step) }
    }
}

/// Reads tiles that are about to be needed in no order: in order the processor fetches them far faster.
#[inline]
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
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

/// A tile that begins where a cache line does. For sets as old as the floor of this program compilers cut other reads of
/// 256 bits in two.
///
/// # Safety
/// It begins there.
#[inline]
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn load_aligned(from: &[f32; TILE]) -> [__m512; N] {
    let mut tile = [_mm512_setzero_ps(); N];
    for (vector, part) in tile.iter_mut().zip(from.as_chunks::<16>().0) {
        // SAFETY: a part is as long as a vector, and as aligned as the caller promised.
        *vector = unsafe { _mm512_load_ps(part.as_ptr()) };
    }
    tile
}

#[inline]
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
fn load(from: &[f32; TILE]) -> [__m512; N] {
    let mut tile = [_mm512_setzero_ps(); N];
    for (vector, part) in tile.iter_mut().zip(from.as_chunks::<16>().0) {
        // SAFETY: a part is as long as a vector.
        *vector = unsafe { _mm512_loadu_ps(part.as_ptr()) };
    }
    tile
}

#[inline]
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
fn store(to: &mut [f32; TILE], tile: [__m512; N]) {
    for (vector, part) in tile.into_iter().zip(to.as_chunks_mut::<16>().0) {
        // SAFETY: a part is as long as a vector.
        unsafe { _mm512_storeu_ps(part.as_mut_ptr(), vector) };
    }
}

#[inline]
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
fn add(a: [__m512; N], b: [__m512; N]) -> [__m512; N] {
    let mut sum = a;
    for k in 0..N {
        sum[k] = _mm512_add_ps(a[k], b[k]);
    }
    sum
}

#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
fn forward(weights: &[f32], bias: &[f32; TILE], rows: &Grouped, out: &mut Stripe<'_>, clip: Option<f32>) {
    let (weights, _) = weights.as_chunks::<TILE>();
    assert!(weights.len() >= rows.features() && out.rows() >= rows.len(), "a tile holds every feature");
    assert!(is_aligned(weights.as_flattened()), "weights are aligned");
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
                // Tiles of an aligned table are aligned.
                sum = add(sum, unsafe { load_aligned(weights.get_unchecked(usize::from(feature))) });
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

#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
fn gather(by_feature: &ByFeature, rows: &Grouped, packed: &[f32], gradient: &mut [f32]) {
    let (packed, _) = packed.as_chunks::<TILE>();
    assert!(packed.len() >= by_feature.row_count(), "every row was packed");
    assert!(is_aligned(packed.as_flattened()), "packed rows are aligned");
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
                // Tiles of an aligned gradient are aligned.
                total = add(total, unsafe { load_aligned(packed.get_unchecked(place as usize)) });
            }
            store(sum, total);
        }
    }
}

#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
fn adam(state: AdamSlices<'_>, step: &AdamStep) {
    scalar::adam(state, step);
}

#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
fn dense_forward(stack: &Stack, inputs: &Inputs<'_>, hidden: &mut Hidden) {
    // SAFETY: this function is compiled for the instructions of its vectors.
    unsafe { dense::forward::forward::<__m512, 1, __m256>(stack, inputs, hidden) }
}

#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
fn dense_backward(
    stack: &Stack,
    inputs: &Inputs<'_>,
    hidden: &Hidden,
    outputs: &[f32],
    gradients: &mut StackGradients,
    ft_bias: &mut [f32],
    sums: &mut Scattered<'_>,
) {
    // SAFETY: as above.
    unsafe {
        dense::backward::backward::<__m512, 2>(stack, inputs, hidden, outputs, gradients, ft_bias, sums);
    }
}
