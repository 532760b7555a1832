//! What in a new net is what in an old one.

use super::InitError;
use crate::model::weights::Parameter;
use ndarray::{Array2, ArrayView1, ArrayView2, Axis};
use nnue_format::arch::{Activation, Architecture};
use nnue_format::features::FeatureSet;
use nnue_format::features::slots::{king_bucket_mirrored, king_bucket_plain};
use nnue_format::{FloatNet, View};
use xiangqi::{Color, Piece, PieceKind, Square};

/// For each place in the new net its place in the old one; none for what is new.
pub(super) struct Map {
    /// Rows of the feature transformer.
    features: Vec<Option<usize>>,
    /// Rows of its factors; used only where both have the same.
    slots: Vec<Option<usize>>,
    neurons: Vec<Option<usize>>,
    /// Inputs of the first dense layer.
    inputs: Vec<Option<usize>>,
    l2: Vec<Option<usize>>,
    l3: Vec<Option<usize>>,
    stacks: Vec<Option<usize>>,
}

impl Map {
    pub(super) fn new(from: &Architecture, to: &Architecture) -> Result<Map, InitError> {
        let undefined = |what: String| {
            let (from, to) = (from.to_string(), to.to_string());
            Err(InitError::Undefined { from, to, what })
        };
        for (name, old, new) in
            [("L1", from.l1(), to.l1()), ("L2", from.l2(), to.l2()), ("L3", from.l3(), to.l3())]
        {
            if new < old {
                return undefined(format!("{name} would shrink from {old} to {new}"));
            }
        }
        if from.activation() != to.activation() {
            return undefined("their activations differ".to_owned());
        }
        if from.psqt() && !to.psqt() {
            return undefined("it would lose its PSQT".to_owned());
        }
        let Some(stacks) = stacks(from.stack_count(), to.stack_count()) else {
            return undefined(format!("{} stacks to {}", from.stack_count(), to.stack_count()));
        };
        let Some(features) = features(from.features(), to.features()) else {
            return undefined(format!("features {} to {}", from.features(), to.features()));
        };
        let neurons = neurons(from, to);
        let sides = [0, from.dense_inputs() / 2];
        let per_side: Vec<Option<usize>> = match to.activation() {
            Activation::CRelu => neurons.clone(),
            Activation::Pairwise => neurons[..to.l1() / 2].to_vec(),
        };
        let inputs = sides.iter().flat_map(|side| per_side.iter().map(move |old| old.map(|n| n + side)));
        let grown = |old: usize, new: usize| (0..new).map(|n| (n < old).then_some(n)).collect();
        Ok(Map {
            slots: grown(from.features().slot_count(), to.features().slot_count()),
            features,
            inputs: inputs.collect(),
            neurons,
            l2: grown(from.l2(), to.l2()),
            l3: grown(from.l3(), to.l3()),
            stacks,
        })
    }

    /// Writes into a parameter of the new net what the old one has for it. Rows of new features are zero, and so are
    /// the weights by which old neurons would listen to new ones.
    pub(super) fn fill(&self, source: &FloatNet, parameter: &mut Parameter) {
        let layers = &source.layers;
        let columns = *parameter.shape.last().unwrap_or(&1);
        let to = &mut parameter.weights;
        let zeros = |rows: usize| Array2::zeros((rows, layers.psqt.ncols()));
        match parameter.name.as_str() {
            "ft.weight" => copy_rows(to, columns, layers.ft_weights.view(), &self.features, &self.neurons),
            "ft.factor" => {
                let none = Array2::zeros((self.slots.len(), layers.ft_biases.len()));
                let factor = source.ft_factor.as_ref().unwrap_or(&none);
                copy_rows(to, columns, factor.view(), &self.slots, &self.neurons);
            }
            "ft.bias" => copy_known(to, layers.ft_biases.view(), &self.neurons),
            "psqt.weight" if source.arch.psqt() => {
                copy_rows(to, columns, layers.psqt.view(), &self.features, &self.stacks);
            }
            "psqt.factor" if source.arch.psqt() => {
                let none = zeros(self.slots.len());
                let factor = source.psqt_factor.as_ref().unwrap_or(&none);
                copy_rows(to, columns, factor.view(), &self.slots, &self.stacks);
            }
            // A fresh net's piece-square values are zero.
            "psqt.weight" | "psqt.factor" => {}
            name => self.fill_dense(source, name.to_owned(), columns, to),
        }
    }

    fn fill_dense(&self, source: &FloatNet, name: String, columns: usize, to: &mut [f32]) {
        let Some((stack, layer)) = name.strip_prefix("stack").and_then(|rest| rest.split_once('.')) else {
            return;
        };
        let new_stack: Option<usize> = stack.parse().ok();
        let Some(stack) = new_stack.and_then(|stack| self.stacks.get(stack).copied().flatten()) else {
            return;
        };
        let layers = &source.layers;
        let of = Axis(0);
        match layer {
            "dense1.weight" => {
                copy_layer(to, columns, layers.dense1_weights.index_axis(of, stack), &self.l2, &self.inputs);
            }
            "dense1.bias" => copy_known(to, layers.dense1_biases.row(stack), &self.l2),
            "dense2.weight" => {
                copy_layer(to, columns, layers.dense2_weights.index_axis(of, stack), &self.l3, &self.l2);
            }
            "dense2.bias" => copy_known(to, layers.dense2_biases.row(stack), &self.l3),
            "out.weight" => {
                let row = layers.out_weights.row(stack).insert_axis(of);
                copy_layer(to, columns, row, &[Some(0)], &self.l3);
            }
            "out.bias" => to[0] = layers.out_biases[stack],
            _ => {}
        }
    }
}

/// Rows of a table: the columns that both have are the old row's, or zero where the row is new.
fn copy_rows(
    to: &mut [f32],
    width: usize,
    from: ArrayView2<'_, f32>,
    rows: &[Option<usize>],
    columns: &[Option<usize>],
) {
    for (to, row) in to.chunks_exact_mut(width.max(1)).zip(rows) {
        for (to, column) in to.iter_mut().zip(columns) {
            if let Some(column) = *column {
                *to = row.map_or(0.0, |row| from[[row, column]]);
            }
        }
    }
}

/// Rows of a dense layer: those that both have listen to old inputs as before, and not yet to new ones.
fn copy_layer(
    to: &mut [f32],
    width: usize,
    from: ArrayView2<'_, f32>,
    rows: &[Option<usize>],
    columns: &[Option<usize>],
) {
    for (to, row) in to.chunks_exact_mut(width.max(1)).zip(rows) {
        let Some(row) = *row else { continue };
        for (to, column) in to.iter_mut().zip(columns) {
            *to = column.map_or(0.0, |column| from[[row, column]]);
        }
    }
}

fn copy_known(to: &mut [f32], from: ArrayView1<'_, f32>, places: &[Option<usize>]) {
    for (to, place) in to.iter_mut().zip(places) {
        if let Some(place) = *place {
            *to = from[place];
        }
    }
}

/// Pairwise products pair neuron `i` with `i + L1/2`, so that both halves grow.
fn neurons(from: &Architecture, to: &Architecture) -> Vec<Option<usize>> {
    let (old, new) = (from.l1(), to.l1());
    match to.activation() {
        Activation::CRelu => (0..new).map(|n| (n < old).then_some(n)).collect(),
        Activation::Pairwise => {
            let half = |n: usize| n % (new / 2);
            (0..new).map(|n| (half(n) < old / 2).then(|| half(n) + n / (new / 2) * (old / 2))).collect()
        }
    }
}

/// The old stack that evaluates all positions of each new one; see [`nnue_format::arch::Stacks::choose_by`].
fn stacks(old: usize, new: usize) -> Option<Vec<Option<usize>>> {
    let of = |stack: usize| match (old, new) {
        (1, _) => Some(0),
        (8, 16) if stack < 12 => Some(2 * (stack / 4) + usize::from(stack % 4 >= 2)),
        (8, 16) => Some(6 + (stack - 12) / 2),
        _ => Some(stack),
    };
    (old <= new).then(|| (0..new).map(of).collect())
}

/// The old row of each new feature: the same piece on the same square, the own king on the same square. `Some(None)`
/// inside: a feature that the old set does not have. None at all where the old set tells apart what the new one does not.
fn features(old: FeatureSet, new: FeatureSet) -> Option<Vec<Option<usize>>> {
    if old == new {
        return Some((0..new.inputs()).map(Some).collect());
    }
    let mirrored = |set: FeatureSet| set.needs_board_view();
    let grows = old.slot_count() <= new.slot_count()
        && old.attack_buckets() <= new.attack_buckets()
        && (old.attack_buckets() == 1 || old.attack_buckets() == new.attack_buckets())
        && (!mirrored(old) || mirrored(new));
    if !grows {
        return None;
    }
    let mut rows = vec![None; new.inputs()];
    for king in Square::all() {
        let king_bucket =
            |set| if mirrored(set) { king_bucket_mirrored(king) } else { king_bucket_plain(king) };
        let (Some(old_king), Some(new_king)) = (king_bucket(old), king_bucket(new)) else { continue };
        for attack in 0..new.attack_buckets() {
            let view =
                |king: usize, attack: usize| View { king: king as u8, attack: attack as u8, mirror: false };
            let old_view = view(old_king, attack.min(old.attack_buckets() - 1));
            let new_view = view(new_king, attack);
            for piece in Color::ALL.into_iter().flat_map(|c| PieceKind::ALL.map(|kind| Piece::new(c, kind))) {
                for square in Square::all() {
                    if let Some(feature) = new.index(new_view, Color::Red, piece, square) {
                        rows[feature] = old.index(old_view, Color::Red, piece, square);
                    }
                }
            }
        }
    }
    Some(rows)
}
