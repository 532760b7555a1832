#![expect(unsafe_code, reason = "a column stripe of a shared matrix, written by one task each")]
//! What a CPU backend must be able to do, and the choice of one.
//!
//! The methods for the feature transformer work on one tile, 32 of its columns. [`super::scalar::Scalar`] says what
//! each means; the vector backends do the same sums in the same order and give the same bits. Only the dense layers'
//! products are rounded once by the vector backends and twice by the scalar one.

use super::dense::{Hidden, Inputs, Scattered, Stack, StackGradients};
use super::rows::{ByFeature, Grouped};
use super::scalar::Scalar;
use std::marker::PhantomData;
use std::str::FromStr;
use thiserror::Error;

/// Columns of the feature transformer in one tile.
pub const TILE: usize = 32;

/// Columns `column..column + TILE` of a row-major matrix, to be written by one task.
pub struct Stripe<'a> {
    start: *mut f32,
    stride: usize,
    rows: usize,
    matrix: PhantomData<&'a mut [f32]>,
}

impl<'a> Stripe<'a> {
    /// The stripe of a matrix `[rows][stride]` that starts at `matrix`.
    ///
    /// # Safety
    /// `matrix` points to `rows * stride` floats that live for `'a`, `column + TILE <= stride`, and nothing else
    /// reads or writes these columns while the stripe lives.
    pub unsafe fn new(matrix: *mut f32, rows: usize, stride: usize, column: usize) -> Stripe<'a> {
        // SAFETY: `column` is inside the first row by the caller's promise.
        Stripe { start: unsafe { matrix.add(column) }, stride, rows, matrix: PhantomData }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The 32 places of one row.
    pub fn row(&mut self, row: usize) -> &mut [f32; TILE] {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        // SAFETY: row < rows and column + TILE <= stride keep all 32 places inside the matrix; `new` promised that
        // nobody else has these columns, and &mut self that we lend them once.
        unsafe { &mut *self.start.add(row * self.stride).cast::<[f32; TILE]>() }
    }
}

/// The 32 floats from `start`.
pub fn tile_at(values: &[f32], start: usize) -> &[f32; TILE] {
    match values[start..start + TILE].as_array() {
        Some(tile) => tile,
        None => unreachable!("the slice is 32 long"),
    }
}

/// Hyper-parameters of one Adam update; one value serves a whole parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamStep {
    /// Learning rate.
    pub rate: f32,
    /// Decay of the first moment.
    pub beta1: f32,
    /// Decay of the second moment.
    pub beta2: f32,
    /// Added to the root of the second moment.
    pub epsilon: f32,
    /// `1 / (1 - beta1^t)`.
    pub correction1: f32,
    /// `1 / (1 - beta2^t)`.
    pub correction2: f32,
    /// Share of the weight taken off, decoupled (AdamW): `rate * weight_decay`.
    pub shrink: f32,
    /// After the update the weight is clipped to `-limit..=limit`; infinity for none.
    pub limit: f32,
    /// What the gradient is multiplied with first: 1 unless its norm is too long.
    pub scale: f32,
}

impl AdamStep {
    /// The values for step number `step`, counted from 1.
    pub fn at(
        step: u64,
        rate: f64,
        betas: (f64, f64),
        epsilon: f64,
        weight_decay: f64,
        limit: f32,
    ) -> AdamStep {
        let correction = |beta: f64| (1.0 / (1.0 - beta.powf(step as f64))) as f32;
        AdamStep {
            rate: rate as f32,
            beta1: betas.0 as f32,
            beta2: betas.1 as f32,
            epsilon: epsilon as f32,
            correction1: correction(betas.0),
            correction2: correction(betas.1),
            shrink: (rate * weight_decay) as f32,
            limit,
            scale: 1.0,
        }
    }
}

/// The state of one parameter: four slices of one length.
pub struct AdamSlices<'a> {
    /// The weights, updated.
    pub weights: &'a mut [f32],
    /// Their gradient, zeroed on the way.
    pub gradient: &'a mut [f32],
    /// First moments.
    pub first: &'a mut [f32],
    /// Second moments.
    pub second: &'a mut [f32],
}

/// One way to compute the tiles.
pub trait Kernel: Send + Sync {
    /// Its name on command lines.
    fn name(&self) -> &'static str;

    /// `out[r] = clamp(bias + Σ weights[f] for f in row r, 0, clip)`; without the clamp when `clip` is none.
    /// `weights` is one tile, `[features][TILE]`, aligned as an [`super::AlignedVec`] is.
    fn forward(
        &self,
        weights: &[f32],
        bias: &[f32; TILE],
        rows: &Grouped,
        out: &mut Stripe<'_>,
        clip: Option<f32>,
    );

    /// `gradient[f] += Σ packed[p] for p in by_feature[f]`, in rising order of places. `rows` is what
    /// `by_feature` was made of; `packed` is aligned as an [`super::AlignedVec`] is.
    fn gather(&self, by_feature: &ByFeature, rows: &Grouped, packed: &[f32], gradient: &mut [f32]);

    /// The outputs of the dense layers behind some positions of one stack; see [`super::dense`].
    fn dense_forward(&self, stack: &Stack, inputs: &Inputs<'_>, hidden: &mut Hidden);

    /// Their gradients: `outputs` is the gradient of the outputs, those of the stack's parameters are added to
    /// `gradients`, those of the feature transformer's biases to `ft_bias`, those of its sums are written to `sums`.
    #[expect(clippy::too_many_arguments, reason = "what a backward pass reads and writes")]
    fn dense_backward(
        &self,
        stack: &Stack,
        inputs: &Inputs<'_>,
        hidden: &Hidden,
        outputs: &[f32],
        gradients: &mut StackGradients,
        ft_bias: &mut [f32],
        sums: &mut Scattered<'_>,
    );

    /// One Adam update; the slices must have one length (the shortest counts).
    fn adam(&self, state: AdamSlices<'_>, step: &AdamStep);
}

/// The kernels there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelKind {
    /// Plain Rust, the definition of the others.
    Scalar,
    /// 256-bit vectors.
    Avx2,
    /// 512-bit vectors.
    Avx512,
}

/// A kernel that was asked for by name and cannot be had.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum KernelError {
    /// No such name.
    #[error("unknown kernel {0:?}; there are scalar, avx2 and avx512")]
    Unknown(String),
    /// This CPU lacks the instructions.
    #[error("this CPU does not have what the {0} kernel needs; it has {1}")]
    Unavailable(&'static str, String),
}

impl FromStr for KernelKind {
    type Err = KernelError;

    fn from_str(text: &str) -> Result<KernelKind, KernelError> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or_else(|| KernelError::Unknown(text.to_owned()))
    }
}

impl KernelKind {
    /// From the slowest to the fastest.
    pub const ALL: [KernelKind; 3] = [KernelKind::Scalar, KernelKind::Avx2, KernelKind::Avx512];

    /// The name on command lines.
    pub fn name(self) -> &'static str {
        match self {
            KernelKind::Scalar => "scalar",
            KernelKind::Avx2 => "avx2",
            KernelKind::Avx512 => "avx512",
        }
    }

    /// The kernels this CPU can run.
    pub fn available() -> Vec<KernelKind> {
        Self::ALL.into_iter().filter(|kind| kind.find().is_some()).collect()
    }

    /// The fastest kernel of this CPU.
    pub fn best() -> Box<dyn Kernel> {
        Self::ALL.into_iter().rev().find_map(KernelKind::find).unwrap_or_else(|| Box::new(Scalar))
    }

    /// The kernel itself.
    ///
    /// # Errors
    /// [`KernelError::Unavailable`] when this CPU lacks the instructions.
    pub fn get(self) -> Result<Box<dyn Kernel>, KernelError> {
        self.find().ok_or_else(|| {
            let names: Vec<_> = Self::available().into_iter().map(KernelKind::name).collect();
            KernelError::Unavailable(self.name(), names.join(", "))
        })
    }

    fn find(self) -> Option<Box<dyn Kernel>> {
        match self {
            KernelKind::Scalar => Some(Box::new(Scalar)),
            #[cfg(target_arch = "x86_64")]
            KernelKind::Avx2 => Some(Box::new(super::x86::avx2::Avx2::detect()?)),
            #[cfg(target_arch = "x86_64")]
            KernelKind::Avx512 => Some(Box::new(super::x86::avx512::Avx512::detect()?)),
            #[cfg(not(target_arch = "x86_64"))]
            _ => None,
        }
    }
}
