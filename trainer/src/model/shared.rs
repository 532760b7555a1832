#![expect(unsafe_code, reason = "torch tensors seen as slices, slices as tensors")]
//! The places where torch's memory meets Rust's: tensors as slices, slices as tensors.

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
    // SAFETY: `check` saw `len` contiguous floats in this process; the borrow of the tensor keeps them alive. What is
    // read here are results of torch's operations, to which nothing writes any more.
    Ok(unsafe { std::slice::from_raw_parts(tensor.data_ptr() as *const f32, len) })
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
