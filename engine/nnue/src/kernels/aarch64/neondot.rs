//! NEON with the dot products of Armv8.2: one instruction for the products of four bytes.
#![expect(unsafe_code, reason = "calls after the CPU was asked; an instruction without a stable intrinsic")]

use std::arch::aarch64::*;

use super::neon::{self, PACK_LANES, TILE, Vector};
use super::neon::{
    add_16, add_32, clip, halve, narrow, non_zero, pack, product, splat, sub_16, sub_32, total, zero,
};
use crate::kernels::append_blocks;
use crate::kernels::loops::kernels;

/// Products are added with a latency of three or four cycles, four registers to an output line.
const CHAINS: usize = 2;

fn supported() -> bool {
    neon::supported() && std::arch::is_aarch64_feature_detected!("dotprod")
}

/// Inputs are at most 127, so they may be taken for signed bytes, and SDOT serves.
#[inline]
#[target_feature(enable = "neon,dotprod")]
fn dot(sums: Vector, x: Vector, weights: Vector) -> Vector {
    let mut sums = vreinterpretq_s32_u8(sums);
    // SAFETY: SDOT reads and writes its three registers and nothing else. Callers have the feature.
    unsafe {
        std::arch::asm!(
            "sdot {sums:v}.4s, {x:v}.16b, {weights:v}.16b",
            sums = inout(vreg) sums,
            x = in(vreg) x,
            weights = in(vreg) weights,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    vreinterpretq_u8_s32(sums)
}

static KERNELS: Kernels = Kernels {
    pack_lanes: PACK_LANES,
    // SAFETY: `KERNELS` is reached through `detect` alone, which asked the CPU for the features.
    update: |rows, source, add, sub, target| unsafe { update(rows, source, add, sub, target) },
    // SAFETY: as above.
    forward: |stack, sides, activation, scratch| unsafe { forward(stack, sides, activation, scratch) },
};

kernels!("neon,dotprod");
