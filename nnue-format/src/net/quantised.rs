//! The integer net: what a net file holds.

use ndarray::{Array, Dimension};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::float::MergedNet;
use super::layers::{FloatLayers, QuantisedLayers};
use super::{overflow, random};
use crate::arch::Architecture;
use crate::error::QuantiseError;
use crate::quant::{
    self, DENSE_BIAS_MAX, DENSE_WEIGHT_MAX, DENSE1_ONE, DENSE2_ONE, FT_ONE, HIDDEN_ONE, OUT_ONE, PSQT_MAX,
    RAW_ONE,
};

/// A net of integers, in the order of the file and of no CPU. Scales are in [`quant`].
#[derive(Clone, Debug, PartialEq)]
pub struct QuantisedNet {
    /// The shape.
    pub arch: Architecture,
    /// The matrices.
    pub layers: QuantisedLayers,
}

impl QuantisedNet {
    /// A net of random weights with activations neither dead nor saturated, for tests and speed figures.
    /// The same on every machine: integers drawn from Xoshiro256++ seeded with `seed`.
    pub fn random(arch: &Architecture, seed: u64) -> QuantisedNet {
        random::net(arch, &mut Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// A net of zeros: evaluates every position as 0.
    pub fn zeros(arch: &Architecture) -> QuantisedNet {
        QuantisedNet { arch: *arch, layers: QuantisedLayers::zeros(arch) }
    }

    /// Everything an evaluator relies on: shapes, ranges of [`quant`], and that no feature-transformer sum
    /// leaves the i16 range on any board.
    ///
    /// # Errors
    /// The first rule broken.
    pub fn check(&self) -> Result<(), QuantiseError> {
        let layers = &self.layers;
        layers.check_shapes(&self.arch)?;
        check_range("psqt", &layers.psqt, PSQT_MAX, RAW_ONE)?;
        check_range("dense1_weights", &layers.dense1_weights, DENSE_WEIGHT_MAX, DENSE1_ONE)?;
        check_range("dense2_weights", &layers.dense2_weights, DENSE_WEIGHT_MAX, DENSE2_ONE)?;
        check_range("out_weights", &layers.out_weights, DENSE_WEIGHT_MAX, OUT_ONE)?;
        check_range("dense1_biases", &layers.dense1_biases, DENSE_BIAS_MAX, HIDDEN_ONE * DENSE1_ONE)?;
        check_range("dense2_biases", &layers.dense2_biases, DENSE_BIAS_MAX, HIDDEN_ONE * DENSE2_ONE)?;
        check_range("out_biases", &layers.out_biases, DENSE_BIAS_MAX, RAW_ONE)?;
        overflow::check(self)
    }

    /// The float net whose integers these are: [`MergedNet::quantise`] gives this very net again. (Every number here fits
    /// an f32 but odd hidden biases in the last half unit before -2^24, which no limit of [`quant::clip`] lets happen.)
    pub fn dequantise(&self) -> MergedNet {
        let (one1, one2) = (HIDDEN_ONE * DENSE1_ONE, HIDDEN_ONE * DENSE2_ONE);
        let (half1, half2) = (1 << (quant::DENSE1_SHIFT - 1), 1 << (quant::DENSE2_SHIFT - 1));
        let float = |value: i32, one: i32| value as f32 / one as f32;
        let layers = &self.layers;
        let layers = FloatLayers {
            ft_weights: layers.ft_weights.mapv(|w| float(w.into(), FT_ONE)),
            ft_biases: layers.ft_biases.mapv(|w| float(w.into(), FT_ONE)),
            psqt: layers.psqt.mapv(|w| float(w, RAW_ONE)),
            dense1_weights: layers.dense1_weights.mapv(|w| float(w.into(), DENSE1_ONE)),
            dense1_biases: layers.dense1_biases.mapv(|w| float(w - half1, one1)),
            dense2_weights: layers.dense2_weights.mapv(|w| float(w.into(), DENSE2_ONE)),
            dense2_biases: layers.dense2_biases.mapv(|w| float(w - half2, one2)),
            out_weights: layers.out_weights.mapv(|w| float(w.into(), OUT_ONE)),
            out_biases: layers.out_biases.mapv(|w| float(w, RAW_ONE)),
        };
        MergedNet { arch: self.arch, layers }
    }

    pub(super) fn from_merged(net: &MergedNet) -> Result<QuantisedNet, QuantiseError> {
        let float = &net.layers;
        float.check_shapes(&net.arch)?;
        let (one1, one2) = (HIDDEN_ONE * DENSE1_ONE, HIDDEN_ONE * DENSE2_ONE);
        let (ft, dense) = (i16::MAX as i32, DENSE_WEIGHT_MAX);
        let layers = QuantisedLayers {
            ft_weights: convert("ft_weights", &float.ft_weights, FT_ONE, 0, ft)?,
            ft_biases: convert("ft_biases", &float.ft_biases, FT_ONE, 0, ft)?,
            psqt: convert("psqt", &float.psqt, RAW_ONE, 0, PSQT_MAX)?,
            dense1_weights: convert("dense1_weights", &float.dense1_weights, DENSE1_ONE, 0, dense)?,
            // Half a unit of the shift that follows, so that it rounds to nearest.
            dense1_biases: convert(
                "dense1_biases",
                &float.dense1_biases,
                one1,
                1 << (quant::DENSE1_SHIFT - 1),
                DENSE_BIAS_MAX,
            )?,
            dense2_weights: convert("dense2_weights", &float.dense2_weights, DENSE2_ONE, 0, dense)?,
            dense2_biases: convert(
                "dense2_biases",
                &float.dense2_biases,
                one2,
                1 << (quant::DENSE2_SHIFT - 1),
                DENSE_BIAS_MAX,
            )?,
            out_weights: convert("out_weights", &float.out_weights, OUT_ONE, 0, dense)?,
            out_biases: convert("out_biases", &float.out_biases, RAW_ONE, 0, DENSE_BIAS_MAX)?,
        };
        let quantised = QuantisedNet { arch: net.arch, layers };
        overflow::check(&quantised)?;
        Ok(quantised)
    }
}

/// `round(value * one) + offset` of every element, halves away from zero.
fn convert<T: TryFrom<i32> + Clone, D: Dimension>(
    layer: &'static str,
    values: &Array<f32, D>,
    one: i32,
    offset: i32,
    limit: i32,
) -> Result<Array<T, D>, QuantiseError> {
    let mut out = Vec::with_capacity(values.len());
    for (place, &value) in values.iter().enumerate() {
        let index = || index_of(place, values.shape());
        if !value.is_finite() {
            return Err(QuantiseError::NotFinite { layer, index: index(), value });
        }
        // f64 holds every product of an f32 and a power of two exactly.
        let scaled = (value as f64 * one as f64).round() + offset as f64;
        let integer = if scaled.abs() <= limit as f64 { T::try_from(scaled as i32).ok() } else { None };
        out.push(integer.ok_or_else(|| QuantiseError::OutOfRange {
            layer,
            index: index(),
            value: value as f64,
            limit: (limit - offset) as f64 / one as f64,
        })?);
    }
    // The length is that of `values`, so the shape always fits.
    Array::from_shape_vec(values.raw_dim(), out).map_err(|_| {
        QuantiseError::Shape(crate::ShapeError {
            layer,
            found: vec![values.len()],
            expected: values.shape().to_vec(),
            arch: String::new(),
        })
    })
}

/// The index of the `place`th element in row-major order.
fn index_of(mut place: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (axis, &len) in shape.iter().enumerate().rev() {
        index[axis] = place % len;
        place /= len;
    }
    index
}

fn check_range<T: Copy + Into<i32>, D: Dimension>(
    layer: &'static str,
    values: &Array<T, D>,
    limit: i32,
    one: i32,
) -> Result<(), QuantiseError> {
    let too_large = |&value: &T| value.into().unsigned_abs() > limit.unsigned_abs();
    match values.iter().enumerate().find(|(_, value)| too_large(value)) {
        None => Ok(()),
        Some((place, &value)) => Err(QuantiseError::OutOfRange {
            layer,
            index: index_of(place, values.shape()),
            value: value.into() as f64 / one as f64,
            limit: limit as f64 / one as f64,
        }),
    }
}
