//! What a net looks like inside: norms and distributions of weights, and what its neurons do on real positions.

use crate::data::Samples;
use ndarray::{ArrayView2, ArrayView3, Axis};
use nnue_format::arch::Activation;
use nnue_format::quant::{FT_CLIP, HIDDEN_CLIP, clip};
use nnue_format::{Architecture, MergedNet};
use rayon::prelude::*;
use serde::Serialize;

/// Bins of a distribution.
const BINS: usize = 64;
/// Weights beyond this many standard deviations are counted in the outermost bins.
const WIDEST: f64 = 6.0;
/// Weights this near to their limit, relative to it, count as lying on it.
const NEAR: f32 = 1e-5;

/// How values are spread, in bins of one width; values beyond the ends are in the outermost bins.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Histogram {
    /// The lower end of the first bin.
    pub from: f64,
    /// The upper end of the last.
    pub to: f64,
    /// How many values each bin holds.
    pub counts: Vec<u64>,
    /// The smallest value.
    pub min: f64,
    /// The greatest value.
    pub max: f64,
    /// The sum of all values.
    pub sum: f64,
    /// The sum of their squares.
    pub squares: f64,
}

impl Histogram {
    /// An empty one over `from..to`.
    pub fn new(from: f64, to: f64, bins: usize) -> Histogram {
        let (min, max) = (f64::INFINITY, f64::NEG_INFINITY);
        Histogram { from, to, counts: vec![0; bins.max(1)], min, max, sum: 0.0, squares: 0.0 }
    }

    /// Counts a value; one that is no number is not counted.
    pub fn add(&mut self, value: f64) {
        if value.is_nan() {
            return;
        }
        let bins = self.counts.len();
        let part = (value - self.from) / (self.to - self.from).max(f64::MIN_POSITIVE);
        self.counts[((part * bins as f64) as usize).min(bins - 1)] += 1;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.sum += value;
        self.squares += value * value;
    }

    /// The counts of both; they must have the same bins.
    fn join(mut self, other: Histogram) -> Histogram {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum += other.sum;
        self.squares += other.squares;
        self
    }

    /// Where bin number `bin` begins.
    pub fn edge(&self, bin: usize) -> f64 {
        self.from + (self.to - self.from) * bin as f64 / self.counts.len() as f64
    }

    /// How many values were counted.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// One kind of weights; those of all output stacks together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Weights {
    /// `ft.weight` (factors added), `ft.bias`, `psqt.weight`, `dense1.weight` and so on.
    pub name: String,
    /// How many there are.
    pub count: usize,
    /// The root of the sum of squares.
    pub norm: f64,
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub deviation: f64,
    /// The greatest absolute value.
    pub largest: f64,
    /// What a net file can hold at most.
    pub limit: f64,
    /// Share of the weights that lie on the limit.
    pub at_limit: f64,
    /// How they are spread, within six standard deviations.
    pub histogram: Histogram,
}

/// What the neurons of a layer do on some positions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Activations {
    /// `ft` (clipped sums of both sides), `dense1`, `dense2`.
    pub name: String,
    /// Neurons looked at; of the dense layers, those of the stacks that occur.
    pub neurons: usize,
    /// Neurons that are 0 in every position.
    pub dead: usize,
    /// Neurons that are at the clip in every position.
    pub always_full: usize,
    /// Share of all activations that are 0.
    pub zero: f64,
    /// Share that are at the clip.
    pub full: f64,
    /// Where activations are clipped.
    pub limit: f64,
    /// How those between 0 and the clip are spread.
    pub histogram: Histogram,
    /// Share of the positions in which each neuron is 0, over the neurons.
    pub zero_by_neuron: Histogram,
}

/// Everything looked at in one step.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Statistics {
    /// Weights by kind.
    pub weights: Vec<Weights>,
    /// Layers, from the inputs on.
    pub activations: Vec<Activations>,
    /// Norms of gradients by name.
    pub gradients: Vec<(String, f64)>,
}

impl Statistics {
    /// Looks at a net and at what it does on at most `most` of `samples`, evenly chosen.
    pub fn of(net: &MergedNet, samples: &Samples, most: usize) -> Statistics {
        let activations = activations(net, samples, most);
        Statistics { weights: weights(net), activations, gradients: Vec::new() }
    }

    /// The norm of all weights.
    pub fn weight_norm(&self) -> f64 {
        self.weights.iter().map(|weights| weights.norm.powi(2)).sum::<f64>().sqrt()
    }

    /// The norm of the whole gradient, if it was looked at.
    pub fn gradient_norm(&self) -> Option<f64> {
        let squares = self.gradients.iter().map(|(_, norm)| norm * norm);
        if self.gradients.is_empty() { None } else { Some(squares.sum::<f64>().sqrt()) }
    }
}

/// The norm of some values, summed in f64.
pub fn norm(values: &[f32]) -> f64 {
    values.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt()
}

fn weights(net: &MergedNet) -> Vec<Weights> {
    let layers = &net.layers;
    let mut found = vec![
        kind("ft.weight", layers.ft_weights.as_slice().unwrap_or_default(), clip::FT_WEIGHT),
        kind("ft.bias", layers.ft_biases.as_slice().unwrap_or_default(), clip::FT_BIAS),
    ];
    if net.arch.psqt() {
        found.push(kind("psqt.weight", layers.psqt.as_slice().unwrap_or_default(), clip::PSQT));
    }
    let (dense1, bias1) = (layers.dense1_weights.as_slice(), layers.dense1_biases.as_slice());
    let (dense2, bias2) = (layers.dense2_weights.as_slice(), layers.dense2_biases.as_slice());
    let (out, out_bias) = (layers.out_weights.as_slice(), layers.out_biases.as_slice());
    found.extend([
        kind("dense1.weight", dense1.unwrap_or_default(), clip::DENSE1_WEIGHT),
        kind("dense1.bias", bias1.unwrap_or_default(), clip::DENSE_BIAS),
        kind("dense2.weight", dense2.unwrap_or_default(), clip::DENSE2_WEIGHT),
        kind("dense2.bias", bias2.unwrap_or_default(), clip::DENSE_BIAS),
        kind("out.weight", out.unwrap_or_default(), clip::OUT_WEIGHT),
        kind("out.bias", out_bias.unwrap_or_default(), clip::DENSE_BIAS),
    ]);
    found
}

fn kind(name: &str, values: &[f32], limit: f32) -> Weights {
    let count = values.len().max(1) as f64;
    let sum: f64 = values.iter().map(|&value| f64::from(value)).sum();
    let norm = norm(values);
    let mean = sum / count;
    let deviation = (norm * norm / count - mean * mean).max(0.0).sqrt();
    let largest = f64::from(values.iter().fold(0f32, |largest, value| largest.max(value.abs())));
    let reach = if deviation > 0.0 { largest.min(mean.abs() + WIDEST * deviation) } else { largest };
    let reach = if reach > 0.0 && reach.is_finite() { reach } else { 1.0 };
    let mut histogram = Histogram::new(-reach, reach, BINS);
    values.iter().for_each(|&value| histogram.add(f64::from(value)));
    let on_limit = values.iter().filter(|value| value.abs() >= limit * (1.0 - NEAR)).count();
    let (name, limit) = (name.to_owned(), f64::from(limit));
    let at_limit = on_limit as f64 / count;
    Weights { name, count: values.len(), norm, mean, deviation, largest, limit, at_limit, histogram }
}

/// How often a neuron was 0 and at the clip, and how often it was looked at.
#[derive(Clone, Copy, Default)]
struct Counts {
    zero: u32,
    full: u32,
    all: u32,
}

/// The counts of one layer, neurons by number.
#[derive(Clone)]
struct Layer {
    limit: f32,
    neurons: Vec<Counts>,
    histogram: Histogram,
}

impl Layer {
    fn new(neurons: usize, limit: f32) -> Layer {
        let histogram = Histogram::new(0.0, f64::from(limit), BINS / 2);
        Layer { limit, neurons: vec![Counts::default(); neurons], histogram }
    }

    /// Counts the clipped values of the neurons from `first` on.
    fn add(&mut self, first: usize, values: &[f32]) {
        for (counts, &value) in self.neurons[first..].iter_mut().zip(values) {
            counts.all += 1;
            if value <= 0.0 {
                counts.zero += 1;
            } else if value >= self.limit {
                counts.full += 1;
            } else {
                self.histogram.add(f64::from(value));
            }
        }
    }

    fn join(mut self, other: Layer) -> Layer {
        for (counts, more) in self.neurons.iter_mut().zip(other.neurons) {
            counts.zero += more.zero;
            counts.full += more.full;
            counts.all += more.all;
        }
        self.histogram = self.histogram.join(other.histogram);
        self
    }

    fn result(&self, name: &str) -> Activations {
        let looked: Vec<&Counts> = self.neurons.iter().filter(|counts| counts.all > 0).collect();
        let sum = |part: fn(&Counts) -> u32| looked.iter().map(|counts| u64::from(part(counts))).sum::<u64>();
        let all = sum(|counts| counts.all).max(1) as f64;
        let mut zero_by_neuron = Histogram::new(0.0, 1.0, 20);
        looked.iter().for_each(|counts| zero_by_neuron.add(f64::from(counts.zero) / f64::from(counts.all)));
        Activations {
            name: name.to_owned(),
            neurons: looked.len(),
            dead: looked.iter().filter(|counts| counts.zero == counts.all).count(),
            always_full: looked.iter().filter(|counts| counts.full == counts.all).count(),
            zero: sum(|counts| counts.zero) as f64 / all,
            full: sum(|counts| counts.full) as f64 / all,
            limit: f64::from(self.limit),
            histogram: self.histogram.clone(),
            zero_by_neuron,
        }
    }
}

/// Room for one position's values.
struct Forward<'a> {
    net: &'a MergedNet,
    layers: [Layer; 3],
    sums: Vec<f32>,
    inputs: Vec<f32>,
}

const LAYERS: [&str; 3] = ["ft", "dense1", "dense2"];

fn activations(net: &MergedNet, samples: &Samples, most: usize) -> Vec<Activations> {
    let every = samples.len().div_ceil(most.max(1)).max(1);
    let chosen: Vec<usize> = (0..samples.len()).step_by(every).collect();
    // A fixed number of parts, so that histograms are summed in one order whatever the number of threads.
    let parts: Vec<[Layer; 3]> = chosen
        .par_chunks(128)
        .map(|part| {
            let mut forward = Forward::new(net);
            part.iter().for_each(|&i| forward.position(samples, i));
            forward.layers
        })
        .collect();
    let joined = parts.into_iter().reduce(|a, b| {
        let mut b = b.into_iter();
        a.map(|layer| match b.next() {
            Some(other) => layer.join(other),
            None => layer,
        })
    });
    let layers = joined.unwrap_or_else(|| Forward::empty(&net.arch));
    layers.iter().zip(LAYERS).map(|(layer, name)| layer.result(name)).collect()
}

impl<'a> Forward<'a> {
    fn empty(arch: &Architecture) -> [Layer; 3] {
        let stacks = arch.stack_count();
        [
            Layer::new(arch.l1(), FT_CLIP),
            Layer::new(stacks * arch.l2(), HIDDEN_CLIP),
            Layer::new(stacks * arch.l3(), HIDDEN_CLIP),
        ]
    }

    fn new(net: &'a MergedNet) -> Forward<'a> {
        let layers = Forward::empty(&net.arch);
        Forward { net, layers, sums: Vec::new(), inputs: Vec::new() }
    }

    fn position(&mut self, samples: &Samples, i: usize) {
        let (arch, layers) = (&self.net.arch, &self.net.layers);
        self.inputs.clear();
        for row in [2 * i, 2 * i + 1] {
            self.sums.clear();
            self.sums.extend(&layers.ft_biases);
            for &feature in samples.row(row) {
                for (sum, weight) in self.sums.iter_mut().zip(layers.ft_weights.row(usize::from(feature))) {
                    *sum += weight;
                }
            }
            self.sums.iter_mut().for_each(|sum| *sum = sum.clamp(0.0, FT_CLIP));
            self.layers[0].add(0, &self.sums);
            match arch.activation() {
                Activation::CRelu => self.inputs.extend(&self.sums),
                Activation::Pairwise => {
                    let (first, second) = self.sums.split_at(arch.l1() / 2);
                    self.inputs.extend(first.iter().zip(second).map(|(a, b)| a * b));
                }
            }
        }
        let stack = usize::from(samples.stacks[i]);
        let dense = |weights: ArrayView3<'_, f32>, biases: ArrayView2<'_, f32>, inputs: &[f32]| -> Vec<f32> {
            let rows = weights.index_axis_move(Axis(0), stack);
            let sums = rows.outer_iter().zip(biases.row(stack)).map(|(row, bias)| {
                bias + row.iter().zip(inputs).map(|(weight, input)| weight * input).sum::<f32>()
            });
            sums.map(|sum| sum.clamp(0.0, HIDDEN_CLIP)).collect()
        };
        let first = dense(layers.dense1_weights.view(), layers.dense1_biases.view(), &self.inputs);
        self.layers[1].add(stack * arch.l2(), &first);
        let second = dense(layers.dense2_weights.view(), layers.dense2_biases.view(), &first);
        self.layers[2].add(stack * arch.l3(), &second);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::samples::Encoder;
    use crate::data::synthetic::random_play;
    use nnue_format::FloatNet;
    use std::collections::BTreeSet;

    #[test]
    fn bins_hold_what_lies_in_them() {
        let mut histogram = Histogram::new(-1.0, 1.0, 4);
        [-7.0, -0.6, -0.1, 0.1, 0.2, 0.9, 7.0, f64::NAN].iter().for_each(|&value| histogram.add(value));
        assert_eq!(histogram.counts, [2, 1, 2, 2]);
        assert_eq!((histogram.min, histogram.max, histogram.count()), (-7.0, 7.0, 7));
        assert_eq!((histogram.edge(0), histogram.edge(3), histogram.edge(4)), (-1.0, 0.5, 1.0));
    }

    #[test]
    fn a_net_made_by_hand_is_counted() {
        let arch: Architecture = "half-ka-hm 2x128-8-16-1 crelu 8-stacks".parse().unwrap();
        let mut net = FloatNet::zeros(&arch).merge().unwrap();
        // Neurons 0..64 are 0.25 in every position, 64 and 65 are full, the rest are dead.
        net.layers.ft_biases.iter_mut().take(64).for_each(|bias| *bias = 0.25);
        net.layers.ft_biases[64] = 3.0;
        net.layers.ft_biases[65] = 3.0;
        net.layers.dense2_biases.fill(0.5);
        net.layers.dense1_weights.iter_mut().step_by(2).for_each(|weight| *weight = -clip::DENSE1_WEIGHT);
        let samples = random_play(&Encoder::new(&arch).unwrap(), 3, 300);
        let stacks = samples.stacks.iter().step_by(3).collect::<BTreeSet<_>>().len();
        let statistics = Statistics::of(&net, &samples, 100);
        let [ft, dense1, dense2] = &statistics.activations[..] else { panic!("three layers") };
        assert_eq!((ft.neurons, ft.dead, ft.always_full), (128, 62, 2));
        assert!((ft.zero - 62.0 / 128.0).abs() < 1e-9 && (ft.full - 2.0 / 128.0).abs() < 1e-9);
        assert_eq!(ft.histogram.count(), 100 * 2 * 64);
        assert_eq!((dense1.dead, dense1.neurons), (dense1.neurons, 8 * stacks));
        assert_eq!((dense2.dead, dense2.zero, dense2.full), (0, 0.0, 0.0));
        let dense1 = statistics.weights.iter().find(|weights| weights.name == "dense1.weight").unwrap();
        assert!((dense1.at_limit - 0.5).abs() < 1e-9, "{dense1:?}");
        assert!((dense1.mean + f64::from(clip::DENSE1_WEIGHT) / 2.0).abs() < 1e-6);
        assert_eq!(statistics.gradient_norm(), None);
        assert!(statistics.weight_norm() > 0.0);
    }
}
