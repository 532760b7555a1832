//! AVX-VNNI: AVX2 with one instruction for the products of four bytes.
#![expect(unsafe_code, reason = "calls after the CPU was asked")]

use std::arch::x86_64::*;

use super::avx2::{self, PACK_LANES, TILE, Vector};
use super::avx2::{
    add_16, add_32, clip, halve, narrow, non_zero, pack, product, splat, sub_16, sub_32, total, zero,
};
use crate::kernels::append_blocks;
use crate::kernels::loops::kernels;

/// Products are added with a latency of four or five cycles, two registers to an output line.
const CHAINS: usize = 4;

fn supported() -> bool {
    avx2::supported() && is_x86_feature_detected!("avxvnni")
}

#[inline]
#[target_feature(enable = "avx2,avxvnni")]
fn dot(sums: Vector, x: Vector, weights: Vector) -> Vector {
    _mm256_dpbusd_avx_epi32(sums, x, weights)
}

static KERNELS: Kernels = Kernels {
    pack_lanes: PACK_LANES,
    // SAFETY: `KERNELS` is reached through `detect` alone, which asked the CPU for the features.
    update: |rows, source, add, sub, target| unsafe { update(rows, source, add, sub, target) },
    // SAFETY: as above.
    forward: |stack, sides, activation, scratch| unsafe { forward(stack, sides, activation, scratch) },
};

kernels!("avx2,avxvnni,popcnt");
