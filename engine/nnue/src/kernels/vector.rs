//! Vector registers and memory: the one place that reads and writes them.
#![expect(unsafe_code, reason = "loads and stores of vector registers")]

use crate::aligned::{Bytes, Line};

/// A vector register.
///
/// # Safety
/// Implementors have no padding, any bytes are a value of them, their size divides 64, and their
/// alignment is at most their size.
pub(crate) unsafe trait Register: Copy {}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{__m128i, __m256i, __m512i};

    // SAFETY: 16 bytes of integers.
    unsafe impl super::Register for __m128i {}
    // SAFETY: 32 bytes of integers.
    unsafe impl super::Register for __m256i {}
    // SAFETY: 64 bytes of integers.
    unsafe impl super::Register for __m512i {}
}

#[cfg(target_arch = "aarch64")]
// SAFETY: 16 bytes of integers.
unsafe impl Register for std::arch::aarch64::uint8x16_t {}

/// Integers, of which any bytes are a value.
pub(crate) trait Integer: Copy {}
impl Integer for u8 {}
impl Integer for u16 {}
impl Integer for i8 {}
impl Integer for i16 {}
impl Integer for i32 {}

/// Registers of a line.
pub(crate) const fn parts<R: Register>() -> usize {
    64 / size_of::<R>()
}

/// Register `part` of a line, `0..parts`.
#[inline(always)]
pub(crate) fn load<R: Register, T: Integer, const N: usize>(line: &Line<T, N>, part: usize) -> R {
    const { assert!(size_of::<Line<T, N>>() == 64 && size_of::<[T; N]>() == 64) };
    const { assert!(64 % size_of::<R>() == 0 && align_of::<R>() <= size_of::<R>()) };
    assert!(part < parts::<R>());
    // SAFETY: the line is 64 readable, initialised bytes (integers leave no padding) that begin at a
    // multiple of 64, and the register lies within them at a multiple of its size. Any bytes
    // are a value of a `Register`.
    unsafe { std::ptr::from_ref(line).cast::<R>().add(part).read() }
}

/// Register `at` of a run of lines, `0..lines * parts`.
#[inline(always)]
pub(crate) fn load_of<R: Register, T: Integer, const N: usize>(lines: &[Line<T, N>], at: usize) -> R {
    load(&lines[at / parts::<R>()], at % parts::<R>())
}

/// The bytes of lines in blocks of four.
#[inline(always)]
pub(crate) fn blocks_of(lines: &[Bytes]) -> &[[u8; 4]] {
    const { assert!(size_of::<Bytes>() == 64) };
    // SAFETY: a slice of lines is 64 initialised bytes for each of them without gaps, and bytes have
    // no alignment.
    unsafe { std::slice::from_raw_parts(lines.as_ptr().cast(), 16 * lines.len()) }
}

/// Puts a register at place `part` of a line, `0..parts`.
#[inline(always)]
pub(crate) fn store<R: Register, T: Integer, const N: usize>(line: &mut Line<T, N>, part: usize, value: R) {
    const { assert!(size_of::<Line<T, N>>() == 64 && size_of::<[T; N]>() == 64) };
    const { assert!(64 % size_of::<R>() == 0 && align_of::<R>() <= size_of::<R>()) };
    assert!(part < parts::<R>());
    // SAFETY: as in `load`, and writable; a register has no padding, and any bytes are a value of
    // an `Integer`.
    unsafe { std::ptr::from_mut(line).cast::<R>().add(part).write(value) }
}

/// Puts a register into integers of its size.
#[inline(always)]
#[cfg_attr(
    target_arch = "aarch64",
    expect(dead_code, reason = "numbers of blocks are stored by AVX-512 alone")
)]
pub(crate) fn store_unaligned<R: Register, T: Integer, const N: usize>(to: &mut [T; N], value: R) {
    const { assert!(size_of::<[T; N]>() == size_of::<R>()) };
    // SAFETY: as many writable bytes as the register has; it has no padding, and any bytes are a
    // value of an `Integer`.
    unsafe { std::ptr::from_mut(to).cast::<R>().write_unaligned(value) }
}
