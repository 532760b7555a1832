//! AVX2: 16 sums or 32 products at a time.
#![expect(unsafe_code, reason = "vector loads and stores, and calls after the CPU was asked")]

use std::arch::x86_64::*;

use nnue_format::Activation;
use nnue_format::quant::{CRELU_SHIFT, DENSE1_SHIFT, DENSE2_SHIFT, FT_MAX, PAIRWISE_SHIFT};

use crate::aligned::{Bytes, Ints, Lane, SignedBytes, Words};
use crate::kernels::{Kernels, Scratch, clip_hidden, output};
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
    // SAFETY: `KERNELS` is reached through `detect` alone, which asked the CPU for AVX2.
    update: |rows, source, add, sub, target| unsafe { update(rows, source, add, sub, target) },
    // SAFETY: as above.
    activate: |sums, activation, out| unsafe { activate(sums, activation, out) },
    // SAFETY: as above; `detect` asked for POPCNT too.
    propagate: |stack, input, scratch| unsafe { propagate(stack, input, scratch) },
};

/// The kernels, if this CPU has AVX2 and POPCNT.
pub(in crate::kernels) fn detect() -> Option<&'static Kernels> {
    (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt")).then_some(&KERNELS)
}

#[inline]
#[target_feature(enable = "avx2")]
fn load<T: Integer, const N: usize>(from: &Lane<T, N>) -> __m256i {
    const { assert!(size_of::<Lane<T, N>>() == 32 && align_of::<Lane<T, N>>() == 32) };
    // SAFETY: `from` is 32 readable, initialised bytes (the assertion leaves no room for padding in
    // an array of integers), aligned to 32.
    unsafe { _mm256_load_si256(std::ptr::from_ref(from).cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store<T: Integer, const N: usize>(to: &mut Lane<T, N>, value: __m256i) {
    const { assert!(size_of::<Lane<T, N>>() == 32 && align_of::<Lane<T, N>>() == 32) };
    // SAFETY: `to` is 32 writable bytes, aligned to 32. `T` is an integer, of which any bytes are
    // a value.
    unsafe { _mm256_store_si256(std::ptr::from_mut(to).cast(), value) }
}

/// Integers of 1, 2 and 4 bytes, of which any bytes are a value.
trait Integer: Copy {}
impl Integer for u8 {}
impl Integer for i8 {}
impl Integer for i16 {}
impl Integer for i32 {}

#[target_feature(enable = "avx2")]
fn update(rows: &FeatureRows, source: Option<&[Words]>, add: &[u32], sub: &[u32], target: &mut [Words]) {
    // 8 registers of 16 sums at a time stay in registers over all rows; L1 is a multiple of 64, so
    // that 4 registers may be left.
    let (tiles, rest) = target.as_chunks_mut::<8>();
    for (tile, target) in tiles.iter_mut().enumerate() {
        update_tile(rows, source, add, sub, tile * 8, target);
    }
    let at = tiles.len() * 8;
    if let Some(target) = rest.first_chunk_mut::<4>() {
        update_tile(rows, source, add, sub, at, target);
    }
}

/// `N` registers of sums from lane `at` on.
#[inline]
#[target_feature(enable = "avx2")]
fn update_tile<const N: usize>(
    rows: &FeatureRows,
    source: Option<&[Words]>,
    add: &[u32],
    sub: &[u32],
    at: usize,
    target: &mut [Words; N],
) {
    let mut sums = [_mm256_setzero_si256(); N];
    let start = match source {
        Some(source) => lanes(source, at),
        None => &*target,
    };
    for i in 0..N {
        sums[i] = load(&start[i]);
    }
    for &feature in add {
        let row = lanes::<N>(rows.row(feature), at);
        for i in 0..N {
            sums[i] = _mm256_add_epi16(sums[i], load(&row[i]));
        }
    }
    for &feature in sub {
        let row = lanes::<N>(rows.row(feature), at);
        for i in 0..N {
            sums[i] = _mm256_sub_epi16(sums[i], load(&row[i]));
        }
    }
    for i in 0..N {
        store(&mut target[i], sums[i]);
    }
}

/// `N` lanes of a row from lane `at` on. All rows are as long as the target, so they are there.
#[inline]
fn lanes<const N: usize>(row: &[Words], at: usize) -> &[Words; N] {
    row[at..].first_chunk().unwrap_or(&[Lane([0; 16]); N])
}

#[target_feature(enable = "avx2")]
fn activate(sums: &[Words], activation: Activation, out: &mut [Bytes]) {
    match activation {
        Activation::CRelu => {
            for (out, [low, high]) in out.iter_mut().zip(sums.as_chunks::<2>().0) {
                let low = _mm256_srai_epi16::<{ CRELU_SHIFT as i32 }>(clip(load(low)));
                let high = _mm256_srai_epi16::<{ CRELU_SHIFT as i32 }>(clip(load(high)));
                store(out, _mm256_packus_epi16(low, high));
            }
        }
        Activation::Pairwise => {
            let (first, second) = sums.split_at(sums.len() / 2);
            let pairs = first.as_chunks::<2>().0.iter().zip(second.as_chunks::<2>().0);
            for (out, ([a0, a1], [b0, b1])) in out.iter_mut().zip(pairs) {
                let low = product(load(a0), load(b0));
                let high = product(load(a1), load(b1));
                store(out, _mm256_packus_epi16(low, high));
            }
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn clip(sums: __m256i) -> __m256i {
    _mm256_min_epi16(_mm256_max_epi16(sums, _mm256_setzero_si256()), _mm256_set1_epi16(FT_MAX as i16))
}

/// `clip(a) * clip(b) >> 9` is the high half of `(clip(a) << 7) * clip(b)`.
#[inline]
#[target_feature(enable = "avx2")]
fn product(a: __m256i, b: __m256i) -> __m256i {
    let a = _mm256_slli_epi16::<{ 16 - PAIRWISE_SHIFT as i32 }>(clip(a));
    _mm256_mulhi_epi16(a, clip(b))
}

#[target_feature(enable = "avx2,popcnt")]
fn propagate(stack: &Stack, input: &[Bytes], scratch: &mut Scratch) -> i32 {
    let Scratch { blocks, sums, hidden } = scratch;
    let count = non_zero_blocks(input, blocks);
    affine(&stack.dense1, input, &blocks[..count], sums);
    clip_hidden(&sums[..stack.dense1.outputs / 8], DENSE1_SHIFT, hidden);
    let all = &ALL_BLOCKS[..stack.dense1.outputs / 4];
    affine(&stack.dense2, hidden, all, sums);
    clip_hidden(&sums[..stack.dense2.outputs / 8], DENSE2_SHIFT, hidden);
    output(stack, hidden)
}

/// The blocks of the widest hidden layer: few of them are zero.
static ALL_BLOCKS: [u16; 32] = {
    let mut blocks = [0; 32];
    let mut i = 0;
    while i < 32 {
        blocks[i] = i as u16;
        i += 1;
    }
    blocks
};

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
fn non_zero_blocks(input: &[Bytes], blocks: &mut [u16]) -> usize {
    let mut count = 0;
    for (i, bytes) in input.iter().enumerate() {
        let positive = _mm256_cmpgt_epi32(load(bytes), _mm256_setzero_si256());
        let mask = _mm256_movemask_ps(_mm256_castsi256_ps(positive)) as usize & 255;
        let base = i as u16 * 8;
        let places = BIT_PLACES[mask].map(|place| base + place);
        // Eight are stored, `count` moves on by those that count. Eight always fit: before lane i
        // at most 8 i are counted.
        if let Some(to) = blocks.get_mut(count..).and_then(|rest| rest.first_chunk_mut::<8>()) {
            *to = places;
        }
        count += mask.count_ones() as usize;
    }
    count
}

/// `sums = biases + Σ over blocks of weights · inputs`.
#[inline]
#[target_feature(enable = "avx2")]
fn affine(layer: &Dense, input: &[Bytes], blocks: &[u16], sums: &mut [Ints]) {
    match layer.outputs {
        8 => affine_whole::<1>(layer, input, blocks, sums),
        16 => affine_whole::<2>(layer, input, blocks, sums),
        32 => affine_whole::<4>(layer, input, blocks, sums),
        64 => affine_whole::<8>(layer, input, blocks, sums),
        _ => affine_columns(layer, input, blocks, sums),
    }
}

/// All outputs at once, `N` registers of eight.
#[inline]
#[target_feature(enable = "avx2")]
fn affine_whole<const N: usize>(layer: &Dense, input: &[Bytes], blocks: &[u16], out: &mut [Ints]) {
    let weights = layer.weights.as_chunks::<N>().0;
    let mut sums = [_mm256_setzero_si256(); N];
    for (sum, bias) in sums.iter_mut().zip(layer.biases.iter()) {
        *sum = load(bias);
    }
    for &block in blocks {
        let x = broadcast(input, block as usize);
        let weights = &weights[block as usize];
        for i in 0..N {
            sums[i] = add_products(sums[i], x, &weights[i]);
        }
    }
    for (out, sum) in out.iter_mut().zip(sums) {
        store(out, sum);
    }
}

/// One register of outputs after the other: for unusual widths.
#[inline]
#[target_feature(enable = "avx2")]
fn affine_columns(layer: &Dense, input: &[Bytes], blocks: &[u16], out: &mut [Ints]) {
    let stride = layer.outputs / 8;
    for (column, (out, bias)) in out.iter_mut().zip(layer.biases.iter()).enumerate() {
        let mut sum = load(bias);
        for &block in blocks {
            let weights = &layer.weights[block as usize * stride + column];
            sum = add_products(sum, broadcast(input, block as usize), weights);
        }
        store(out, sum);
    }
}

/// A block of four inputs, eight times.
#[inline]
#[target_feature(enable = "avx2")]
fn broadcast(input: &[Bytes], block: usize) -> __m256i {
    _mm256_set1_epi32(i32::from_le_bytes(input[block / 8].0.as_chunks::<4>().0[block % 8]))
}

/// `sums + weights · x`: u8 × i8; pairs of products fit an i16 (quant.rs), so nothing saturates.
#[inline]
#[target_feature(enable = "avx2")]
fn add_products(sums: __m256i, x: __m256i, weights: &SignedBytes) -> __m256i {
    let pairs = _mm256_maddubs_epi16(x, load(weights));
    _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))
}
