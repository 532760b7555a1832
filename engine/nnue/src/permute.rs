//! From the file's order to a backend's. The net file holds no CPU's lane order.

use ndarray::{ArrayView1, ArrayView2};

use crate::aligned::Words;

/// Orders one row of the feature transformer: place `i` of each group holds neuron `order[i]`.
/// `order` is that of one lane or of two, or empty for the file's order.
pub(crate) fn row(from: ArrayView1<'_, i16>, order: &[usize], to: &mut [Words]) {
    let group = order.len();
    let to = to.iter_mut().flat_map(|lane| &mut lane.0);
    if group == 0 {
        to.zip(from).for_each(|(to, from)| *to = *from);
        return;
    }
    let places = (0..from.len()).step_by(group).flat_map(|base| order.iter().map(move |i| base + i));
    to.zip(places).for_each(|(to, place)| *to = from[place]);
}

/// Orders dense weights (output × input) by blocks of four inputs: block, output, input in the
/// block. One block's weights for all outputs lie together, so that a block of zeros is skipped whole.
pub(crate) fn dense(weights: ArrayView2<'_, i8>) -> impl Iterator<Item = i8> + '_ {
    let (outputs, inputs) = weights.dim();
    (0..outputs * inputs).map(move |i| {
        let (block, output, within) = (i / (4 * outputs), i / 4 % outputs, i % 4);
        weights[[output, 4 * block + within]]
    })
}
