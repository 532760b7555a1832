//! The dense layers, forward and backward, without autograd: three matrix products with a narrow side, and two small
//! layers behind them.
//!
//! What it saves against torch is memory traffic. The clamp, its mask and the product of the halves are done in the
//! registers of the products, the gradient of the sums goes straight into the order in which the feature transformer's
//! backward pass reads it, and a block of positions stays in the L2 between the two backward products.
//!
//! Sums are made in the order of positions, so results do not depend on threads. They are the same for all vector
//! kernels; the plain one rounds products before it adds them.

pub(super) mod backward;
pub(super) mod forward;
pub mod scatter;
pub mod stack;

pub use scatter::Scattered;
pub use stack::{Shape, Stack};

/// Positions of one stack and their clipped sums.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// `[positions][2 L1]`, the side to move first.
    pub x: &'a [f32],
    /// The number of positions.
    pub len: usize,
    /// What the sums were clipped to.
    pub clip: f32,
}

/// What the forward pass computes and the backward pass needs again.
pub struct Hidden {
    /// Clipped outputs of the first layer, `[positions][l2]`.
    pub first: Vec<f32>,
    /// Of the second, `[positions][l3]`.
    pub second: Vec<f32>,
    /// The outputs, `[positions]`.
    pub outputs: Vec<f32>,
}

impl Hidden {
    /// Room for `len` positions.
    pub fn new(shape: Shape, len: usize) -> Hidden {
        let zeros = |width: usize| vec![0.0; len * width];
        Hidden { first: zeros(shape.l2), second: zeros(shape.l3), outputs: zeros(1) }
    }
}

/// Gradients of one stack's parameters, row-major, in the order of `model::dense::LAYERS`.
pub struct StackGradients {
    /// `[l2][inputs]`, `[l2]`, `[l3][l2]`, `[l3]`, `[l3]`, `[1]`.
    pub layers: [Vec<f32>; 6],
}

impl StackGradients {
    /// Zeros.
    pub fn new(shape: Shape) -> StackGradients {
        let Shape { inputs, l2, l3, .. } = shape;
        StackGradients { layers: [l2 * inputs, l2, l3 * l2, l3, l3, 1].map(|len| vec![0.0; len]) }
    }
}
