//! AVX2: 16 sums or 32 products at a time.
#![expect(unsafe_code, reason = "calls after the CPU was asked")]

use std::arch::x86_64::*;

use nnue_format::quant::{CRELU_SHIFT, FT_MAX, PAIRWISE_SHIFT};

use super::sse41;
use crate::kernels::append_blocks;
use crate::kernels::loops::kernels;

pub(super) type Vector = __m256i;
pub(super) const PACK_LANES: usize = 2;
pub(super) const TILE: usize = 4;
const CHAINS: usize = 2;

pub(super) fn supported() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt")
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn zero() -> Vector {
    _mm256_setzero_si256()
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn add_16(a: Vector, b: Vector) -> Vector {
    _mm256_add_epi16(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn sub_16(a: Vector, b: Vector) -> Vector {
    _mm256_sub_epi16(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn add_32(a: Vector, b: Vector) -> Vector {
    _mm256_add_epi32(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn sub_32(a: Vector, b: Vector) -> Vector {
    _mm256_sub_epi32(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn clip(sums: Vector) -> Vector {
    _mm256_min_epi16(_mm256_max_epi16(sums, zero()), _mm256_set1_epi16(FT_MAX as i16))
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn halve(sums: Vector) -> Vector {
    _mm256_srli_epi16::<{ CRELU_SHIFT as i32 }>(sums)
}

/// `a * b >> 9` is the high half of `(a << 7) * b`.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn product(a: Vector, b: Vector) -> Vector {
    _mm256_mulhi_epi16(_mm256_slli_epi16::<{ 16 - PAIRWISE_SHIFT as i32 }>(a), b)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn pack(low: Vector, high: Vector) -> Vector {
    _mm256_packus_epi16(low, high)
}

/// Bytes are at most 127, so four of them are not all zero where they are > 0 as an i32.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn non_zero(bytes: [Vector; 2]) -> u16 {
    let mask = |part: usize| {
        let positive = _mm256_cmpgt_epi32(bytes[part], zero());
        _mm256_movemask_ps(_mm256_castsi256_ps(positive)) as u16
    };
    mask(0) | mask(1) << 8
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn splat(block: [u8; 4]) -> Vector {
    _mm256_set1_epi32(i32::from_le_bytes(block))
}

/// Pairs of products fit an i16 (quant.rs), so nothing saturates.
#[inline]
#[target_feature(enable = "avx2")]
fn dot(sums: Vector, x: Vector, weights: Vector) -> Vector {
    let pairs = _mm256_maddubs_epi16(x, weights);
    _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))
}

/// Packing saturates to -128..=127, which leaves only what is below 0 to clip.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn narrow(sums: [Vector; 2], shift: u32) -> [u8; 16] {
    let shift = _mm_cvtsi32_si128(shift as i32);
    let mixed = _mm256_packs_epi32(_mm256_sra_epi32(sums[0], shift), _mm256_sra_epi32(sums[1], shift));
    let words = _mm256_permute4x64_epi64::<0b11_01_10_00>(mixed);
    let bytes = _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words));
    sse41::bytes_of(_mm_max_epi8(bytes, _mm_setzero_si128()))
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn total(sums: Vector) -> i32 {
    sse41::total(_mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums)))
}

static KERNELS: Kernels = Kernels {
    pack_lanes: PACK_LANES,
    // SAFETY: `KERNELS` is reached through `detect` alone, which asked the CPU for the features.
    update: |rows, source, add, sub, target| unsafe { update(rows, source, add, sub, target) },
    // SAFETY: as above.
    forward: |stack, sides, activation, scratch| unsafe { forward(stack, sides, activation, scratch) },
};

kernels!("avx2,popcnt");
