#![expect(unsafe_code, reason = "calls of csrc/stream.cpp, and pinned memory seen as a slice")]
//! Torch's streams, as far as tch does not reach them: csrc/stream.cpp. On the CPU everything is done at once.

use super::DeviceError;
use std::ffi::{CStr, c_char, c_int, c_longlong, c_void};
use std::ptr;
use tch::{Device, Kind, Tensor};

type TensorHandle = *mut c_void;
type EventHandle = *mut c_void;

unsafe extern "C" {
    fn chuhe_stream_error() -> *const c_char;
    fn chuhe_current_stream(device: c_int, handle: *mut *mut c_void) -> c_int;
    fn chuhe_pinned(bytes: c_longlong, pinned: *mut TensorHandle) -> c_int;
    fn chuhe_upload(
        from: *const c_void,
        device: c_int,
        to: *mut TensorHandle,
        done: *mut EventHandle,
    ) -> c_int;
    fn chuhe_download(from: *const c_void, to: *mut c_void, done: *mut EventHandle) -> c_int;
    fn chuhe_event_query(event: *const c_void) -> c_int;
    fn chuhe_event_wait(event: *const c_void) -> c_int;
    fn chuhe_event_free(event: *mut c_void);
}

/// Turns -1 into the text that torch threw.
fn check(result: c_int) -> Result<c_int, DeviceError> {
    if result >= 0 {
        return Ok(result);
    }
    // SAFETY: a C string of this thread that lives until the next failure; it is copied at once.
    let text = unsafe { CStr::from_ptr(chuhe_stream_error()) };
    Err(DeviceError::Stream(text.to_string_lossy().into_owned()))
}

/// Torch's current stream of a GPU, as the driver knows it.
///
/// # Errors
/// [`DeviceError::Stream`].
pub(super) fn current(index: usize) -> Result<*mut c_void, DeviceError> {
    let mut handle = ptr::null_mut();
    // SAFETY: a valid place for the answer.
    check(unsafe { chuhe_current_stream(index as c_int, &raw mut handle) })?;
    Ok(handle)
}

/// A mark in a stream. Work that was done at once has none.
#[derive(Debug, Default)]
pub struct Event(Option<EventHandle>);

// SAFETY: an event of torch may be asked and waited for by any thread; it is freed once, by its owner.
unsafe impl Send for Event {}

impl Event {
    /// Has everything before it been done?
    ///
    /// # Errors
    /// What torch reports, as when a kernel before it failed.
    pub fn passed(&self) -> Result<bool, DeviceError> {
        match self.0 {
            // SAFETY: a live event.
            Some(event) => Ok(check(unsafe { chuhe_event_query(event) })? != 0),
            None => Ok(true),
        }
    }

    /// Waits until everything before it has been done.
    ///
    /// # Errors
    /// As [`Event::passed`].
    pub fn wait(&self) -> Result<(), DeviceError> {
        if let Some(event) = self.0 {
            // SAFETY: a live event.
            check(unsafe { chuhe_event_wait(event) })?;
        }
        Ok(())
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let Some(event) = self.0.take() {
            // SAFETY: made by csrc/stream.cpp and freed only here.
            unsafe { chuhe_event_free(event) };
        }
    }
}

/// Bytes that a device can copy by itself: pinned memory, or ordinary memory for the CPU.
pub struct Staging {
    bytes: Tensor,
    device: Device,
    /// When the last copy out of it is done.
    copied: Event,
}

impl Staging {
    /// Room for `len` bytes on their way to `device`.
    ///
    /// # Errors
    /// What torch reports.
    pub fn new(len: usize, device: Device) -> Result<Staging, DeviceError> {
        let bytes = match device {
            Device::Cuda(_) => {
                let mut handle = ptr::null_mut();
                // SAFETY: a valid place for the answer.
                check(unsafe { chuhe_pinned(len as c_longlong, &raw mut handle) })?;
                // SAFETY: a new at::Tensor of csrc/stream.cpp that nobody else frees.
                unsafe { Tensor::from_ptr(handle.cast()) }
            }
            _ => Tensor::f_zeros([len as i64], (Kind::Uint8, Device::Cpu))?,
        };
        Ok(Staging { bytes, device, copied: Event::default() })
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.bytes.numel()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes to write to, once the last copy out of them is done.
    ///
    /// # Errors
    /// As [`Event::wait`].
    pub fn bytes(&mut self) -> Result<&mut [u8], DeviceError> {
        self.copied.wait()?;
        let len = self.len();
        if len == 0 {
            return Ok(&mut []);
        }
        // SAFETY: `len` contiguous bytes of this process that only this value knows, borrowed exclusively; no copy reads
        // them any more. Zeroed or, pinned, bytes of whatever value.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.bytes.data_ptr().cast::<u8>(), len) })
    }

    /// A copy on the device; later work of the current stream may use it.
    ///
    /// # Errors
    /// What torch reports.
    pub fn upload(&mut self) -> Result<Tensor, DeviceError> {
        let Device::Cuda(index) = self.device else { return Ok(self.bytes.f_detach_copy()?) };
        let (mut tensor, mut event) = (ptr::null_mut(), ptr::null_mut());
        let from = self.bytes.as_ptr().cast::<c_void>();
        // SAFETY: a live tensor and valid places for the answers; its bytes are not written before `copied` has passed.
        check(unsafe { chuhe_upload(from, index as c_int, &raw mut tensor, &raw mut event) })?;
        self.copied = Event(Some(event));
        // SAFETY: a new at::Tensor that nobody else frees.
        Ok(unsafe { Tensor::from_ptr(tensor.cast()) })
    }
}

/// Numbers on their way from a device.
pub struct Download {
    values: Tensor,
    done: Event,
}

impl Download {
    /// Begins to copy a 1-dimensional f64 tensor.
    ///
    /// # Errors
    /// What torch reports.
    pub fn start(from: &Tensor) -> Result<Download, DeviceError> {
        if from.device() == Device::Cpu {
            return Ok(Download { values: from.f_detach_copy()?, done: Event::default() });
        }
        let bytes = Staging::new(8 * from.numel(), from.device())?.bytes;
        let values = bytes.f_view_dtype(Kind::Double)?;
        let mut event = ptr::null_mut();
        let (from, to) = (from.as_ptr().cast::<c_void>(), values.as_ptr().cast::<c_void>());
        // SAFETY: live tensors of one shape and kind; `values` is kept until the copy is done, or by torch's allocator
        // of pinned memory, which knows of the copy.
        check(unsafe { chuhe_download(from, to.cast_mut(), &raw mut event) })?;
        Ok(Download { values, done: Event(Some(event)) })
    }

    /// The numbers, if they are here.
    ///
    /// # Errors
    /// As [`Event::passed`].
    pub fn take(&self, wait: bool) -> Result<Option<Vec<f64>>, DeviceError> {
        if wait {
            self.done.wait()?;
        } else if !self.done.passed()? {
            return Ok(None);
        }
        Ok(Some(Vec::try_from(&self.values)?))
    }
}
