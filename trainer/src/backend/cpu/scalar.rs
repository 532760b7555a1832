//! The plain kernel: what the vector kernels must equal, bit for bit.

use super::kernel::{AdamSlices, AdamStep, Kernel, Pieces, Stripe, TILE, tile_at};
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

    fn mask(
        &self,
        x: &[f32],
        gradient: Pieces<'_>,
        rows: &Grouped,
        column: usize,
        packed: &mut [f32],
        bias_gradient: &mut [f32; TILE],
        clip: Option<f32>,
    ) {
        let (tiles, _) = packed.as_chunks_mut::<TILE>();
        for (row, &place) in rows.places().iter().enumerate() {
            let packed = &mut tiles[place as usize];
            *packed = *gradient.row(row, column);
            if let Some(clip) = clip {
                let active = tile_at(x, row * gradient.stride + column);
                for k in 0..TILE {
                    if !(active[k] > 0.0 && active[k] < clip) {
                        packed[k] = 0.0;
                    }
                }
            }
            for k in 0..TILE {
                bias_gradient[k] += packed[k];
            }
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
        let g = gradient[i];
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
