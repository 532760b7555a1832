#![expect(unsafe_code, reason = "calls of the generic dense layers")]
//! The plain kernel: what the vector kernels must equal, bit for bit.

use super::dense::{self, Hidden, Inputs, Scattered, Stack, StackGradients};
use super::kernel::{AdamSlices, AdamStep, Kernel, Stripe, TILE, tile_at};
use super::lanes::Plain;
use super::rows::{ByFeature, Grouped};

/// Plain Rust loops.
pub struct Scalar;

impl Kernel for Scalar {
    fn name(&self) -> &'static str {
        "scalar"
    }

    fn forward(
        &self,
        weights: &[f32],
        bias: &[f32; TILE],
        rows: &Grouped,
        out: &mut Stripe<'_>,
        clip: Option<f32>,
    ) {
        for (place, &row) in rows.rows().iter().enumerate() {
            let mut sum = *bias;
            for &feature in rows.row(place) {
                let weight = tile_at(weights, usize::from(feature) * TILE);
                for k in 0..TILE {
                    sum[k] += weight[k];
                }
            }
            if let Some(clip) = clip {
                for value in &mut sum {
                    *value = clamp(*value, clip);
                }
            }
            *out.row(row as usize) = sum;
        }
    }

    fn gather(&self, by_feature: &ByFeature, _rows: &Grouped, packed: &[f32], gradient: &mut [f32]) {
        for (feature, sum) in gradient.as_chunks_mut::<TILE>().0.iter_mut().enumerate() {
            for &place in by_feature.places_of(feature) {
                let part = tile_at(packed, place as usize * TILE);
                for k in 0..TILE {
                    sum[k] += part[k];
                }
            }
        }
    }

    fn dense_forward(&self, stack: &Stack, inputs: &Inputs<'_>, hidden: &mut Hidden) {
        // SAFETY: plain vectors need no instructions of their own.
        unsafe { dense::forward::forward::<Plain, 2, Plain>(stack, inputs, hidden) }
    }

    fn dense_backward(
        &self,
        stack: &Stack,
        inputs: &Inputs<'_>,
        hidden: &Hidden,
        outputs: &[f32],
        gradients: &mut StackGradients,
        ft_bias: &mut [f32],
        sums: &mut Scattered<'_>,
    ) {
        // SAFETY: as above.
        unsafe {
            dense::backward::backward::<Plain, 4>(stack, inputs, hidden, outputs, gradients, ft_bias, sums);
        }
    }

    fn adam(&self, state: AdamSlices<'_>, step: &AdamStep) {
        adam(state, step);
    }
}

/// `min(x, clip)`, then `max(.., 0)`, as the vector instructions do it; a NaN stays a NaN so that the loss shows it.
#[inline(always)]
fn clamp(x: f32, clip: f32) -> f32 {
    let x = if x > clip { clip } else { x };
    if x < 0.0 { 0.0 } else { x }
}

/// The update itself. Every operation is exact or correctly rounded, so that the compiler may use vectors of any
/// width without changing a bit; the vector backends compile this same function for their instructions.
#[inline(always)]
pub(super) fn adam(state: AdamSlices<'_>, step: &AdamStep) {
    let AdamSlices { weights, gradient, first, second } = state;
    let len = weights.len().min(gradient.len()).min(first.len()).min(second.len());
    let (weights, gradient) = (&mut weights[..len], &mut gradient[..len]);
    let (first, second) = (&mut first[..len], &mut second[..len]);
    let (keep1, keep2) = (1.0 - step.beta1, 1.0 - step.beta2);
    for i in 0..len {
        let g = gradient[i] * step.scale;
        let m = step.beta1 * first[i] + keep1 * g;
        let v = step.beta2 * second[i] + keep2 * g * g;
        let size = (v * step.correction2).sqrt() + step.epsilon;
        let w = weights[i] - step.shrink * weights[i] - step.rate * (m * step.correction1) / size;
        let w = if w > step.limit { step.limit } else { w };
        weights[i] = if w < -step.limit { -step.limit } else { w };
        first[i] = m;
        second[i] = v;
        gradient[i] = 0.0;
    }
}
