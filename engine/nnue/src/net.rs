//! A net in the order its backend wants: built once, shared by all threads.

use ndarray::{ArrayView1, ArrayView2, Axis};
use nnue_format::{Architecture, QuantiseError, QuantisedNet};
use thiserror::Error;

use crate::aligned::{Aligned, Ints, SignedBytes, Words};
use crate::kernels::{Backend, BackendError, Kernels};
use crate::permute;

/// A net ready to evaluate with one backend. Share it by `Arc`.
pub struct EngineNet {
    pub(crate) arch: Architecture,
    pub(crate) backend: Backend,
    pub(crate) kernels: &'static Kernels,
    pub(crate) ft_biases: Aligned<Words>,
    pub(crate) ft: FeatureRows,
    /// PSQT rows, each padded with zeros to whole lanes.
    psqt: Aligned<Ints>,
    /// Lanes of a PSQT row: 0, 1 or 2.
    psqt_width: usize,
    pub(crate) stacks: Vec<Stack>,
}

/// The feature transformer's rows.
pub(crate) struct FeatureRows {
    weights: Aligned<Words>,
    /// Lanes of a row.
    width: usize,
}

impl FeatureRows {
    /// The row of a feature below the number of inputs.
    #[inline]
    pub(crate) fn row(&self, feature: u32) -> &[Words] {
        &self.weights[feature as usize * self.width..][..self.width]
    }
}

/// One output stack.
pub(crate) struct Stack {
    pub(crate) dense1: Dense,
    pub(crate) dense2: Dense,
    pub(crate) out_weights: Vec<i8>,
    pub(crate) out_bias: i32,
}

/// A dense layer, weights by blocks of four inputs ([`permute::dense`]).
pub(crate) struct Dense {
    pub(crate) outputs: usize,
    pub(crate) biases: Aligned<Ints>,
    /// Lane `block * outputs / 8 + i`: outputs `8 * i..8 * i + 8`, four inputs each.
    pub(crate) weights: Aligned<SignedBytes>,
}

impl Dense {
    fn new(biases: ArrayView1<'_, i32>, weights: ArrayView2<'_, i8>) -> Dense {
        Dense {
            outputs: biases.len(),
            biases: Aligned::collect(biases.len(), biases.iter().copied()),
            weights: Aligned::collect(weights.len(), permute::dense(weights)),
        }
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
        let width = arch.l1() / Words::default().0.len();
        let mut weights = Aligned::new(arch.inputs() * width);
        for (to, from) in weights.chunks_exact_mut(width).zip(layers.ft_weights.rows()) {
            permute::row(from, order, to);
        }
        let mut ft_biases = Aligned::new(width);
        permute::row(layers.ft_biases.view(), order, &mut ft_biases);
        let stack = |s| Stack {
            dense1: Dense::new(layers.dense1_biases.row(s), layers.dense1_weights.index_axis(Axis(0), s)),
            dense2: Dense::new(layers.dense2_biases.row(s), layers.dense2_weights.index_axis(Axis(0), s)),
            out_weights: layers.out_weights.row(s).to_vec(),
            out_bias: layers.out_biases[s],
        };
        Ok(EngineNet {
            arch,
            backend,
            kernels,
            ft_biases,
            ft: FeatureRows { weights, width },
            psqt: psqt_rows(net),
            psqt_width: psqt_width(&arch),
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

    /// The PSQT weights of a feature, by stack; empty without PSQT.
    #[inline]
    pub(crate) fn psqt_row(&self, feature: u32) -> &[Ints] {
        &self.psqt[feature as usize * self.psqt_width..][..self.psqt_width]
    }
}

/// Lanes of a PSQT row.
fn psqt_width(arch: &Architecture) -> usize {
    arch.psqt_columns().div_ceil(Ints::default().0.len())
}

fn psqt_rows(net: &QuantisedNet) -> Aligned<Ints> {
    let width = psqt_width(&net.arch);
    let mut rows: Aligned<Ints> = Aligned::new(net.arch.inputs() * width);
    // A net without PSQT has no lanes to fill.
    for (to, from) in rows.chunks_exact_mut(width.max(1)).zip(net.layers.psqt.rows()) {
        to.iter_mut().flat_map(|lane| &mut lane.0).zip(from).for_each(|(to, from)| *to = *from);
    }
    rows
}

impl std::fmt::Debug for EngineNet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineNet")
            .field("arch", &self.arch)
            .field("backend", &self.backend)
            .finish_non_exhaustive()
    }
}
