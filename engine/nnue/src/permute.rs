//! From the file's order to a backend's. The net file holds no CPU's lane order.

use ndarray::{ArrayView1, ArrayView2};

use crate::aligned::Words;

/// `count` groups of `len` values, each filled up with zeros to `padded`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Groups {
    pub(crate) count: usize,
    pub(crate) len: usize,
    pub(crate) padded: usize,
}

impl Groups {
    /// Values with the zeros.
    pub(crate) fn padded_len(&self) -> usize {
        self.count * self.padded
    }

    /// The value at a padded place; `None`: a zero.
    fn value_at(&self, place: usize) -> Option<usize> {
        let (group, i) = (place / self.padded, place % self.padded);
        (i < self.len).then_some(group * self.len + i)
    }
}

/// For every word of a row which neuron it is (`usize::MAX`: none), for a CPU that packs in `lanes`
/// lanes of 128 bits. There, `pack([a0 a1], [b0 b1]) = [a0 b0 a1 b1]`, each letter eight neurons: with
/// neurons `0..8 16..24` in one register and `8..16 24..32` in the next, the bytes come out in order.
pub(crate) fn word_order(groups: &Groups, lanes: usize) -> Vec<usize> {
    let neuron = |place: usize| {
        let (pair, i) = (place / (16 * lanes), place % (16 * lanes));
        let (second, lane) = (i / (8 * lanes), i / 8 % lanes);
        groups.value_at(16 * lanes * pair + 8 * (2 * lane + second) + i % 8).unwrap_or(usize::MAX)
    };
    (0..groups.padded_len()).map(neuron).collect()
}

/// Orders one row of the feature transformer.
pub(crate) fn row(from: ArrayView1<'_, i16>, order: &[usize], to: &mut [Words]) {
    for (to, &neuron) in to.iter_mut().flat_map(|line| &mut line.0).zip(order) {
        *to = from.get(neuron).copied().unwrap_or(0);
    }
}

/// Orders dense weights (output × input) by blocks of four inputs: block, output, input in the
/// block. One block's weights for all outputs lie together, so that a block of zeros is skipped whole.
/// `outputs` counts with the zeros.
pub(crate) fn dense(
    weights: ArrayView2<'_, i8>,
    inputs: Groups,
    outputs: usize,
) -> impl ExactSizeIterator<Item = i8> {
    (0..outputs * inputs.padded_len()).map(move |i| {
        let (block, output, within) = (i / (4 * outputs), i / 4 % outputs, i % 4);
        let input = inputs.value_at(4 * block + within);
        input.and_then(|input| weights.get([output, input])).copied().unwrap_or(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders() {
        let groups = Groups { count: 2, len: 96, padded: 128 };
        for lanes in [1, 2, 4] {
            let mut order = word_order(&groups, lanes);
            if lanes == 2 {
                assert_eq!(order[..4], [0, 1, 2, 3]);
                assert_eq!(order[8..12], [16, 17, 18, 19]);
                assert_eq!(order[16..20], [8, 9, 10, 11]);
            }
            order.sort_unstable();
            assert!(order[..192].iter().copied().eq(0..192));
            assert!(order[192..].iter().all(|neuron| *neuron == usize::MAX));
        }
    }
}
