//! AVX-512 VNNI: AVX-512 with one instruction for the products of four bytes.
#![expect(unsafe_code, reason = "calls after the CPU was asked")]

use std::arch::x86_64::*;

use super::avx512::{self, PACK_LANES, TILE, Vector};
use super::avx512::{
    add_16, add_32, append_blocks, clip, halve, narrow, non_zero, pack, product, splat, sub_16, sub_32,
    total, zero,
};
use crate::kernels::loops::kernels;

/// Products are added with a latency of four or five cycles, one register to an output line.
const CHAINS: usize = 8;

fn supported() -> bool {
    avx512::supported() && is_x86_feature_detected!("avx512vnni")
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn dot(sums: Vector, x: Vector, weights: Vector) -> Vector {
    _mm512_dpbusd_epi32(sums, x, weights)
}

static KERNELS: Kernels = Kernels {
    pack_lanes: PACK_LANES,
    // SAFETY: `KERNELS` is reached through `detect` alone, which asked the CPU for the features.
    update: |rows, source, add, sub, target| unsafe { update(rows, source, add, sub, target) },
    // SAFETY: as above.
    forward: |stack, sides, activation, scratch| unsafe { forward(stack, sides, activation, scratch) },
};

kernels!("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,popcnt");
