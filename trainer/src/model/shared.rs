#![expect(unsafe_code, reason = "torch tensors seen as slices and shared between tasks for reading")]
//! The places where torch's memory meets Rust's: tensors as slices, slices as tensors, and tensors read by several tasks.

use tch::kind::Element;
use tch::{Device, Kind, TchError, Tensor};

/// Checks that the tensor is plain `f32` memory of this process.
fn check(tensor: &Tensor) -> Result<usize, TchError> {
    let plain = tensor.device() == Device::Cpu && tensor.f_kind()? == Kind::Float && tensor.is_contiguous();
    if plain {
        Ok(tensor.numel())
    } else {
        Err(TchError::Kind(format!(
            "expected a contiguous f32 tensor on the CPU, found {:?} on {:?}",
            tensor.kind(),
            tensor.device()
        )))
    }
}

/// The elements of a contiguous CPU tensor of `f32`.
///
/// # Errors
/// When it is something else.
pub fn slice(tensor: &Tensor) -> Result<&[f32], TchError> {
    let len = check(tensor)?;
    if len == 0 {
        return Ok(&[]);
    }
    // SAFETY: `check` saw `len` contiguous floats in this process; the borrow of the tensor keeps them alive. Nothing
    // writes to a tensor of this crate but through `slice_mut`, which needs it exclusively.
    Ok(unsafe { std::slice::from_raw_parts(tensor.data_ptr() as *const f32, len) })
}

/// The same for writing. The tensor must not share its storage with another one in use, which is the rule for
/// parameters and buffers of this crate: their views live only within one step's expression.
///
/// # Errors
/// When it is something else than a contiguous CPU tensor of `f32`.
pub fn slice_mut(tensor: &mut Tensor) -> Result<&mut [f32], TchError> {
    let len = check(tensor)?;
    if len == 0 {
        return Ok(&mut []);
    }
    // SAFETY: as in `slice`, and &mut says that no other borrow of this tensor exists; views do not outlive the step
    // that made them (see above).
    Ok(unsafe { std::slice::from_raw_parts_mut(tensor.data_ptr() as *mut f32, len) })
}

/// A slice as a tensor `[len]` over the same memory. Only for [`super::net::Gathered`], whose borrow of the net keeps
/// the memory alive and other readers away; no shallow clone of it may outlive that.
///
/// # Errors
/// What torch reports.
pub(super) fn lend<T: Element>(values: &mut [T]) -> Result<Tensor, TchError> {
    let data = values.as_mut_ptr().cast::<u8>();
    // SAFETY: `len` elements of the kind at `data`, contiguous. The tensor neither owns nor frees them; that it is
    // gone before the borrow ends is what `Gathered` is for.
    unsafe { Tensor::f_from_blob(data, &[values.len() as i64], &[1], T::KIND, Device::Cpu) }
}

/// A value that several tasks read at once.
pub struct ReadOnly<'a, T>(&'a T);

// SAFETY: libtorch's tensors are reference-counted atomically, and building graphs on top of a leaf and running
// backward with explicit inputs neither changes the leaf nor its gradient, so tasks may do both at once. ReadOnly gives
// out shared references only and is used in this crate for such reading alone.
unsafe impl<T> Sync for ReadOnly<'_, T> {}
// SAFETY: as above; it is a reference.
unsafe impl<T> Send for ReadOnly<'_, T> {}

impl<'a, T> ReadOnly<'a, T> {
    /// Shares `value` for reading.
    pub fn new(value: &'a T) -> ReadOnly<'a, T> {
        ReadOnly(value)
    }

    /// The value.
    pub fn get(&self) -> &'a T {
        self.0
    }
}
