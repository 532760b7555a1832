//! Reading and writing of plain numbers: little-endian fields and variable-length integers.

/// Adds `value` as LEB128: seven bits a byte, low bits first, the top bit says that more follow.
pub(crate) fn push_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Why a variable-length integer could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VarintError {
    /// The bytes end inside it.
    Short,
    /// It has more than 64 bits.
    TooLong,
}

/// A signed number as an unsigned one, small sizes first: 0, -1, 1, -2, 2 …
pub(crate) const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// The inverse of [`zigzag`].
pub(crate) const fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// A position in a slice of bytes that never reads past its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { bytes }
    }

    /// Bytes left.
    pub(crate) const fn left(&self) -> usize {
        self.bytes.len()
    }

    /// The next byte.
    #[inline]
    pub(crate) const fn byte(&mut self) -> Option<u8> {
        match self.bytes.split_first() {
            Some((&first, rest)) => {
                self.bytes = rest;
                Some(first)
            }
            None => None,
        }
    }

    /// The next `n` bytes.
    pub(crate) fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.bytes.split_at_checked(n)?;
        self.bytes = rest;
        Some(head)
    }

    /// The next `N` bytes as an array.
    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// The next variable-length integer.
    pub(crate) fn varint(&mut self) -> Result<u64, VarintError> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte().ok_or(VarintError::Short)?;
            if shift == 63 && byte > 1 {
                return Err(VarintError::TooLong);
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(VarintError::TooLong)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn varint_round_trip(value: u64) {
            let mut out = Vec::new();
            push_varint(&mut out, value);
            let mut cursor = Cursor::new(&out);
            prop_assert_eq!(cursor.varint(), Ok(value));
            prop_assert_eq!(cursor.left(), 0);
        }

        #[test]
        fn zigzag_round_trip(value: i64) {
            prop_assert_eq!(unzigzag(zigzag(value)), value);
        }
    }

    #[test]
    fn bad_varints() {
        assert_eq!(Cursor::new(&[0x80]).varint(), Err(VarintError::Short));
        assert_eq!(Cursor::new(&[0xff; 11]).varint(), Err(VarintError::TooLong));
    }
}
