#![expect(unsafe_code, reason = "vector loads and stores, and instructions that the caller has detected")]
//! Vectors of `f32`, so that kernels are written once for every instruction set.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// A vector of [`Lanes::WIDTH`] floats.
///
/// # Safety
/// Every function may use instructions of the type's instruction set: it is called only inside functions compiled for
/// that set, on a CPU that has it.
pub(crate) unsafe trait Lanes: Copy {
    /// Floats in a vector; 16 is a multiple of it.
    const WIDTH: usize;

    /// The same float in every lane.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn splat(x: f32) -> Self;

    /// Reads `WIDTH` floats.
    ///
    /// # Safety
    /// They are there; see the trait.
    unsafe fn load(from: *const f32) -> Self;

    /// The same from a place aligned to the vector. For sets as old as the floor of this program compilers cut other
    /// reads of 256 bits in two.
    ///
    /// # Safety
    /// As for `load`; and the place is so aligned.
    unsafe fn load_aligned(from: *const f32) -> Self;

    /// Writes `WIDTH` floats.
    ///
    /// # Safety
    /// There is room for them, and nobody else uses it; see the trait.
    unsafe fn store(self, to: *mut f32);

    /// The same to a place aligned to the vector.
    ///
    /// # Safety
    /// As for `store`; and the place is so aligned.
    unsafe fn store_aligned(self, to: *mut f32);

    /// `self + a b`, rounded once where the set has such an instruction.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn plus_product(self, a: Self, b: Self) -> Self;

    /// `self + other`.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn plus(self, other: Self) -> Self;

    /// The bits of both: the cheapest use of a vector.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn or(self, other: Self) -> Self;

    /// `self other`.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn times(self, other: Self) -> Self;

    /// `self` clipped to `0..=clip`; a NaN stays one.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn clipped(self, clip: Self) -> Self;

    /// `self` where `0 < x < clip`, else 0.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn where_inside(self, x: Self, clip: Self) -> Self;
}

/// Vectors for a CPU of which nothing is known.
#[derive(Clone, Copy)]
pub(crate) struct Plain([f32; 8]);

// SAFETY: no special instructions; loads and stores are as the caller promised.
unsafe impl Lanes for Plain {
    const WIDTH: usize = 8;

    #[inline(always)]
    unsafe fn splat(x: f32) -> Plain {
        Plain([x; 8])
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Plain {
        // SAFETY: eight floats are there; an array of floats asks for no more alignment than a float.
        Plain(unsafe { *from.cast::<[f32; 8]>() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: as in `load`.
        unsafe { *to.cast::<[f32; 8]>() = self.0 };
    }

    #[inline(always)]
    unsafe fn load_aligned(from: *const f32) -> Plain {
        // SAFETY: as in `load`.
        unsafe { Plain::load(from) }
    }

    #[inline(always)]
    unsafe fn store_aligned(self, to: *mut f32) {
        // SAFETY: as in `store`.
        unsafe { self.store(to) }
    }

    #[inline(always)]
    unsafe fn plus_product(self, a: Plain, b: Plain) -> Plain {
        Plain(std::array::from_fn(|k| self.0[k] + a.0[k] * b.0[k]))
    }

    #[inline(always)]
    unsafe fn plus(self, other: Plain) -> Plain {
        Plain(std::array::from_fn(|k| self.0[k] + other.0[k]))
    }

    #[inline(always)]
    unsafe fn or(self, other: Plain) -> Plain {
        Plain(std::array::from_fn(|k| f32::from_bits(self.0[k].to_bits() | other.0[k].to_bits())))
    }

    #[inline(always)]
    unsafe fn times(self, other: Plain) -> Plain {
        Plain(std::array::from_fn(|k| self.0[k] * other.0[k]))
    }

    #[inline(always)]
    unsafe fn clipped(self, clip: Plain) -> Plain {
        Plain(std::array::from_fn(|k| {
            let x = if self.0[k] > clip.0[k] { clip.0[k] } else { self.0[k] };
            if x < 0.0 { 0.0 } else { x }
        }))
    }

    #[inline(always)]
    unsafe fn where_inside(self, x: Plain, clip: Plain) -> Plain {
        Plain(std::array::from_fn(|k| if x.0[k] > 0.0 && x.0[k] < clip.0[k] { self.0[k] } else { 0.0 }))
    }
}

#[cfg(target_arch = "x86_64")]
// SAFETY: AVX2 and FMA, as the caller promised; loads and stores need no alignment.
unsafe impl Lanes for __m256 {
    const WIDTH: usize = 8;

    #[inline(always)]
    unsafe fn splat(x: f32) -> __m256 {
        // SAFETY: see the trait.
        unsafe { _mm256_set1_ps(x) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> __m256 {
        // SAFETY: see the trait.
        unsafe { _mm256_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: see the trait.
        unsafe { _mm256_storeu_ps(to, self) }
    }

    #[inline(always)]
    unsafe fn load_aligned(from: *const f32) -> __m256 {
        // SAFETY: see the trait.
        unsafe { _mm256_load_ps(from) }
    }

    #[inline(always)]
    unsafe fn store_aligned(self, to: *mut f32) {
        // SAFETY: see the trait.
        unsafe { _mm256_store_ps(to, self) }
    }

    #[inline(always)]
    unsafe fn plus_product(self, a: __m256, b: __m256) -> __m256 {
        // SAFETY: see the trait.
        unsafe { _mm256_fmadd_ps(a, b, self) }
    }

    #[inline(always)]
    unsafe fn plus(self, other: __m256) -> __m256 {
        // SAFETY: see the trait.
        unsafe { _mm256_add_ps(self, other) }
    }

    #[inline(always)]
    unsafe fn or(self, other: __m256) -> __m256 {
        // SAFETY: see the trait.
        unsafe { _mm256_or_ps(self, other) }
    }

    #[inline(always)]
    unsafe fn times(self, other: __m256) -> __m256 {
        // SAFETY: see the trait.
        unsafe { _mm256_mul_ps(self, other) }
    }

    #[inline(always)]
    unsafe fn clipped(self, clip: __m256) -> __m256 {
        // SAFETY: see the trait. In this order of operands a NaN stays one.
        unsafe { _mm256_max_ps(_mm256_setzero_ps(), _mm256_min_ps(clip, self)) }
    }

    #[inline(always)]
    unsafe fn where_inside(self, x: __m256, clip: __m256) -> __m256 {
        // SAFETY: see the trait.
        unsafe {
            let above = _mm256_cmp_ps::<_CMP_GT_OQ>(x, _mm256_setzero_ps());
            let below = _mm256_cmp_ps::<_CMP_LT_OQ>(x, clip);
            _mm256_and_ps(_mm256_and_ps(above, below), self)
        }
    }
}

#[cfg(target_arch = "x86_64")]
// SAFETY: AVX-512F, as the caller promised; loads and stores need no alignment.
unsafe impl Lanes for __m512 {
    const WIDTH: usize = 16;

    #[inline(always)]
    unsafe fn splat(x: f32) -> __m512 {
        // SAFETY: see the trait.
        unsafe { _mm512_set1_ps(x) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> __m512 {
        // SAFETY: see the trait.
        unsafe { _mm512_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: see the trait.
        unsafe { _mm512_storeu_ps(to, self) }
    }

    #[inline(always)]
    unsafe fn load_aligned(from: *const f32) -> __m512 {
        // SAFETY: see the trait.
        unsafe { _mm512_load_ps(from) }
    }

    #[inline(always)]
    unsafe fn store_aligned(self, to: *mut f32) {
        // SAFETY: see the trait.
        unsafe { _mm512_store_ps(to, self) }
    }

    #[inline(always)]
    unsafe fn plus_product(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: see the trait.
        unsafe { _mm512_fmadd_ps(a, b, self) }
    }

    #[inline(always)]
    unsafe fn plus(self, other: __m512) -> __m512 {
        // SAFETY: see the trait.
        unsafe { _mm512_add_ps(self, other) }
    }

    #[inline(always)]
    unsafe fn or(self, other: __m512) -> __m512 {
        // SAFETY: see the trait.
        unsafe { _mm512_or_ps(self, other) }
    }

    #[inline(always)]
    unsafe fn times(self, other: __m512) -> __m512 {
        // SAFETY: see the trait.
        unsafe { _mm512_mul_ps(self, other) }
    }

    #[inline(always)]
    unsafe fn clipped(self, clip: __m512) -> __m512 {
        // SAFETY: see the trait. In this order of operands a NaN stays one.
        unsafe { _mm512_max_ps(_mm512_setzero_ps(), _mm512_min_ps(clip, self)) }
    }

    #[inline(always)]
    unsafe fn where_inside(self, x: __m512, clip: __m512) -> __m512 {
        // SAFETY: see the trait.
        unsafe {
            let above = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(x, _mm512_setzero_ps());
            let below = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(x, clip);
            _mm512_maskz_mov_ps(above & below, self)
        }
    }
}

/// `N` vectors in a row.
///
/// # Safety
/// They are there; see [`Lanes`].
#[inline(always)]
pub(crate) unsafe fn load<V: Lanes, const N: usize>(from: *const f32) -> [V; N] {
    // SAFETY: by the caller's promise.
    unsafe {
        let mut vectors = [V::splat(0.0); N];
        for (n, vector) in vectors.iter_mut().enumerate() {
            *vector = V::load(from.add(n * V::WIDTH));
        }
        vectors
    }
}

/// The same from a place aligned to the vectors.
///
/// # Safety
/// They are there, aligned; see [`Lanes`].
#[inline(always)]
pub(crate) unsafe fn load_aligned<V: Lanes, const N: usize>(from: *const f32) -> [V; N] {
    // SAFETY: by the caller's promise.
    unsafe {
        let mut vectors = [V::splat(0.0); N];
        for (n, vector) in vectors.iter_mut().enumerate() {
            *vector = V::load_aligned(from.add(n * V::WIDTH));
        }
        vectors
    }
}

/// Reads what is about to be needed in no order: in order the processor fetches it far faster.
///
/// # Safety
/// `values` is aligned to 64 bytes; see [`Lanes`].
#[inline(always)]
pub(crate) unsafe fn read_ahead<V: Lanes>(values: &[f32]) {
    // SAFETY: a line is at least as long as a vector; the rest by the caller's promise.
    unsafe {
        let mut any = V::splat(0.0);
        for line in values.chunks_exact(16) {
            any = any.or(V::load_aligned(line.as_ptr()));
        }
        std::hint::black_box(any);
    }
}
