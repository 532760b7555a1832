//! A net in the order its backend wants: built once, shared by all threads.

use ndarray::{ArrayView1, ArrayView2, Axis};
use nnue_format::{Activation, Architecture, QuantiseError, QuantisedNet};
use thiserror::Error;

use crate::aligned::{Bytes, Ints, SignedBytes, Words};
use crate::kernels::{Backend, BackendError, Kernels};
use crate::memory;
use crate::permute::{self, Groups};

/// A net ready to evaluate with one backend. Share it by `Arc`; a clone is a whole copy, in memory near the thread
/// that makes it.
#[derive(Clone)]
pub struct EngineNet {
    pub(crate) arch: Architecture,
    pub(crate) backend: Backend,
    pub(crate) kernels: &'static Kernels,
    /// The accumulator of an empty board: biases and, with PSQT, a line of zeros.
    pub(crate) empty_board: Vec<Words>,
    pub(crate) ft: FeatureRows,
    pub(crate) stacks: Vec<Stack>,
}

/// The feature transformer's rows: for each feature its weights in [`Groups`] of whole lines and, with
/// PSQT, a last line of one 32-bit value per stack ([`Words::int`]). One stretch of memory a feature.
pub(crate) struct FeatureRows {
    weights: Box<[Words]>,
    /// Lines of weights, an even number.
    sums: usize,
    /// Lines of a row.
    width: usize,
}

impl Clone for FeatureRows {
    fn clone(&self) -> FeatureRows {
        let mut weights = memory::filled(Words::zero(), self.weights.len());
        weights.copy_from_slice(&self.weights);
        FeatureRows { weights, ..*self }
    }
}

impl FeatureRows {
    /// The row of a feature below the number of inputs.
    #[inline]
    pub(crate) fn row(&self, feature: u32) -> &[Words] {
        &self.weights[feature as usize * self.width..][..self.width]
    }

    /// Lines of 16-bit weights in a row; those after them are 32-bit.
    #[inline]
    pub(crate) fn sums(&self) -> usize {
        self.sums
    }
}

/// One output stack.
#[derive(Clone)]
pub(crate) struct Stack {
    pub(crate) dense1: Dense,
    pub(crate) dense2: Dense,
    /// As long as the activations of the second layer, in whole lines.
    pub(crate) out_weights: Vec<SignedBytes>,
    pub(crate) out_bias: i32,
}

/// A dense layer, weights by blocks of four inputs ([`permute::dense`]).
#[derive(Clone)]
pub(crate) struct Dense {
    /// Sixteen outputs a line.
    pub(crate) biases: Vec<Ints>,
    /// Line `block * biases.len() + i`: outputs `16 * i..16 * i + 16`, four inputs each.
    pub(crate) weights: Vec<SignedBytes>,
}

impl Dense {
    fn new(biases: ArrayView1<'_, i32>, weights: ArrayView2<'_, i8>, inputs: Groups) -> Dense {
        let biases = Ints::collect(biases.iter().copied());
        let weights = SignedBytes::collect(permute::dense(weights, inputs, 16 * biases.len()));
        Dense { biases, weights }
    }
}

/// Why a net cannot be used with a backend.
#[derive(Debug, Error)]
pub enum EngineNetError {
    /// The backend is not for this CPU.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// The net breaks a rule that kernels rely on.
    #[error(transparent)]
    Net(#[from] QuantiseError),
}

impl EngineNet {
    /// Orders a net for a backend.
    ///
    /// # Errors
    /// A backend that this CPU lacks; a net that fails [`QuantisedNet::check`].
    pub fn new(net: &QuantisedNet, backend: Backend) -> Result<EngineNet, EngineNetError> {
        let kernels = backend.kernels()?;
        net.check()?;
        let arch = net.arch;
        let order = permute::word_order(&neurons(&arch), kernels.pack_lanes);
        let sums = order.len() / Words::zero().0.len();
        let width = sums + usize::from(arch.psqt());
        let mut empty_board = vec![Words::zero(); width];
        permute::row(net.layers.ft_biases.view(), &order, &mut empty_board[..sums]);
        Ok(EngineNet {
            arch,
            backend,
            kernels,
            empty_board,
            ft: FeatureRows { weights: feature_rows(net, &order, sums, width), sums, width },
            stacks: (0..arch.stack_count()).map(|s| stack(net, s)).collect(),
        })
    }

    /// The net's shape.
    pub fn arch(&self) -> &Architecture {
        &self.arch
    }

    /// The backend it was made for.
    pub fn backend(&self) -> Backend {
        self.backend
    }
}

/// Neurons of a row: what activates together to one line of bytes is two whole lines of words.
fn neurons(arch: &Architecture) -> Groups {
    let count = match arch.activation() {
        Activation::CRelu => 1,
        Activation::Pairwise => 2,
    };
    let len = arch.l1() / count;
    Groups { count, len, padded: len.next_multiple_of(Bytes::zero().0.len()) }
}

fn feature_rows(net: &QuantisedNet, order: &[usize], sums: usize, width: usize) -> Box<[Words]> {
    let mut rows = memory::filled(Words::zero(), net.arch.inputs() * width);
    for (to, from) in rows.chunks_exact_mut(width).zip(net.layers.ft_weights.rows()) {
        permute::row(from, order, &mut to[..sums]);
    }
    // Without PSQT a row ends with its weights.
    for (to, from) in rows.chunks_exact_mut(width).zip(net.layers.psqt.rows()) {
        if let Some(line) = to.get_mut(sums) {
            *line = Words::from_ints(std::array::from_fn(|i| from.get(i).copied().unwrap_or(0)));
        }
    }
    rows
}

fn stack(net: &QuantisedNet, s: usize) -> Stack {
    let (arch, layers) = (&net.arch, &net.layers);
    let side = arch.side_activations();
    let inputs = Groups { count: 2, len: side, padded: side.next_multiple_of(Bytes::zero().0.len()) };
    let hidden =
        Groups { count: 1, len: arch.l2(), padded: arch.l2().next_multiple_of(Ints::zero().0.len()) };
    let weights1 = layers.dense1_weights.index_axis(Axis(0), s);
    let weights2 = layers.dense2_weights.index_axis(Axis(0), s);
    Stack {
        dense1: Dense::new(layers.dense1_biases.row(s), weights1, inputs),
        dense2: Dense::new(layers.dense2_biases.row(s), weights2, hidden),
        out_weights: SignedBytes::collect(layers.out_weights.row(s).iter().copied()),
        out_bias: layers.out_biases[s],
    }
}

impl std::fmt::Debug for EngineNet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineNet")
            .field("arch", &self.arch)
            .field("backend", &self.backend)
            .finish_non_exhaustive()
    }
}
