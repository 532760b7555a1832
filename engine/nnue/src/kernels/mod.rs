//! Which CPU code runs: the table of backends. The loops of vector code exist once (`loops.rs`); an
//! instruction set is a file of primitives, and a line in [`TABLE`].

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod loops;
mod scalar;
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    expect(dead_code, reason = "no vectors")
)]
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::fmt;
use std::str::FromStr;

use nnue_format::Activation;
use thiserror::Error;

use crate::aligned::{Bytes, Ints, Words};
use crate::net::{FeatureRows, Stack};

/// The functions of one instruction set. Safe to call: a table is only handed out by its `detect`
/// where the CPU has the set.
pub(crate) struct Kernels {
    /// How accumulators are ordered: [`word_order`](crate::permute::word_order).
    pub(crate) pack_lanes: usize,
    pub(crate) update: UpdateFn,
    pub(crate) forward: ForwardFn,
}

/// `(rows, source, add, sub, target)`: `target = source + Σ rows[add] − Σ rows[sub]`, modulo 2^16
/// (PSQT values modulo 2^32); without a source, `target` is changed in place.
pub(crate) type UpdateFn = fn(&FeatureRows, Option<&[Words]>, &[u32], &[u32], &mut [Words]);

/// `(stack, sums, activation, scratch)`: the output of a stack before PSQT, from the sums of the
/// side to move and of the other side.
pub(crate) type ForwardFn = fn(&Stack, [&[Words]; 2], Activation, &mut Scratch) -> i32;

/// Widest dense input: both sides' 2048 activations.
const MAX_INPUTS: usize = 2 * nnue_format::arch::L1_RANGE.1;
/// Widest hidden layer.
const MAX_HIDDEN: usize = nnue_format::arch::DENSE_RANGE.1;

/// Buffers of [`ForwardFn`], kept between calls so that nobody clears them.
pub(crate) struct Scratch {
    /// Dense inputs: side to move, then the other side, each in whole lines.
    input: [Bytes; MAX_INPUTS / 64],
    /// Numbers of the non-zero blocks of four inputs.
    blocks: [u16; MAX_INPUTS / 4],
    sums: [Ints; MAX_HIDDEN / 16],
    hidden: [Bytes; MAX_HIDDEN / 64],
}

impl Scratch {
    pub(crate) fn new() -> Scratch {
        Scratch {
            input: [Bytes::zero(); MAX_INPUTS / 64],
            blocks: [0; MAX_INPUTS / 4],
            sums: [Ints::zero(); MAX_HIDDEN / 16],
            hidden: [Bytes::zero(); MAX_HIDDEN / 64],
        }
    }
}

/// The blocks of the widest hidden layer: few of them are zero.
static ALL_BLOCKS: [u16; MAX_HIDDEN / 4] = {
    let mut blocks = [0; MAX_HIDDEN / 4];
    let mut i = 0;
    while i < blocks.len() {
        blocks[i] = i as u16;
        i += 1;
    }
    blocks
};

/// Places of the set bits of each byte, low to high.
static BIT_PLACES: [[u16; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut count) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][count] = bit;
                count += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// Appends the numbers of the blocks that a line's mask tells to the first `count`; returns how
/// many there are then.
#[inline(always)]
fn append_blocks(mask: u16, line: usize, blocks: &mut [u16], count: usize) -> usize {
    let [low, high] = mask.to_le_bytes();
    let count = append_half(low, 16 * line, blocks, count);
    append_half(high, 16 * line + 8, blocks, count)
}

/// Appends those of eight blocks from number `first` on.
#[inline(always)]
fn append_half(mask: u8, first: usize, blocks: &mut [u16], count: usize) -> usize {
    // Eight are stored, `count` moves on by those that count. Eight always fit: before block n at
    // most n are counted.
    if let Some(to) = blocks.get_mut(count..).and_then(|rest| rest.first_chunk_mut::<8>()) {
        *to = BIT_PLACES[mask as usize].map(|place| first as u16 + place);
    }
    count + mask.count_ones() as usize
}

/// `N` lines from line `at` on.
#[inline(always)]
fn lines<L, const N: usize>(from: &[L], at: usize) -> &[L; N] {
    match from[at..].first_chunk() {
        Some(lines) => lines,
        None => unreachable!("{} lines have no {N} from {at} on", from.len()),
    }
}

/// An instruction set that nets can be evaluated with. All give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backend {
    /// Plain Rust; defines what the others must give.
    Scalar,
    /// x86-64 with SSE4.1.
    Sse41,
    /// x86-64 with AVX2.
    Avx2,
    /// x86-64 with AVX2 and AVX-VNNI.
    AvxVnni,
    /// x86-64 with AVX-512 F, BW, DQ and VL.
    Avx512,
    /// x86-64 with AVX-512 and its VNNI.
    Avx512Vnni,
    /// AArch64 with NEON.
    Neon,
    /// AArch64 with NEON and its dot products.
    NeonDot,
}

/// The name of a backend, and how to find out whether this CPU has it.
struct Entry {
    backend: Backend,
    name: &'static str,
    detect: fn() -> Option<&'static Kernels>,
}

/// `detect` of an x86-64 file; [`nowhere`] in programs for other CPUs.
macro_rules! on_x86_64 {
    ($file:ident) => {{
        #[cfg(target_arch = "x86_64")]
        let detect = x86::$file::detect;
        #[cfg(not(target_arch = "x86_64"))]
        let detect = nowhere;
        detect
    }};
}

/// `detect` of an AArch64 file; [`nowhere`] in programs for other CPUs.
macro_rules! on_aarch64 {
    ($file:ident) => {{
        #[cfg(target_arch = "aarch64")]
        let detect = aarch64::$file::detect;
        #[cfg(not(target_arch = "aarch64"))]
        let detect = nowhere;
        detect
    }};
}

/// All backends, slowest first.
static TABLE: [Entry; 8] = [
    Entry { backend: Backend::Scalar, name: "scalar", detect: scalar::detect },
    Entry { backend: Backend::Sse41, name: "sse41", detect: on_x86_64!(sse41) },
    Entry { backend: Backend::Avx2, name: "avx2", detect: on_x86_64!(avx2) },
    Entry { backend: Backend::AvxVnni, name: "avxvnni", detect: on_x86_64!(avxvnni) },
    Entry { backend: Backend::Avx512, name: "avx512", detect: on_x86_64!(avx512) },
    Entry { backend: Backend::Avx512Vnni, name: "avx512vnni", detect: on_x86_64!(avx512vnni) },
    Entry { backend: Backend::Neon, name: "neon", detect: on_aarch64!(neon) },
    Entry { backend: Backend::NeonDot, name: "neondot", detect: on_aarch64!(neondot) },
];

/// `detect` of an instruction set that this program was not compiled with.
fn nowhere() -> Option<&'static Kernels> {
    None
}

/// A backend that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BackendError {
    /// No such name.
    #[error("unknown backend {found:?}; this program has {known}")]
    Unknown {
        /// The name, cut to 40 characters.
        found: String,
        /// The names there are.
        known: String,
    },
    /// The CPU lacks it.
    #[error("this CPU has no {backend}; it can run {available}")]
    Unavailable {
        /// The backend asked for.
        backend: Backend,
        /// The names of those it has.
        available: String,
    },
}

impl Backend {
    fn entry(self) -> &'static Entry {
        // Every value is in the table (tested); scalar is what is left.
        TABLE.iter().find(|entry| entry.backend == self).unwrap_or(&TABLE[0])
    }

    /// Every backend there is, whatever the CPU.
    pub fn all() -> impl Iterator<Item = Backend> {
        TABLE.iter().map(|entry| entry.backend)
    }

    /// The backends this CPU can run, slowest first.
    pub fn available() -> Vec<Backend> {
        TABLE.iter().filter(|entry| (entry.detect)().is_some()).map(|entry| entry.backend).collect()
    }

    /// The fastest backend of this CPU.
    pub fn best() -> Backend {
        Backend::available().last().copied().unwrap_or(Backend::Scalar)
    }

    /// The name on command lines: `scalar sse41 avx2 avxvnni avx512 avx512vnni neon neondot`.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    pub(crate) fn kernels(self) -> Result<&'static Kernels, BackendError> {
        (self.entry().detect)().ok_or_else(|| BackendError::Unavailable {
            backend: self,
            available: names(Backend::available().into_iter()),
        })
    }
}

fn names(backends: impl Iterator<Item = Backend>) -> String {
    backends.map(Backend::name).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Backend {
    type Err = BackendError;

    fn from_str(text: &str) -> Result<Backend, BackendError> {
        TABLE.iter().find(|entry| entry.name == text).map(|entry| entry.backend).ok_or_else(|| {
            BackendError::Unknown { found: text.chars().take(40).collect(), known: names(Backend::all()) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_table() {
        for backend in Backend::all() {
            assert_eq!(backend.entry().backend, backend);
            assert_eq!(backend.name().parse::<Backend>(), Ok(backend));
        }
        assert!(Backend::available().contains(&Backend::Scalar));
        assert!(Backend::best().kernels().is_ok());
        assert!("avx1024".parse::<Backend>().is_err());
    }
}
