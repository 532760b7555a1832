//! A buffer that begins on a cache line.

use std::ops::{Deref, DerefMut};

/// Bytes of a cache line, and of the widest vector register.
const LINE: usize = 64;

/// A fixed number of elements, the first at an address divisible by 64. Only speed depends on the
/// alignment, nothing else.
#[derive(Debug)]
pub(crate) struct Aligned<T> {
    /// Longer than `len` by up to a line; never resized, so that its address stays.
    buffer: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Copy + Default> Aligned<T> {
    pub(crate) fn new(len: usize) -> Aligned<T> {
        let buffer = vec![T::default(); len + LINE / size_of::<T>().max(1)];
        let start = buffer.as_ptr().align_offset(LINE).min(buffer.len() - len);
        Aligned { buffer, start, len }
    }

    pub(crate) fn collect(values: impl ExactSizeIterator<Item = T>) -> Aligned<T> {
        let mut aligned = Aligned::new(values.len());
        for (to, from) in aligned.iter_mut().zip(values) {
            *to = from;
        }
        aligned
    }
}

impl<T: Copy + Default> Clone for Aligned<T> {
    fn clone(&self) -> Aligned<T> {
        Aligned::collect(self.iter().copied())
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.buffer[self.start..self.start + self.len]
    }
}

impl<T> DerefMut for Aligned<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.buffer[self.start..self.start + self.len]
    }
}
