#![expect(unsafe_code, reason = "calls of the CUDA driver")]
//! Our kernels on the GPU, through the driver itself: seven functions in the context that torch uses.

use super::launch::{Argument, Grid};
use super::library::Library;
use super::nvrtc::Image;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::ptr;
use thiserror::Error;

/// A call of the driver that failed.
#[derive(Debug, Error)]
#[error("CUDA driver: {call}: {what}")]
pub struct DriverError {
    /// The function.
    pub call: &'static str,
    /// What it says.
    pub what: String,
}

type Handle = *mut c_void;

macro_rules! functions {
    ($($field:ident: $name:literal ($($argument:ty),*);)*) => {
        struct Functions { $($field: unsafe extern "C" fn($($argument),*) -> c_int,)* }

        impl Functions {
            fn bind(library: Library) -> Result<Functions, String> {
                // SAFETY: the types are those of cuda.h of CUDA 13: contexts, modules and functions are pointers, a
                // device and a result an int.
                Ok(unsafe { Functions { $($field: library.function($name)?,)* } })
            }
        }
    };
}

functions! {
    init: c"cuInit" (c_uint);
    device: c"cuDeviceGet" (*mut c_int, c_int);
    attribute: c"cuDeviceGetAttribute" (*mut c_int, c_int, c_int);
    retain: c"cuDevicePrimaryCtxRetain" (*mut Handle, c_int);
    set_current: c"cuCtxSetCurrent" (Handle);
    load: c"cuModuleLoadData" (*mut Handle, *const c_void);
    function: c"cuModuleGetFunction" (*mut Handle, Handle, *const c_char);
    launch: c"cuLaunchKernel" (
        Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void
    );
    error_text: c"cuGetErrorString" (c_int, *mut *const c_char);
}

/// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR` and `_MINOR`.
const CAPABILITY: [c_int; 2] = [75, 76];

/// A GPU, in the context that torch has made for it.
pub struct Gpu {
    functions: Functions,
    context: Handle,
    device: c_int,
}

/// The kernels of one image, loaded on a GPU.
pub struct Module {
    gpu: Gpu,
    kernels: HashMap<&'static str, Handle>,
    architecture: String,
}

impl Gpu {
    /// GPU number `index` of those that this process sees.
    ///
    /// # Errors
    /// [`DriverError`], as when there is no driver.
    pub fn open(index: usize) -> Result<Gpu, DriverError> {
        let library = Library::open(Path::new("libcuda.so.1")).and_then(Functions::bind);
        let functions = library.map_err(|what| DriverError { call: "loading libcuda.so.1", what })?;
        let (mut device, mut context) = (0, ptr::null_mut());
        // SAFETY: cuInit takes flags, which must be 0, and may be called again.
        functions.check("cuInit", unsafe { (functions.init)(0) })?;
        // SAFETY: a valid place for the answer; an index out of range is an error code.
        functions.check("cuDeviceGet", unsafe { (functions.device)(&raw mut device, index as c_int) })?;
        // SAFETY: as above. The primary context is the one the runtime, and so torch, uses; it is kept to the end.
        let retained = unsafe { (functions.retain)(&raw mut context, device) };
        functions.check("cuDevicePrimaryCtxRetain", retained)?;
        Ok(Gpu { functions, context, device })
    }

    /// Its compute capability, major and minor.
    ///
    /// # Errors
    /// [`DriverError`].
    pub fn capability(&self) -> Result<(i32, i32), DriverError> {
        let mut found = [0; 2];
        for (value, attribute) in found.iter_mut().zip(CAPABILITY) {
            // SAFETY: a valid place for the answer and a device of `cuDeviceGet`.
            let result = unsafe { (self.functions.attribute)(&raw mut *value, attribute, self.device) };
            self.functions.check("cuDeviceGetAttribute", result)?;
        }
        Ok((found[0], found[1]))
    }

    /// Loads the kernels `names` of an image.
    ///
    /// # Errors
    /// [`DriverError`].
    pub fn load(self, image: &Image, names: &[&'static CStr]) -> Result<Module, DriverError> {
        self.make_current()?;
        let mut module = ptr::null_mut();
        // SAFETY: a valid place for the answer and an image of NVRTC with a zero at its end, which is copied.
        let result = unsafe { (self.functions.load)(&raw mut module, image.bytes.as_ptr().cast()) };
        self.functions.check("cuModuleLoadData", result)?;
        let mut kernels = HashMap::new();
        for &name in names {
            let mut kernel = ptr::null_mut();
            // SAFETY: a valid place for the answer, a loaded module and a C string.
            let result = unsafe { (self.functions.function)(&raw mut kernel, module, name.as_ptr()) };
            self.functions.check("cuModuleGetFunction", result)?;
            kernels.insert(name.to_str().unwrap_or_default(), kernel);
        }
        Ok(Module { gpu: self, kernels, architecture: image.architecture.clone() })
    }

    /// Torch keeps the context current in threads where it has run; other threads learn it here.
    fn make_current(&self) -> Result<(), DriverError> {
        // SAFETY: a context that is kept to the end of the process.
        self.functions.check("cuCtxSetCurrent", unsafe { (self.functions.set_current)(self.context) })
    }
}

impl Module {
    /// What its image was compiled for: `sm_90`.
    pub fn architecture(&self) -> &str {
        &self.architecture
    }

    /// Puts a kernel into a stream; it runs when what is before it has run.
    ///
    /// # Errors
    /// [`DriverError`].
    ///
    /// # Safety
    /// `stream` is a stream of this GPU, or null; the arguments are what the kernel takes, their pointers are to memory of
    /// this GPU, large enough for the grid, that is not freed or written elsewhere before the stream has passed.
    pub unsafe fn launch(
        &self,
        name: &str,
        grid: Grid,
        stream: *mut c_void,
        arguments: &mut [Argument],
    ) -> Result<(), DriverError> {
        let Some(&kernel) = self.kernels.get(name) else {
            return Err(DriverError { call: "cuLaunchKernel", what: format!("no kernel {name}") });
        };
        self.gpu.make_current()?;
        let mut places: Vec<*mut c_void> = arguments.iter_mut().map(Argument::place).collect();
        let (blocks, threads) = (grid.blocks, grid.threads);
        let (places, extra) = (places.as_mut_ptr(), ptr::null_mut());
        // SAFETY: a kernel of this context, places of as many arguments as it takes, and the caller's promise for the
        // rest; the driver copies the arguments before it returns.
        let result = unsafe {
            (self.gpu.functions.launch)(kernel, blocks, 1, 1, threads, 1, 1, 0, stream, places, extra)
        };
        self.gpu.functions.check("cuLaunchKernel", result)
    }
}

impl Functions {
    fn check(&self, call: &'static str, result: c_int) -> Result<(), DriverError> {
        if result == 0 {
            return Ok(());
        }
        let mut text = ptr::null();
        // SAFETY: a valid place for a constant C string, which stays null for an unknown number.
        unsafe { (self.error_text)(result, &raw mut text) };
        let what = if text.is_null() {
            format!("error {result}")
        } else {
            // SAFETY: a C string of the driver (see above).
            unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
        };
        Err(DriverError { call, what })
    }
}
