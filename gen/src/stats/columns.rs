//! Where the bytes of record files go, and how far from the entropy they are.

use nnue_format::record::{BLOCK_HEAD_LEN, COLUMN_COUNT, COLUMN_NAMES, RawBlock, ReadError};

/// Bytes of one column over all blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Column {
    /// Before compression.
    pub raw: u64,
    /// As they lie in the file.
    pub packed: u64,
    /// What a perfect coder of single bytes would need that knew each block's frequencies, in bits.
    pub entropy_bits: f64,
}

/// Bytes of blocks, by column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    /// Blocks.
    pub blocks: u64,
    /// In the order of [`COLUMN_NAMES`].
    pub columns: [Column; COLUMN_COUNT],
}

/// Columns that belong together, for people.
pub const PARTS: [&str; 4] = ["moves", "scores", "opening moves", "all else"];

/// Of which of [`PARTS`] a column is.
pub fn part_of(column: &str) -> usize {
    match column {
        "opening_moves" => 2,
        name if name.starts_with("moves_") => 0,
        name if name.starts_with("score") => 1,
        _ => 3,
    }
}

impl Columns {
    /// The columns of one block.
    ///
    /// # Errors
    /// A column that does not decode.
    pub fn of(block: &RawBlock) -> Result<Columns, ReadError> {
        let mut columns = Columns { blocks: 1, ..Columns::default() };
        let lengths = block.head.columns;
        for ((column, bytes), (raw, packed)) in
            columns.columns.iter_mut().zip(block.column_bytes()?).zip(lengths)
        {
            *column =
                Column { raw: raw.into(), packed: packed.into(), entropy_bits: order_0_entropy(&bytes) };
        }
        Ok(columns)
    }

    /// Adds other blocks.
    pub fn merge(&mut self, other: &Columns) {
        self.blocks += other.blocks;
        for (to, from) in self.columns.iter_mut().zip(other.columns) {
            to.raw += from.raw;
            to.packed += from.packed;
            to.entropy_bits += from.entropy_bits;
        }
    }

    /// Bytes of heads and checksums of the blocks.
    pub const fn head_bytes(&self) -> u64 {
        self.blocks * (BLOCK_HEAD_LEN as u64 + 4)
    }

    /// Sums over the columns of each of [`PARTS`].
    pub fn parts(&self) -> [Column; PARTS.len()] {
        let mut parts = [Column::default(); PARTS.len()];
        for (name, column) in COLUMN_NAMES.iter().zip(self.columns) {
            let part = &mut parts[part_of(name)];
            part.raw += column.raw;
            part.packed += column.packed;
            part.entropy_bits += column.entropy_bits;
        }
        parts
    }
}

/// Bits that the bytes need at least, each coded by its frequency among them alone.
pub fn order_0_entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    for &byte in bytes {
        counts[usize::from(byte)] += 1;
    }
    let all = bytes.len() as f64;
    counts.iter().filter(|&&n| n > 0).map(|&n| f64::from(n) * (all / f64::from(n)).log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_by_hand() {
        assert_eq!(order_0_entropy(&[]), 0.0);
        assert_eq!(order_0_entropy(&[7; 100]), 0.0);
        assert_eq!(order_0_entropy(&[1, 2, 1, 2]), 4.0);
        assert_eq!(order_0_entropy(&[0, 1, 2, 3, 0, 1, 2, 3]), 16.0);
        // Three in four: 3 · log2(4/3) + 1 · 2.
        assert!((order_0_entropy(&[5, 5, 5, 6]) - (3.0 * (4f64 / 3.0).log2() + 2.0)).abs() < 1e-12);
    }

    #[test]
    fn every_part_has_columns() {
        for (i, part) in PARTS.iter().enumerate() {
            assert!(COLUMN_NAMES.iter().any(|name| part_of(name) == i), "{part}");
        }
    }
}
