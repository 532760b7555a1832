//! The dense layers against torch's autograd, and vector kernels against each other.

use crate::support::{arch, batch, floats, relative};
use tch::{Kind, Tensor};
use trainer::backend::cpu::dense::{Hidden, Inputs, Scattered, Shape, Stack, StackGradients};
use trainer::backend::cpu::kernel::{Kernel, KernelKind, TILE};
use trainer::backend::cpu::{AlignedVec, Grouped};
use trainer::backend::reference;

const CLIP: f32 = 255.0 / 256.0;

/// Everything one pass gives, in one list of named values.
fn pass(kernel: &dyn Kernel, text: &str, len: usize) -> Vec<(&'static str, Vec<f32>)> {
    let arch = arch(text);
    let shape = Shape::of(&arch);
    let (layers, x, outputs) = case(shape, len);
    let stack = Stack::new(shape, std::array::from_fn(|i| &layers[i][..]));
    let batch = batch(&arch, 3, len);
    let mut grouped = Grouped::default();
    grouped.rebuild(&batch.rows(arch.inputs()).unwrap(), arch.features().slot_count());
    let x = AlignedVec::from_slice(&x);
    let inputs = Inputs { x: &x, len, clip: CLIP };
    let mut hidden = Hidden::new(shape, len);
    kernel.dense_forward(&stack, &inputs, &mut hidden);
    let mut gradients = StackGradients::new(shape);
    let mut ft_bias = vec![0.0; shape.l1];
    let mut packed = AlignedVec::zeros(2 * len * shape.l1);
    let tiles = shape.l1 / TILE;
    let mut places = Scattered::split(&mut packed, tiles, &grouped, 2 * len);
    kernel.dense_backward(&stack, &inputs, &hidden, &outputs, &mut gradients, &mut ft_bias, &mut places[0]);
    // Back to rows.
    let mut sums = vec![0.0; 2 * len * shape.l1];
    for (row, &place) in grouped.places().iter().enumerate() {
        for tile in 0..tiles {
            let from = &packed[(tile * 2 * len + place as usize) * TILE..][..TILE];
            sums[row * shape.l1 + tile * TILE..][..TILE].copy_from_slice(from);
        }
    }
    let names = ["weight1", "bias1", "weight2", "bias2", "weight3", "bias3"];
    let mut found = vec![("outputs", hidden.outputs), ("sums", sums), ("ft bias", ft_bias)];
    found.extend(names.into_iter().zip(gradients.layers));
    found
}

/// Weights that leave hidden sums on both sides of the clips, clipped sums, and a gradient of the outputs.
fn case(shape: Shape, len: usize) -> (Vec<Vec<f32>>, Vec<f32>, Vec<f32>) {
    let Shape { l1, inputs, l2, l3, .. } = shape;
    let sizes = [
        (l2 * inputs, 2.0 / (inputs as f32).sqrt()),
        (l2, 0.5),
        (l3 * l2, 0.5),
        (l3, 0.5),
        (l3, 1.0),
        (1, 1.0),
    ];
    let layers = sizes.iter().enumerate().map(|(i, &(n, size))| floats(40 + i as u64, n, size)).collect();
    let x = floats(50, 2 * len * l1, 1.5).into_iter().map(|x| (x + 0.3).clamp(0.0, CLIP)).collect();
    (layers, x, floats(51, len, 0.1))
}

/// The same by torch.
fn expected(text: &str, len: usize) -> Vec<(&'static str, Vec<f32>)> {
    let shape = Shape::of(&arch(text));
    let (layers, x, outputs) = case(shape, len);
    let Shape { l1, inputs, l2, l3, pairwise } = shape;
    let shapes = [vec![l2, inputs], vec![l2], vec![l3, l2], vec![l3], vec![1, l3], vec![1]];
    let leaf = |values: &[f32], shape: &[usize]| {
        let shape: Vec<i64> = shape.iter().map(|&n| n as i64).collect();
        Tensor::from_slice(values).view(&shape[..]).set_requires_grad(true)
    };
    let layers: Vec<Tensor> = layers.iter().zip(&shapes).map(|(w, s)| leaf(w, s)).collect();
    let sums = leaf(&x, &[len, 2 * l1]);
    // A clamp that lets no gradient through at its ends, where half of these sums are.
    let inside = sums.gt(0.0).logical_and(&sums.lt(f64::from(CLIP))).to_kind(Kind::Float);
    let outside: Tensor = &sums * (1.0 - &inside);
    let clipped = &sums * &inside + outside.detach();
    let output = reference::dense(&clipped, &layers, pairwise).unwrap();
    let loss = (output.view([-1]) * Tensor::from_slice(&outputs)).sum(Kind::Float);
    let mut leaves = vec![&sums];
    leaves.extend(&layers);
    let gradients = Tensor::run_backward(&[&loss], &leaves, false, false);
    let values = |t: &Tensor| Vec::<f32>::try_from(t.detach().reshape([-1])).unwrap();
    let ft_bias = gradients[0].view([-1, l1 as i64]).sum_dim_intlist(&[0i64][..], false, Kind::Float);
    let names = ["weight1", "bias1", "weight2", "bias2", "weight3", "bias3"];
    let mut found =
        vec![("outputs", values(&output)), ("sums", values(&gradients[0])), ("ft bias", values(&ft_bias))];
    found.extend(names.into_iter().zip(gradients[1..].iter().map(values)));
    found
}

/// Widths of blocks of 16 and 8, more and fewer positions than a block, rests of the rows taken at a time.
const CASES: [(&str, usize); 5] = [
    ("half-kp 2x128-32-32-1 crelu", 100),
    ("half-kp 2x192-16-8-1 crelu", 7),
    ("half-ka-hm 2x128-8-24-1 pairwise", 97),
    ("half-ka-hm 2x256-48-16-1 pairwise", 49),
    ("half-kp 2x128-40-32-1 crelu", 1),
];

#[test]
fn every_kernel_agrees_with_autograd() {
    for (text, len) in CASES {
        let expected = expected(text, len);
        let sums = &expected[1].1;
        let share = sums.iter().filter(|g| **g != 0.0).count() as f32 / sums.len() as f32;
        assert!(len < 10 || (0.1..0.9).contains(&share), "{text}: {share} of the sums have a gradient");
        for kind in KernelKind::available() {
            for ((name, found), (_, expected)) in pass(&*kind.get().unwrap(), text, len).iter().zip(&expected)
            {
                assert_eq!(found.len(), expected.len(), "{name}");
                let error = relative(found, expected);
                assert!(error < 2e-5, "{} of {text}, {}: off by {error}", name, kind.name());
            }
        }
    }
}

#[test]
fn vector_kernels_give_the_same_bits() {
    let vector = |kind: &KernelKind| *kind != KernelKind::Scalar;
    let kernels: Vec<KernelKind> = KernelKind::available().into_iter().filter(vector).collect();
    for (text, len) in CASES {
        let bits = |kind: &KernelKind| -> Vec<(&str, Vec<u32>)> {
            let found = pass(&*kind.get().unwrap(), text, len);
            found.into_iter().map(|(name, v)| (name, v.into_iter().map(f32::to_bits).collect())).collect()
        };
        for pair in kernels.windows(2) {
            assert!(bits(&pair[0]) == bits(&pair[1]), "{} and {} in {text}", pair[0].name(), pair[1].name());
        }
        for kind in &kernels {
            assert!(bits(kind) == bits(kind), "{} twice", kind.name());
        }
    }
}
