//! Float nets: factors, quantising, and how near the integers stay.

use nnue_format::{
    Activation, Architecture, FloatNet, MergedNet, QuantiseError, QuantisedNet, bound, quant, reference,
};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use xiangqi::{Color, Position};

const ARCHITECTURES: [&str; 5] = [
    "classic",
    "default",
    "half-kp-hm 2x128-16-32-1 crelu 8-stacks psqt",
    "half-ka-hm 2x256-16-32-1 pairwise",
    "half-ka-hm-ab 2x128-8-8-1 crelu 16-stacks psqt",
];

fn positions(count: usize, seed: u64) -> Vec<Position> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut found = Vec::new();
    while found.len() < count {
        let mut position = Position::start();
        for _ in 0..120 {
            let moves = position.legal_moves();
            if moves.is_empty() || found.len() == count {
                break;
            }
            position.make(moves[(rng.next_u64() % moves.len() as u64) as usize]);
            found.push(position.clone());
        }
    }
    found
}

/// A float net near a random integer net: the integers plus up to half a unit.
fn float_net(arch: &Architecture, seed: u64) -> FloatNet {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0xf10a7);
    let integers = QuantisedNet::random(arch, seed).layers;
    let mut near = |w: i32, one: i32| {
        let noise = (rng.next_u64() >> 40) as f32 / (1 << 24) as f32 - 0.5;
        (w as f32 + noise) / one as f32
    };
    let mut net = FloatNet::zeros(arch);
    let (one1, one2) = (quant::HIDDEN_ONE * quant::DENSE1_ONE, quant::HIDDEN_ONE * quant::DENSE2_ONE);
    net.layers.ft_weights = integers.ft_weights.mapv(|w| near(w.into(), quant::FT_ONE));
    net.layers.ft_biases = integers.ft_biases.mapv(|w| near(w.into(), quant::FT_ONE));
    net.layers.psqt = integers.psqt.mapv(|w| near(w, quant::RAW_ONE));
    net.layers.dense1_weights = integers.dense1_weights.mapv(|w| near(w.into(), quant::DENSE1_ONE));
    net.layers.dense1_biases = integers.dense1_biases.mapv(|w| near(w, one1));
    net.layers.dense2_weights = integers.dense2_weights.mapv(|w| near(w.into(), quant::DENSE2_ONE));
    net.layers.dense2_biases = integers.dense2_biases.mapv(|w| near(w, one2));
    net.layers.out_weights = integers.out_weights.mapv(|w| near(w.into(), quant::OUT_ONE));
    net.layers.out_biases = integers.out_biases.mapv(|w| near(w, quant::RAW_ONE));
    net
}

/// The bound of docs/quantisation.md, in centipawns: mean and worst over positions of random play
/// for nets whose every weight is up to half a unit off.
const MEAN_ERROR_CP: f64 = 25.0;
const WORST_ERROR_CP: f64 = 100.0;

/// The bound of docs/quantisation.md holds for random nets, and for nets whose roundings all push one way; those come
/// near it, so it could not be much tighter.
#[test]
fn no_float_net_leaves_its_bound() {
    for text in ARCHITECTURES {
        let arch: Architecture = text.parse().unwrap();
        // The greatest bound, and the greatest part of it that was reached.
        let reached = |net: FloatNet| {
            let merged = net.merge().unwrap();
            let quantised = merged.quantise().unwrap();
            let (mut widest, mut nearest) = (0.0f64, 0.0f64);
            for position in &positions(60, 2) {
                let interval = bound::enclose(&merged, &quantised, position);
                let float = f64::from(merged.evaluate(position));
                let raw = reference::evaluate(&quantised, position).raw;
                assert!(interval.holds(float), "{arch}: {float} outside {interval:?}");
                let integer = f64::from(raw) / f64::from(quant::RAW_ONE);
                let error = (float - integer).abs() * f64::from(quant::OUTPUT_CP);
                let limit = interval.distance_cp(raw);
                assert!(error <= limit, "{arch}: {error} cp, bound {limit}");
                (widest, nearest) = (widest.max(limit), nearest.max(error / limit));
            }
            (widest, nearest)
        };
        let (widest, _) = reached(float_net(&arch, 1));
        assert!(widest < 10_000.0, "{arch}: a bound of {widest} cp says nothing");
        for part in [0.499, -0.499] {
            reached(pushed(QuantisedNet::random(&arch, 3), part));
        }
        let mut silent = QuantisedNet::random(&arch, 3);
        silent.layers.dense1_weights.fill(0);
        silent.layers.dense1_biases.fill(64);
        silent.layers.dense2_weights.fill(0);
        silent.layers.dense2_biases.fill(32);
        silent.layers.out_weights.fill(100);
        let (_, nearest) = reached(pushed(silent, 0.499));
        assert!(nearest > 0.9, "{arch}: only {nearest} of the bound");
    }
}

#[test]
fn the_float_form_of_another_net_leaves_the_bound() {
    let arch: Architecture = "classic".parse().unwrap();
    let other = float_net(&arch, 1).merge().unwrap();
    let silent = QuantisedNet::zeros(&arch);
    let outside = |p: &Position| !bound::enclose(&other, &silent, p).holds(f64::from(other.evaluate(p)));
    assert!(positions(60, 2).iter().any(outside));
}

/// The float form of a net in which every weight but PSQT is off by the same part of a unit.
fn pushed(integers: QuantisedNet, part: f32) -> FloatNet {
    let mut net = integers.dequantise();
    let push = |one: i32| part / one as f32;
    net.layers.ft_weights.mapv_inplace(|w| w + push(quant::FT_ONE));
    net.layers.ft_biases.mapv_inplace(|w| w + push(quant::FT_ONE));
    net.layers.dense1_weights.mapv_inplace(|w| w + push(quant::DENSE1_ONE));
    net.layers.dense2_weights.mapv_inplace(|w| w + push(quant::DENSE2_ONE));
    net.layers.out_weights.mapv_inplace(|w| w + push(quant::OUT_ONE));
    FloatNet { layers: net.layers, ..FloatNet::zeros(&net.arch) }
}

#[test]
fn float_and_integers_stay_near() {
    for arch in ARCHITECTURES {
        let arch: Architecture = arch.parse().unwrap();
        let merged = float_net(&arch, 1).merge().unwrap();
        let quantised = merged.quantise().unwrap();
        let (mut sum, mut worst, mut size) = (0.0, 0.0f64, 0.0);
        let positions = positions(300, 1);
        for position in &positions {
            let float = f64::from(merged.evaluate(position)) * f64::from(quant::OUTPUT_CP);
            let raw = f64::from(reference::evaluate(&quantised, position).raw);
            let integer = raw * f64::from(quant::OUTPUT_CP) / f64::from(quant::RAW_ONE);
            sum += (float - integer).abs();
            worst = worst.max((float - integer).abs());
            size += integer.abs();
        }
        let (mean, size) = (sum / positions.len() as f64, size / positions.len() as f64);
        assert!(size > 20.0, "{arch}: the net says {size} on average, too little to compare");
        assert!(
            mean < MEAN_ERROR_CP && worst < WORST_ERROR_CP,
            "{arch}: mean {mean}, worst {worst}, |cp| {size}"
        );
    }
}

/// Integers survive the way to float and back.
#[test]
fn integers_are_kept() {
    for arch in ARCHITECTURES {
        let integers = QuantisedNet::random(&arch.parse().unwrap(), 5);
        assert!(integers.dequantise().quantise().unwrap() == integers, "{arch}");
        // The hidden biases of a float net lack the half units that make the integers' shifts round.
        let mut zero = QuantisedNet::zeros(&arch.parse().unwrap()).dequantise();
        assert!(zero.layers.dense1_biases.iter().all(|&b| b == -64.0 / 16384.0));
        zero.layers.dense1_biases.fill(0.0);
        zero.layers.dense2_biases.fill(0.0);
        let back = zero.quantise().unwrap().layers;
        assert!(back.dense1_biases.iter().all(|&b| b == 64) && back.dense2_biases.iter().all(|&b| b == 32));
    }
}

#[test]
fn factors_fold() {
    let arch: Architecture = ARCHITECTURES[4].parse().unwrap();
    let features = arch.features();
    let mut net = float_net(&arch, 2);
    let plain = net.clone().merge().unwrap();
    let slots = features.slot_count();
    net.ft_factor = Some(ndarray::Array2::from_shape_fn((slots, arch.l1()), |(s, n)| (s + n) as f32 / 1e4));
    net.psqt_factor = Some(ndarray::Array2::from_elem((slots, arch.psqt_columns()), 0.25));
    let merged = net.clone().merge().unwrap();
    for feature in [0, 688, 689, 5000, arch.inputs() - 1] {
        let slot = features.virtual_index(feature);
        for neuron in [0, 17, 127] {
            let expected = plain.layers.ft_weights[[feature, neuron]] + (slot + neuron) as f32 / 1e4;
            assert_eq!(merged.layers.ft_weights[[feature, neuron]], expected);
        }
        assert_eq!(merged.layers.psqt[[feature, 3]], plain.layers.psqt[[feature, 3]] + 0.25);
    }
    let position = Position::start();
    assert_eq!(net.evaluate(&position).unwrap(), merged.evaluate(&position));
    net.ft_factor = Some(ndarray::Array2::zeros((slots + 1, arch.l1())));
    assert_eq!(net.merge().unwrap_err().layer, "ft_factor");
}

/// What does not fit is an error that names layer, index and value: nothing is clamped.
#[test]
fn out_of_range_fails() {
    let arch: Architecture = ARCHITECTURES[2].parse().unwrap();
    let good = float_net(&arch, 3).merge().unwrap();
    good.quantise().unwrap();
    let check = |change: &dyn Fn(&mut MergedNet), layer: &str, at: &[usize], shown: f64| {
        let mut net = good.clone();
        change(&mut net);
        match net.quantise().unwrap_err() {
            QuantiseError::OutOfRange { layer: found, index, value, .. } => {
                assert_eq!((found, &index[..], value), (layer, at, shown));
            }
            other => panic!("{other}"),
        }
    };
    let at = [1, 2, 3];
    check(&|n| n.layers.ft_weights[[7, 9]] = 128.5, "ft_weights", &[7, 9], 128.5);
    check(&|n| n.layers.ft_biases[9] = -128.5, "ft_biases", &[9], -128.5);
    check(&|n| n.layers.psqt[[4, 1]] = 65.0, "psqt", &[4, 1], 65.0);
    check(&|n| n.layers.dense1_weights[at] = 1.0, "dense1_weights", &at, 1.0);
    check(&|n| n.layers.dense2_weights[at] = -2.0, "dense2_weights", &at, -2.0);
    check(&|n| n.layers.out_weights[[7, 1]] = -1.0, "out_weights", &[7, 1], -1.0);
    check(&|n| n.layers.dense1_biases[[7, 1]] = 1024.5, "dense1_biases", &[7, 1], 1024.5);
    check(&|n| n.layers.dense2_biases[[7, 1]] = 2049.0, "dense2_biases", &[7, 1], 2049.0);
    check(&|n| n.layers.out_biases[7] = 1025.0, "out_biases", &[7], 1025.0);

    let mut net = good.clone();
    net.layers.dense1_weights[at] = f32::NAN;
    assert!(matches!(net.quantise(), Err(QuantiseError::NotFinite { layer: "dense1_weights", .. })));
    let mut net = good.clone();
    net.layers.out_biases = ndarray::Array1::zeros(3);
    assert!(matches!(net.quantise(), Err(QuantiseError::Shape(_))));
}

/// The limits given to trainers always quantise, whatever the signs.
#[test]
fn clipped_weights_always_fit() {
    for arch in ARCHITECTURES {
        let arch: Architecture = arch.parse().unwrap();
        for sign in [1.0, -1.0] {
            let mut net = FloatNet::zeros(&arch);
            net.layers.ft_weights.fill(sign * quant::clip::FT_WEIGHT);
            net.layers.ft_biases.fill(sign * quant::clip::FT_BIAS);
            net.layers.psqt.fill(sign * quant::clip::PSQT);
            net.layers.dense1_weights.fill(sign * quant::clip::DENSE1_WEIGHT);
            net.layers.dense2_weights.fill(sign * quant::clip::DENSE2_WEIGHT);
            net.layers.out_weights.fill(sign * quant::clip::OUT_WEIGHT);
            net.layers.dense1_biases.fill(sign * quant::clip::DENSE_BIAS);
            net.layers.dense2_biases.fill(sign * quant::clip::DENSE_BIAS);
            net.layers.out_biases.fill(sign * quant::clip::DENSE_BIAS);
            net.merge().unwrap().quantise().unwrap().check().unwrap();
        }
    }
}

/// The overflow proof counts pieces: what 16 strong rows could do to a neuron that a side's pieces
/// cannot is allowed, and one row more than fits is not.
#[test]
fn overflow_proof_counts_pieces() {
    let arch = Architecture::classic();
    let features = arch.features();
    let rook = xiangqi::Piece::new(Color::Red, xiangqi::PieceKind::Rook);
    let view = nnue_format::View { king: 4, ..Default::default() };
    let mut net = QuantisedNet::zeros(&arch);
    // Every square of the own rook at 16,000: two rooks fit, there are no three.
    for square in xiangqi::Square::all() {
        let feature = features.index(view, Color::Red, rook, square).unwrap();
        net.layers.ft_weights[[feature, 100]] = 16_000;
    }
    net.layers.ft_biases[100] = 767;
    net.check().unwrap();
    net.layers.ft_biases[100] = 768;
    let expected = QuantiseError::AccumulatorOverflow { neuron: 100, bucket: 4, sum: 32_768 };
    assert_eq!(net.check(), Err(expected));
    net.layers.ft_weights.mapv_inplace(|w| -w);
    net.layers.ft_biases[100] = -768;
    net.check().unwrap();
    net.layers.ft_biases[100] = -769;
    let expected = QuantiseError::AccumulatorOverflow { neuron: 100, bucket: 4, sum: -32_769 };
    assert_eq!(net.check(), Err(expected));
}

/// Random nets are the same everywhere: these values hold on every machine and for every version
/// (speed figures and bench signatures of random nets rest on them).
#[test]
fn random_nets_are_the_same_everywhere() {
    let fens = [
        "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1",
        "r1ba1a3/4kn3/2n1b4/pNp1p1p1p/4c4/6P2/P1P2R2P/1CcC5/9/2BAKAB2 w - - 0 1",
        "4ka3/4a4/9/9/4N4/p8/9/4C3c/7n1/2BK5 b - - 0 1",
    ];
    let expected = [[-2888, 1031, 6308], [-178, 3558, 2338]];
    let found = ["classic", "default"].map(|arch| {
        let net = QuantisedNet::random(&arch.parse().unwrap(), 1);
        fens.map(|fen| reference::evaluate(&net, &Position::from_fen(fen).unwrap()).raw)
    });
    assert_eq!(found, expected);
}

/// How many of some values are at their lower and at their upper end, in percent.
struct Ends {
    count: usize,
    low: usize,
    high: usize,
}

impl Ends {
    fn count(&mut self, value: i32, top: i32) {
        self.count += 1;
        self.low += usize::from(value <= 0);
        self.high += usize::from(value >= top);
    }

    fn percent(&self) -> (usize, usize) {
        (100 * self.low / self.count, 100 * self.high / self.count)
    }
}

/// Random nets are neither dead nor saturated: at every activation of every architecture a good part of the
/// values lies between the clips.
#[test]
fn random_nets_are_plausible() {
    for arch in ARCHITECTURES {
        let arch: Architecture = arch.parse().unwrap();
        let net = QuantisedNet::random(&arch, 7);
        assert!(net == QuantisedNet::random(&arch, 7));
        assert!(net != QuantisedNet::random(&arch, 8));
        let mut ends = [0; 3].map(|count| Ends { count, low: 0, high: 0 });
        let mut sizes = Vec::new();
        for position in positions(100, 3) {
            layers_of(&net, &position, &mut ends);
            sizes.push(reference::evaluate(&net, &position).cp.abs());
        }
        for (layer, ends) in ["FT", "hidden 1", "hidden 2"].iter().zip(&ends) {
            let (low, high) = ends.percent();
            assert!(low < 75 && high < 60 && low + high < 85, "{arch} {layer}: {low} % zero, {high} % full");
        }
        sizes.sort_unstable();
        assert!((20..1500).contains(&sizes[50]), "{arch}: median |cp| {}", sizes[50]);
    }
}

/// Counts the ends of feature-transformer sums and of both hidden layers for one position.
fn layers_of(net: &QuantisedNet, position: &Position, ends: &mut [Ends; 3]) {
    let layers = &net.layers;
    let stack = net.arch.stacks().choose(position);
    let (mut input, mut features) = (Vec::new(), Vec::new());
    for color in [position.side_to_move(), !position.side_to_move()] {
        net.arch.features().active(position, color, &mut features);
        let sum = |n: usize| {
            let weights = features.iter().map(|&f| i32::from(layers.ft_weights[[f, n]]));
            i32::from(layers.ft_biases[n]) + weights.sum::<i32>()
        };
        let sums: Vec<i32> = (0..net.arch.l1()).map(sum).collect();
        sums.iter().for_each(|&sum| ends[0].count(sum, quant::FT_MAX));
        let clip = |i: usize| sums[i].clamp(0, quant::FT_MAX);
        let width = net.arch.side_activations();
        match net.arch.activation() {
            Activation::CRelu => input.extend((0..width).map(|i| clip(i) >> quant::CRELU_SHIFT)),
            Activation::Pairwise => {
                input.extend((0..width).map(|i| (clip(i) * clip(i + width)) >> quant::PAIRWISE_SHIFT));
            }
        }
    }
    for (layer, weights, biases, shift) in [
        (1, &layers.dense1_weights, &layers.dense1_biases, quant::DENSE1_SHIFT),
        (2, &layers.dense2_weights, &layers.dense2_biases, quant::DENSE2_SHIFT),
    ] {
        let rows = weights.index_axis(ndarray::Axis(0), stack);
        let output = rows.rows().into_iter().zip(biases.row(stack)).map(|(row, bias)| {
            (bias + row.iter().zip(&input).map(|(&w, x)| i32::from(w) * x).sum::<i32>()) >> shift
        });
        let output: Vec<i32> = output.collect();
        output.iter().for_each(|&x| ends[layer].count(x, quant::HIDDEN_MAX));
        input = output.into_iter().map(|x| x.clamp(0, quant::HIDDEN_MAX)).collect();
    }
}
