#![expect(unsafe_code, reason = "vector loads and stores at checked places")]
//! The feature transformer's passes over one tile, for every vector. [`super::scalar`] says what they are.

use super::aligned::is_aligned;
use super::kernel::{Stripe, TILE};
use super::lanes::{Lanes, load, load_aligned, read_ahead};
use super::rows::{ByFeature, Grouped};

/// See [`super::kernel::Kernel::forward`]. A tile is `N` vectors `V`.
///
/// # Safety
/// The CPU has the instructions of `V`, and the calling function is compiled for them.
#[inline(always)]
pub(crate) unsafe fn forward<V: Lanes, const N: usize>(
    weights: &[f32],
    bias: &[f32; TILE],
    rows: &Grouped,
    out: &mut Stripe<'_>,
    clip: Option<f32>,
) {
    const { assert!(V::WIDTH * N == TILE) }
    let (weights, _) = weights.as_chunks::<TILE>();
    assert!(weights.len() >= rows.features() && out.rows() >= rows.len(), "a tile holds every feature");
    assert!(is_aligned(weights.as_flattened()), "weights are aligned");
    // SAFETY: Grouped keeps feature < features, and features <= weights.len() was asserted; tiles of an aligned table
    // are aligned. Instructions by the caller's promise.
    unsafe {
        let bias = load::<V, N>(bias.as_ptr());
        for (bucket, places) in rows.buckets().enumerate() {
            if rows.pays_to_read_ahead(&places) {
                let end = ((bucket + 1) * rows.group()).min(weights.len());
                read_ahead::<V>(weights[bucket * rows.group()..end].as_flattened());
            }
            for place in places {
                let mut sums = bias;
                for &feature in rows.row(place) {
                    let tile = load_aligned::<V, N>(weights.get_unchecked(usize::from(feature)).as_ptr());
                    for n in 0..N {
                        sums[n] = sums[n].plus(tile[n]);
                    }
                }
                if let Some(clip) = clip {
                    let clip = V::splat(clip);
                    for sum in &mut sums {
                        *sum = sum.clipped(clip);
                    }
                }
                let row = out.row(rows.rows()[place] as usize).as_mut_ptr();
                for (n, sum) in sums.into_iter().enumerate() {
                    sum.store(row.add(n * V::WIDTH));
                }
            }
        }
    }
}

/// See [`super::kernel::Kernel::gather`]. A tile is `N` vectors `V`.
///
/// # Safety
/// As for [`forward`].
#[inline(always)]
pub(crate) unsafe fn gather<V: Lanes, const N: usize>(
    by_feature: &ByFeature,
    rows: &Grouped,
    packed: &[f32],
    gradient: &mut [f32],
) {
    const { assert!(V::WIDTH * N == TILE) }
    let (packed, _) = packed.as_chunks::<TILE>();
    assert!(packed.len() >= by_feature.row_count(), "every row was packed");
    assert!(is_aligned(packed.as_flattened()), "packed rows are aligned");
    let tiles = gradient.as_chunks_mut::<TILE>().0.chunks_mut(rows.group());
    for ((bucket, places), tiles) in rows.buckets().enumerate().zip(tiles) {
        if rows.pays_to_read_ahead(&places) {
            // SAFETY: packed rows are whole lines, aligned; instructions by the caller's promise.
            unsafe { read_ahead::<V>(packed[places].as_flattened()) };
        }
        for (slot, tile) in tiles.iter_mut().enumerate() {
            let places = by_feature.places_of(bucket * rows.group() + slot);
            if places.is_empty() {
                continue;
            }
            // SAFETY: ByFeature keeps place < row_count, and row_count <= packed.len() was asserted; tiles of an aligned
            // gradient are aligned.
            unsafe {
                let mut sums = load::<V, N>(tile.as_ptr());
                for &place in places {
                    let part = load_aligned::<V, N>(packed.get_unchecked(place as usize).as_ptr());
                    for n in 0..N {
                        sums[n] = sums[n].plus(part[n]);
                    }
                }
                for (n, sum) in sums.into_iter().enumerate() {
                    sum.store(tile.as_mut_ptr().add(n * V::WIDTH));
                }
            }
        }
    }
}
