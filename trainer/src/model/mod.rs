//! The net as it is trained: a feature transformer of our own in front of dense layers under autograd.
//!
//! ```text
//! rows ─ forward kernel ─► x (clipped sums, a leaf) ─ torch ─► output ─► loss
//!          ▲                                                             │
//!   merged table ◄─ Adam, clip ◄─ backward kernel ◄─ gradient of x ◄──────┘
//! ```
//!
//! A batch is walked in chunks; the dense part of a chunk in pieces of [`PIECE`] positions, a rayon task each, torch
//! itself using one thread. The pieces do not depend on the number of threads and their gradients are added in
//! their order, so neither does any result.

pub mod dense;
pub mod net;
pub mod shared;
pub mod table;
pub mod weights;

use crate::backend::cpu::kernel::{AdamStep, Kernel, KernelError, Pieces, TILE};
use crate::backend::cpu::rows::RowsError;
use crate::backend::cpu::{AlignedVec, ByFeature, Grouped, tile, transformer};
use crate::chance::{Purpose, generator, symmetric};
use crate::clock::{Lap, Spent};
use crate::data::Batch;
use crate::loss::Loss;
use crate::optim::Param;
use dense::Dense;
use net::Gathered;
use nnue_format::arch::{Activation, Architecture};
use nnue_format::quant::{FT_CLIP, clip};
use rayon::prelude::*;
use shared::{ReadOnly, lend, slice, slice_mut};
use table::Table;
use tch::{Device, Kind, TchError, Tensor};
use thiserror::Error;

/// Positions of one dense task.
pub const PIECE: usize = 1024;
/// Fewest positions of a chunk: its activations should stay in the cache, yet give every core a piece.
const MIN_CHUNK: usize = 4 * PIECE;

/// An error of a step.
#[derive(Debug, Error)]
pub enum ModelError {
    /// What torch reports.
    #[error("torch: {0}")]
    Torch(#[from] TchError),
    /// A batch of another architecture.
    #[error("batch: {0}")]
    Rows(#[from] RowsError),
    /// The kernel asked for.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

/// The net, its gradients and the state of its optimiser.
pub struct Model {
    arch: Architecture,
    kernel: Box<dyn Kernel>,
    /// The feature transformer's weights.
    pub table: Table,
    /// Its biases.
    pub bias: Param,
    /// Piece-square values: a column for each stack, if the architecture has them.
    pub psqt: Option<Table>,
    /// Everything behind it.
    pub dense: Dense,
    grouped: Grouped,
    by_feature: ByFeature,
    /// Clipped sums of a chunk, `[positions, 2 L1]`.
    x: Tensor,
    /// PSQT sums of a chunk and their gradient, `[2 positions][padded stacks]`.
    psqt_sums: AlignedVec,
    psqt_gradient: AlignedVec,
    chunk: usize,
    /// The summed loss of the last step, until it is asked for.
    last_loss: Option<f64>,
    /// Where the time went.
    pub parts: Parts,
}

/// Time spent in the parts of all steps so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parts {
    /// Feature transformer, forward.
    pub forward: Spent,
    /// Dense layers, forward and backward.
    pub dense: Spent,
    /// Sorting indices by feature.
    pub sort: Spent,
    /// Feature transformer, backward.
    pub backward: Spent,
    /// Optimiser.
    pub update: Spent,
}

/// What one dense task gives back.
struct Piece {
    loss: f64,
    /// Of the activations, `[n, 2 L1]`.
    x: Tensor,
    /// Of the PSQT value, `[n, 1]`.
    psqt: Option<Tensor>,
    /// Of the dense layers of the stacks that occur.
    dense: Vec<(usize, Vec<Tensor>)>,
}

/// One piece's work: positions `start..end` of the batch, which begin at `chunk_start` in the buffers.
#[derive(Clone, Copy)]
struct Range {
    chunk_start: usize,
    start: usize,
    end: usize,
}

impl Model {
    /// A net with first weights drawn from `seed`. `threads` is the number of rayon tasks worth having; it changes
    /// no result.
    pub fn new(arch: &Architecture, factorised: bool, seed: u64, kernel: Box<dyn Kernel>) -> Model {
        tch::set_num_threads(1);
        let mut rng = generator(seed, Purpose::Weights, 0, 0);
        let set = arch.features();
        let l1 = arch.l1();
        let mut random =
            |len: usize, size: f32| -> Vec<f32> { (0..len).map(|_| symmetric(&mut rng) * size).collect() };
        // Some thirty rows are summed. The shared rows start larger: they see every position.
        let shared = factorised.then(|| random(set.slot_count() * l1, FIRST_SHARED));
        let own = random(set.inputs() * l1, if factorised { FIRST_OWN_BESIDE_SHARED } else { FIRST_SHARED });
        let table = Table::new(set, l1, &own, shared.as_deref());
        let bias = Param::new(AlignedVec::from_slice(&vec![FIRST_BIAS; l1]));
        let psqt = arch.psqt().then(|| {
            let columns = arch.psqt_columns();
            let zeros = |rows: usize| vec![0.0; rows * columns];
            let shared = factorised.then(|| zeros(set.slot_count()));
            Table::new(set, columns, &zeros(set.inputs()), shared.as_deref())
        });
        let dense = Dense::new(arch, &mut rng);
        let chunk = PIECE * (2 * rayon::current_num_threads()).clamp(MIN_CHUNK / PIECE, 32);
        let options = (Kind::Float, Device::Cpu);
        let psqt_len = if arch.psqt() { 2 * chunk * tile::padded(arch.psqt_columns()) } else { 0 };
        Model {
            arch: *arch,
            kernel,
            table,
            bias,
            psqt,
            dense,
            grouped: Grouped::default(),
            by_feature: ByFeature::default(),
            x: Tensor::zeros([chunk as i64, 2 * l1 as i64], options),
            psqt_sums: AlignedVec::zeros(psqt_len),
            psqt_gradient: AlignedVec::zeros(psqt_len),
            chunk,
            last_loss: None,
            parts: Parts::default(),
        }
    }

    /// The architecture.
    pub fn architecture(&self) -> &Architecture {
        &self.arch
    }

    /// The kernel that computes.
    pub fn kernel(&self) -> &dyn Kernel {
        &*self.kernel
    }

    /// The summed loss over a batch; adds the gradient of `sum / divisor` to the parameters' gradients.
    ///
    /// # Errors
    /// [`ModelError`].
    pub fn gradients(&mut self, batch: &Batch, loss: &Loss, divisor: usize) -> Result<f64, ModelError> {
        let features = self.arch.inputs();
        let rows = batch.rows(features)?;
        let mut total = 0.0;
        for start in (0..batch.len()).step_by(self.chunk) {
            let end = (start + self.chunk).min(batch.len());
            let rows = rows.slice(2 * start, 2 * end);
            let mut clock = Lap::start();
            self.grouped.rebuild(&rows, self.arch.features().slot_count());
            clock.end(&mut self.parts.sort);
            self.transform()?;
            clock.end(&mut self.parts.forward);
            let pieces = self.dense_pieces(batch, loss, divisor, start, end)?;
            for piece in &pieces {
                total += piece.loss;
                for (stack, gradients) in &piece.dense {
                    self.dense.gather(*stack, gradients)?;
                }
            }
            clock.end(&mut self.parts.dense);
            self.by_feature.rebuild(&self.grouped);
            clock.end(&mut self.parts.sort);
            self.backward(&pieces)?;
            self.psqt_backward(batch, &pieces, start)?;
            clock.end(&mut self.parts.backward);
        }
        Ok(total)
    }

    /// The gathered gradients and the last loss as tensors over this net's own memory.
    fn gathered_tensors(&mut self) -> Result<Gathered<'_>, ModelError> {
        let loss = lend(std::slice::from_mut(self.last_loss.get_or_insert(0.0)))?;
        let mut gradients = vec![lend(self.table.gradient())?, lend(&mut self.bias.gradient[..])?];
        if let Some(psqt) = &mut self.psqt {
            gradients.push(lend(psqt.gradient())?);
        }
        for leaf in self.dense.stacks.iter_mut().flatten() {
            gradients.push(lend(&mut leaf.gradient[..])?);
        }
        Ok(Gathered::new(loss, gradients))
    }

    /// The outputs for a batch in its order, 1.0 being 600 centipawns; changes nothing.
    ///
    /// # Errors
    /// [`ModelError`].
    pub fn outputs(&mut self, batch: &Batch) -> Result<Vec<f32>, ModelError> {
        let rows = batch.rows(self.arch.inputs())?;
        let mut outputs = Vec::with_capacity(batch.len());
        for start in (0..batch.len()).step_by(self.chunk) {
            let end = (start + self.chunk).min(batch.len());
            let rows = rows.slice(2 * start, 2 * end);
            self.grouped.rebuild(&rows, self.arch.features().slot_count());
            self.transform()?;
            let this = ReadOnly::new(&*self);
            let parts: Result<Vec<Vec<f32>>, TchError> = ranges(start, end)
                .into_par_iter()
                .with_max_len(1)
                .map(|range| {
                    let _guard = tch::no_grad_guard();
                    let this = this.get();
                    let (x, psqt) = this.leaves(batch, range)?;
                    let output = this.piece_output(batch, range, &x, psqt.as_ref())?;
                    Ok(slice(&output.f_contiguous()?)?.to_vec())
                })
                .collect();
            outputs.extend(parts?.into_iter().flatten());
        }
        Ok(outputs)
    }

    /// One Adam update of everything with the gathered gradients, which are zeroed.
    ///
    /// # Errors
    /// [`ModelError`].
    pub fn update(&mut self, step: &AdamStep) -> Result<(), ModelError> {
        let kernel = &*self.kernel;
        self.table.update(kernel, step, clip::FT_WEIGHT);
        self.bias.update(kernel, &AdamStep { limit: clip::FT_BIAS, ..*step });
        if let Some(psqt) = &mut self.psqt {
            psqt.update(kernel, step, clip::PSQT);
        }
        self.dense.update(kernel, step)?;
        Ok(())
    }

    /// Forward pass of the feature transformer of the rows in `grouped` into `x` and `psqt_sums`.
    fn transform(&mut self) -> Result<(), TchError> {
        let x = slice_mut(&mut self.x)?;
        let (kernel, merged) = (&*self.kernel, self.table.merged());
        let grouped = &self.grouped;
        transformer::forward(kernel, merged, &self.bias.weights, grouped, x, Some(FT_CLIP));
        if let Some(psqt) = &self.psqt {
            let none = AlignedVec::zeros(tile::padded(psqt.columns()));
            transformer::forward(kernel, psqt.merged(), &none, grouped, &mut self.psqt_sums, None);
        }
        Ok(())
    }

    fn dense_pieces(
        &self,
        batch: &Batch,
        loss: &Loss,
        divisor: usize,
        start: usize,
        end: usize,
    ) -> Result<Vec<Piece>, TchError> {
        let this = ReadOnly::new(self);
        let pieces = ranges(start, end).into_par_iter().with_max_len(1);
        pieces.map(|range| this.get().dense_piece(batch, loss, divisor, range)).collect()
    }

    /// Forward and backward through the dense layers for one piece.
    fn dense_piece(
        &self,
        batch: &Batch,
        loss: &Loss,
        divisor: usize,
        range: Range,
    ) -> Result<Piece, TchError> {
        let (x, psqt) = self.leaves(batch, range)?;
        let x = x.set_requires_grad(true);
        let psqt = psqt.map(|psqt| psqt.set_requires_grad(true));
        let output = self.piece_output(batch, range, &x, psqt.as_ref())?;
        let targets = Tensor::from_slice(&loss.targets(&batch.samples, range.start, range.end)).view([-1, 1]);
        let sum = loss.sum(&output, &targets)?;
        let mut stacks: Vec<usize> =
            batch.stack_runs(range.start, range.end).into_iter().map(|(stack, ..)| stack).collect();
        stacks.dedup();
        let mut inputs: Vec<&Tensor> = vec![&x];
        inputs.extend(psqt.as_ref());
        for &stack in &stacks {
            inputs.extend(self.dense.stacks[stack].iter().map(|leaf| &leaf.tensor));
        }
        let mean = sum.f_div_scalar(divisor as f64)?;
        let mut gradients = Tensor::f_run_backward(&[mean], &inputs, false, false)?.into_iter();
        let x = gradients.next().unwrap_or_default().f_contiguous()?;
        let psqt = if psqt.is_some() { gradients.next() } else { None };
        let dense = stacks
            .into_iter()
            .map(|stack| (stack, gradients.by_ref().take(dense::LAYERS.len()).collect()))
            .collect();
        Ok(Piece { loss: f64::try_from(&sum)?, x, psqt, dense })
    }

    /// The leaves of one piece: its activations, and its PSQT values with the stack chosen.
    fn leaves(&self, batch: &Batch, range: Range) -> Result<(Tensor, Option<Tensor>), TchError> {
        let first = range.start - range.chunk_start;
        let len = (range.end - range.start) as i64;
        let x = self.x.f_narrow(0, first as i64, len)?.f_detach()?;
        let psqt = self.psqt.as_ref().map(|psqt| {
            let stride = tile::padded(psqt.columns());
            let values: Vec<f32> = (range.start..range.end)
                .map(|i| {
                    let column = usize::from(batch.samples.stacks[i]);
                    let row = 2 * (i - range.chunk_start) * stride + column;
                    self.psqt_sums[row] - self.psqt_sums[row + stride]
                })
                .collect();
            Tensor::from_slice(&values).view([-1, 1])
        });
        Ok((x, psqt))
    }

    /// The outputs `[n, 1]` of one piece.
    fn piece_output(
        &self,
        batch: &Batch,
        range: Range,
        x: &Tensor,
        psqt: Option<&Tensor>,
    ) -> Result<Tensor, TchError> {
        let inputs = match self.arch.activation() {
            Activation::CRelu => x.shallow_clone(),
            // Split, not narrow: the gradient of a split is one copy, that of each narrow a filled matrix.
            Activation::Pairwise => {
                let l1 = self.arch.l1() as i64;
                let halves = x.f_view([-1, 2, l1])?.f_split(l1 / 2, 2)?;
                halves[0].f_mul(&halves[1])?.f_view([-1, l1])?
            }
        };
        let runs = batch.stack_runs(range.start, range.end);
        let sizes: Vec<i64> = runs.iter().map(|(_, start, end)| (end - start) as i64).collect();
        let parts = match runs.len() {
            1 => vec![inputs],
            _ => inputs.f_split_with_sizes(&sizes[..], 0)?,
        };
        let mut outputs = Vec::new();
        for ((stack, ..), part) in runs.iter().zip(&parts) {
            outputs.push(self.dense.forward(*stack, part)?);
        }
        let output = if outputs.len() == 1 { outputs.remove(0) } else { Tensor::f_cat(&outputs, 0)? };
        match psqt {
            Some(psqt) => output.f_add(psqt),
            None => Ok(output),
        }
    }

    /// Backward pass of the feature transformer for a chunk.
    fn backward(&mut self, pieces: &[Piece]) -> Result<(), TchError> {
        let gradients: Vec<&[f32]> = pieces.iter().map(|piece| slice(&piece.x)).collect::<Result<_, _>>()?;
        let pieces = Pieces { pieces: &gradients, rows_each: 2 * PIECE, stride: self.arch.l1() };
        let (x, bias_gradient) = (slice(&self.x)?, &mut self.bias.gradient);
        let table_gradient = self.table.gradient();
        let kernel = &*self.kernel;
        transformer::backward(
            kernel,
            &self.by_feature,
            &self.grouped,
            x,
            pieces,
            table_gradient,
            bias_gradient,
            Some(FT_CLIP),
        );
        Ok(())
    }

    /// Backward pass of the PSQT columns for the chunk that begins at position `start`.
    fn psqt_backward(&mut self, batch: &Batch, pieces: &[Piece], start: usize) -> Result<(), TchError> {
        let Some(psqt) = &mut self.psqt else { return Ok(()) };
        let stride = tile::padded(psqt.columns());
        let rows = self.by_feature.row_count();
        let gradient = &mut self.psqt_gradient[..rows * stride];
        gradient.fill(0.0);
        let mut position = 0;
        for piece in pieces {
            let Some(part) = &piece.psqt else { continue };
            for &g in slice(&part.f_contiguous()?)? {
                let column = usize::from(batch.samples.stacks[start + position]);
                let row = 2 * position * stride + column;
                gradient[row] = g;
                gradient[row + stride] = -g;
                position += 1;
            }
        }
        let mut no_bias = vec![0.0; stride];
        let pieces = Pieces { pieces: &[&*gradient], rows_each: rows.max(1), stride };
        let kernel = &*self.kernel;
        let (by_feature, grouped) = (&self.by_feature, &self.grouped);
        transformer::backward(kernel, by_feature, grouped, &[], pieces, psqt.gradient(), &mut no_bias, None);
        Ok(())
    }
}

// First values, chosen by validation loss on 120,000 positions of self-play among 0.01 to 0.1 and 0.1 to 0.5.
/// Size of first weights that see every position: shared rows, or all rows of a net without factors.
const FIRST_SHARED: f32 = 0.03;
/// A factorised net's own rows only say how they differ from the shared ones.
const FIRST_OWN_BESIDE_SHARED: f32 = 0.003;
/// Sums start inside what is not clipped, nearer to its lower end.
const FIRST_BIAS: f32 = 0.25;

fn ranges(start: usize, end: usize) -> Vec<Range> {
    (start..end)
        .step_by(PIECE)
        .map(|first| Range { chunk_start: start, start: first, end: (first + PIECE).min(end) })
        .collect()
}

// A row of any table is whole tiles.
const _: () = assert!(nnue_format::arch::L1_RANGE.2.is_multiple_of(TILE));
