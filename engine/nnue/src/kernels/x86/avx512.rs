//! AVX-512 F, BW, DQ and VL: 32 sums or 64 products at a time.
#![expect(unsafe_code, reason = "calls after the CPU was asked")]

use std::arch::x86_64::*;

use nnue_format::quant::{CRELU_SHIFT, FT_MAX, PAIRWISE_SHIFT};

use super::{avx2, sse41};
use crate::kernels::loops::kernels;
use crate::kernels::vector::store_unaligned;

pub(super) type Vector = __m512i;
pub(super) const PACK_LANES: usize = 4;
pub(super) const TILE: usize = 16;
const CHAINS: usize = 4;

pub(super) fn supported() -> bool {
    avx2::supported()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn zero() -> Vector {
    _mm512_setzero_si512()
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn add_16(a: Vector, b: Vector) -> Vector {
    _mm512_add_epi16(a, b)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn sub_16(a: Vector, b: Vector) -> Vector {
    _mm512_sub_epi16(a, b)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn add_32(a: Vector, b: Vector) -> Vector {
    _mm512_add_epi32(a, b)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn sub_32(a: Vector, b: Vector) -> Vector {
    _mm512_sub_epi32(a, b)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn clip(sums: Vector) -> Vector {
    _mm512_min_epi16(_mm512_max_epi16(sums, zero()), _mm512_set1_epi16(FT_MAX as i16))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn halve(sums: Vector) -> Vector {
    _mm512_srli_epi16::<CRELU_SHIFT>(sums)
}

/// `a * b >> 9` is the high half of `(a << 7) * b`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn product(a: Vector, b: Vector) -> Vector {
    _mm512_mulhi_epi16(_mm512_slli_epi16::<{ 16 - PAIRWISE_SHIFT }>(a), b)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn pack(low: Vector, high: Vector) -> Vector {
    _mm512_packus_epi16(low, high)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn non_zero(bytes: [Vector; 1]) -> u16 {
    _mm512_test_epi32_mask(bytes[0], bytes[0])
}

/// As [`append_blocks`](crate::kernels::append_blocks): sixteen numbers, those that count moved to the front, are stored.
/// Sixteen always fit: before block n at most n are counted.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,popcnt")]
pub(super) fn append_blocks(mask: u16, line: usize, blocks: &mut [u16], count: usize) -> usize {
    let first = _mm512_set1_epi32(16 * line as i32);
    let numbers =
        _mm512_add_epi32(first, _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    let counted = _mm512_maskz_compress_epi32(mask, numbers);
    if let Some(to) = blocks.get_mut(count..).and_then(|rest| rest.first_chunk_mut::<16>()) {
        store_unaligned(to, _mm512_cvtepi32_epi16(counted));
    }
    count + mask.count_ones() as usize
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn splat(block: [u8; 4]) -> Vector {
    _mm512_set1_epi32(i32::from_le_bytes(block))
}

/// Pairs of products fit an i16 (quant.rs), so nothing saturates.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn dot(sums: Vector, x: Vector, weights: Vector) -> Vector {
    let pairs = _mm512_maddubs_epi16(x, weights);
    _mm512_add_epi32(sums, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)))
}

/// Narrowing saturates to -128..=127, which leaves only what is below 0 to clip.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn narrow(sums: [Vector; 1], shift: u32) -> [u8; 16] {
    let bytes = _mm512_cvtsepi32_epi8(_mm512_sra_epi32(sums[0], _mm_cvtsi32_si128(shift as i32)));
    sse41::bytes_of(_mm_max_epi8(bytes, _mm_setzero_si128()))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn total(sums: Vector) -> i32 {
    _mm512_reduce_add_epi32(sums)
}

static KERNELS: Kernels = Kernels {
    pack_lanes: PACK_LANES,
    // SAFETY: `KERNELS` is reached through `detect` alone, which asked the CPU for the features.
    update: |rows, source, add, sub, target| unsafe { update(rows, source, add, sub, target) },
    // SAFETY: as above.
    forward: |stack, sides, activation, scratch| unsafe { forward(stack, sides, activation, scratch) },
};

kernels!("avx512f,avx512bw,avx512dq,avx512vl,popcnt");
