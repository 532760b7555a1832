//! Lanes: 32 bytes that begin at an address divisible by 32, so that vector loads and stores never
//! straddle; and buffers of lanes that begin on a cache line.

use std::ops::{Deref, DerefMut};

/// 32 bytes of integers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub(crate) struct Lane<T, const N: usize>(pub(crate) [T; N]);

/// Accumulator sums and feature-transformer weights.
pub(crate) type Words = Lane<i16, 16>;
/// Activations: dense inputs.
pub(crate) type Bytes = Lane<u8, 32>;
/// Dense weights.
pub(crate) type SignedBytes = Lane<i8, 32>;
/// Dense sums and biases.
pub(crate) type Ints = Lane<i32, 8>;

impl<T: Copy + Default, const N: usize> Default for Lane<T, N> {
    fn default() -> Lane<T, N> {
        const { assert!(size_of::<[T; N]>() == 32) };
        Lane([T::default(); N])
    }
}

/// Bytes of a cache line.
const LINE: usize = 64;

/// A fixed number of lanes, the first on a cache line (speed alone depends on that).
#[derive(Debug)]
pub(crate) struct Aligned<L> {
    /// Longer than `len` by up to a line; never resized, so that its address stays.
    buffer: Vec<L>,
    start: usize,
    len: usize,
}

impl<L: Copy + Default> Aligned<L> {
    pub(crate) fn new(len: usize) -> Aligned<L> {
        let buffer = vec![L::default(); len + LINE / size_of::<L>().max(1)];
        let start = buffer.as_ptr().align_offset(LINE).min(buffer.len() - len);
        Aligned { buffer, start, len }
    }
}

impl<T: Copy + Default, const N: usize> Aligned<Lane<T, N>> {
    /// `len` values, a multiple of a lane's; missing ones are zero.
    pub(crate) fn collect(len: usize, values: impl Iterator<Item = T>) -> Aligned<Lane<T, N>> {
        let mut aligned = Aligned::new(len / N);
        for (to, from) in aligned.iter_mut().flat_map(|lane: &mut Lane<T, N>| &mut lane.0).zip(values) {
            *to = from;
        }
        aligned
    }
}

impl<L: Copy + Default> Clone for Aligned<L> {
    fn clone(&self) -> Aligned<L> {
        let mut aligned = Aligned::new(self.len);
        aligned.copy_from_slice(self);
        aligned
    }
}

impl<L> Deref for Aligned<L> {
    type Target = [L];

    #[inline]
    fn deref(&self) -> &[L] {
        &self.buffer[self.start..self.start + self.len]
    }
}

impl<L> DerefMut for Aligned<L> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [L] {
        &mut self.buffer[self.start..self.start + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_begin_on_a_line() {
        for len in [1, 2, 3, 64, 1000] {
            let words: Aligned<Words> = Aligned::collect(len * 16, (0..).map(|i| i as i16));
            assert_eq!((words.as_ptr().addr() % LINE, words.len()), (0, len));
            assert_eq!(words[len - 1].0[15], (len * 16 - 1) as i16);
            assert_eq!(words.clone()[..], words[..]);
        }
    }
}
