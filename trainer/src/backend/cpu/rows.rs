//! The active features of a batch, by row and by feature.
//!
//! A *row* is one perspective of one position: row `2 i` is the side to move of position `i`, row `2 i + 1`
//! its opponent. Both types check their indices when they are made, so that kernels need not.

use thiserror::Error;

/// What is wrong with a set of sparse rows.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum RowsError {
    /// An index is not below the number of features.
    #[error("feature index {index} at place {place}, but there are only {features} features")]
    Index {
        /// The index found.
        index: u16,
        /// Where it stands in the list of indices.
        place: usize,
        /// The number of features.
        features: usize,
    },
    /// Offsets do not rise from a start to an end inside the indices.
    #[error("row offsets must rise and end at or below {indices}; offset {place} is {offset}")]
    Offsets {
        /// Which offset.
        place: usize,
        /// Its value.
        offset: u32,
        /// The number of indices.
        indices: usize,
    },
}

/// Active features by row: row `r` holds `indices[offsets[r]..offsets[r + 1]]`, every one below `features`.
#[derive(Clone, Copy, Debug)]
pub struct SparseRows<'a> {
    indices: &'a [u16],
    offsets: &'a [u32],
    features: usize,
}

impl<'a> SparseRows<'a> {
    /// Checks every index and offset.
    ///
    /// # Errors
    /// [`RowsError`] names the first index or offset that is out of range.
    pub fn new(indices: &'a [u16], offsets: &'a [u32], features: usize) -> Result<SparseRows<'a>, RowsError> {
        if let Some(place) = indices.iter().position(|&i| usize::from(i) >= features) {
            return Err(RowsError::Index { index: indices[place], place, features });
        }
        let mut before = 0;
        for (place, &offset) in offsets.iter().enumerate() {
            if offset < before || offset as usize > indices.len() {
                return Err(RowsError::Offsets { place, offset, indices: indices.len() });
            }
            before = offset;
        }
        if offsets.is_empty() {
            return Err(RowsError::Offsets { place: 0, offset: 0, indices: indices.len() });
        }
        Ok(SparseRows { indices, offsets, features })
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// True when there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of features; every index is below it.
    pub fn features(&self) -> usize {
        self.features
    }

    /// The active features of one row.
    pub fn row(&self, row: usize) -> &'a [u16] {
        &self.indices[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    /// The rows `start..end` (clipped to what there is).
    pub fn slice(&self, start: usize, end: usize) -> SparseRows<'a> {
        let end = end.min(self.len());
        SparseRows { offsets: &self.offsets[start.min(end)..=end], ..*self }
    }
}

/// The same the other way round: which rows hold a feature, in rising order. Every row is below `row_count`.
#[derive(Debug, Default)]
pub struct ByFeature {
    offsets: Vec<u32>,
    rows: Vec<u32>,
    row_count: usize,
}

impl ByFeature {
    /// Sorts the indices of `rows` by feature (counting sort), reusing this value's memory.
    pub fn rebuild(&mut self, rows: &SparseRows<'_>) {
        let (first, last) = (rows.offsets[0] as usize, rows.offsets[rows.len()] as usize);
        let indices = &rows.indices[first..last];
        self.row_count = rows.len();
        self.offsets.clear();
        // One place more than needed: cursors stand one to the right of the starts while rows are placed.
        self.offsets.resize(rows.features + 2, 0);
        for &feature in indices {
            self.offsets[usize::from(feature) + 2] += 1;
        }
        for i in 2..self.offsets.len() {
            self.offsets[i] += self.offsets[i - 1];
        }
        self.rows.clear();
        self.rows.resize(indices.len(), 0);
        for row in 0..rows.len() {
            for &feature in rows.row(row) {
                let cursor = &mut self.offsets[usize::from(feature) + 1];
                self.rows[*cursor as usize] = row as u32;
                *cursor += 1;
            }
        }
        self.offsets.pop();
    }

    /// The number of features.
    pub fn features(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// The number of rows; every entry of [`ByFeature::rows_of`] is below it.
    pub fn row_count(&self) -> usize {
        self.row_count
    }

    /// The rows in which `feature` is active.
    pub fn rows_of(&self, feature: usize) -> &[u32] {
        &self.rows[self.offsets[feature] as usize..self.offsets[feature + 1] as usize]
    }
}
