//! The net as it is trained on the CPU: every layer by kernels of our own; torch gives the loss and its gradient.
//!
//! ```text
//! rows ─ transformer ─► x (clipped sums) ─ dense layers ─► output ─ torch ─► loss
//!          ▲                                                                  │
//!   merged table ◄─ Adam, clip ◄─ transformer ◄─ packed ◄─ dense layers ◄─────┘
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

use crate::backend::cpu::dense::{Hidden, Inputs, Scattered, Shape, Stack, StackGradients};
use crate::backend::cpu::kernel::{AdamStep, Kernel, KernelError, TILE};
use crate::backend::cpu::rows::RowsError;
use crate::backend::cpu::{AlignedVec, ByFeature, Grouped, transformer};
use crate::backend::cuda::DeviceError;
use crate::chance::{Purpose, generator, symmetric};
use crate::clock::{Lap, Spent};
use crate::data::Batch;
use crate::loss::Loss;
use crate::optim::param::{Param, square_sum};
use crate::optim::update::{Lookahead, UpdateStep, norm_scale};
use dense::Dense;
use net::Gathered;
use nnue_format::arch::Architecture;
use nnue_format::quant::{FT_CLIP, clip};
use rayon::prelude::*;
use shared::{lend, slice};
use table::Table;
use tch::{TchError, Tensor};
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
    /// A device.
    #[error(transparent)]
    Device(#[from] DeviceError),
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
    /// The dense layers as kernels read them; empty when their weights have changed since.
    stacks: Vec<Stack>,
    /// Clipped sums of a chunk, `[positions][2 L1]`.
    x: AlignedVec,
    /// The gradient of the sums, `[L1 / TILE][2 positions][TILE]`, rows at their places in `grouped`.
    packed: AlignedVec,
    /// PSQT sums of a chunk, `[2 positions][TILE]`, and their gradient, rows at their places.
    psqt_sums: AlignedVec,
    psqt_packed: AlignedVec,
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
    /// Dense layers, forward and backward, and sorting rows by feature beside them.
    pub dense: Spent,
    /// Sorting rows by bucket.
    pub sort: Spent,
    /// Feature transformer, backward.
    pub backward: Spent,
    /// Optimiser.
    pub update: Spent,
}

/// What one dense task gives back.
struct Piece {
    /// Summed.
    loss: f64,
    /// Gradients of the outputs, and so of the PSQT values.
    outputs: Vec<f32>,
    /// Of the dense layers of the stacks that occur, rising.
    stacks: Vec<(usize, StackGradients)>,
    /// Of the feature transformer's biases.
    ft_bias: Vec<f32>,
}

/// The outputs of one piece and what its backward pass needs.
struct Forward {
    /// For each run of one stack: (stack, first position in the batch, end), and its hidden layers.
    runs: Vec<((usize, usize, usize), Hidden)>,
    /// `[positions]`, PSQT values included.
    outputs: Vec<f32>,
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
        let psqt_len = if arch.psqt() { 2 * chunk * TILE } else { 0 };
        Model {
            arch: *arch,
            kernel,
            table,
            bias,
            psqt,
            dense,
            grouped: Grouped::default(),
            by_feature: ByFeature::default(),
            stacks: Vec::new(),
            x: AlignedVec::zeros(chunk * 2 * l1),
            packed: AlignedVec::zeros(chunk * 2 * l1),
            psqt_sums: AlignedVec::zeros(psqt_len),
            psqt_packed: AlignedVec::zeros(psqt_len),
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
            self.transform();
            clock.end(&mut self.parts.forward);
            let pieces = self.dense_pieces(batch, loss, divisor, start, end)?;
            for piece in &pieces {
                total += piece.loss;
                for (stack, gradients) in &piece.stacks {
                    self.dense.gather(*stack, gradients);
                }
                for (sum, part) in self.bias.gradient.iter_mut().zip(&piece.ft_bias) {
                    *sum += part;
                }
            }
            clock.end(&mut self.parts.dense);
            self.transform_backward(batch, &pieces, start);
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
            self.transform();
            self.pack_stacks();
            let this = &*self;
            let pieces = ranges(start, end).into_par_iter().with_max_len(1);
            let parts: Vec<Vec<f32>> = pieces.map(|range| this.piece_forward(batch, range).outputs).collect();
            outputs.extend(parts.into_iter().flatten());
        }
        Ok(outputs)
    }

    /// One update of everything with the gathered gradients, which are zeroed.
    ///
    /// # Errors
    /// [`ModelError`].
    pub fn update(&mut self, step: &UpdateStep) -> Result<(), ModelError> {
        if step.lookahead.is_some() {
            self.begin_slow();
        }
        let step = match step.max_norm {
            Some(max_norm) => step.scaled(norm_scale(self.gradient_norm(), max_norm)),
            None => *step,
        };
        let kernel = &*self.kernel;
        self.table.update(kernel, &step.feature_transformer, clip::FT_WEIGHT);
        self.bias.update(kernel, &AdamStep { limit: clip::FT_BIAS, ..step.biases });
        if let Some(psqt) = &mut self.psqt {
            psqt.update(kernel, &step.feature_transformer, clip::PSQT);
        }
        self.dense.update(kernel, &step);
        self.stacks.clear();
        if let Some(Lookahead { part, now: true }) = step.lookahead {
            self.look_ahead(part);
        }
        Ok(())
    }

    /// The norm of the gathered gradients, all parameters of the merged net together.
    fn gradient_norm(&mut self) -> f64 {
        let tables = [Some(&mut self.table), self.psqt.as_mut()].into_iter().flatten();
        let tables: f64 = tables.map(|table| square_sum(table.gradient())).sum();
        let dense: f64 = self.dense.stacks.iter().flatten().map(|param| square_sum(&param.gradient)).sum();
        (tables + square_sum(&self.bias.gradient) + dense).sqrt()
    }

    /// Makes the weights slow ones, where there are none yet.
    fn begin_slow(&mut self) {
        self.table.begin_slow();
        self.psqt.iter_mut().for_each(Table::begin_slow);
        self.bias.begin_slow();
        self.dense.stacks.iter_mut().flatten().for_each(Param::begin_slow);
    }

    fn look_ahead(&mut self, part: f32) {
        self.table.look_ahead(part);
        self.psqt.iter_mut().for_each(|psqt| psqt.look_ahead(part));
        self.bias.look_ahead(part);
        self.dense.stacks.iter_mut().flatten().for_each(|param| param.look_ahead(part));
    }

    /// Forward pass of the feature transformer of the rows in `grouped` into `x` and `psqt_sums`.
    fn transform(&mut self) {
        let (kernel, merged, grouped) = (&*self.kernel, self.table.merged(), &self.grouped);
        let (bias, x, psqt_sums) = (&self.bias.weights, &mut self.x, &mut self.psqt_sums);
        let mut sums = || transformer::forward(kernel, merged, bias, grouped, x, Some(FT_CLIP));
        let Some(psqt) = &self.psqt else { return sums() };
        // The PSQT columns are one more tile: after the others it would keep one thread busy, and the rest waiting.
        let none = [0.0; TILE];
        rayon::join(sums, || transformer::forward(kernel, psqt.merged(), &none, grouped, psqt_sums, None));
    }

    /// Brings `stacks` up to date.
    fn pack_stacks(&mut self) {
        if self.stacks.is_empty() {
            self.stacks = self.dense.packed(Shape::of(&self.arch));
        }
    }

    /// The dense layers of a chunk, and, beside them, the sorting of its rows by feature, which one thread does.
    fn dense_pieces(
        &mut self,
        batch: &Batch,
        loss: &Loss,
        divisor: usize,
        start: usize,
        end: usize,
    ) -> Result<Vec<Piece>, TchError> {
        self.pack_stacks();
        let mut packed = std::mem::replace(&mut self.packed, AlignedVec::zeros(0));
        let mut by_feature = std::mem::take(&mut self.by_feature);
        let this = &*self;
        let places = Scattered::split(&mut packed, this.arch.l1() / TILE, &this.grouped, 2 * PIECE);
        let pieces = ranges(start, end).into_par_iter().zip(places).with_max_len(1);
        let pieces = pieces.map(|(range, places)| this.dense_piece(batch, loss, divisor, range, places));
        let (pieces, ()) = rayon::join(|| pieces.collect(), || by_feature.rebuild(&this.grouped));
        (self.packed, self.by_feature) = (packed, by_feature);
        pieces
    }

    /// Forward and backward through the dense layers for one piece.
    fn dense_piece(
        &self,
        batch: &Batch,
        loss: &Loss,
        divisor: usize,
        range: Range,
        mut places: Scattered<'_>,
    ) -> Result<Piece, TchError> {
        let forward = self.piece_forward(batch, range);
        let (loss, outputs) = loss_gradient(batch, loss, divisor, range, &forward.outputs)?;
        let shape = Shape::of(&self.arch);
        let mut ft_bias = vec![0.0; shape.l1];
        let mut stacks: Vec<(usize, StackGradients)> = Vec::new();
        for ((stack, first, end), hidden) in &forward.runs {
            if stacks.last().is_none_or(|(last, _)| last != stack) {
                stacks.push((*stack, StackGradients::new(shape)));
            }
            let Some((_, gradients)) = stacks.last_mut() else { continue };
            let (from, to) = (first - range.start, end - range.start);
            let mut places = places.part(2 * from, 2 * to);
            let (stack, inputs) = (&self.stacks[*stack], self.inputs(range, *first, *end));
            let outputs = &outputs[from..to];
            let kernel = &*self.kernel;
            kernel.dense_backward(stack, &inputs, hidden, outputs, gradients, &mut ft_bias, &mut places);
        }
        Ok(Piece { loss, outputs, stacks, ft_bias })
    }

    /// The outputs of one piece.
    fn piece_forward(&self, batch: &Batch, range: Range) -> Forward {
        let shape = Shape::of(&self.arch);
        let mut outputs = Vec::with_capacity(range.end - range.start);
        let mut runs = Vec::new();
        for run in batch.stack_runs(range.start, range.end) {
            let (stack, first, end) = run;
            let mut hidden = Hidden::new(shape, end - first);
            self.kernel.dense_forward(&self.stacks[stack], &self.inputs(range, first, end), &mut hidden);
            outputs.extend_from_slice(&hidden.outputs);
            runs.push((run, hidden));
        }
        if self.psqt.is_some() {
            for (i, output) in (range.start..range.end).zip(&mut outputs) {
                let at = 2 * (i - range.chunk_start) * TILE + usize::from(batch.samples.stacks[i]);
                *output += self.psqt_sums[at] - self.psqt_sums[at + TILE];
            }
        }
        Forward { runs, outputs }
    }

    /// The sums of positions `first..end` of the batch.
    fn inputs(&self, range: Range, first: usize, end: usize) -> Inputs<'_> {
        let width = 2 * self.arch.l1();
        let x = &self.x[(first - range.chunk_start) * width..(end - range.chunk_start) * width];
        Inputs { x, len: end - first, clip: FT_CLIP }
    }

    /// Backward pass of the feature transformer, its PSQT columns too, for the chunk from position `start`.
    fn transform_backward(&mut self, batch: &Batch, pieces: &[Piece], start: usize) {
        let (kernel, by_feature, grouped) = (&*self.kernel, &self.by_feature, &self.grouped);
        let (packed, gradient) = (&self.packed, self.table.gradient());
        let mut sums = || transformer::backward(kernel, by_feature, grouped, packed, gradient);
        let Some(psqt) = &mut self.psqt else { return sums() };
        let packed = &mut self.psqt_packed[..grouped.len() * TILE];
        packed.fill(0.0);
        let gradients = pieces.iter().flat_map(|piece| &piece.outputs);
        let stacks = batch.samples.stacks[start..].iter().map(|&stack| usize::from(stack));
        for ((places, stack), gradient) in
            grouped.places().as_chunks::<2>().0.iter().zip(stacks).zip(gradients)
        {
            packed[places[0] as usize * TILE + stack] = *gradient;
            packed[places[1] as usize * TILE + stack] = -gradient;
        }
        let gradient = psqt.gradient();
        rayon::join(sums, || transformer::backward(kernel, by_feature, grouped, packed, gradient));
    }
}

/// The summed loss of one piece's outputs and the gradient of `sum / divisor`, by torch's autograd: the loss has one
/// home.
fn loss_gradient(
    batch: &Batch,
    loss: &Loss,
    divisor: usize,
    range: Range,
    outputs: &[f32],
) -> Result<(f64, Vec<f32>), TchError> {
    let outputs = Tensor::from_slice(outputs).view([-1, 1]).set_requires_grad(true);
    let targets = Tensor::from_slice(&loss.targets(&batch.samples, range.start, range.end)).view([-1, 1]);
    let sum = loss.sum(&outputs, &targets)?;
    let mean = sum.f_div_scalar(divisor as f64)?;
    let gradient = Tensor::f_run_backward(&[mean], &[&outputs], false, false)?;
    let gradient = gradient.into_iter().next().unwrap_or_default().f_contiguous()?;
    Ok((f64::try_from(&sum)?, slice(&gradient)?.to_vec()))
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
