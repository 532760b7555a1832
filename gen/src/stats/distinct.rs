//! How many different things there are, and how often they come again, in a fixed amount of memory.
//!
//! Adaptive sampling (Wegman; Flajolet 1990): a thing is kept, with its count, if its hash begins with enough zero
//! bits. Nothing is asked of it at first, so that everything is exact; whenever more than the capacity is kept, one
//! zero bit more is. What is kept was counted from its first coming on, so the counts are exact and what is kept is
//! a fair sample of the different things. The end does not depend on the order in which they come.

use std::collections::HashMap;

use serde_json::{Value, json};

/// Upper ends of the classes of [`Distinct::classes`]; the last class has none.
pub const CLASS_ENDS: [u32; 7] = [1, 2, 4, 8, 16, 64, 256];

/// Different things among many, counted.
#[derive(Clone, Debug)]
pub struct Distinct {
    capacity: usize,
    /// Hashes with fewer leading zero bits are not kept.
    level: u32,
    kept: HashMap<u64, u32>,
    total: u64,
}

/// Hashes on their way to a [`Distinct`], those left out that it would not keep.
#[derive(Clone, Debug)]
pub struct Keys {
    level: u32,
    hashes: Vec<u64>,
    total: u64,
}

impl Keys {
    /// Counts a thing by its key; equal keys are the same thing.
    pub fn add(&mut self, key: u64) {
        self.total += 1;
        let hash = mix(key);
        if hash.leading_zeros() >= self.level {
            self.hashes.push(hash);
        }
    }
}

impl Distinct {
    /// Exact up to `capacity` different things, at 16 to 37 bytes each.
    pub fn new(capacity: usize) -> Distinct {
        Distinct { capacity: capacity.max(1), level: 0, kept: HashMap::new(), total: 0 }
    }

    /// An empty list of things for [`Distinct::absorb`].
    pub const fn keys(&self) -> Keys {
        Keys { level: self.level, hashes: Vec::new(), total: 0 }
    }

    /// Counts the things of a list.
    pub fn absorb(&mut self, keys: &Keys) {
        self.total += keys.total;
        for &hash in &keys.hashes {
            if hash.leading_zeros() < self.level {
                continue;
            }
            let count = self.kept.entry(hash).or_default();
            *count = count.saturating_add(1);
            while self.kept.len() > self.capacity {
                self.level += 1;
                let level = self.level;
                self.kept.retain(|hash, _| hash.leading_zeros() >= level);
            }
        }
    }

    /// How many things came.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// How many different things came: exact, or estimated from the sample.
    pub fn distinct(&self) -> u64 {
        ((self.kept.len() as u64) << self.level).min(self.total)
    }

    /// Is [`Distinct::distinct`] exact?
    pub const fn is_exact(&self) -> bool {
        self.level == 0
    }

    /// The standard error of [`Distinct::distinct`], as a part of it: 0 where it is exact.
    pub fn relative_error(&self) -> f64 {
        if self.is_exact() { 0.0 } else { 1.0 / (self.kept.len().max(1) as f64).sqrt() }
    }

    /// The share of things that came before, of all that came.
    pub fn repeated_share(&self) -> Option<f64> {
        (self.total > 0).then(|| 1.0 - self.distinct() as f64 / self.total as f64)
    }

    /// How often the most frequent thing (of the sample) came.
    pub fn most_frequent(&self) -> u32 {
        self.kept.values().copied().max().unwrap_or(0)
    }

    /// How many different things came once, twice, 3 to 4 times and so on ([`CLASS_ENDS`]), estimated where the
    /// whole is.
    pub fn classes(&self) -> [u64; CLASS_ENDS.len() + 1] {
        let mut classes = [0; CLASS_ENDS.len() + 1];
        for &count in self.kept.values() {
            classes[CLASS_ENDS.iter().filter(|&&end| count > end).count()] += 1u64 << self.level;
        }
        classes
    }

    /// For `--json`.
    pub fn json(&self) -> Value {
        let ends = CLASS_ENDS.iter().map(|&end| Some(end)).chain([None]);
        let classes: Vec<Value> = ends
            .zip(self.classes())
            .map(|(end, things)| json!({ "times_at_most": end, "distinct": things }))
            .collect();
        json!({
            "total": self.total,
            "distinct": self.distinct(),
            "exact": self.is_exact(),
            "relative_error": self.relative_error(),
            "repeated_share": self.repeated_share(),
            "most_frequent": self.most_frequent(),
            "times": classes,
        })
    }
}

/// Spreads a key over all 64 bits, one to one (the finaliser of SplitMix64).
pub(crate) const fn mix(key: u64) -> u64 {
    let mut z = key.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(capacity: usize, keys: impl Iterator<Item = u64>, list: usize) -> Distinct {
        let mut distinct = Distinct::new(capacity);
        let mut pending = distinct.keys();
        for (i, key) in keys.enumerate() {
            pending.add(key);
            if i % list == list - 1 {
                distinct.absorb(&pending);
                pending = distinct.keys();
            }
        }
        distinct.absorb(&pending);
        distinct
    }

    #[test]
    fn exact_up_to_the_capacity() {
        let keys = (0..1000).chain(0..100).chain(0..100).chain(0..1);
        let found = count(1000, keys, 37);
        assert!(found.is_exact());
        assert_eq!((found.total(), found.distinct(), found.most_frequent()), (1201, 1000, 4));
        assert_eq!(found.classes(), [900, 0, 100, 0, 0, 0, 0, 0]);
        assert_eq!(found.repeated_share(), Some(1.0 - 1000.0 / 1201.0));
    }

    #[test]
    fn beyond_it_within_four_standard_errors() {
        let (n, capacity) = (200_000, 2000);
        let found = count(capacity, (0..n).chain(0..n / 2), 1009);
        assert!(!found.is_exact() && found.kept.len() <= capacity);
        let off = (found.distinct() as f64 / n as f64 - 1.0).abs();
        assert!(off < 4.0 * found.relative_error(), "{off} {}", found.relative_error());
        let [once, twice, rest @ ..] = found.classes();
        let share = once as f64 / (once + twice) as f64;
        assert!((share - 0.5).abs() < 4.0 * found.relative_error() && rest == [0; 6], "{share}");
    }

    #[test]
    fn the_order_has_no_influence() {
        let one = count(500, 0..20_000, 7);
        let other = count(500, (0..20_000).rev(), 5000);
        assert_eq!((one.level, one.kept, one.total), (other.level, other.kept, other.total));
    }
}
