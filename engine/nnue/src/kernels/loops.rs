//! The loops of every vector instruction set, written once.
//!
//! A file of an instruction set names its register and its primitives as functions, and ends with
//! `kernels!("its,features")`, which puts these loops beside them: compiled for those features, so
//! that the primitives are inlined. What a file must have in scope:
//!
//! | name | meaning |
//! |---|---|
//! | `Vector` | the register, a [`Register`](super::vector::Register) of 16, 32 or 64 bytes |
//! | `PACK_LANES` | lanes of 128 bits that `pack` works in ([`word_order`](crate::permute::word_order)) |
//! | `TILE` | lines of sums that `update` keeps in registers over many rows, even |
//! | `CHAINS` | sums of one output that `affine` keeps apart, so that no add waits for the one before |
//! | `supported() -> bool` | has this CPU the features? |
//! | `KERNELS` | the table that calls `update` and `forward`; handed out by `detect`, where `supported()` |
//! | `zero() -> Vector` | all bits 0 |
//! | `add_16 sub_16 add_32 sub_32 (Vector, Vector) -> Vector` | modulo 2^16, 2^32 |
//! | `clip(Vector) -> Vector` | signed words to `0..=FT_MAX` |
//! | `halve(Vector) -> Vector` | clipped words shifted right by `CRELU_SHIFT` |
//! | `product(Vector, Vector) -> Vector` | clipped words multiplied, shifted right by `PAIRWISE_SHIFT` |
//! | `pack(Vector, Vector) -> Vector` | words `0..=127` to bytes, in the order of `PACK_LANES` |
//! | `non_zero([Vector; PARTS]) -> u16` | bit `i`: are the four bytes `i` of the line not all zero? Bytes are `0..=127` |
//! | `append_blocks(u16, usize, &mut [u16], usize) -> usize` | [`append_blocks`](super::append_blocks), or its like |
//! | `splat([u8; 4]) -> Vector` | the four bytes again and again |
//! | `dot(Vector, Vector, Vector) -> Vector` | `dot(sums, x, w)`: to each i32 the products of four u8 `0..=127` and four i8 `±127` are added |
//! | `narrow([Vector; PARTS], u32) -> [u8; 16]` | i32 shifted right, clipped to `0..=HIDDEN_MAX`, in order |
//! | `total(Vector) -> i32` | the sum of its i32 |

macro_rules! kernels {
    ($features:literal) => {
        use nnue_format::Activation;
        use nnue_format::quant::{DENSE1_SHIFT, DENSE2_SHIFT};

        use crate::aligned::{Bytes, Ints, Words};
        use crate::kernels::vector::{blocks_of, load, load_of, parts, store};
        use crate::kernels::{ALL_BLOCKS, Kernels, Scratch, lines};
        use crate::net::{Dense, FeatureRows, Stack};

        /// Registers of a line.
        const PARTS: usize = parts::<Vector>();

        /// The kernels, if this CPU has the features.
        pub(in crate::kernels) fn detect() -> Option<&'static Kernels> {
            supported().then_some(&KERNELS)
        }

        #[target_feature(enable = $features)]
        fn update(
            rows: &FeatureRows,
            source: Option<&[Words]>,
            add: &[u32],
            sub: &[u32],
            target: &mut [Words],
        ) {
            // The usual moves: one or two plies, with or without captures.
            match (source, add, sub) {
                (Some(source), &[a], &[s]) => update_few(rows, source, [a], [s], target),
                (Some(source), &[a], &[s, t]) => update_few(rows, source, [a], [s, t], target),
                (Some(source), &[a, b], &[s, t]) => update_few(rows, source, [a, b], [s, t], target),
                (Some(source), &[a, b], &[s, t, u]) => update_few(rows, source, [a, b], [s, t, u], target),
                _ => update_many(rows, source, add, sub, target),
            }
        }

        /// All rows in one pass.
        #[inline]
        #[target_feature(enable = $features)]
        fn update_few<const A: usize, const S: usize>(
            rows: &FeatureRows,
            source: &[Words],
            add: [u32; A],
            sub: [u32; S],
            target: &mut [Words],
        ) {
            let len = target.len();
            let source = &source[..len];
            let add = add.map(|feature| &rows.row(feature)[..len]);
            let sub = sub.map(|feature| &rows.row(feature)[..len]);
            for i in 0..rows.sums().min(len) {
                for part in 0..PARTS {
                    let mut sums: Vector = load(&source[i], part);
                    for row in add {
                        sums = add_16(sums, load(&row[i], part));
                    }
                    for row in sub {
                        sums = sub_16(sums, load(&row[i], part));
                    }
                    store(&mut target[i], part, sums);
                }
            }
            for i in rows.sums()..len {
                for part in 0..PARTS {
                    let mut sums: Vector = load(&source[i], part);
                    for row in add {
                        sums = add_32(sums, load(&row[i], part));
                    }
                    for row in sub {
                        sums = sub_32(sums, load(&row[i], part));
                    }
                    store(&mut target[i], part, sums);
                }
            }
        }

        /// Any number of rows: a tile of sums stays in registers over all of them.
        #[inline]
        #[target_feature(enable = $features)]
        fn update_many(
            rows: &FeatureRows,
            source: Option<&[Words]>,
            add: &[u32],
            sub: &[u32],
            target: &mut [Words],
        ) {
            let (sums, psqt) = target.split_at_mut(rows.sums().min(target.len()));
            let (tiles, rest) = sums.as_chunks_mut::<TILE>();
            let mut at = 0;
            for tile in tiles {
                update_tile(rows, source, add, sub, at, tile);
                at += TILE;
            }
            // Rows are even numbers of lines.
            for tile in rest.as_chunks_mut::<2>().0 {
                update_tile(rows, source, add, sub, at, tile);
                at += 2;
            }
            if let Some(target) = psqt.first_mut() {
                update_psqt(rows, source, add, sub, at, target);
            }
        }

        /// `N` lines of sums from line `at` on.
        #[inline]
        #[target_feature(enable = $features)]
        fn update_tile<const N: usize>(
            rows: &FeatureRows,
            source: Option<&[Words]>,
            add: &[u32],
            sub: &[u32],
            at: usize,
            target: &mut [Words; N],
        ) {
            let start = source.map_or(&*target, |source| lines(source, at));
            let mut sums = [[zero(); PARTS]; N];
            for i in 0..N {
                for part in 0..PARTS {
                    sums[i][part] = load(&start[i], part);
                }
            }
            for &feature in add {
                let row = lines::<_, N>(rows.row(feature), at);
                for i in 0..N {
                    for part in 0..PARTS {
                        sums[i][part] = add_16(sums[i][part], load(&row[i], part));
                    }
                }
            }
            for &feature in sub {
                let row = lines::<_, N>(rows.row(feature), at);
                for i in 0..N {
                    for part in 0..PARTS {
                        sums[i][part] = sub_16(sums[i][part], load(&row[i], part));
                    }
                }
            }
            for i in 0..N {
                for part in 0..PARTS {
                    store(&mut target[i], part, sums[i][part]);
                }
            }
        }

        /// The line of 32-bit sums, line `at` of a row.
        #[inline]
        #[target_feature(enable = $features)]
        fn update_psqt(
            rows: &FeatureRows,
            source: Option<&[Words]>,
            add: &[u32],
            sub: &[u32],
            at: usize,
            target: &mut Words,
        ) {
            let [start] = source.map_or(std::array::from_ref(&*target), |source| lines(source, at));
            let mut sums = [zero(); PARTS];
            for part in 0..PARTS {
                sums[part] = load(start, part);
                for &feature in add {
                    let [row] = lines(rows.row(feature), at);
                    sums[part] = add_32(sums[part], load(row, part));
                }
                for &feature in sub {
                    let [row] = lines(rows.row(feature), at);
                    sums[part] = sub_32(sums[part], load(row, part));
                }
            }
            for part in 0..PARTS {
                store(target, part, sums[part]);
            }
        }

        #[target_feature(enable = $features)]
        fn forward(
            stack: &Stack,
            sides: [&[Words]; 2],
            activation: Activation,
            scratch: &mut Scratch,
        ) -> i32 {
            let Scratch { input, blocks, sums, hidden } = scratch;
            // A line of bytes for two of words, or for two pairs of them.
            let width = match activation {
                Activation::CRelu => sides[0].len() / 2,
                Activation::Pairwise => sides[0].len() / 4,
            };
            let (mut at, mut count) = (0, 0);
            for side in sides {
                for (i, out) in input[at..][..width].iter_mut().enumerate() {
                    let bytes = match activation {
                        Activation::CRelu => clipped(lines(side, 2 * i)),
                        Activation::Pairwise => multiplied(lines(side, 2 * i), lines(side, 2 * (width + i))),
                    };
                    for part in 0..PARTS {
                        store(out, part, bytes[part]);
                    }
                    count = append_blocks(non_zero(bytes), at + i, blocks, count);
                }
                at += width;
            }
            affine(&stack.dense1, &input[..at], &blocks[..count], sums);
            activate_hidden(&sums[..stack.dense1.biases.len()], DENSE1_SHIFT, hidden);
            affine(&stack.dense2, hidden, &ALL_BLOCKS[..4 * stack.dense1.biases.len()], sums);
            activate_hidden(&sums[..stack.dense2.biases.len()], DENSE2_SHIFT, hidden);
            let mut products = zero();
            for (x, weights) in hidden.iter().zip(&stack.out_weights) {
                for part in 0..PARTS {
                    products = dot(products, load(x, part), load(weights, part));
                }
            }
            stack.out_bias + total(products)
        }

        /// A line of activations by clipped ReLU.
        #[inline]
        #[target_feature(enable = $features)]
        fn clipped(sums: &[Words; 2]) -> [Vector; PARTS] {
            let mut bytes = [zero(); PARTS];
            for part in 0..PARTS {
                let low = halve(clip(load_of(sums, 2 * part)));
                let high = halve(clip(load_of(sums, 2 * part + 1)));
                bytes[part] = pack(low, high);
            }
            bytes
        }

        /// A line of activations by pairwise product.
        #[inline]
        #[target_feature(enable = $features)]
        fn multiplied(first: &[Words; 2], second: &[Words; 2]) -> [Vector; PARTS] {
            let mut bytes = [zero(); PARTS];
            for part in 0..PARTS {
                let (low, high) = (2 * part, 2 * part + 1);
                let low = product(clip(load_of(first, low)), clip(load_of(second, low)));
                let high = product(clip(load_of(first, high)), clip(load_of(second, high)));
                bytes[part] = pack(low, high);
            }
            bytes
        }

        /// The activations of a hidden layer's sums, in place of those before.
        #[inline]
        #[target_feature(enable = $features)]
        fn activate_hidden(sums: &[Ints], shift: u32, hidden: &mut [Bytes]) {
            let bytes = hidden.iter_mut().flat_map(|line| line.0.as_chunks_mut::<16>().0);
            for (to, from) in bytes.zip(sums) {
                let mut registers = [zero(); PARTS];
                for part in 0..PARTS {
                    registers[part] = load(from, part);
                }
                *to = narrow(registers, shift);
            }
        }

        /// `sums = biases + Σ over blocks of weights · inputs`.
        #[inline]
        #[target_feature(enable = $features)]
        fn affine(layer: &Dense, input: &[Bytes], blocks: &[u16], sums: &mut [Ints]) {
            let width = layer.biases.len();
            match width {
                1 => affine_lines::<1, 1, CHAINS>(layer, 0, input, blocks, sums),
                2 => affine_lines::<2, 2, { CHAINS.div_ceil(2) }>(layer, 0, input, blocks, sums),
                4 => {
                    affine_lines::<4, 2, { CHAINS.div_ceil(2) }>(layer, 0, input, blocks, sums);
                    affine_lines::<4, 2, { CHAINS.div_ceil(2) }>(layer, 2, input, blocks, sums);
                }
                _ => (0..width).for_each(|at| affine_line(layer, at, input, blocks, sums)),
            }
        }

        /// `N` lines of outputs of a layer of `W` from line `at` on, each in `K` sums that are
        /// added in the end.
        #[inline]
        #[target_feature(enable = $features)]
        fn affine_lines<const W: usize, const N: usize, const K: usize>(
            layer: &Dense,
            at: usize,
            input: &[Bytes],
            blocks: &[u16],
            out: &mut [Ints],
        ) {
            let mut sums = [[[zero(); PARTS]; N]; K];
            let biases = lines::<_, N>(&layer.biases, at);
            for i in 0..N {
                for part in 0..PARTS {
                    sums[0][i][part] = load(&biases[i], part);
                }
            }
            // Of one length, so that one comparison of an index does for both.
            let (inputs, weights) = (blocks_of(input), layer.weights.as_chunks::<W>().0);
            let count = inputs.len().min(weights.len());
            let (inputs, weights) = (&inputs[..count], &weights[..count]);
            let (groups, rest) = blocks.as_chunks::<K>();
            for group in groups {
                for k in 0..K {
                    let block = group[k] as usize;
                    let (x, weights) = (splat(inputs[block]), &weights[block][at..at + N]);
                    for i in 0..N {
                        for part in 0..PARTS {
                            sums[k][i][part] = dot(sums[k][i][part], x, load(&weights[i], part));
                        }
                    }
                }
            }
            for &block in rest {
                let (x, weights) = (splat(inputs[block as usize]), &weights[block as usize][at..at + N]);
                for i in 0..N {
                    for part in 0..PARTS {
                        sums[0][i][part] = dot(sums[0][i][part], x, load(&weights[i], part));
                    }
                }
            }
            for i in 0..N {
                for part in 0..PARTS {
                    let mut sum = sums[0][i][part];
                    for k in 1..K {
                        sum = add_32(sum, sums[k][i][part]);
                    }
                    store(&mut out[at + i], part, sum);
                }
            }
        }

        /// Line `at` of the outputs of a layer of any width.
        #[inline]
        #[target_feature(enable = $features)]
        fn affine_line(layer: &Dense, at: usize, input: &[Bytes], blocks: &[u16], out: &mut [Ints]) {
            let inputs = blocks_of(input);
            let mut sums: [Vector; PARTS] = [zero(); PARTS];
            for part in 0..PARTS {
                sums[part] = load(&layer.biases[at], part);
            }
            for &block in blocks {
                let x = splat(inputs[block as usize]);
                let weights = &layer.weights[block as usize * layer.biases.len() + at];
                for part in 0..PARTS {
                    sums[part] = dot(sums[part], x, load(weights, part));
                }
            }
            for part in 0..PARTS {
                store(&mut out[at], part, sums[part]);
            }
        }
    };
}

pub(super) use kernels;
