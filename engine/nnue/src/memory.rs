//! Large memory: huge pages where the system has them, touched first by several threads.
//!
//! What is read at random over hundreds of megabytes misses the CPU's cache of page addresses at nearly every read,
//! unless its pages are large. Linux gives large ones on request to what nobody has touched yet
//! (`/sys/kernel/mm/transparent_hugepage/enabled` at `madvise` or `always`). Elsewhere, and where none are left,
//! the memory is ordinary.
#![expect(unsafe_code, reason = "advice to the system, and memory that several threads fill")]

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// A huge page of x86-64, and of AArch64 with pages of 4 KiB.
const HUGE_PAGE: usize = 2 << 20;
/// Threads that fill memory; with more the memory itself is the limit.
const MOST_THREADS: usize = 32;
/// A thread's share at least, in bytes: less is filled sooner than a thread starts.
const LEAST_SHARE: usize = 16 << 20;

/// `len` copies of a value, in huge pages as far as the system gives them.
pub fn filled<T: Copy + Send + Sync>(value: T, len: usize) -> Box<[T]> {
    filled_with(|| value, len)
}

/// `len` values that `make` gives, in huge pages as far as the system gives them.
pub fn filled_with<T: Send>(make: impl Fn() -> T + Sync, len: usize) -> Box<[T]> {
    let mut memory = Box::new_uninit_slice(len);
    ask_for_huge_pages(&mut memory);
    let fill = |part: &mut [MaybeUninit<T>]| {
        for place in part {
            place.write(make());
        }
    };
    shared_out(memory.chunks_mut(share_len::<T>(len)), fill);
    // SAFETY: the parts are all of the memory, and each was given to `fill`, which writes every place;
    // `shared_out` came back, so all of that is done (where `make` panicked it would not have).
    unsafe { memory.assume_init() }
}

/// Does `work` on all parts of a slice, each on a thread of its own where that is sooner done.
pub fn in_parts<T: Sync>(values: &[T], work: impl Fn(&[T]) + Sync) {
    shared_out(values.chunks(share_len::<T>(values.len())), work);
}

/// Gives the parts out to several threads and comes back when all are done. Where the system gives no thread, the caller
/// does them all.
fn shared_out<P>(parts: impl ExactSizeIterator<Item = P> + Send, work: impl Fn(P) + Sync) {
    let threads = parts.len();
    let parts = Mutex::new(parts);
    let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
    let take = || {
        while let Some(part) = next() {
            work(part);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            let _ = std::thread::Builder::new().spawn_scoped(scope, take);
        }
        take();
    });
}

/// Values of one thread's share.
fn share_len<T>(len: usize) -> usize {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let least = LEAST_SHARE / size_of::<T>().max(1);
    len.div_ceil(threads).max(least)
}

/// The whole huge pages within these addresses.
fn huge_pages_within(addresses: Range<usize>) -> Range<usize> {
    addresses.start.next_multiple_of(HUGE_PAGE)..addresses.end / HUGE_PAGE * HUGE_PAGE
}

fn addresses<T>(values: &[T]) -> Range<usize> {
    let range = values.as_ptr_range();
    range.start.addr()..range.end.addr()
}

#[cfg(target_os = "linux")]
fn ask_for_huge_pages<T>(memory: &mut [MaybeUninit<T>]) {
    use rustix::mm::{Advice, madvise};

    let whole = addresses(memory);
    let pages = huge_pages_within(whole.clone());
    if pages.is_empty() {
        return;
    }
    let start = memory.as_mut_ptr().cast::<u8>().wrapping_add(pages.start - whole.start);
    // SAFETY: the addresses are within `memory`, which is borrowed mutably, and this advice changes no byte
    // that anybody could read: it says with which pages the system is to back them.
    // Where it refuses, the pages are ordinary.
    let _ = unsafe { madvise(start.cast(), pages.len(), Advice::LinuxHugepage) };
}

#[cfg(not(target_os = "linux"))]
fn ask_for_huge_pages<T>(_memory: &mut [MaybeUninit<T>]) {}

/// Asks the CPU to bring a place near, for a read that comes soon. Where there is no such instruction, nothing happens.
#[inline(always)]
pub fn prefetch<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint: it reads nothing that the program could see, whatever the address; all x86-64 CPUs have it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast()) };
    }
    #[cfg(target_arch = "aarch64")]
    {
        // SAFETY: as above; all AArch64 CPUs have it.
        unsafe {
            std::arch::asm!("prfm pldl1keep, [{0}]", in(reg) place, options(readonly, nostack, preserves_flags));
        }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = place;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_made() {
        // Several parts, and none.
        for len in [0, 1, 5_000_003] {
            let values = filled(0x0102_0304_0506_0708u64, len);
            assert_eq!(values.len(), len);
            assert!(values.iter().all(|value| *value == 0x0102_0304_0506_0708));
        }
        let parts = std::sync::Mutex::new(Vec::new());
        let values: Vec<u64> = (0..5_000_003).collect();
        in_parts(&values, |part| parts.lock().unwrap().push((part[0], part.len())));
        let mut parts = parts.into_inner().unwrap();
        parts.sort_unstable();
        let mut next = 0;
        for (first, len) in parts {
            assert_eq!(first, next);
            next += len as u64;
        }
        assert_eq!(next, 5_000_003);
    }

    #[test]
    fn whole_pages_lie_within() {
        assert_eq!(huge_pages_within(0x0010_0000..0x0090_0000), 0x0020_0000..0x0080_0000);
        assert!(huge_pages_within(0x0010_0000..0x0030_0000).is_empty());
    }
}
