#![expect(unsafe_code, reason = "vector loads and stores at checked places")]
//! Gradients of the dense layers and of their inputs.

use super::super::aligned::is_aligned;
use super::super::kernel::TILE;
use super::super::lanes::{Lanes, load, load_aligned, read_ahead};
use super::{Hidden, Inputs, Scattered, Stack, StackGradients};
use nnue_format::quant::HIDDEN_CLIP;

/// Positions worked on together: their sums, of 2 × 1024 columns, take three quarters of a 512 KB L2.
const BLOCK: usize = 48;

/// Adds the gradients of one stack's parameters to `gradients` and those of the feature transformer's biases to
/// `ft_bias`, and writes the gradient of the sums, before they were clipped, to `sums`. `outputs` is the gradient of the
/// outputs. A tile is `N` vectors `V`.
///
/// # Safety
/// The CPU has the instructions of `V`, and the calling function is compiled for them.
#[inline(always)]
pub(crate) unsafe fn backward<V: Lanes, const N: usize>(
    stack: &Stack,
    inputs: &Inputs<'_>,
    hidden: &Hidden,
    outputs: &[f32],
    gradients: &mut StackGradients,
    ft_bias: &mut [f32],
    sums: &mut Scattered<'_>,
) {
    const { assert!(V::WIDTH * N == TILE) }
    let shape = stack.shape;
    let len = inputs.len;
    assert!(inputs.x.len() >= len * 2 * shape.l1 && ft_bias.len() >= shape.l1, "sums of every position");
    assert!(sums.len() == 2 * len && sums.tiles() * TILE == shape.l1, "a place for every row");
    assert!(outputs.len() >= len, "a gradient for every position");
    assert!(is_aligned(inputs.x) && is_aligned(&stack.by_input), "sums and weights are aligned");
    let mut deltas = vec![0.0; BLOCK * shape.l2];
    for start in (0..len).step_by(BLOCK) {
        let end = (start + BLOCK).min(len);
        for i in start..end {
            let delta = &mut deltas[(i - start) * shape.l2..][..shape.l2];
            let first = &hidden.first[i * shape.l2..][..shape.l2];
            let second = &hidden.second[i * shape.l3..][..shape.l3];
            small_layers(stack, first, second, outputs[i], &mut gradients.layers, delta);
        }
        let width = 2 * shape.l1;
        // The tiles meet these sums row by row.
        // SAFETY: as below.
        unsafe { read_ahead::<V>(&inputs.x[start * width..end * width]) };
        for tile in 0..shape.inputs / TILE {
            // SAFETY: lengths were asserted above and in `Stack::new`; instructions by the caller's promise.
            unsafe {
                let mut block = Block { start, end, tile, deltas: &deltas };
                let x = block.inputs::<V, N>(stack, inputs, ft_bias, sums);
                block.weights::<V, N>(stack, &x, &mut gradients.layers[0]);
            }
        }
    }
}

/// One position through the last two layers: `gradient` is that of its output, `delta` becomes that of the first
/// layer's sums.
#[inline(always)]
fn small_layers(
    stack: &Stack,
    first: &[f32],
    second: &[f32],
    gradient: f32,
    [_, bias1, weight2, bias2, weight3, bias3]: &mut [Vec<f32>; 6],
    delta: &mut [f32],
) {
    let inside = |x: f32| x > 0.0 && x < HIDDEN_CLIP;
    let l2 = first.len();
    bias3[0] += gradient;
    delta.fill(0.0);
    for (o, &x) in second.iter().enumerate() {
        weight3[o] += gradient * x;
        if !inside(x) {
            continue;
        }
        let d = gradient * stack.weight3[o];
        bias2[o] += d;
        let (sums, weights) = (&mut weight2[o * l2..][..l2], &stack.weight2[o * l2..][..l2]);
        for k in 0..l2 {
            sums[k] += d * first[k];
            delta[k] += d * weights[k];
        }
    }
    for k in 0..l2 {
        delta[k] = if inside(first[k]) { delta[k] } else { 0.0 };
        bias1[k] += delta[k];
    }
}

/// A tile of the first layer's inputs for positions `start..end`, and the gradients `[positions][l2]` of its sums.
struct Block<'a> {
    start: usize,
    end: usize,
    tile: usize,
    deltas: &'a [f32],
}

/// A tile of inputs of a block.
#[repr(align(64))]
struct Tiles([[f32; TILE]; BLOCK]);

impl Block<'_> {
    /// Writes the gradient of the sums behind this tile and returns the tile itself.
    ///
    /// # Safety
    /// As `backward` has asserted.
    #[inline(always)]
    unsafe fn inputs<V: Lanes, const N: usize>(
        &mut self,
        stack: &Stack,
        inputs: &Inputs<'_>,
        ft_bias: &mut [f32],
        sums: &mut Scattered<'_>,
    ) -> Tiles {
        let (shape, first) = (stack.shape, self.tile * TILE);
        let mut tiles = Tiles([[0.0; TILE]; BLOCK]);
        let half = shape.l1 / 2;
        // SAFETY: a position has 2 l1 sums, of which this tile's lie at `column` and, for products, at `column + half`.
        unsafe {
            let clip = V::splat(inputs.clip);
            let (side, column) = match shape.pairwise {
                true => (first / half, first % half),
                false => (first / shape.l1, first % shape.l1),
            };
            let bias = ft_bias.as_mut_ptr().add(column);
            let mut bias_low = load::<V, N>(bias);
            let mut bias_high = if shape.pairwise { load::<V, N>(bias.add(half)) } else { bias_low };
            let mut position = self.start;
            while position < self.end {
                let pair = position + 1 < self.end;
                let mut gradients = [[V::splat(0.0); N]; 2];
                if pair {
                    gradients = self.products::<V, N, 2>(stack, position);
                } else {
                    [gradients[0]] = self.products::<V, N, 1>(stack, position);
                }
                for gradient in gradients.into_iter().take(1 + usize::from(pair)) {
                    let at = inputs.x.as_ptr().add((2 * position + side) * shape.l1 + column);
                    let low = load_aligned::<V, N>(at);
                    let row = 2 * position + side;
                    let copy = tiles.0[position - self.start].as_mut_ptr();
                    if shape.pairwise {
                        let high = load_aligned::<V, N>(at.add(half));
                        for n in 0..N {
                            let low_gradient = gradient[n].times(high[n]).where_inside(low[n], clip);
                            let high_gradient = gradient[n].times(low[n]).where_inside(high[n], clip);
                            bias_low[n] = bias_low[n].plus(low_gradient);
                            bias_high[n] = bias_high[n].plus(high_gradient);
                            low_gradient.store_aligned(sums.at(row, column / TILE).add(n * V::WIDTH));
                            high_gradient
                                .store_aligned(sums.at(row, (column + half) / TILE).add(n * V::WIDTH));
                            low[n].times(high[n]).store_aligned(copy.add(n * V::WIDTH));
                        }
                    } else {
                        for n in 0..N {
                            let gradient = gradient[n].where_inside(low[n], clip);
                            bias_low[n] = bias_low[n].plus(gradient);
                            gradient.store_aligned(sums.at(row, column / TILE).add(n * V::WIDTH));
                            low[n].store_aligned(copy.add(n * V::WIDTH));
                        }
                    }
                    position += 1;
                }
            }
            for n in 0..N {
                bias_low[n].store(bias.add(n * V::WIDTH));
                if shape.pairwise {
                    bias_high[n].store(bias.add(half + n * V::WIDTH));
                }
            }
        }
        tiles
    }

    /// The gradients of this tile's inputs for `R` positions from `position`.
    ///
    /// # Safety
    /// As `backward` has asserted; `position + R <= self.end`.
    #[inline(always)]
    unsafe fn products<V: Lanes, const N: usize, const R: usize>(
        &self,
        stack: &Stack,
        position: usize,
    ) -> [[V; N]; R] {
        let l2 = stack.shape.l2;
        // SAFETY: `by_input` has l2 rows of TILE for every tile, `deltas` l2 for every position of the block.
        unsafe {
            let mut sums = [[V::splat(0.0); N]; R];
            let weights = stack.by_input.as_ptr().add(self.tile * l2 * TILE);
            let deltas = self.deltas.as_ptr().add((position - self.start) * l2);
            for o in 0..l2 {
                let weight = load_aligned::<V, N>(weights.add(o * TILE));
                for (r, sums) in sums.iter_mut().enumerate() {
                    let delta = V::splat(*deltas.add(r * l2 + o));
                    for n in 0..N {
                        sums[n] = sums[n].plus_product(delta, weight[n]);
                    }
                }
            }
            sums
        }
    }

    /// Adds this tile's part to the gradient `[l2][inputs]` of the first layer's weights.
    ///
    /// # Safety
    /// As `backward` has asserted; `l2` is even.
    #[inline(always)]
    unsafe fn weights<V: Lanes, const N: usize>(&self, stack: &Stack, tiles: &Tiles, gradient: &mut [f32]) {
        const O: usize = 2;
        let (l2, inputs) = (stack.shape.l2, stack.shape.inputs);
        let count = self.end - self.start;
        for o in (0..l2).step_by(O) {
            // SAFETY: o + O <= l2, which is a multiple of 8; the gradient has l2 rows of `inputs`.
            unsafe {
                let at = gradient.as_mut_ptr().add(o * inputs + self.tile * TILE);
                let mut sums = [load::<V, N>(at), load::<V, N>(at.add(inputs))];
                for (i, tile) in tiles.0.iter().enumerate().take(count) {
                    let x = load_aligned::<V, N>(tile.as_ptr());
                    for (j, sums) in sums.iter_mut().enumerate() {
                        let delta = V::splat(*self.deltas.get_unchecked(i * l2 + o + j));
                        for n in 0..N {
                            sums[n] = sums[n].plus_product(delta, x[n]);
                        }
                    }
                }
                for (j, sums) in sums.into_iter().enumerate() {
                    for (n, sum) in sums.into_iter().enumerate() {
                        sum.store(at.add(j * inputs + n * V::WIDTH));
                    }
                }
            }
        }
    }
}
