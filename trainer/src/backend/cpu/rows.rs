//! The active features of a batch, by row and by feature.
//!
//! A *row* is one perspective of one position: row `2 i` is the side to move of position `i`, row `2 i + 1`
//! its opponent. Both types check their indices when they are made, so that kernels need not.

use std::ops::Range;
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

/// The rows of a chunk in the order in which they are worked on: by the bucket of their features, within one in rising
/// order. A row's number in that order is its *place*.
///
/// A row's features lie in the `group` rows of the weight table that belong to its bucket. Taken bucket by bucket this
/// part of a tile, and the bucket's part of the packed gradient, stay in an L2; a whole tile does not fit there.
#[derive(Debug, Default)]
pub struct Grouped {
    /// The row at each place.
    rows: Vec<u32>,
    /// The place of each row.
    places: Vec<u32>,
    /// The features of place `p` are `indices[offsets[p]..offsets[p + 1]]`, every one below `features`.
    indices: Vec<u16>,
    offsets: Vec<u32>,
    /// Bucket `b` has the places `starts[b]..starts[b + 1]`.
    starts: Vec<u32>,
    features: usize,
    group: usize,
}

impl Grouped {
    /// Sorts the rows by `first feature / group` (counting sort), reusing this value's memory. `group` is the number of
    /// features of a bucket; any other changes speed only.
    pub fn rebuild(&mut self, rows: &SparseRows<'_>, group: usize) {
        self.features = rows.features;
        self.group = group.clamp(1, rows.features.max(1));
        let bucket = |row: usize| rows.row(row).first().map_or(0, |&f| usize::from(f) / self.group);
        // One start more than needed: cursors stand one to the right of the starts while rows are placed.
        self.starts.clear();
        self.starts.resize(rows.features.div_ceil(self.group) + 2, 0);
        for row in 0..rows.len() {
            self.starts[bucket(row) + 2] += 1;
        }
        for i in 2..self.starts.len() {
            self.starts[i] += self.starts[i - 1];
        }
        self.rows.clear();
        self.rows.resize(rows.len(), 0);
        self.places.clear();
        for row in 0..rows.len() {
            let cursor = &mut self.starts[bucket(row) + 1];
            self.rows[*cursor as usize] = row as u32;
            self.places.push(*cursor);
            *cursor += 1;
        }
        self.starts.pop();
        self.indices.clear();
        self.offsets.clear();
        self.offsets.push(0);
        for &row in &self.rows {
            self.indices.extend_from_slice(rows.row(row as usize));
            self.offsets.push(self.indices.len() as u32);
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True when there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The number of features; every index is below it.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Features of a bucket: bucket `b` has `b * group..(b + 1) * group`.
    pub fn group(&self) -> usize {
        self.group
    }

    /// The row at each place; each of `0..len` once.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The place of each row; each of `0..len` once.
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// The places of each bucket, empty ones among them.
    pub fn buckets(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.starts.windows(2).map(|pair| pair[0] as usize..pair[1] as usize)
    }

    /// The active features of the row at a place.
    pub fn row(&self, place: usize) -> &[u16] {
        &self.indices[self.offsets[place] as usize..self.offsets[place + 1] as usize]
    }

    /// Are there so many active features in these places that reading a bucket's part of a tile through, in order, is
    /// cheaper than meeting its lines one by one?
    pub fn pays_to_read_ahead(&self, places: &Range<usize>) -> bool {
        let active = self.offsets[places.end] - self.offsets[places.start];
        active as usize >= self.group / 2
    }
}

/// The same the other way round: the places of the rows that hold a feature, in rising order. Every place is below
/// `row_count`.
#[derive(Debug, Default)]
pub struct ByFeature {
    offsets: Vec<u32>,
    places: Vec<u32>,
    row_count: usize,
}

impl ByFeature {
    /// Sorts the indices of `rows` by feature (counting sort), reusing this value's memory.
    pub fn rebuild(&mut self, rows: &Grouped) {
        self.row_count = rows.len();
        self.offsets.clear();
        // One place more than needed, as above.
        self.offsets.resize(rows.features + 2, 0);
        for &feature in &rows.indices {
            self.offsets[usize::from(feature) + 2] += 1;
        }
        for i in 2..self.offsets.len() {
            self.offsets[i] += self.offsets[i - 1];
        }
        self.places.clear();
        self.places.resize(rows.indices.len(), 0);
        for place in 0..rows.len() {
            for &feature in rows.row(place) {
                let cursor = &mut self.offsets[usize::from(feature) + 1];
                self.places[*cursor as usize] = place as u32;
                *cursor += 1;
            }
        }
        self.offsets.pop();
    }

    /// The number of features.
    pub fn features(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// The number of rows; every entry of [`ByFeature::places_of`] is below it.
    pub fn row_count(&self) -> usize {
        self.row_count
    }

    /// The places of the rows in which `feature` is active.
    pub fn places_of(&self, feature: usize) -> &[u32] {
        &self.places[self.offsets[feature] as usize..self.offsets[feature + 1] as usize]
    }
}
