//! SSE4.1 (and SSSE3 below it): 8 sums or 16 products at a time.
#![expect(unsafe_code, reason = "calls after the CPU was asked")]

use std::arch::x86_64::*;

use nnue_format::quant::{CRELU_SHIFT, FT_MAX, PAIRWISE_SHIFT};

use crate::kernels::append_blocks;
use crate::kernels::loops::kernels;

type Vector = __m128i;
const PACK_LANES: usize = 1;
const TILE: usize = 2;
const CHAINS: usize = 1;

fn supported() -> bool {
    is_x86_feature_detected!("sse4.1")
        && is_x86_feature_detected!("ssse3")
        && is_x86_feature_detected!("popcnt")
}

#[inline]
#[target_feature(enable = "sse4.1")]
fn zero() -> Vector {
    _mm_setzero_si128()
}

#[inline]
#[target_feature(enable = "sse4.1")]
fn add_16(a: Vector, b: Vector) -> Vector {
    _mm_add_epi16(a, b)
}

#[inline]
#[target_feature(enable = "sse4.1")]
fn sub_16(a: Vector, b: Vector) -> Vector {
    _mm_sub_epi16(a, b)
}

#[inline]
#[target_feature(enable = "sse4.1")]
fn add_32(a: Vector, b: Vector) -> Vector {
    _mm_add_epi32(a, b)
}

#[inline]
#[target_feature(enable = "sse4.1")]
fn sub_32(a: Vector, b: Vector) -> Vector {
    _mm_sub_epi32(a, b)
}

#[inline]
#[target_feature(enable = "sse4.1")]
fn clip(sums: Vector) -> Vector {
    _mm_min_epi16(_mm_max_epi16(sums, zero()), _mm_set1_epi16(FT_MAX as i16))
}

#[inline]
#[target_feature(enable = "sse4.1")]
fn halve(sums: Vector) -> Vector {
    _mm_srli_epi16::<{ CRELU_SHIFT as i32 }>(sums)
}

/// `a * b >> 9` is the high half of `(a << 7) * b`.
#[inline]
#[target_feature(enable = "sse4.1")]
fn product(a: Vector, b: Vector) -> Vector {
    _mm_mulhi_epi16(_mm_slli_epi16::<{ 16 - PAIRWISE_SHIFT as i32 }>(a), b)
}

#[inline]
#[target_feature(enable = "sse4.1")]
fn pack(low: Vector, high: Vector) -> Vector {
    _mm_packus_epi16(low, high)
}

/// Bytes are at most 127, so four of them are not all zero where they are > 0 as an i32.
#[inline]
#[target_feature(enable = "sse4.1")]
fn non_zero(bytes: [Vector; 4]) -> u16 {
    let positive = |part: usize| _mm_cmpgt_epi32(bytes[part], zero());
    let words = [_mm_packs_epi32(positive(0), positive(1)), _mm_packs_epi32(positive(2), positive(3))];
    _mm_movemask_epi8(_mm_packs_epi16(words[0], words[1])) as u16
}

#[inline]
#[target_feature(enable = "sse4.1")]
fn splat(block: [u8; 4]) -> Vector {
    _mm_set1_epi32(i32::from_le_bytes(block))
}

/// Pairs of products fit an i16 (quant.rs), so nothing saturates.
#[inline]
#[target_feature(enable = "sse4.1,ssse3")]
fn dot(sums: Vector, x: Vector, weights: Vector) -> Vector {
    let pairs = _mm_maddubs_epi16(x, weights);
    _mm_add_epi32(sums, _mm_madd_epi16(pairs, _mm_set1_epi16(1)))
}

/// Packing saturates to -128..=127, which leaves only what is below 0 to clip.
#[inline]
#[target_feature(enable = "sse4.1")]
fn narrow(sums: [Vector; 4], shift: u32) -> [u8; 16] {
    let shift = _mm_cvtsi32_si128(shift as i32);
    let shifted = |part: usize| _mm_sra_epi32(sums[part], shift);
    let words = [_mm_packs_epi32(shifted(0), shifted(1)), _mm_packs_epi32(shifted(2), shifted(3))];
    bytes_of(_mm_max_epi8(_mm_packs_epi16(words[0], words[1]), zero()))
}

/// The bytes of a register.
#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn bytes_of(register: __m128i) -> [u8; 16] {
    let (low, high) = (_mm_cvtsi128_si64(register), _mm_extract_epi64::<1>(register));
    ((low as u64 as u128) | (high as u64 as u128) << 64).to_le_bytes()
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn total(sums: Vector) -> i32 {
    let pairs = _mm_add_epi32(sums, _mm_shuffle_epi32::<0b01_00_11_10>(sums));
    _mm_cvtsi128_si32(_mm_add_epi32(pairs, _mm_shuffle_epi32::<0b10_11_00_01>(pairs)))
}

static KERNELS: Kernels = Kernels {
    pack_lanes: PACK_LANES,
    // SAFETY: `KERNELS` is reached through `detect` alone, which asked the CPU for the features.
    update: |rows, source, add, sub, target| unsafe { update(rows, source, add, sub, target) },
    // SAFETY: as above.
    forward: |stack, sides, activation, scratch| unsafe { forward(stack, sides, activation, scratch) },
};

kernels!("sse4.1,ssse3,popcnt");
