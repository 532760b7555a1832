//! A net in the order its backend wants: built once, shared by all threads.

use ndarray::Axis;
use nnue_format::{Architecture, QuantiseError, QuantisedNet};
use thiserror::Error;

use crate::aligned::Aligned;
use crate::kernels::{Backend, BackendError, Kernels};
use crate::permute;

/// A net ready to evaluate with one backend. Share it by `Arc`.
pub struct EngineNet {
    pub(crate) arch: Architecture,
    pub(crate) backend: Backend,
    pub(crate) kernels: &'static Kernels,
    pub(crate) ft_biases: Aligned<i16>,
    pub(crate) ft: FeatureRows,
    /// Inputs × PSQT columns.
    pub(crate) psqt: Aligned<i32>,
    pub(crate) psqt_columns: usize,
    pub(crate) stacks: Vec<Stack>,
}

/// The feature transformer's rows.
pub(crate) struct FeatureRows {
    weights: Aligned<i16>,
    l1: usize,
}

impl FeatureRows {
    /// The row of a feature below the number of inputs.
    #[inline]
    pub(crate) fn row(&self, feature: u32) -> &[i16] {
        &self.weights[feature as usize * self.l1..][..self.l1]
    }
}

/// One output stack.
pub(crate) struct Stack {
    pub(crate) dense1: Dense,
    pub(crate) dense2: Dense,
    pub(crate) out_weights: Aligned<i8>,
    pub(crate) out_bias: i32,
}

/// A dense layer, weights by blocks of four inputs ([`permute::dense`]).
pub(crate) struct Dense {
    pub(crate) outputs: usize,
    pub(crate) biases: Aligned<i32>,
    weights: Aligned<i8>,
}

impl Dense {
    /// The weights of a block of four inputs: `[output][input in the block]`.
    #[inline]
    pub(crate) fn block(&self, block: usize) -> &[i8] {
        &self.weights[4 * self.outputs * block..][..4 * self.outputs]
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
        let (arch, layers) = (net.arch, &net.layers);
        let order = kernels.pack_order;
        let mut weights = Aligned::new(arch.inputs() * arch.l1());
        for (to, from) in weights.chunks_exact_mut(arch.l1()).zip(layers.ft_weights.rows()) {
            to.iter_mut().zip(permute::row(from, order)).for_each(|(to, from)| *to = from);
        }
        let stack = |s| Stack {
            dense1: Dense {
                outputs: arch.l2(),
                biases: Aligned::collect(layers.dense1_biases.row(s).iter().copied()),
                weights: Aligned::collect(permute::dense(layers.dense1_weights.index_axis(Axis(0), s))),
            },
            dense2: Dense {
                outputs: arch.l3(),
                biases: Aligned::collect(layers.dense2_biases.row(s).iter().copied()),
                weights: Aligned::collect(permute::dense(layers.dense2_weights.index_axis(Axis(0), s))),
            },
            out_weights: Aligned::collect(layers.out_weights.row(s).iter().copied()),
            out_bias: layers.out_biases[s],
        };
        Ok(EngineNet {
            arch,
            backend,
            kernels,
            ft_biases: Aligned::collect(permute::row(layers.ft_biases.view(), order)),
            ft: FeatureRows { weights, l1: arch.l1() },
            psqt: Aligned::collect(layers.psqt.iter().copied()),
            psqt_columns: arch.psqt_columns(),
            stacks: (0..arch.stack_count()).map(stack).collect(),
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

    /// The PSQT weights of a feature, one per stack; empty without PSQT.
    #[inline]
    pub(crate) fn psqt_row(&self, feature: u32) -> &[i32] {
        &self.psqt[feature as usize * self.psqt_columns..][..self.psqt_columns]
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
