#![expect(unsafe_code, reason = "allocation with a chosen alignment and huge-page advice")]
//! A zeroed `f32` buffer with the alignment vector loads and huge pages want.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// A cache line, and the longest vector there is.
const SMALL_ALIGNMENT: usize = 64;

/// Does the slice begin where an [`AlignedVec`] could?
pub fn is_aligned(values: &[f32]) -> bool {
    values.is_empty() || values.as_ptr().addr().is_multiple_of(SMALL_ALIGNMENT)
}

/// A huge page of x86-64; buffers at least this long are aligned to it and advised to use such pages.
const HUGE_PAGE: usize = 2 << 20;

/// A fixed-length, zeroed buffer of `f32`, aligned to 64 bytes (2 MiB when it is at least that long).
pub struct AlignedVec {
    start: NonNull<f32>,
    len: usize,
}

// SAFETY: AlignedVec owns its memory as Vec<f32> does; access goes through &self and &mut self alone.
unsafe impl Send for AlignedVec {}
// SAFETY: as above; &AlignedVec gives out &[f32] only.
unsafe impl Sync for AlignedVec {}

impl AlignedVec {
    /// `len` zeros.
    pub fn zeros(len: usize) -> AlignedVec {
        let layout = Self::layout(len);
        // SAFETY: the layout's size is not zero (see `layout`).
        let raw = unsafe { alloc(layout) }.cast::<f32>();
        let Some(start) = NonNull::new(raw) else { handle_alloc_error(layout) };
        #[cfg(target_os = "linux")]
        if layout.size() >= HUGE_PAGE {
            // SAFETY: the range was just allocated and is ours; the advice changes no content, and its failure
            // costs only speed.
            unsafe { libc::madvise(raw.cast(), layout.size(), libc::MADV_HUGEPAGE) };
        }
        // Not alloc_zeroed: it would touch every page before the advice is given, and small pages would stay.
        // SAFETY: `raw` points to layout.size() bytes of ours, and zero bytes are zero floats.
        unsafe { raw.cast::<u8>().write_bytes(0, layout.size()) };
        AlignedVec { start, len }
    }

    /// A copy of `values`.
    pub fn from_slice(values: &[f32]) -> AlignedVec {
        let mut copy = AlignedVec::zeros(values.len());
        copy.copy_from_slice(values);
        copy
    }

    fn layout(len: usize) -> Layout {
        let bytes = len.max(1) * size_of::<f32>();
        let alignment = if bytes >= HUGE_PAGE { HUGE_PAGE } else { SMALL_ALIGNMENT };
        match Layout::from_size_align(bytes, alignment) {
            Ok(layout) => layout,
            Err(_) => panic!("{len} floats are more than an address space holds"),
        }
    }
}

impl Drop for AlignedVec {
    fn drop(&mut self) {
        // SAFETY: allocated in `zeros` with this very layout.
        unsafe { dealloc(self.start.as_ptr().cast(), Self::layout(self.len)) };
    }
}

impl Clone for AlignedVec {
    fn clone(&self) -> AlignedVec {
        AlignedVec::from_slice(self)
    }
}

impl Deref for AlignedVec {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        // SAFETY: `len` initialised floats from `start`, owned by self and borrowed with it.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for AlignedVec {
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: as in `deref`, and &mut self makes the borrow exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl std::fmt::Debug for AlignedVec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AlignedVec({} floats)", self.len)
    }
}
