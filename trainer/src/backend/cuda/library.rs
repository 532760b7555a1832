#![expect(unsafe_code, reason = "shared libraries opened at run time")]
//! Shared libraries that are looked for at run time: the driver of the GPU and NVRTC.

use std::ffi::{CStr, CString};
use std::path::Path;

/// An open library; it stays open for the life of the process.
#[derive(Clone, Copy)]
pub(super) struct Library {
    handle: *mut libc::c_void,
}

// SAFETY: a handle of dlopen may be used by any thread, and this one is never closed.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Library {
    /// Opens a library by its path or, without a folder, by the loader's rules.
    ///
    /// # Errors
    /// The loader's message.
    pub(super) fn open(path: &Path) -> Result<Library, String> {
        let name = CString::new(path.as_os_str().as_encoded_bytes())
            .map_err(|_| format!("{}: a path with a zero byte", path.display()))?;
        // SAFETY: a valid C string; the initialisers of the libraries opened here are NVIDIA's business.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
        if handle.is_null() { Err(message()) } else { Ok(Library { handle }) }
    }

    /// A function of the library.
    ///
    /// # Errors
    /// The loader's message when there is none of that name.
    ///
    /// # Safety
    /// `F` must be the type of a pointer to that function.
    pub(super) unsafe fn function<F: Copy>(&self, name: &CStr) -> Result<F, String> {
        const { assert!(size_of::<F>() == size_of::<*mut libc::c_void>(), "F is a pointer to a function") };
        // SAFETY: a handle that stays open and a valid C string.
        let symbol = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        if symbol.is_null() {
            return Err(message());
        }
        // SAFETY: of one size (see above), and of that type by the caller's promise.
        Ok(unsafe { std::mem::transmute_copy(&symbol) })
    }
}

/// What the loader says of the last failure in this thread.
fn message() -> String {
    // SAFETY: dlerror returns null or a C string, which is copied at once.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "no such symbol".to_owned();
    }
    // SAFETY: not null (see above).
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
