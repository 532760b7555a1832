#![expect(
    unsafe_code,
    reason = "calls of the C++ shim over torch's c10d (trainer/csrc), and loading its NCCL part"
)]
//! torch.distributed's store and process groups, safely: what `trainer/csrc/c10d.cpp` offers.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::NonNull;
use std::time::Duration;
use tch::Tensor;
use torch_sys::C_tensor;

#[repr(C)]
struct RawStore {
    private: [u8; 0],
}

#[repr(C)]
struct RawGroup {
    private: [u8; 0],
}

/// `chuhe_nccl_open`; called by the C++ side only.
type NcclOpen = unsafe extern "C" fn();

unsafe extern "C" {
    fn chuhe_c10d_error() -> *const c_char;
    fn chuhe_c10d_store_open(
        host: *const c_char,
        port: u16,
        serve: c_int,
        prefix: *const c_char,
        timeout_ms: i64,
        out: *mut *mut RawStore,
    ) -> c_int;
    fn chuhe_c10d_store_set(s: *mut RawStore, key: *const c_char, bytes: *const u8, size: usize) -> c_int;
    fn chuhe_c10d_store_get(
        s: *mut RawStore,
        key: *const c_char,
        bytes: *mut *const u8,
        size: *mut usize,
    ) -> c_int;
    fn chuhe_c10d_store_claim(s: *mut RawStore, key: *const c_char, bytes: *const u8, size: usize) -> c_int;
    fn chuhe_c10d_store_add(s: *mut RawStore, key: *const c_char, amount: i64, out: *mut i64) -> c_int;
    fn chuhe_c10d_store_free(s: *mut RawStore);
    fn chuhe_c10d_group_open(
        s: *mut RawStore,
        rank: c_int,
        world: c_int,
        join_ms: i64,
        out: *mut *mut RawGroup,
    ) -> c_int;
    fn chuhe_c10d_group_add_nccl(
        g: *mut RawGroup,
        s: *mut RawStore,
        open: NcclOpen,
        rank: c_int,
        world: c_int,
        device: c_int,
        timeout_ms: i64,
    ) -> c_int;
    fn chuhe_c10d_start(
        g: *mut RawGroup,
        operation: c_int,
        tensors: *const *mut C_tensor,
        count: usize,
        numbers: *mut f64,
        number_count: usize,
    ) -> c_int;
    fn chuhe_c10d_wait(
        g: *mut RawGroup,
        slice_ms: i64,
        tensors: *const *mut C_tensor,
        count: usize,
        numbers: *mut f64,
        number_count: usize,
    ) -> c_int;
    fn chuhe_c10d_group_free(g: *mut RawGroup);
}

/// What c10d, Gloo, NCCL or the loader of shared objects says, without the trace of C++ frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure(pub(super) String);

/// Turns a C result into a Rust one; positive results are answers.
fn checked(result: c_int) -> Result<c_int, Failure> {
    if result >= 0 {
        return Ok(result);
    }
    // SAFETY: the function returns a C string of this thread, which is copied before any other call.
    let text = unsafe { CStr::from_ptr(chuhe_c10d_error()) }.to_string_lossy().into_owned();
    let text = text.split("Exception raised from").next().unwrap_or_default().trim();
    Err(Failure(text.trim_end_matches(['(', ' ', '\n']).to_owned()))
}

fn c_string(text: &str) -> Result<CString, Failure> {
    CString::new(text).map_err(|_| Failure(format!("{text:?} holds a zero byte")))
}

fn milliseconds(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// A connection to the store, where ranks leave short texts for each other.
pub(super) struct Store(NonNull<RawStore>);

// SAFETY: the C++ object is bound to no thread.
unsafe impl Send for Store {}
// SAFETY: c10d's TCPStore takes a lock for every operation, and the shim's own variables are per thread.
unsafe impl Sync for Store {}

impl Store {
    /// Connects to the store at `host:port`, serving it there if asked to; keys are kept under `prefix`.
    pub(super) fn open(
        host: &str,
        port: u16,
        serve: bool,
        prefix: &str,
        timeout: Duration,
    ) -> Result<Store, Failure> {
        let (host, prefix) = (c_string(host)?, c_string(prefix)?);
        let mut out = std::ptr::null_mut();
        let (serve, timeout) = (c_int::from(serve), milliseconds(timeout));
        // SAFETY: both strings are valid C strings, and `out` is a place for one pointer.
        checked(unsafe {
            chuhe_c10d_store_open(host.as_ptr(), port, serve, prefix.as_ptr(), timeout, &raw mut out)
        })?;
        NonNull::new(out).map(Store).ok_or_else(|| Failure("no store".to_owned()))
    }

    pub(super) fn set(&self, key: &str, value: &[u8]) -> Result<(), Failure> {
        let key = c_string(key)?;
        // SAFETY: an open store, a valid C string, and a slice with its length.
        checked(unsafe { chuhe_c10d_store_set(self.0.as_ptr(), key.as_ptr(), value.as_ptr(), value.len()) })?;
        Ok(())
    }

    /// What is there under a key now; never waits.
    pub(super) fn get(&self, key: &str) -> Result<Option<Vec<u8>>, Failure> {
        let key = c_string(key)?;
        let (mut bytes, mut size) = (std::ptr::null(), 0);
        // SAFETY: an open store, a valid C string, and places for a pointer and a length.
        let found = checked(unsafe {
            chuhe_c10d_store_get(self.0.as_ptr(), key.as_ptr(), &raw mut bytes, &raw mut size)
        })?;
        if found != 0 || size == 0 {
            return Ok((found == 0).then(Vec::new));
        }
        // SAFETY: the call succeeded, so these are `size` bytes that live until this thread's next call.
        let bytes = unsafe { std::slice::from_raw_parts(bytes, size) };
        Ok(Some(bytes.to_vec()))
    }

    /// The same as text.
    pub(super) fn text(&self, key: &str) -> Result<Option<String>, Failure> {
        Ok(self.get(key)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Sets a key that has no value yet; of several callers the first wins.
    pub(super) fn claim(&self, key: &str, value: &[u8]) -> Result<(), Failure> {
        let key = c_string(key)?;
        // SAFETY: as for `set`.
        checked(unsafe {
            chuhe_c10d_store_claim(self.0.as_ptr(), key.as_ptr(), value.as_ptr(), value.len())
        })?;
        Ok(())
    }

    /// Counts up a number, which begins at 0, and returns it.
    pub(super) fn add(&self, key: &str, amount: i64) -> Result<i64, Failure> {
        let key = c_string(key)?;
        let mut out = 0;
        // SAFETY: an open store, a valid C string, and a place for one number.
        checked(unsafe { chuhe_c10d_store_add(self.0.as_ptr(), key.as_ptr(), amount, &raw mut out) })?;
        Ok(out)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `store_open` and is freed once.
        unsafe { chuhe_c10d_store_free(self.0.as_ptr()) };
    }
}

/// Which operation over all ranks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operation {
    /// Everybody gets the sum.
    Sum = 0,
    /// Everybody gets what rank 0 has.
    FromFirst = 1,
}

/// The ranks, connected with each other.
pub(super) struct Group {
    raw: NonNull<RawGroup>,
    /// An operation was given up and may still be running.
    broken: bool,
}

// SAFETY: the C++ object is bound to no thread; all use is through `&mut`.
unsafe impl Send for Group {}

impl Group {
    /// Connects all ranks by Gloo, within the time given.
    pub(super) fn open(store: &Store, rank: usize, world: usize, join: Duration) -> Result<Group, Failure> {
        let mut out = std::ptr::null_mut();
        let (rank, world) = (rank as c_int, world as c_int);
        // SAFETY: an open store, and a place for one pointer.
        checked(unsafe {
            chuhe_c10d_group_open(store.0.as_ptr(), rank, world, milliseconds(join), &raw mut out)
        })?;
        let raw = NonNull::new(out).ok_or_else(|| Failure("no process group".to_owned()))?;
        Ok(Group { raw, broken: false })
    }

    /// Adds NCCL for tensors on the GPU `device`, from the shared object `shim`. libtorch_cuda must be loaded.
    pub(super) fn add_nccl(
        &mut self,
        store: &Store,
        shim: &Path,
        (rank, world): (usize, usize),
        device: usize,
        timeout: Duration,
    ) -> Result<(), Failure> {
        let library = Library::load(shim)?;
        let version = library.symbol(c"chuhe_nccl_torch_version")?;
        // SAFETY: in the shim (trainer/csrc/nccl) this is `const char* chuhe_nccl_torch_version()`.
        let version = unsafe {
            let version = std::mem::transmute::<*mut c_void, extern "C" fn() -> *const c_char>(version);
            CStr::from_ptr(version()).to_string_lossy().into_owned()
        };
        if version != TORCH_VERSION {
            let shim = shim.display();
            return Err(Failure(format!(
                "{shim} was built for torch {version}, this program for {TORCH_VERSION}; build it anew with \
                 scripts/build-nccl-shim.sh"
            )));
        }
        let open = library.symbol(c"chuhe_nccl_open")?;
        // SAFETY: a function of the shim, whose true type only the C++ side uses.
        let open = unsafe { std::mem::transmute::<*mut c_void, NcclOpen>(open) };
        let (rank, world, device) = (rank as c_int, world as c_int, device as c_int);
        let (group, store, timeout) = (self.raw.as_ptr(), store.0.as_ptr(), milliseconds(timeout));
        // SAFETY: an open group and store; `open` has the type that c10d.cpp declares, being of the same version.
        checked(unsafe { chuhe_c10d_group_add_nccl(group, store, open, rank, world, device, timeout) })?;
        Ok(())
    }

    /// One operation on tensors (contiguous, f32 or f64) and numbers together, in place. `go_on` is asked at every end of
    /// `slice` whether to wait longer; its error ends the waiting, and the group is of no use any more.
    ///
    /// # Errors
    /// What c10d reports, or `go_on`.
    pub(super) fn run<E: From<Failure>>(
        &mut self,
        operation: Operation,
        tensors: &mut [Tensor],
        numbers: &mut [f64],
        slice: Duration,
        mut go_on: impl FnMut() -> Result<(), E>,
    ) -> Result<(), E> {
        if self.broken {
            return Err(Failure("an earlier operation of this group failed".to_owned()).into());
        }
        let pointers: Vec<*mut C_tensor> = tensors.iter_mut().map(Tensor::as_mut_ptr).collect();
        let (p, n) = (pointers.as_ptr(), pointers.len());
        let (values, count) = (numbers.as_mut_ptr(), numbers.len());
        // Until the operation has ended: Gloo may still be at work on the group's own buffers.
        self.broken = true;
        // SAFETY: an open group; `n` valid tensors and `count` numbers that stay borrowed until this function ends,
        // and that the C++ side keeps no pointers to.
        checked(unsafe { chuhe_c10d_start(self.raw.as_ptr(), operation as c_int, p, n, values, count) })?;
        // SAFETY: as above, with the same arguments.
        let wait =
            || unsafe { chuhe_c10d_wait(self.raw.as_ptr(), milliseconds(slice).max(1), p, n, values, count) };
        while checked(wait())? == 1 {
            go_on()?;
        }
        self.broken = false;
        Ok(())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The destructor of a group waits for its operations, and one that was given up may never end. It has its
        // buffers to itself and lives until the process ends.
        if !self.broken {
            // SAFETY: the pointer came from `group_open` and is freed once.
            unsafe { chuhe_c10d_group_free(self.raw.as_ptr()) };
        }
    }
}

/// The torch that torch-sys is made for.
const TORCH_VERSION: &str = "2.11.0";

/// A shared object, loaded until the process ends.
struct Library(NonNull<c_void>);

impl Library {
    fn load(path: &Path) -> Result<Library, Failure> {
        let name = CString::new(path.as_os_str().as_bytes())
            .map_err(|_| Failure(format!("{}: a path with a zero byte", path.display())))?;
        // SAFETY: a valid C string; the initialisers of the shim are those of torch's headers.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        NonNull::new(handle).map(Library).ok_or_else(|| loader_failure(path))
    }

    fn symbol(&self, name: &CStr) -> Result<*mut c_void, Failure> {
        // SAFETY: an open handle and a valid C string.
        let symbol = unsafe { libc::dlsym(self.0.as_ptr(), name.as_ptr()) };
        if symbol.is_null() { Err(loader_failure(Path::new("the NCCL shim"))) } else { Ok(symbol) }
    }
}

fn loader_failure(path: &Path) -> Failure {
    // SAFETY: called after dlopen or dlsym failed, so dlerror gives a C string, which is copied at once.
    let message = unsafe { CStr::from_ptr(libc::dlerror()) }.to_string_lossy().into_owned();
    Failure(format!("{}: {message}", path.display()))
}
