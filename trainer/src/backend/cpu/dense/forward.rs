#![expect(unsafe_code, reason = "vector loads and stores at checked places")]
//! Outputs of the dense layers.

use super::super::aligned::is_aligned;
use super::super::lanes::Lanes;
use super::stack::block_of;
use super::{Hidden, Inputs, Shape, Stack};
use nnue_format::quant::HIDDEN_CLIP;

/// Positions whose sums are kept in registers at a time: with a block of 16 outputs twelve vectors of eight.
const M: usize = 6;

/// A layer: `outputs` sums of `inputs` products, clipped.
struct Layer<'a> {
    inputs: usize,
    outputs: usize,
    /// `[outputs / block][inputs][block]`
    weights: &'a [f32],
    bias: &'a [f32],
    clip: f32,
}

/// Fills `hidden` for the positions of `inputs`. A block of 16 outputs is `N` vectors `V`, one of 8 is one vector `E`.
///
/// # Safety
/// The CPU has the instructions of `V` and `E`, and the calling function is compiled for them.
#[inline(always)]
pub(crate) unsafe fn forward<V: Lanes, const N: usize, E: Lanes>(
    stack: &Stack,
    inputs: &Inputs<'_>,
    hidden: &mut Hidden,
) {
    const { assert!(V::WIDTH * N == 16 && E::WIDTH == 8) }
    let shape = stack.shape;
    let Inputs { x, len, .. } = *inputs;
    assert!(x.len() >= len * 2 * shape.l1, "sums of every position");
    let (l2, l3) = (shape.l2, shape.l3);
    assert!(hidden.first.len() >= len * l2 && hidden.second.len() >= len * l3, "room for every position");
    let (weights, bias) = (&stack.by_output[..], &stack.bias1[..]);
    let first = Layer { inputs: shape.inputs, outputs: l2, weights, bias, clip: HIDDEN_CLIP };
    let mut products = vec![0.0; if shape.pairwise { M * shape.inputs } else { 0 }];
    for start in (0..len).step_by(M) {
        let count = M.min(len - start);
        let x = &x[start * 2 * shape.l1..];
        let out = &mut hidden.first[start * l2..];
        // SAFETY: by the caller's promise; the slices hold `count` rows.
        unsafe {
            if shape.pairwise {
                multiply_halves::<V>(shape, &x[..count * 2 * shape.l1], &mut products);
                layer::<V, N, E>(&first, &products, count, out);
            } else {
                layer::<V, N, E>(&first, x, count, out);
            }
        }
    }
    let (weights, bias) = (&stack.weight2_by_output[..], &stack.bias2[..]);
    let second = Layer { inputs: l2, outputs: l3, weights, bias, clip: HIDDEN_CLIP };
    for start in (0..len).step_by(M) {
        let count = M.min(len - start);
        // SAFETY: as above.
        unsafe {
            let out = &mut hidden.second[start * l3..];
            layer::<V, N, E>(&second, &hidden.first[start * l2..], count, out);
        }
    }
    for (output, row) in hidden.outputs.iter_mut().zip(hidden.second.chunks_exact(l3)).take(len) {
        *output = row.iter().zip(&stack.weight3).fold(stack.bias3, |sum, (x, w)| sum + x * w);
    }
}

/// `products[i][j] = x[i][j] x[i][j + L1 / 2]` for both perspectives.
///
/// # Safety
/// See [`forward`]; `products` has room.
#[inline(always)]
unsafe fn multiply_halves<V: Lanes>(shape: Shape, x: &[f32], products: &mut [f32]) {
    let half = shape.l1 / 2;
    for (x, products) in x.chunks_exact(shape.l1).zip(products.chunks_exact_mut(half)) {
        let (low, high) = x.split_at(half);
        for k in (0..half).step_by(V::WIDTH) {
            // SAFETY: half is whole tiles, and so whole vectors; all three slices are that long.
            unsafe {
                let product = V::load(low.as_ptr().add(k)).times(V::load(high.as_ptr().add(k)));
                product.store(products.as_mut_ptr().add(k));
            }
        }
    }
}

/// `count` rows of a layer, at most [`M`].
///
/// # Safety
/// See [`forward`].
#[inline(always)]
unsafe fn layer<V: Lanes, const N: usize, E: Lanes>(
    layer: &Layer<'_>,
    x: &[f32],
    count: usize,
    out: &mut [f32],
) {
    let Layer { inputs, outputs, weights, bias, .. } = *layer;
    assert!(x.len() >= count * inputs && out.len() >= count * outputs, "room for {count} rows");
    assert!(weights.len() >= inputs * outputs && bias.len() >= outputs, "weights of every output");
    assert!(is_aligned(weights), "weights are aligned");
    let block = block_of(outputs);
    for first in (0..outputs).step_by(block) {
        // SAFETY: the rows and weights are there (asserted above), the instructions by the caller's promise.
        unsafe {
            match (block, count) {
                (16, M) => rows::<V, N, M>(layer, first, x, out),
                (_, M) => rows::<E, 1, M>(layer, first, x, out),
                _ => {
                    for row in 0..count {
                        let (x, out) = (&x[row * inputs..], &mut out[row * outputs..]);
                        if block == 16 {
                            rows::<V, N, 1>(layer, first, x, out);
                        } else {
                            rows::<E, 1, 1>(layer, first, x, out);
                        }
                    }
                }
            }
        }
    }
}

/// A block of outputs, from output `first`, of `R` rows.
///
/// # Safety
/// As `layer` has asserted: `R` rows of `x` and `out`, a block of weights and biases from `first`.
#[inline(always)]
unsafe fn rows<V: Lanes, const N: usize, const R: usize>(
    layer: &Layer<'_>,
    first: usize,
    x: &[f32],
    out: &mut [f32],
) {
    let Layer { inputs, outputs, clip, .. } = *layer;
    // SAFETY: every index is below what the caller promised.
    unsafe {
        let bias = layer.bias.as_ptr().add(first);
        let mut sums = [[V::splat(0.0); N]; R];
        for sums in &mut sums {
            for (n, sum) in sums.iter_mut().enumerate() {
                *sum = V::load(bias.add(n * V::WIDTH));
            }
        }
        let mut weights = layer.weights.as_ptr().add(first * inputs);
        let x = x.as_ptr();
        for k in 0..inputs {
            let mut weight = [V::splat(0.0); N];
            for (n, weight) in weight.iter_mut().enumerate() {
                *weight = V::load_aligned(weights.add(n * V::WIDTH));
            }
            for (r, sums) in sums.iter_mut().enumerate() {
                let input = V::splat(*x.add(r * inputs + k));
                for n in 0..N {
                    sums[n] = sums[n].plus_product(input, weight[n]);
                }
            }
            weights = weights.add(N * V::WIDTH);
        }
        let clip = V::splat(clip);
        for (r, sums) in sums.into_iter().enumerate() {
            for (n, sum) in sums.into_iter().enumerate() {
                sum.clipped(clip).store(out.as_mut_ptr().add(r * outputs + first + n * V::WIDTH));
            }
        }
    }
}
