//! Between row-major `[rows][columns]` matrices and tile-major `[columns / TILE][rows][TILE]` ones.

use super::aligned::AlignedVec;
use super::kernel::TILE;

/// Columns after rounding up to whole tiles.
pub fn padded(columns: usize) -> usize {
    columns.next_multiple_of(TILE)
}

/// Tile-major copy of a row-major matrix; columns are filled up with zeros to whole tiles.
/// `values` holds `rows * columns` floats, the result `rows * padded(columns)`.
pub fn from_rows(values: &[f32], rows: usize, columns: usize) -> AlignedVec {
    let mut tiled = AlignedVec::zeros(rows * padded(columns));
    for (r, row) in values.chunks_exact(columns.max(1)).take(rows).enumerate() {
        for (t, part) in row.chunks(TILE).enumerate() {
            let start = (t * rows + r) * TILE;
            tiled[start..start + part.len()].copy_from_slice(part);
        }
    }
    tiled
}

/// Row-major copy, without the filling: `rows * columns` floats.
pub fn to_rows(tiled: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    let mut values = vec![0.0; rows * columns];
    for (r, row) in values.chunks_exact_mut(columns.max(1)).enumerate() {
        for (t, part) in row.chunks_mut(TILE).enumerate() {
            let start = (t * rows + r) * TILE;
            part.copy_from_slice(&tiled[start..start + part.len()]);
        }
    }
    values
}
