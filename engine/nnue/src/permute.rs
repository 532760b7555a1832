//! From the file's order to a backend's. The net file holds no CPU's lane order.

use ndarray::{ArrayView1, ArrayView2};

/// Orders one row of the feature transformer: place `i` of each group holds neuron `order[i]`.
pub(crate) fn row<'a>(
    row: ArrayView1<'a, i16>,
    order: &'a [usize],
) -> impl ExactSizeIterator<Item = i16> + 'a {
    let group = order.len();
    (0..row.len()).map(move |i| row[i / group * group + order[i % group]])
}

/// Orders dense weights (output × input) by blocks of four inputs: block, output, input in the
/// block. One block's weights for all outputs lie together, so that a block of zeros is skipped whole.
pub(crate) fn dense(weights: ArrayView2<'_, i8>) -> impl ExactSizeIterator<Item = i8> + '_ {
    let (outputs, inputs) = weights.dim();
    (0..outputs * inputs).map(move |i| {
        let (block, output, within) = (i / (4 * outputs), i / 4 % outputs, i % 4);
        weights[[output, 4 * block + within]]
    })
}
