#![expect(unsafe_code, reason = "kernels are given pointers to the memory of tensors")]
//! Giving a kernel its arguments: the same way on a GPU and, for the tests, on the CPU.

use super::DeviceError;
use super::driver::{Gpu, Module};
use super::nvrtc::{Image, Nvrtc, NvrtcError};
use super::stream;
use crate::backend::cpu::AdamStep;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use tch::{Device, Kind, Tensor};

/// The source of the kernels.
pub const SOURCE: &str = include_str!("kernels.cu");

/// The kernels in it.
pub const KERNELS: [&CStr; 9] = [
    c"multihot",
    c"sparse_forward",
    c"sparse_backward",
    c"sparse_reduce",
    c"activate",
    c"deactivate",
    c"adam_flat",
    c"adam_shared",
    c"adam_table",
];

unsafe extern "C" {
    /// csrc/kernels_host.cpp
    fn chuhe_host_launch(
        name: *const c_char,
        grid: c_uint,
        block: c_uint,
        arguments: *mut *mut c_void,
        count: c_int,
    ) -> c_int;
}

/// Blocks of a kernel and threads of each.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// Blocks.
    pub blocks: u32,
    /// Threads in a block.
    pub threads: u32,
}

impl Grid {
    /// So many blocks of `threads` threads, rounded up to whole warps of 32.
    ///
    /// # Errors
    /// [`DeviceError::TooLarge`] above what a grid can have.
    pub fn new(blocks: usize, threads: usize) -> Result<Grid, DeviceError> {
        let threads = threads.next_multiple_of(32);
        match (u32::try_from(blocks), u32::try_from(threads)) {
            (Ok(blocks), Ok(threads)) if blocks <= i32::MAX as u32 && threads <= 1024 => {
                Ok(Grid { blocks, threads })
            }
            _ => Err(DeviceError::TooLarge(format!("a grid of {blocks} blocks of {threads} threads"))),
        }
    }
}

/// `struct Adam` of the kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Adam([f32; 9]);

impl From<&AdamStep> for Adam {
    fn from(step: &AdamStep) -> Adam {
        let AdamStep { rate, beta1, beta2, epsilon, correction1, correction2, shrink, limit, scale } = *step;
        Adam([rate, beta1, beta2, epsilon, correction1, correction2, shrink, limit, scale])
    }
}

/// One argument of a kernel.
#[derive(Clone, Copy, Debug)]
pub enum Argument {
    /// The memory of a tensor.
    Memory(*mut c_void),
    /// An `int`.
    Int(c_int),
    /// A `float`.
    Float(f32),
    /// A `struct Adam`.
    Adam(Adam),
}

impl Argument {
    /// Where the argument itself lies.
    pub(super) fn place(&mut self) -> *mut c_void {
        match self {
            Argument::Memory(pointer) => (&raw mut *pointer).cast(),
            Argument::Int(value) => (&raw mut *value).cast(),
            Argument::Float(value) => (&raw mut *value).cast(),
            Argument::Adam(value) => (&raw mut *value).cast(),
        }
    }
}

/// An `int` argument.
///
/// # Errors
/// [`DeviceError::TooLarge`].
pub fn int(value: usize) -> Result<Argument, DeviceError> {
    let value = c_int::try_from(value).map_err(|_| DeviceError::TooLarge(format!("{value}")))?;
    Ok(Argument::Int(value))
}

/// Where the kernels run.
pub enum Launcher {
    /// A GPU.
    Gpu {
        /// Its kernels.
        module: Box<Module>,
        /// Its number.
        index: usize,
    },
    /// This CPU: slow, to test the kernels.
    Host,
}

impl Launcher {
    /// Compiles the kernels for GPU number `index` and loads them.
    ///
    /// # Errors
    /// [`DeviceError`].
    pub fn gpu(index: usize) -> Result<Launcher, DeviceError> {
        let gpu = Gpu::open(index)?;
        let image = compile(gpu.capability()?)?;
        Ok(Launcher::Gpu { module: Box::new(gpu.load(&image, &KERNELS)?), index })
    }

    /// The memory of a contiguous tensor that lies where the kernels run.
    ///
    /// # Errors
    /// [`DeviceError::Tensor`] for another tensor.
    pub fn memory(&self, tensor: &Tensor, kind: Kind) -> Result<Argument, DeviceError> {
        let device = match self {
            Launcher::Gpu { index, .. } => Device::Cuda(*index),
            Launcher::Host => Device::Cpu,
        };
        if tensor.device() != device || tensor.f_kind()? != kind || !tensor.is_contiguous() {
            return Err(DeviceError::Tensor(format!(
                "expected a contiguous {kind:?} tensor on {device:?}, found {:?} on {:?}",
                tensor.f_kind()?,
                tensor.device()
            )));
        }
        Ok(Argument::Memory(tensor.data_ptr()))
    }

    /// Runs a kernel after what torch's current stream holds already.
    ///
    /// # Errors
    /// [`DeviceError`].
    ///
    /// # Safety
    /// The arguments are what the kernel takes (see kernels.cu), their memory is large enough for the grid, and no tensor
    /// of them is used on another stream.
    pub(super) unsafe fn run(
        &self,
        name: &'static CStr,
        grid: Grid,
        arguments: &mut [Argument],
    ) -> Result<(), DeviceError> {
        if grid.blocks == 0 || grid.threads == 0 {
            return Ok(());
        }
        match self {
            Launcher::Gpu { module, index } => {
                let stream = stream::current(*index)?;
                let name = name.to_str().unwrap_or_default();
                // SAFETY: the caller's promise; torch's allocator gives freed memory only to later work of this stream.
                Ok(unsafe { module.launch(name, grid, stream, arguments) }?)
            }
            Launcher::Host => {
                let mut places: Vec<*mut c_void> = arguments.iter_mut().map(Argument::place).collect();
                let (places, count) = (places.as_mut_ptr(), arguments.len() as c_int);
                // SAFETY: the caller's promise, with memory of this process.
                let result =
                    unsafe { chuhe_host_launch(name.as_ptr(), grid.blocks, grid.threads, places, count) };
                let text = || format!("{name:?} is not there, or takes other than {count} arguments");
                if result == 0 { Ok(()) } else { Err(DeviceError::Tensor(text())) }
            }
        }
    }
}

/// Compiles the kernels for a compute capability; no GPU is needed.
///
/// # Errors
/// [`NvrtcError`] with the compiler's log.
pub fn compile(capability: (i32, i32)) -> Result<Image, NvrtcError> {
    Nvrtc::open()?.compile(SOURCE, capability)
}
