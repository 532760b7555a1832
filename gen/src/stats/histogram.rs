//! Histograms of a fixed size.

use serde_json::{Value, json};

/// Counts of whole numbers in bins of one width, and of those outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    low: i64,
    width: i64,
    bins: Vec<u64>,
    below: u64,
    above: u64,
    count: u64,
    sum: i64,
    range: Option<(i64, i64)>,
}

impl Histogram {
    /// Empty: `bins` bins of `width` numbers each, the first from `low` on. A width below 1 counts as 1.
    pub fn new(low: i64, width: i64, bins: usize) -> Histogram {
        let bins = vec![0; bins];
        Histogram { low, width: width.max(1), bins, below: 0, above: 0, count: 0, sum: 0, range: None }
    }

    /// Counts a number.
    pub fn add(&mut self, value: i64) {
        self.count += 1;
        self.sum += value;
        let (min, max) = self.range.unwrap_or((value, value));
        self.range = Some((min.min(value), max.max(value)));
        match usize::try_from((value - self.low).div_euclid(self.width)) {
            Err(_) => self.below += 1,
            Ok(bin) => match self.bins.get_mut(bin) {
                Some(bin) => *bin += 1,
                None => self.above += 1,
            },
        }
    }

    /// Adds what another histogram of the same bins counted.
    pub fn merge(&mut self, other: &Histogram) {
        add_all(&mut self.bins, &other.bins);
        self.below += other.below;
        self.above += other.above;
        self.count += other.count;
        self.sum += other.sum;
        self.range = match (self.range, other.range) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (one, other) => one.or(other),
        };
    }

    /// How many numbers were counted, those outside the bins included.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The least and the greatest number counted.
    pub const fn range(&self) -> Option<(i64, i64)> {
        self.range
    }

    /// The mean of all numbers counted; `None` of none.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Every bin: its first number and its count.
    pub fn bins(&self) -> impl DoubleEndedIterator<Item = (i64, u64)> + ExactSizeIterator + '_ {
        self.bins.iter().enumerate().map(|(i, &count)| (self.low + i as i64 * self.width, count))
    }

    /// How many numbers a bin has.
    pub const fn width(&self) -> i64 {
        self.width
    }

    /// How many numbers lie below the first bin and above the last.
    pub const fn outside(&self) -> (u64, u64) {
        (self.below, self.above)
    }

    /// The first number of the bin in which the given share (0 to 1) of all numbers is reached, at least the
    /// least number counted; `None` of none.
    pub fn quantile(&self, share: f64) -> Option<i64> {
        let (min, max) = self.range?;
        let wanted = (share * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = self.below;
        if seen >= wanted {
            return Some(min);
        }
        for (first, count) in self.bins() {
            seen += count;
            if seen >= wanted {
                return Some(first.clamp(min, max));
            }
        }
        Some(max)
    }

    /// For `--json`: the bins up to the last that is not empty.
    pub fn json(&self) -> Value {
        let used = self.bins.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
        json!({
            "low": self.low,
            "width": self.width,
            "counts": &self.bins[..used],
            "below": self.below,
            "above": self.above,
            "count": self.count,
            "mean": self.mean(),
            "min": self.range.map(|(min, _)| min),
            "median": self.quantile(0.5),
            "max": self.range.map(|(_, max)| max),
        })
    }
}

/// Adds counts to counts of the same kinds.
pub(crate) fn add_all(to: &mut [u64], from: &[u64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_by_hand() {
        let mut found = Histogram::new(-10, 5, 4);
        for value in [-11, -10, -6, -5, 0, 9, 10, 25] {
            found.add(value);
        }
        assert_eq!(found.bins().collect::<Vec<_>>(), [(-10, 2), (-5, 1), (0, 1), (5, 1)]);
        assert_eq!((found.outside(), found.count(), found.range()), ((1, 2), 8, Some((-11, 25))));
        assert_eq!(found.mean(), Some(12.0 / 8.0));
        let quantiles = [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| found.quantile(share));
        assert_eq!(quantiles, [Some(-11), Some(-10), Some(-5), Some(5), Some(25)]);
        assert_eq!(Histogram::new(0, 0, 0).quantile(0.5), None);
    }

    #[test]
    fn merged_is_counted_together() {
        let count = |values: &[i64]| {
            let mut histogram = Histogram::new(0, 3, 5);
            values.iter().for_each(|&value| histogram.add(value));
            histogram
        };
        let mut merged = count(&[-4, 1, 14]);
        merged.merge(&count(&[15, 2, 2]));
        merged.merge(&count(&[]));
        assert_eq!(merged, count(&[-4, 1, 14, 15, 2, 2]));
    }
}
