#![expect(unsafe_code, reason = "calls of NVRTC, NVIDIA's run-time compiler")]
//! CUDA C to machine code at run time, by NVRTC: nobody needs nvcc. It also compiles where there is no GPU.

use super::library::Library;
use crate::torch;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr;
use thiserror::Error;

/// Why a source was not compiled.
#[derive(Debug, Error)]
pub enum NvrtcError {
    /// The library is not there.
    #[error(
        "NVRTC is not there ({0}); it comes with the full torch, or with `python3 scripts/setup-libtorch.py --nvrtc`"
    )]
    Missing(String),
    /// A call failed.
    #[error("NVRTC: {call}: {what}")]
    Call {
        /// The function.
        call: &'static str,
        /// What it says, with the compiler's log.
        what: String,
    },
}

/// Machine code, or PTX that the driver turns into such.
#[derive(Clone, Debug)]
pub struct Image {
    /// The bytes, a zero at their end.
    pub bytes: Vec<u8>,
    /// The architecture compiled for: `sm_90`, `compute_120`.
    pub architecture: String,
}

type Program = *mut c_void;

macro_rules! functions {
    ($($field:ident: $name:literal ($($argument:ty),*) -> $result:ty;)*) => {
        /// The compiler.
        pub struct Nvrtc { $($field: unsafe extern "C" fn($($argument),*) -> $result,)* }

        impl Nvrtc {
            fn bind(library: Library) -> Result<Nvrtc, String> {
                // SAFETY: the types are those of nvrtc.h of CUDA 13, where `nvrtcProgram` is a pointer and
                // `nvrtcResult` an int.
                Ok(unsafe { Nvrtc { $($field: library.function($name)?,)* } })
            }
        }
    };
}

functions! {
    create: c"nvrtcCreateProgram" (
        *mut Program, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char
    ) -> c_int;
    compile: c"nvrtcCompileProgram" (Program, c_int, *const *const c_char) -> c_int;
    log_size: c"nvrtcGetProgramLogSize" (Program, *mut usize) -> c_int;
    log: c"nvrtcGetProgramLog" (Program, *mut c_char) -> c_int;
    ptx_size: c"nvrtcGetPTXSize" (Program, *mut usize) -> c_int;
    ptx: c"nvrtcGetPTX" (Program, *mut c_char) -> c_int;
    cubin_size: c"nvrtcGetCUBINSize" (Program, *mut usize) -> c_int;
    cubin: c"nvrtcGetCUBIN" (Program, *mut c_char) -> c_int;
    destroy: c"nvrtcDestroyProgram" (*mut Program) -> c_int;
    error_text: c"nvrtcGetErrorString" (c_int) -> *const c_char;
    supported_count: c"nvrtcGetNumSupportedArchs" (*mut c_int) -> c_int;
    supported: c"nvrtcGetSupportedArchs" (*mut c_int) -> c_int;
}

type GetSize = unsafe extern "C" fn(Program, *mut usize) -> c_int;
type GetBytes = unsafe extern "C" fn(Program, *mut c_char) -> c_int;

impl Nvrtc {
    /// Opens NVRTC beside the libtorch in use, or wherever the loader finds it.
    ///
    /// # Errors
    /// [`NvrtcError::Missing`].
    pub fn open() -> Result<Nvrtc, NvrtcError> {
        // A system's CUDA 12 must not win, so the one beside torch comes first; it has no RPATH of its own to find its
        // second library by.
        let beside = torch::library_folder().map(|lib| lib.join("../../nvidia/cu13/lib"));
        if let Some(folder) = beside.filter(|folder| folder.join("libnvrtc.so.13").exists()) {
            let _ = Library::open(&folder.join("libnvrtc-builtins.so.13.0"));
            let library = Library::open(&folder.join("libnvrtc.so.13")).map_err(NvrtcError::Missing)?;
            return Nvrtc::bind(library).map_err(NvrtcError::Missing);
        }
        Library::open(Path::new("libnvrtc.so.13")).and_then(Nvrtc::bind).map_err(NvrtcError::Missing)
    }

    /// Compiles for a GPU of compute capability `major.minor`; for one that this NVRTC does not know yet, to PTX of the
    /// newest it knows. Multiplications and additions are not fused, so that results are those of the CPU.
    ///
    /// # Errors
    /// [`NvrtcError::Call`] with the compiler's log.
    pub fn compile(&self, source: &str, (major, minor): (i32, i32)) -> Result<Image, NvrtcError> {
        let wanted = 10 * major + minor;
        let known = self.architectures()?;
        let exact = known.contains(&wanted);
        let newest = known.iter().copied().filter(|&known| known <= wanted).max().unwrap_or(wanted);
        let architecture = format!("{}_{}", if exact { "sm" } else { "compute" }, newest);
        let program = self.create(source)?;
        let options = [format!("--gpu-architecture={architecture}"), "--fmad=false".to_owned()];
        let options: Vec<CString> = options.into_iter().filter_map(|text| CString::new(text).ok()).collect();
        let options: Vec<*const c_char> = options.iter().map(|text| text.as_ptr()).collect();
        // SAFETY: a live program, and as many C strings as are said.
        let result = unsafe { (self.compile)(program.handle, options.len() as c_int, options.as_ptr()) };
        if result != 0 {
            let log = self.bytes(&program, "nvrtcGetProgramLog", self.log_size, self.log)?;
            let log = String::from_utf8_lossy(&log).trim_end_matches('\0').to_owned();
            let what = format!("{}, {architecture}:\n{log}", self.text(result));
            return Err(NvrtcError::Call { call: "nvrtcCompileProgram", what });
        }
        let mut bytes = if exact {
            self.bytes(&program, "nvrtcGetCUBIN", self.cubin_size, self.cubin)?
        } else {
            self.bytes(&program, "nvrtcGetPTX", self.ptx_size, self.ptx)?
        };
        bytes.push(0);
        Ok(Image { bytes, architecture })
    }

    /// The architectures it makes machine code for, as 10 major + minor.
    fn architectures(&self) -> Result<Vec<i32>, NvrtcError> {
        let mut count = 0;
        // SAFETY: a valid place for the answer.
        self.check("nvrtcGetNumSupportedArchs", unsafe { (self.supported_count)(&raw mut count) })?;
        let mut known = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: room for as many numbers as the call before said.
        self.check("nvrtcGetSupportedArchs", unsafe { (self.supported)(known.as_mut_ptr()) })?;
        Ok(known)
    }

    fn create(&self, source: &str) -> Result<Owned<'_>, NvrtcError> {
        let source = CString::new(source).map_err(|_| NvrtcError::Call {
            call: "nvrtcCreateProgram",
            what: "the source has a zero byte".to_owned(),
        })?;
        let mut handle: Program = ptr::null_mut();
        let (name, none) = (c"kernels.cu".as_ptr(), ptr::null());
        // SAFETY: C strings that live through the call, which copies them; no headers.
        let result = unsafe { (self.create)(&raw mut handle, source.as_ptr(), name, 0, none, none) };
        self.check("nvrtcCreateProgram", result)?;
        Ok(Owned { nvrtc: self, handle })
    }

    fn bytes(
        &self,
        program: &Owned<'_>,
        call: &'static str,
        size: GetSize,
        get: GetBytes,
    ) -> Result<Vec<u8>, NvrtcError> {
        let mut len = 0;
        // SAFETY: a live program and a valid place for the answer.
        self.check(call, unsafe { size(program.handle, &raw mut len) })?;
        let mut bytes = vec![0u8; len];
        // SAFETY: room for as many bytes as the call before said.
        self.check(call, unsafe { get(program.handle, bytes.as_mut_ptr().cast()) })?;
        Ok(bytes)
    }

    fn check(&self, call: &'static str, result: c_int) -> Result<(), NvrtcError> {
        if result == 0 { Ok(()) } else { Err(NvrtcError::Call { call, what: self.text(result) }) }
    }

    fn text(&self, result: c_int) -> String {
        // SAFETY: returns a constant C string for any number.
        unsafe { CStr::from_ptr((self.error_text)(result)) }.to_string_lossy().into_owned()
    }
}

/// A program that is destroyed when dropped.
struct Owned<'a> {
    nvrtc: &'a Nvrtc,
    handle: Program,
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        // SAFETY: created by `create`, and destroyed only here.
        unsafe { (self.nvrtc.destroy)(&raw mut self.handle) };
    }
}
