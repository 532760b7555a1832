//! Lines: 64 bytes that begin at an address divisible by 64. Everything that vectors are made of
//! lies in whole lines, padded with zeros, so that one layout suits registers of 16, 32 and 64
//! bytes: no load straddles two cache lines and no loop has a tail.

/// 64 bytes of integers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Line<T, const N: usize>(pub(crate) [T; N]);

/// Accumulator sums and feature-transformer weights.
pub(crate) type Words = Line<i16, 32>;
/// Activations: dense inputs.
pub(crate) type Bytes = Line<u8, 64>;
/// Dense weights.
pub(crate) type SignedBytes = Line<i8, 64>;
/// Dense sums and biases.
pub(crate) type Ints = Line<i32, 16>;

impl<T: Copy + Default, const N: usize> Line<T, N> {
    /// All zero.
    pub(crate) fn zero() -> Line<T, N> {
        const { assert!(size_of::<[T; N]>() == size_of::<Line<T, N>>()) };
        Line([T::default(); N])
    }

    /// `len` values, made whole lines by zeros.
    pub(crate) fn collect(values: impl ExactSizeIterator<Item = T>) -> Vec<Line<T, N>> {
        let mut lines = vec![Line::zero(); values.len().div_ceil(N)];
        for (to, from) in lines.iter_mut().flat_map(|line| &mut line.0).zip(values) {
            *to = from;
        }
        lines
    }
}

/// PSQT values travel at the end of a row of words, each as its low and its high half.
impl Words {
    /// A line of 32-bit integers.
    pub(crate) fn from_ints(ints: [i32; 16]) -> Words {
        Line(std::array::from_fn(|i| (ints[i / 2] >> (16 * (i % 2))) as i16))
    }

    /// The 32-bit integer `i`, `0..16`.
    #[inline]
    pub(crate) fn int(&self, i: usize) -> i32 {
        i32::from(self.0[2 * i] as u16) | i32::from(self.0[2 * i + 1]) << 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole() {
        for len in [1, 32, 33, 1000] {
            let lines = Words::collect((0..len).map(|i| i as i16));
            assert_eq!((lines.as_ptr().addr() % 64, lines.len()), (0, (len as usize).div_ceil(32)));
            let values: Vec<i16> = lines.iter().flat_map(|line| line.0).collect();
            assert!(values[..len as usize].iter().copied().eq(0..len as i16));
            assert!(values[len as usize..].iter().all(|value| *value == 0));
        }
    }

    #[test]
    fn ints_in_words() {
        let ints =
            [0, 1, -1, 1 << 20, -(1 << 20), i32::MAX, i32::MIN, 65_536, 32_768, -32_769, 7, 0, 0, 0, 0, 9];
        let words = Words::from_ints(ints);
        assert!((0..16).all(|i| words.int(i) == ints[i]));
    }
}
