#![expect(unsafe_code, reason = "loading libtorch_cuda.so beside the libtorch in use; malloc's policy")]
//! One binary for CPU and GPU.
//!
//! The binary is linked against libtorch_cpu alone. Where the libtorch in use has a libtorch_cuda.so beside it (the full
//! torch of `scripts/setup-libtorch.py --full`, or a cluster's own), that is loaded at start. It must come before
//! any other call of torch: torch asks for its CUDA part once and remembers the answer.

use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Tells malloc to keep the megabytes that each step frees and asks for again; by default it returns them to the
/// system, and a tenth of a step goes into page faults.
pub fn keep_memory() {
    #[cfg(target_env = "gnu")]
    {
        // glibc refuses a larger one (half of what a thread's heap may hold).
        const GREATEST: i32 = 32 << 20;
        for (parameter, value) in [(libc::M_MMAP_THRESHOLD, GREATEST), (libc::M_TRIM_THRESHOLD, i32::MAX)] {
            // SAFETY: mallopt takes two numbers and changes nothing but malloc's own policy; if it fails, only speed is
            // lost.
            unsafe { libc::mallopt(parameter, value) };
        }
    }
}

/// Loads libtorch_cuda.so if it lies beside the libtorch in use. Call it first thing in `main`.
///
/// # Errors
/// The loader's message when the library is there but cannot be loaded; training on the CPU works all the same.
pub fn load_cuda() -> Result<(), String> {
    match library_folder().map(|folder| folder.join("libtorch_cuda.so")).filter(|path| path.exists()) {
        Some(path) => load(&path),
        None => Ok(()),
    }
}

/// The folder of the libtorch_cpu.so that this process uses.
pub fn library_folder() -> Option<PathBuf> {
    // SAFETY: dlsym with a valid C string; the symbol is only asked for its address.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_ZN5torch4cuda12is_availableEv".as_ptr()) };
    if symbol.is_null() {
        return None;
    }
    // SAFETY: Dl_info is plain data for which all zeros is a value.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: `symbol` is an address in a loaded library, `info` a valid place to write to.
    if unsafe { libc::dladdr(symbol, &raw mut info) } == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: dladdr succeeded, so dli_fname is a C string that lives as long as the library is loaded.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    let path = std::fs::canonicalize(OsStr::from_bytes(name.to_bytes())).ok()?;
    Some(path.parent()?.to_path_buf())
}

fn load(path: &Path) -> Result<(), String> {
    let Ok(name) = CString::new(path.as_os_str().as_bytes()) else {
        return Err(format!("{}: a path with a zero byte", path.display()));
    };
    // SAFETY: a valid C string; the library's own initialisers are torch's business.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
    if !handle.is_null() {
        return Ok(());
    }
    // SAFETY: dlopen failed, so dlerror returns a C string, which is copied at once.
    let message = unsafe { CStr::from_ptr(libc::dlerror()) }.to_string_lossy().into_owned();
    Err(format!("{}: {message}", path.display()))
}
