//! NEON, which every AArch64 has: 8 sums or 16 products at a time.
#![expect(unsafe_code, reason = "calls after the CPU was asked")]

use std::arch::aarch64::*;

use nnue_format::quant::{CRELU_SHIFT, FT_MAX, PAIRWISE_SHIFT};

use crate::kernels::append_blocks;
use crate::kernels::loops::kernels;

pub(super) type Vector = uint8x16_t;
pub(super) const PACK_LANES: usize = 1;
pub(super) const TILE: usize = 4;
const CHAINS: usize = 2;

pub(super) fn supported() -> bool {
    std::arch::is_aarch64_feature_detected!("neon")
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn zero() -> Vector {
    vdupq_n_u8(0)
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn add_16(a: Vector, b: Vector) -> Vector {
    vreinterpretq_u8_u16(vaddq_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)))
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn sub_16(a: Vector, b: Vector) -> Vector {
    vreinterpretq_u8_u16(vsubq_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)))
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn add_32(a: Vector, b: Vector) -> Vector {
    vreinterpretq_u8_u32(vaddq_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)))
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn sub_32(a: Vector, b: Vector) -> Vector {
    vreinterpretq_u8_u32(vsubq_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)))
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn clip(sums: Vector) -> Vector {
    let positive = vmaxq_s16(vreinterpretq_s16_u8(sums), vdupq_n_s16(0));
    vreinterpretq_u8_s16(vminq_s16(positive, vdupq_n_s16(FT_MAX as i16)))
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn halve(sums: Vector) -> Vector {
    vreinterpretq_u8_u16(vshrq_n_u16::<{ CRELU_SHIFT as i32 }>(vreinterpretq_u16_u8(sums)))
}

/// `a * b >> 9` is the high half of `2 * (a << 6) * b`, which is what SQDMULH gives; nothing
/// saturates, because both factors are far from -32768.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn product(a: Vector, b: Vector) -> Vector {
    let raised = vshlq_n_s16::<{ 15 - PAIRWISE_SHIFT as i32 }>(vreinterpretq_s16_u8(a));
    vreinterpretq_u8_s16(vqdmulhq_s16(raised, vreinterpretq_s16_u8(b)))
}

/// Words that fit a byte have it in the lower, even half.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn pack(low: Vector, high: Vector) -> Vector {
    vuzp1q_u8(low, high)
}

/// All-ones masks of 32 bits become masks of 16, then of 8, of which each keeps its own bit.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn non_zero(bytes: [Vector; 4]) -> u16 {
    let mask = |part: usize| {
        let block = vreinterpretq_u32_u8(bytes[part]);
        vreinterpretq_u16_u32(vtstq_u32(block, block))
    };
    let words = [vuzp1q_u16(mask(0), mask(1)), vuzp1q_u16(mask(2), mask(3))];
    let masks = vuzp1q_u8(vreinterpretq_u8_u16(words[0]), vreinterpretq_u8_u16(words[1]));
    let own_bit = vcombine_u8(vcreate_u8(OWN_BIT), vcreate_u8(OWN_BIT));
    let bits = vandq_u8(masks, own_bit);
    u16::from_le_bytes([vaddv_u8(vget_low_u8(bits)), vaddv_u8(vget_high_u8(bits))])
}

/// Byte `i` is `1 << i`.
const OWN_BIT: u64 = u64::from_le_bytes([1, 2, 4, 8, 16, 32, 64, 128]);

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn splat(block: [u8; 4]) -> Vector {
    vreinterpretq_u8_u32(vdupq_n_u32(u32::from_le_bytes(block)))
}

/// Inputs are at most 127, so they may be taken for signed bytes. Pairs of products fit an i16
/// (quant.rs).
#[inline]
#[target_feature(enable = "neon")]
fn dot(sums: Vector, x: Vector, weights: Vector) -> Vector {
    let (x, weights) = (vreinterpretq_s8_u8(x), vreinterpretq_s8_u8(weights));
    let low = vmull_s8(vget_low_s8(x), vget_low_s8(weights));
    let pairs = vpaddq_s16(low, vmull_high_s8(x, weights));
    vreinterpretq_u8_s32(vpadalq_s16(vreinterpretq_s32_u8(sums), pairs))
}

/// Narrowing saturates to -128..=127, which leaves only what is below 0 to clip.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn narrow(sums: [Vector; 4], shift: u32) -> [u8; 16] {
    // A shift to the left by a negative number is one to the right, with the sign.
    let right = vdupq_n_s32(-(shift as i32));
    let word = |part: usize| vqmovn_s32(vshlq_s32(vreinterpretq_s32_u8(sums[part]), right));
    let low = vqmovn_s16(vcombine_s16(word(0), word(1)));
    let high = vqmovn_s16(vcombine_s16(word(2), word(3)));
    let bytes = vreinterpretq_u64_s8(vmaxq_s8(vcombine_s8(low, high), vdupq_n_s8(0)));
    let (low, high) = (vgetq_lane_u64::<0>(bytes), vgetq_lane_u64::<1>(bytes));
    (u128::from(low) | u128::from(high) << 64).to_le_bytes()
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn total(sums: Vector) -> i32 {
    vaddvq_s32(vreinterpretq_s32_u8(sums))
}

static KERNELS: Kernels = Kernels {
    pack_lanes: PACK_LANES,
    // SAFETY: `KERNELS` is reached through `detect` alone, which asked the CPU for the features.
    update: |rows, source, add, sub, target| unsafe { update(rows, source, add, sub, target) },
    // SAFETY: as above.
    forward: |stack, sides, activation, scratch| unsafe { forward(stack, sides, activation, scratch) },
};

kernels!("neon");
