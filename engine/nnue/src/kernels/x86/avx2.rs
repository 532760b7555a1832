//! AVX2: 16 sums or 32 products at a time.
#![expect(unsafe_code, reason = "vector loads and stores, and calls after the CPU was asked")]

use std::arch::x86_64::*;

use nnue_format::Activation;
use nnue_format::quant::{CRELU_SHIFT, DENSE1_SHIFT, DENSE2_SHIFT, FT_MAX, HIDDEN_MAX, PAIRWISE_SHIFT};

use crate::kernels::{Kernels, Scratch};
use crate::net::{Dense, FeatureRows, Stack};

/// Packing two registers of words to one of bytes works per 128-bit lane:
/// `pack([a0 a1], [b0 b1]) = [a0 b0 a1 b1]`, each letter eight neurons. Stored as
/// `a0 a1 = 0..8 16..24` and `b0 b1 = 8..16 24..32`, the bytes come out in order.
const PACK_ORDER: [usize; 32] = {
    let lanes = [0, 16, 8, 24];
    let mut order = [0; 32];
    let mut i = 0;
    while i < 32 {
        order[i] = lanes[i / 8] + i % 8;
        i += 1;
    }
    order
};

static KERNELS: Kernels = Kernels {
    pack_order: &PACK_ORDER,
    // SAFETY (all three): `KERNELS` is reached through `detect` alone, which asked the CPU for AVX2 and POPCNT.
    update: |rows, source, add, sub, target| unsafe { update(rows, source, add, sub, target) },
    activate: |sums, activation, out| unsafe { activate(sums, activation, out) },
    propagate: |stack, input, scratch| unsafe { propagate(stack, input, scratch) },
};

/// The kernels, if this CPU has AVX2 and POPCNT.
pub(in crate::kernels) fn detect() -> Option<&'static Kernels> {
    (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt")).then_some(&KERNELS)
}

#[inline]
#[target_feature(enable = "avx2")]
fn load<T: Copy, const N: usize>(from: &[T; N]) -> __m256i {
    const { assert!(size_of::<[T; N]>() == 32) };
    // SAFETY: `from` is 32 readable bytes; the load needs no alignment. Any bytes are a vector.
    unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store<T: Integer, const N: usize>(to: &mut [T; N], value: __m256i) {
    const { assert!(size_of::<[T; N]>() == 32) };
    // SAFETY: `to` is 32 writable bytes; the store needs no alignment. `T` is an integer, of which
    // any bytes are a value.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), value) }
}

/// Integers: types of which any bytes are a value.
trait Integer: Copy {}
impl Integer for u8 {}
impl Integer for i16 {}
impl Integer for i32 {}

#[target_feature(enable = "avx2")]
fn update(rows: &FeatureRows, source: Option<&[i16]>, add: &[u32], sub: &[u32], target: &mut [i16]) {
    // 8 registers of 16 sums at a time stay in registers over all rows; L1 is a multiple of 64.
    let (tiles, rest) = target.as_chunks_mut::<128>();
    for (tile, target) in tiles.iter_mut().enumerate() {
        update_tile::<8>(rows, source, add, sub, tile * 128, target.as_chunks_mut::<16>().0);
    }
    let at = tiles.len() * 128;
    if !rest.is_empty() {
        update_tile::<4>(rows, source, add, sub, at, rest.as_chunks_mut::<16>().0);
    }
}

/// `N` registers of sums from column `at` on.
#[inline]
#[target_feature(enable = "avx2")]
fn update_tile<const N: usize>(
    rows: &FeatureRows,
    source: Option<&[i16]>,
    add: &[u32],
    sub: &[u32],
    at: usize,
    target: &mut [[i16; 16]],
) {
    let Some((target, _)) = target.split_first_chunk_mut::<N>() else { return };
    let start = match source {
        Some(source) => columns::<N>(source, at),
        None => &*target,
    };
    let mut sums = [_mm256_setzero_si256(); N];
    for i in 0..N {
        sums[i] = load(&start[i]);
    }
    for &feature in add {
        let row = columns::<N>(rows.row(feature), at);
        for i in 0..N {
            sums[i] = _mm256_add_epi16(sums[i], load(&row[i]));
        }
    }
    for &feature in sub {
        let row = columns::<N>(rows.row(feature), at);
        for i in 0..N {
            sums[i] = _mm256_sub_epi16(sums[i], load(&row[i]));
        }
    }
    for i in 0..N {
        store(&mut target[i], sums[i]);
    }
}

/// `N` registers' worth of a row from column `at` on.
#[inline]
fn columns<const N: usize>(row: &[i16], at: usize) -> &[[i16; 16]; N] {
    match row[at..].as_chunks::<16>().0.first_chunk() {
        Some(chunk) => chunk,
        None => &[[0; 16]; N],
    }
}

#[target_feature(enable = "avx2")]
fn activate(sums: &[i16], activation: Activation, out: &mut [u8]) {
    let out = out.as_chunks_mut::<32>().0;
    match activation {
        Activation::CRelu => {
            for (out, sums) in out.iter_mut().zip(sums.as_chunks::<32>().0) {
                let [low, high] = halves(sums);
                let shift = |x| _mm256_srai_epi16::<{ CRELU_SHIFT as i32 }>(clip(x));
                store(out, _mm256_packus_epi16(shift(low), shift(high)));
            }
        }
        Activation::Pairwise => {
            let (first, second) = sums.split_at(sums.len() / 2);
            let pairs = first.as_chunks::<32>().0.iter().zip(second.as_chunks::<32>().0);
            for (out, (a, b)) in out.iter_mut().zip(pairs) {
                let ([a0, a1], [b0, b1]) = (halves(a), halves(b));
                // a * b >> 9 is the high half of (a << 7) * b.
                let product = |a, b| {
                    let a = _mm256_slli_epi16::<{ 16 - PAIRWISE_SHIFT as i32 }>(clip(a));
                    _mm256_mulhi_epi16(a, clip(b))
                };
                store(out, _mm256_packus_epi16(product(a0, b0), product(a1, b1)));
            }
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn halves(sums: &[i16; 32]) -> [__m256i; 2] {
    let (low, high) = sums.split_at(16);
    [low, high].map(|half| half.first_chunk::<16>().map_or(_mm256_setzero_si256(), |half| load(half)))
}

#[inline]
#[target_feature(enable = "avx2")]
fn clip(sums: __m256i) -> __m256i {
    _mm256_min_epi16(_mm256_max_epi16(sums, _mm256_setzero_si256()), _mm256_set1_epi16(FT_MAX as i16))
}

#[target_feature(enable = "avx2,popcnt")]
fn propagate(stack: &Stack, input: &[u8], scratch: &mut Scratch) -> i32 {
    let Scratch { blocks, sums, hidden1, hidden2 } = scratch;
    let (hidden1, hidden2) = (&mut hidden1[..stack.dense1.outputs], &mut hidden2[..stack.dense2.outputs]);
    let count = non_zero_blocks(input, blocks);
    let non_zero = blocks[..count].iter().map(|&block| block as usize);
    affine(&stack.dense1, input, non_zero, sums);
    clip_hidden(&sums[..stack.dense1.outputs], DENSE1_SHIFT, hidden1);
    affine(&stack.dense2, hidden1, 0..hidden1.len() / 4, sums);
    clip_hidden(&sums[..stack.dense2.outputs], DENSE2_SHIFT, hidden2);
    let products = hidden2.iter().zip(stack.out_weights.iter());
    stack.out_bias + products.map(|(x, w)| i32::from(*x) * i32::from(*w)).sum::<i32>()
}

/// Vectorised by the compiler.
#[inline]
#[target_feature(enable = "avx2")]
fn clip_hidden(sums: &[i32], shift: u32, out: &mut [u8]) {
    for (out, sum) in out.iter_mut().zip(sums) {
        *out = (*sum >> shift).clamp(0, HIDDEN_MAX) as u8;
    }
}

/// Places of the set bits of each byte, low to high.
static BIT_PLACES: [[u16; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut count) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][count] = bit;
                count += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// Puts the numbers of the blocks of four inputs that are not all zero in `blocks`, returns how
/// many there are. Inputs are at most 127, so a block is non-zero where it is > 0 as an i32.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn non_zero_blocks(input: &[u8], blocks: &mut [u16]) -> usize {
    let mut count = 0;
    for (i, bytes) in input.as_chunks::<32>().0.iter().enumerate() {
        let positive = _mm256_cmpgt_epi32(load(bytes), _mm256_setzero_si256());
        let mask = _mm256_movemask_ps(_mm256_castsi256_ps(positive)) as usize & 255;
        let base = i as u16 * 8;
        let places = BIT_PLACES[mask].map(|place| base + place);
        // Eight are stored, `count` moves on by those that count; the last eight may not fit.
        if let Some(to) = blocks.get_mut(count..).and_then(|rest| rest.first_chunk_mut::<8>()) {
            *to = places;
        } else {
            for (to, place) in blocks.iter_mut().skip(count).zip(places) {
                *to = place;
            }
        }
        count += mask.count_ones() as usize;
    }
    count
}

/// `sums = biases + Σ over blocks of weights · inputs`.
#[inline]
#[target_feature(enable = "avx2")]
fn affine(layer: &Dense, input: &[u8], blocks: impl Iterator<Item = usize> + Clone, sums: &mut [i32]) {
    let mut at = 0;
    while at < layer.outputs {
        match layer.outputs - at {
            32.. => at += affine_tile::<4>(layer, input, blocks.clone(), at, sums),
            16.. => at += affine_tile::<2>(layer, input, blocks.clone(), at, sums),
            _ => at += affine_tile::<1>(layer, input, blocks.clone(), at, sums),
        }
    }
}

/// `N` registers of eight outputs each, from output `at` on; returns `8 * N`.
#[inline]
#[target_feature(enable = "avx2")]
fn affine_tile<const N: usize>(
    layer: &Dense,
    input: &[u8],
    blocks: impl Iterator<Item = usize>,
    at: usize,
    out: &mut [i32],
) -> usize {
    let ones = _mm256_set1_epi16(1);
    let mut sums = [_mm256_setzero_si256(); N];
    for (sum, bias) in sums.iter_mut().zip(layer.biases[at..].as_chunks::<8>().0) {
        *sum = load(bias);
    }
    let input = input.as_chunks::<4>().0;
    for block in blocks {
        let x = _mm256_set1_epi32(i32::from_le_bytes(input[block]));
        let weights = layer.block(block)[4 * at..].as_chunks::<32>().0;
        for (sum, weights) in sums.iter_mut().zip(&weights[..N]) {
            // u8 × i8: pairs of products fit an i16 (quant.rs), so nothing saturates.
            let pairs = _mm256_maddubs_epi16(x, load(weights));
            *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, ones));
        }
    }
    for (out, sum) in out[at..].as_chunks_mut::<8>().0.iter_mut().zip(sums) {
        store(out, sum);
    }
    8 * N
}
