//! The matrices every stage of a net has, in one element type or another.

use ndarray::{Array1, Array2, Array3};

use crate::arch::Architecture;
use crate::error::ShapeError;

/// The matrices of a net. `Ft` is the feature transformer's element, `Psqt` the PSQT's, `Dense`
/// that of dense weights, `Bias` that of dense biases.
///
/// Dense layers are `output × input`, as in torch; axis 0 of each is the stack.
#[derive(Clone, Debug, PartialEq)]
pub struct Layers<Ft, Psqt, Dense, Bias> {
    /// `[feature, neuron]`: inputs × L1.
    pub ft_weights: Array2<Ft>,
    /// `[neuron]`: L1.
    pub ft_biases: Array1<Ft>,
    /// `[feature, stack]`: inputs × stacks, or inputs × 0 without PSQT.
    pub psqt: Array2<Psqt>,
    /// `[stack, output, input]`: stacks × L2 × dense inputs. Inputs: side to move, then the other.
    pub dense1_weights: Array3<Dense>,
    /// `[stack, output]`: stacks × L2.
    pub dense1_biases: Array2<Bias>,
    /// `[stack, output, input]`: stacks × L3 × L2.
    pub dense2_weights: Array3<Dense>,
    /// `[stack, output]`: stacks × L3.
    pub dense2_biases: Array2<Bias>,
    /// `[stack, input]`: stacks × L3.
    pub out_weights: Array2<Dense>,
    /// `[stack]`.
    pub out_biases: Array1<Bias>,
}

/// Matrices of [`super::FloatNet`] and [`super::MergedNet`].
pub type FloatLayers = Layers<f32, f32, f32, f32>;
/// Matrices of [`super::QuantisedNet`]: scales in [`crate::quant`].
pub type QuantisedLayers = Layers<i16, i32, i8, i32>;

impl<Ft, Psqt, Dense, Bias> Layers<Ft, Psqt, Dense, Bias>
where
    Ft: Clone + Default,
    Psqt: Clone + Default,
    Dense: Clone + Default,
    Bias: Clone + Default,
{
    /// All zero, in the shapes of an architecture.
    pub fn zeros(arch: &Architecture) -> Self {
        let (inputs, l1, l2, l3) = (arch.inputs(), arch.l1(), arch.l2(), arch.l3());
        let stacks = arch.stack_count();
        Layers {
            ft_weights: Array2::from_elem((inputs, l1), Ft::default()),
            ft_biases: Array1::from_elem(l1, Ft::default()),
            psqt: Array2::from_elem((inputs, arch.psqt_columns()), Psqt::default()),
            dense1_weights: Array3::from_elem((stacks, l2, arch.dense_inputs()), Dense::default()),
            dense1_biases: Array2::from_elem((stacks, l2), Bias::default()),
            dense2_weights: Array3::from_elem((stacks, l3, l2), Dense::default()),
            dense2_biases: Array2::from_elem((stacks, l3), Bias::default()),
            out_weights: Array2::from_elem((stacks, l3), Dense::default()),
            out_biases: Array1::from_elem(stacks, Bias::default()),
        }
    }
}

impl<Ft, Psqt, Dense, Bias> Layers<Ft, Psqt, Dense, Bias> {
    /// Checks every shape against the architecture.
    ///
    /// # Errors
    /// The first matrix whose shape differs.
    pub fn check_shapes(&self, arch: &Architecture) -> Result<(), ShapeError> {
        let (inputs, l1, l2, l3) = (arch.inputs(), arch.l1(), arch.l2(), arch.l3());
        let stacks = arch.stack_count();
        let shapes: [(&'static str, &[usize], &[usize]); 9] = [
            ("ft_weights", self.ft_weights.shape(), &[inputs, l1]),
            ("ft_biases", self.ft_biases.shape(), &[l1]),
            ("psqt", self.psqt.shape(), &[inputs, arch.psqt_columns()]),
            ("dense1_weights", self.dense1_weights.shape(), &[stacks, l2, arch.dense_inputs()]),
            ("dense1_biases", self.dense1_biases.shape(), &[stacks, l2]),
            ("dense2_weights", self.dense2_weights.shape(), &[stacks, l3, l2]),
            ("dense2_biases", self.dense2_biases.shape(), &[stacks, l3]),
            ("out_weights", self.out_weights.shape(), &[stacks, l3]),
            ("out_biases", self.out_biases.shape(), &[stacks]),
        ];
        for (layer, found, expected) in shapes {
            if found != expected {
                return Err(ShapeError {
                    layer,
                    found: found.to_vec(),
                    expected: expected.to_vec(),
                    arch: arch.to_string(),
                });
            }
        }
        Ok(())
    }
}
