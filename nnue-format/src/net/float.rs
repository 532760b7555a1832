//! Float nets: as trained, and with the factors folded in. Evaluated here without torch.

use ndarray::{Array2, ArrayView1, ArrayView2};
use xiangqi::Position;

use super::layers::FloatLayers;
use super::quantised::QuantisedNet;
use crate::arch::{Activation, Architecture};
use crate::error::{QuantiseError, ShapeError};
use crate::quant;

/// A net as a trainer holds it: float weights, with or without factors.
#[derive(Clone, Debug, PartialEq)]
pub struct FloatNet {
    /// The shape.
    pub arch: Architecture,
    /// The matrices; with factors, the rows of `ft_weights` and `psqt` are what is added to them.
    pub layers: FloatLayers,
    /// `[slot, neuron]`: rows shared by all buckets ([`crate::FeatureSet::virtual_index`]).
    pub ft_factor: Option<Array2<f32>>,
    /// `[slot, stack]`: the same for PSQT.
    pub psqt_factor: Option<Array2<f32>>,
}

/// A float net without factors: what is quantised.
#[derive(Clone, Debug, PartialEq)]
pub struct MergedNet {
    /// The shape.
    pub arch: Architecture,
    /// The matrices.
    pub layers: FloatLayers,
}

impl FloatNet {
    /// A net of zeros without factors.
    pub fn zeros(arch: &Architecture) -> FloatNet {
        FloatNet { arch: *arch, layers: FloatLayers::zeros(arch), ft_factor: None, psqt_factor: None }
    }

    /// Folds the factors: `merged[f] = ft_weights[f] + ft_factor[virtual_index(f)]`, and so for PSQT.
    ///
    /// # Errors
    /// A matrix whose shape is not the architecture's.
    pub fn merge(mut self) -> Result<MergedNet, ShapeError> {
        self.layers.check_shapes(&self.arch)?;
        fold(&mut self.layers.ft_weights, self.ft_factor.as_ref(), "ft_factor", &self.arch)?;
        fold(&mut self.layers.psqt, self.psqt_factor.as_ref(), "psqt_factor", &self.arch)?;
        Ok(MergedNet { arch: self.arch, layers: self.layers })
    }

    /// The output for the side to move, 1.0 being [`quant::OUTPUT_CP`]. Folds the factors first,
    /// so for more than one position use [`MergedNet::evaluate`].
    ///
    /// # Errors
    /// A matrix whose shape is not the architecture's.
    pub fn evaluate(&self, position: &Position) -> Result<f32, ShapeError> {
        Ok(self.clone().merge()?.evaluate(position))
    }
}

fn fold(
    weights: &mut Array2<f32>,
    factor: Option<&Array2<f32>>,
    layer: &'static str,
    arch: &Architecture,
) -> Result<(), ShapeError> {
    let Some(factor) = factor else { return Ok(()) };
    let features = arch.features();
    let expected = vec![features.slot_count(), weights.ncols()];
    if factor.shape() != expected {
        return Err(ShapeError { layer, found: factor.shape().to_vec(), expected, arch: arch.to_string() });
    }
    for (feature, mut row) in weights.rows_mut().into_iter().enumerate() {
        row += &factor.row(features.virtual_index(feature));
    }
    Ok(())
}

impl MergedNet {
    /// Turns the net into integers.
    ///
    /// # Errors
    /// A weight that is not finite or does not fit, or a neuron whose sum could overflow: nothing
    /// is clamped.
    pub fn quantise(&self) -> Result<QuantisedNet, QuantiseError> {
        QuantisedNet::from_merged(self)
    }

    /// The output for the side to move, 1.0 being [`quant::OUTPUT_CP`]; f32 sums in index order.
    /// Shapes must be the architecture's ([`FloatNet::merge`] has seen to it).
    pub fn evaluate(&self, position: &Position) -> f32 {
        let layers = &self.layers;
        let side = position.side_to_move();
        let stack = self.arch.stacks().choose(position);
        let mut input = Vec::with_capacity(self.arch.dense_inputs());
        let mut output = layers.out_biases[stack];
        let mut active = Vec::new();
        for (perspective, sign) in [(side, 1.0), (side.flip(), -1.0)] {
            self.arch.features().active(position, perspective, &mut active);
            let mut sums = layers.ft_biases.clone();
            for &feature in &active {
                sums += &layers.ft_weights.row(feature);
                if self.arch.psqt() {
                    output += sign * layers.psqt[[feature, stack]];
                }
            }
            self.activate(sums.mapv(|x| x.clamp(0.0, quant::FT_CLIP)).view(), &mut input);
        }
        let hidden = |x: f32| x.clamp(0.0, quant::HIDDEN_CLIP);
        let index = |m: &ndarray::Array3<f32>| m.index_axis(ndarray::Axis(0), stack).to_owned();
        let first =
            affine(index(&layers.dense1_weights).view(), layers.dense1_biases.row(stack), &input, hidden);
        let second =
            affine(index(&layers.dense2_weights).view(), layers.dense2_biases.row(stack), &first, hidden);
        output + second.iter().zip(layers.out_weights.row(stack)).map(|(x, w)| x * w).sum::<f32>()
    }

    /// Appends one side's activations of clipped sums.
    fn activate(&self, clipped: ArrayView1<'_, f32>, input: &mut Vec<f32>) {
        match self.arch.activation() {
            Activation::CRelu => input.extend(clipped),
            Activation::Pairwise => {
                let half = self.arch.l1() / 2;
                input.extend((0..half).map(|i| clipped[i] * clipped[i + half]));
            }
        }
    }
}

/// `f(weights · input + biases)`.
fn affine(
    weights: ArrayView2<'_, f32>,
    biases: ArrayView1<'_, f32>,
    input: &[f32],
    f: impl Fn(f32) -> f32,
) -> Vec<f32> {
    let row_sum = |row: ArrayView1<'_, f32>| row.iter().zip(input).map(|(w, x)| w * x).sum::<f32>();
    weights.rows().into_iter().zip(biases).map(|(row, bias)| f(bias + row_sum(row))).collect()
}
