//! The proof that no i16 sum of the feature transformer overflows on any board.
//!
//! A side has at most 1 K, 2 A, 2 B, 2 N, 2 R, 2 C, 5 P, each on its own square. So within one
//! bucket the greatest sum of a neuron is at most its bias plus, for each coloured kind, its largest one,
//! two or five weights where they are above zero; and so downwards. That bound, for every neuron and bucket,
//! must fit an i16. Intermediate sums of incremental updates may wrap: i16 addition is
//! modular, and the final sum is that of a board.

use ndarray::{ArrayView1, ArrayViewMut1};
use xiangqi::{Color, Piece, PieceKind, Square};

use super::quantised::QuantisedNet;
use crate::error::QuantiseError;

/// The most of one kind a side can have.
const MOST: usize = 5;

pub(super) fn check(net: &QuantisedNet) -> Result<(), QuantiseError> {
    let (features, l1) = (net.arch.features(), net.arch.l1());
    let slots = features.slot_count();
    let groups = slot_groups(net);
    let mut bounds = Bounds::new(l1);
    for bucket in 0..features.buckets() {
        let row = |slot: &usize| net.layers.ft_weights.row(bucket * slots + slot);
        let mut overflow = |exact: bool| {
            bounds.start(net);
            for (rows, most) in &groups {
                let (ranks, times) = if exact { (*most, 1) } else { (1, *most) };
                bounds.add(rows.iter().map(row), ranks, times);
            }
            bounds.overflow()
        };
        // Nearly every net passes with the largest weight of a kind taken for each of its pieces, which costs a third.
        if overflow(false).is_some()
            && let Some((neuron, sum)) = overflow(true)
        {
            return Err(QuantiseError::AccumulatorOverflow { neuron, bucket, sum });
        }
    }
    Ok(())
}

/// The slots of every coloured kind with the most pieces of it there can be.
fn slot_groups(net: &QuantisedNet) -> Vec<(Vec<usize>, usize)> {
    let table = net.arch.features().slots();
    let mut groups = Vec::new();
    for color in Color::ALL {
        for kind in PieceKind::ALL {
            let piece = Piece::new(color, kind);
            let slots: Vec<usize> =
                Square::all().filter_map(|square| table.get(Color::Red, false, piece, square)).collect();
            groups.push((slots, kind.max_count() as usize));
        }
    }
    groups
}

/// Greatest and least sums per neuron, built up group by group.
struct Bounds {
    high: Vec<i32>,
    low: Vec<i32>,
    /// `[rank][neuron]`: the largest (smallest) weights of the group so far, 0 where they have
    /// the wrong sign.
    top: Vec<Vec<i16>>,
    bottom: Vec<Vec<i16>>,
}

impl Bounds {
    fn new(l1: usize) -> Bounds {
        let ranks = || vec![vec![0; l1]; MOST];
        Bounds { high: vec![0; l1], low: vec![0; l1], top: ranks(), bottom: ranks() }
    }

    fn start(&mut self, net: &QuantisedNet) {
        for (neuron, &bias) in net.layers.ft_biases.iter().enumerate() {
            self.high[neuron] = bias.into();
            self.low[neuron] = bias.into();
        }
    }

    /// Adds the largest `ranks` weights of a group, each so many times.
    fn add<'a>(&mut self, rows: impl Iterator<Item = ArrayView1<'a, i16>>, ranks: usize, times: usize) {
        let (ranks, times) = (ranks.min(MOST), times as i32);
        for rank in self.top[..ranks].iter_mut().chain(&mut self.bottom[..ranks]) {
            rank.fill(0);
        }
        let mut carry = vec![0; self.high.len()];
        for row in rows {
            // Each weight sinks down the ranking: the larger stays, the smaller goes on.
            // `assign` copies a row as one piece, where an iterator over it would go weight by weight.
            ArrayViewMut1::from(&mut carry[..]).assign(&row);
            for top in &mut self.top[..ranks] {
                for (top, carry) in top.iter_mut().zip(&mut carry) {
                    (*top, *carry) = ((*top).max(*carry), (*top).min(*carry));
                }
            }
            ArrayViewMut1::from(&mut carry[..]).assign(&row);
            for bottom in &mut self.bottom[..ranks] {
                for (bottom, carry) in bottom.iter_mut().zip(&mut carry) {
                    (*bottom, *carry) = ((*bottom).min(*carry), (*bottom).max(*carry));
                }
            }
        }
        for (top, bottom) in self.top[..ranks].iter().zip(&self.bottom[..ranks]) {
            for i in 0..self.high.len() {
                self.high[i] += times * i32::from(top[i]);
                self.low[i] += times * i32::from(bottom[i]);
            }
        }
    }

    /// A neuron whose bound is outside the i16 range, with the bound.
    fn overflow(&self) -> Option<(usize, i64)> {
        let outside = |&sum: &i32| i16::try_from(sum).is_err();
        let found = |sums: &[i32]| sums.iter().position(outside).map(|n| (n, i64::from(sums[n])));
        found(&self.high).or_else(|| found(&self.low))
    }
}
