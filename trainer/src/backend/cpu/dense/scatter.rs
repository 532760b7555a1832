#![expect(unsafe_code, reason = "tasks write disjoint rows of one matrix")]
//! The gradient of a chunk's clipped sums, in the order in which the feature transformer's backward pass reads it.

use super::super::aligned::is_aligned;
use super::super::kernel::TILE;
use super::super::rows::Grouped;
use std::marker::PhantomData;

/// Rows of the packed gradient `[tiles][rows][TILE]`, each at its place in a [`Grouped`], to be written by one task.
pub struct Scattered<'a> {
    start: *mut f32,
    rows: usize,
    tiles: usize,
    places: &'a [u32],
    matrix: PhantomData<&'a mut [f32]>,
}

// SAFETY: a value has its places to itself (see `split`), so writing them from another thread is as good as from this.
unsafe impl Send for Scattered<'_> {}

impl<'a> Scattered<'a> {
    /// Cuts the gradient of `grouped` into runs of `rows_each` rows.
    ///
    /// # Panics
    /// When `packed` is too short or not aligned to 64 bytes.
    pub fn split(
        packed: &'a mut [f32],
        tiles: usize,
        grouped: &'a Grouped,
        rows_each: usize,
    ) -> Vec<Scattered<'a>> {
        let rows = grouped.len();
        assert!(packed.len() >= tiles * rows * TILE, "room for {tiles} tiles of {rows} rows");
        assert!(is_aligned(packed), "an aligned start");
        let start = packed.as_mut_ptr();
        // Every place of a Grouped occurs once: the runs share none.
        let runs = grouped.places().chunks(rows_each.max(1));
        runs.map(|places| Scattered { start, rows, tiles, places, matrix: PhantomData }).collect()
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// True when there is no row.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Tiles of a row.
    pub fn tiles(&self) -> usize {
        self.tiles
    }

    /// Rows `start..end` of these, for a time.
    pub fn part(&mut self, start: usize, end: usize) -> Scattered<'_> {
        Scattered { places: &self.places[start..end], matrix: PhantomData, ..*self }
    }

    /// The place of one tile of a row: `TILE` floats, aligned to 64 bytes.
    ///
    /// # Safety
    /// `row < self.len()` and `tile < self.tiles()`.
    #[inline(always)]
    pub unsafe fn at(&mut self, row: usize, tile: usize) -> *mut f32 {
        // SAFETY: by the caller's promise both are in range, places are below `rows`, and `split` saw tiles × rows × TILE
        // floats.
        unsafe { self.start.add((tile * self.rows + *self.places.get_unchecked(row) as usize) * TILE) }
    }
}
