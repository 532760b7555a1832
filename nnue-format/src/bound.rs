//! How far a float net can be from its integers: an interval that holds the float output of a position, found from the
//! integers alone (and the biases, which an export may have settled). Derived in docs/quantisation.md.
//!
//! Every float weight lies within half a unit of its integer. So each sum lies between what the lower and the upper ends
//! give, clipping keeps ends in order, and so on to the output. Nets whose roundings all push one way come near
//! the ends; roundings of trained nets cancel, and stay far inside.

use ndarray::{ArrayView1, ArrayView2, Axis};
use xiangqi::{Color, Position};

use crate::arch::Activation;
use crate::net::{MergedNet, QuantisedNet};
use crate::quant::{DENSE1_ONE, DENSE2_ONE, FT_CLIP, FT_ONE, HIDDEN_CLIP, OUT_ONE, OUTPUT_CP, RAW_ONE};

/// All numbers from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Is this number in it?
    pub fn holds(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// How far the farther end is from a raw output of the integer net, in centipawns.
    pub fn distance_cp(self, raw: i32) -> f64 {
        let integer = f64::from(raw) / f64::from(RAW_ONE);
        (self.high - integer).max(integer - self.low) * f64::from(OUTPUT_CP)
    }

    fn clip(self, limit: f32) -> Interval {
        let limit = f64::from(limit);
        Interval { low: self.low.clamp(0.0, limit), high: self.high.clamp(0.0, limit) }
    }
}

/// One rounding of an f32 sum, relative.
const ROUNDING: f64 = 1.0 / (1 << 24) as f64;

/// Holds `float.evaluate(position)` for every net `float` that quantises to `net`, but for the dense biases, which are
/// taken from `float`. Shapes must be the architecture's.
pub fn enclose(float: &MergedNet, net: &QuantisedNet, position: &Position) -> Interval {
    let side = position.side_to_move();
    let stack = net.arch.stacks().choose(position);
    let (floats, integers) = (&float.layers, &net.layers);
    let mut inputs = side_inputs(net, position, side);
    inputs.extend(side_inputs(net, position, side.flip()));
    let of = Axis(0);
    let hidden = |intervals: Vec<Interval>| -> Vec<Interval> {
        intervals.into_iter().map(|interval| interval.clip(HIDDEN_CLIP)).collect()
    };
    let first = integers.dense1_weights.index_axis(of, stack);
    let first = hidden(affine(first, DENSE1_ONE, floats.dense1_biases.row(stack), &inputs));
    let second = integers.dense2_weights.index_axis(of, stack);
    let second = hidden(affine(second, DENSE2_ONE, floats.dense2_biases.row(stack), &first));
    let out = integers.out_weights.row(stack).insert_axis(of);
    let bias = floats.out_biases.slice(ndarray::s![stack..=stack]);
    let output = affine(out, OUT_ONE, bias, &second)[0];
    let (psqt, off) = psqt(net, position, stack);
    Interval { low: output.low + psqt - off, high: output.high + psqt + off }
}

/// One side's dense inputs.
fn side_inputs(net: &QuantisedNet, position: &Position, perspective: Color) -> Vec<Interval> {
    let mut features = Vec::new();
    net.arch.features().active(position, perspective, &mut features);
    let one = f64::from(FT_ONE);
    let terms = features.len() as f64 + 1.0;
    let clipped: Vec<Interval> = (0..net.arch.l1())
        .map(|neuron| {
            let bias = i32::from(net.layers.ft_biases[neuron]);
            let (mut sum, mut size) = (bias, bias.abs());
            for &feature in &features {
                let weight = i32::from(net.layers.ft_weights[[feature, neuron]]);
                (sum, size) = (sum + weight, size + weight.abs());
            }
            let off = terms * 0.5 / one + terms * ROUNDING * (f64::from(size) + terms) / one;
            let middle = f64::from(sum) / one;
            Interval { low: middle - off, high: middle + off }.clip(FT_CLIP)
        })
        .collect();
    match net.arch.activation() {
        Activation::CRelu => clipped,
        Activation::Pairwise => {
            let (first, second) = clipped.split_at(clipped.len() / 2);
            let pairs = first.iter().zip(second);
            pairs.map(|(a, b)| Interval { low: a.low * b.low, high: a.high * b.high }).collect()
        }
    }
}

/// `bias + weights · inputs` for weights within half a unit and inputs that are not negative.
fn affine(
    weights: ArrayView2<'_, i8>,
    one: i32,
    biases: ArrayView1<'_, f32>,
    inputs: &[Interval],
) -> Vec<Interval> {
    let (one, terms) = (f64::from(one), inputs.len() as f64 + 2.0);
    let row = |(row, bias): (ArrayView1<'_, i8>, &f32)| {
        let bias = f64::from(*bias);
        let (mut low, mut high, mut size) = (bias, bias, bias.abs());
        for (&weight, x) in row.iter().zip(inputs) {
            let (least, most) = ((f64::from(weight) - 0.5) / one, (f64::from(weight) + 0.5) / one);
            low += least * if least > 0.0 { x.low } else { x.high };
            high += most * if most > 0.0 { x.high } else { x.low };
            size += most.max(-least) * x.high;
        }
        let off = terms * ROUNDING * size;
        Interval { low: low - off, high: high + off }
    };
    weights.rows().into_iter().zip(biases).map(row).collect()
}

/// The PSQT value of the side to move in the integer net, and how far the float one can be from it.
fn psqt(net: &QuantisedNet, position: &Position, stack: usize) -> (f64, f64) {
    if !net.arch.psqt() {
        return (0.0, 0.0);
    }
    let side = position.side_to_move();
    let (mut sum, mut off, mut features) = (0.0, 0.0, Vec::new());
    for (perspective, sign) in [(side, 1.0), (side.flip(), -1.0)] {
        net.arch.features().active(position, perspective, &mut features);
        for &feature in &features {
            let weight = f64::from(net.layers.psqt[[feature, stack]]);
            sum += sign * weight;
            off += 0.5 + 2.0 * f64::from(2 * 33) * ROUNDING * weight.abs();
        }
    }
    (sum / f64::from(RAW_ONE), off / f64::from(RAW_ONE))
}
