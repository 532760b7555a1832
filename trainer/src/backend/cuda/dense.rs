//! The dense layers on a device, forward and backward by hand: some thirty launches for all stacks together.
//!
//! Every stack is computed for every position, as one product, and the outputs of the position's own stack are
//! picked; on the way back the gradient is spread among zeros. That is more arithmetic than each stack for its own
//! positions, but a tenth of the launches, and the first layer is a product on tensor cores.

use super::DeviceError;
use super::compute::Engine;
use nnue_format::Architecture;
use nnue_format::quant::HIDDEN_CLIP;
use tch::{Kind, Tensor};

/// Weights and biases of all stacks (or their gradients), f32, stack by stack.
pub struct Layers {
    /// `[stacks × l2, inputs]` and `[stacks × l2]`.
    pub first: [Tensor; 2],
    /// `[stacks × l3, l2]` and `[stacks × l3]`.
    pub second: [Tensor; 2],
    /// `[stacks, l3]` and `[stacks]`.
    pub out: [Tensor; 2],
}

/// Sizes of the layers.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Stacks.
    pub stacks: i64,
    /// Inputs.
    pub inputs: i64,
    /// Outputs of the first layer of a stack.
    pub l2: i64,
    /// Outputs of the second.
    pub l3: i64,
}

impl Shape {
    /// Those of an architecture.
    pub fn new(arch: &Architecture) -> Shape {
        let [inputs, l2, l3, stacks] =
            [arch.dense_inputs(), arch.l2(), arch.l3(), arch.stack_count()].map(|size| size as i64);
        Shape { stacks, inputs, l2, l3 }
    }
}

/// A forward pass: the outputs, and what its way back needs.
pub struct Pass {
    /// f32 `[positions, 1]`, PSQT included.
    pub outputs: Tensor,
    stacks: Tensor,
    first_weights: Tensor,
    sums: [Tensor; 2],
    hidden: [Tensor; 2],
    out_weights: Tensor,
}

impl Shape {
    /// The outputs for `inputs` (`[positions, inputs]`, the engine's precision), PSQT `values` (`[positions]`) and stacks
    /// (i32 `[positions]`).
    ///
    /// # Errors
    /// What torch reports.
    pub fn forward(
        &self,
        engine: &Engine,
        layers: &Layers,
        (inputs, values): (&Tensor, &Tensor),
        stacks: &Tensor,
    ) -> Result<Pass, DeviceError> {
        let positions = inputs.size()[0];
        let limit = f64::from(HIDDEN_CLIP);
        let stacks = stacks.f_to_kind(Kind::Int64)?;
        let first_weights = layers.first[0].f_to_kind(engine.precision.kind())?;
        let all = engine.empty(&[positions, self.stacks * self.l2], Kind::Float)?;
        engine.product(&all, inputs, &first_weights.f_tr()?)?;
        let sum1 = self.pick(&all, &layers.first[1], &stacks, self.l2)?;
        let hidden1 = sum1.f_clamp(0.0, limit)?;
        let all = hidden1.f_mm(&layers.second[0].f_tr()?)?;
        let sum2 = self.pick(&all, &layers.second[1], &stacks, self.l3)?;
        let hidden2 = sum2.f_clamp(0.0, limit)?;
        let out_weights = self.own(&layers.out[0], &stacks)?;
        let outputs = hidden2.f_mul(&out_weights)?.f_sum_dim_intlist(&[1i64][..], true, Kind::Float)?;
        let bias = self.own(&layers.out[1].f_view([self.stacks, 1])?, &stacks)?;
        let outputs = outputs.f_add(&bias)?.f_add(&values.f_view([-1, 1])?)?;
        let (sums, hidden) = ([sum1, sum2], [hidden1, hidden2]);
        Ok(Pass { outputs, stacks, first_weights, sums, hidden, out_weights })
    }

    /// Writes the gradients of the layers, and gives that of the inputs, f32. `outputs` is the gradient of the
    /// outputs, `[positions, 1]`.
    ///
    /// # Errors
    /// What torch reports.
    pub fn backward(
        &self,
        engine: &Engine,
        (layers, gradients): (&Layers, &Layers),
        pass: &Pass,
        inputs: &Tensor,
        outputs: &Tensor,
    ) -> Result<Tensor, DeviceError> {
        let ones = self.one_hot(&pass.stacks)?;
        let spread = |d: &Tensor| self.spread(d, ones.as_ref());
        let bias = |to: &Tensor, d: &Tensor| {
            to.shallow_clone().f_copy_(&d.f_sum_dim_intlist(&[0i64][..], false, Kind::Float)?)
        };
        let out = spread(outputs)?;
        let _ = out.f_tr()?.f_mm_out(&gradients.out[0], &pass.hidden[1])?;
        bias(&gradients.out[1], &out)?;

        // Equal to the clamped value: inside, ends included, as torch's own clamp has it.
        let inside = |i: usize| pass.sums[i].f_eq_tensor(&pass.hidden[i]);
        let second = spread(&outputs.f_mul(&pass.out_weights)?.f_mul(&inside(1)?)?)?;
        let _ = second.f_tr()?.f_mm_out(&gradients.second[0], &pass.hidden[0])?;
        bias(&gradients.second[1], &second)?;

        let first = spread(&second.f_mm(&layers.second[0])?.f_mul(&inside(0)?)?)?;
        bias(&gradients.first[1], &first)?;
        let first = first.f_to_kind(engine.precision.kind())?;
        engine.product(&gradients.first[0], &first.f_tr()?, inputs)?;
        let inputs = engine.empty(&[first.size()[0], self.inputs], Kind::Float)?;
        engine.product(&inputs, &first, &pass.first_weights)?;
        Ok(inputs)
    }

    /// The outputs of each position's own stack with their biases: `[positions, width]` of `[positions, stacks × width]`.
    fn pick(&self, all: &Tensor, bias: &Tensor, stacks: &Tensor, width: i64) -> Result<Tensor, DeviceError> {
        if self.stacks == 1 {
            return Ok(all.f_add(bias)?);
        }
        let index = stacks.f_view([-1, 1, 1])?.f_expand([-1, 1, width], false)?;
        let own = all.f_view([-1, self.stacks, width])?.f_gather(1, &index, false)?.f_squeeze_dim(1)?;
        Ok(own.f_add(&self.own(&bias.f_view([self.stacks, width])?, stacks)?)?)
    }

    /// The row of each position's stack.
    fn own(&self, rows: &Tensor, stacks: &Tensor) -> Result<Tensor, DeviceError> {
        Ok(if self.stacks == 1 { rows.shallow_clone() } else { rows.f_index_select(0, stacks)? })
    }

    /// f32 `[positions, stacks, 1]`; none with a single stack.
    fn one_hot(&self, stacks: &Tensor) -> Result<Option<Tensor>, DeviceError> {
        if self.stacks == 1 {
            return Ok(None);
        }
        let names = Tensor::f_arange(self.stacks, (Kind::Int64, stacks.device()))?;
        let ones = stacks.f_view([-1, 1])?.f_eq_tensor(&names)?.f_to_kind(Kind::Float)?;
        Ok(Some(ones.f_unsqueeze(2)?))
    }

    /// `[positions, width]` to `[positions, stacks × width]`, zero but for the own stack.
    fn spread(&self, d: &Tensor, ones: Option<&Tensor>) -> Result<Tensor, DeviceError> {
        let Some(ones) = ones else { return Ok(d.shallow_clone()) };
        Ok(ones.f_mul(&d.f_unsqueeze(1)?)?.f_reshape([d.size()[0], -1])?)
    }
}
