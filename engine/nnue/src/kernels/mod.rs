//! Which CPU code runs: the table of backends. One file per instruction set, with the same three
//! functions in each; a new one is a file and a line in [`TABLE`].

mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::fmt;
use std::str::FromStr;

use nnue_format::Activation;
use nnue_format::quant::HIDDEN_MAX;
use thiserror::Error;

use crate::aligned::{Bytes, Ints, Words};
use crate::net::{FeatureRows, Stack};

/// The functions of one instruction set. Safe to call: a table is only handed out by its `detect`
/// where the CPU has the set.
pub(crate) struct Kernels {
    /// `pack_order[i]`: which neuron of a group of `pack_order.len()` is stored at place `i` of an
    /// accumulator, so that `activate` packs words to bytes without shuffling. Empty: file order.
    pub(crate) pack_order: &'static [usize],
    pub(crate) update: UpdateFn,
    pub(crate) activate: ActivateFn,
    pub(crate) propagate: PropagateFn,
}

/// `(rows, source, add, sub, target)`: `target = source + Σ rows[add] − Σ rows[sub]`, modulo 2^16;
/// without a source, `target` is changed in place.
pub(crate) type UpdateFn = fn(&FeatureRows, Option<&[Words]>, &[u32], &[u32], &mut [Words]);

/// `(sums, activation, out)`: one side's dense inputs from its accumulator.
pub(crate) type ActivateFn = fn(&[Words], Activation, &mut [Bytes]);

/// `(stack, input, scratch)`: the output of a stack before PSQT.
pub(crate) type PropagateFn = fn(&Stack, &[Bytes], &mut Scratch) -> i32;

/// Widest dense input: both sides' 2048 activations.
const MAX_INPUTS: usize = 2 * nnue_format::arch::L1_RANGE.1;
/// Widest hidden layer.
const MAX_HIDDEN: usize = nnue_format::arch::DENSE_RANGE.1;

/// Buffers of [`PropagateFn`], kept between calls so that nobody clears them.
pub(crate) struct Scratch {
    /// Numbers of the non-zero blocks of four inputs.
    pub(crate) blocks: [u16; MAX_INPUTS / 4],
    pub(crate) sums: [Ints; MAX_HIDDEN / 8],
    pub(crate) hidden: [Bytes; MAX_HIDDEN / 32],
}

impl Scratch {
    pub(crate) fn new() -> Scratch {
        Scratch {
            blocks: [0; MAX_INPUTS / 4],
            sums: [Ints::default(); MAX_HIDDEN / 8],
            hidden: [Bytes::default(); MAX_HIDDEN / 32],
        }
    }
}

/// The hidden activations of a layer's sums, in place of those before.
#[inline(always)]
fn clip_hidden(sums: &[Ints], shift: u32, hidden: &mut [Bytes]) {
    let bytes = hidden.iter_mut().flat_map(|lane| lane.0.as_chunks_mut::<8>().0);
    for (to, from) in bytes.zip(sums) {
        *to = from.0.map(|sum| (sum >> shift).clamp(0, HIDDEN_MAX) as u8);
    }
}

/// The output layer.
#[inline(always)]
fn output(stack: &Stack, hidden: &[Bytes]) -> i32 {
    let mut sum = stack.out_bias;
    for (lane, weights) in hidden.iter().zip(stack.out_weights.chunks(32)) {
        sum += lane.0.iter().zip(weights).map(|(x, w)| i32::from(*x) * i32::from(*w)).sum::<i32>();
    }
    sum
}

/// An instruction set that nets can be evaluated with. All give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backend {
    /// Plain Rust; defines what the others must give.
    Scalar,
    /// x86-64 with AVX2.
    Avx2,
}

/// The name of a backend, and how to find out whether this CPU has it.
struct Entry {
    backend: Backend,
    name: &'static str,
    detect: fn() -> Option<&'static Kernels>,
}

/// All backends, slowest first.
static TABLE: [Entry; 2] = [
    Entry { backend: Backend::Scalar, name: "scalar", detect: scalar::detect },
    Entry { backend: Backend::Avx2, name: "avx2", detect: avx2 },
];

#[cfg(target_arch = "x86_64")]
fn avx2() -> Option<&'static Kernels> {
    x86::avx2::detect()
}

#[cfg(not(target_arch = "x86_64"))]
fn avx2() -> Option<&'static Kernels> {
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

    /// Every backend this program has, whatever the CPU.
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

    /// The name on command lines: `scalar`, `avx2`.
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
