//! Which numbers of games there were, in memory for the gaps between them alone.

use std::collections::BTreeMap;

/// A set of numbers as runs without gaps: first → last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    runs: BTreeMap<u64, u64>,
}

impl Numbers {
    /// Adds a number; false if it was there.
    pub fn insert(&mut self, number: u64) -> bool {
        let before = self.runs.range(..=number).next_back().map(|(&first, &last)| (first, last));
        if before.is_some_and(|(_, last)| number <= last) {
            return false;
        }
        let joins = before.filter(|&(_, last)| last + 1 == number).map(|(first, _)| first);
        let after = number.checked_add(1).and_then(|next| self.runs.remove(&next));
        self.runs.insert(joins.unwrap_or(number), after.unwrap_or(number));
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn as_a_plain_set() {
        let mut state = 1u64;
        let mut numbers = Numbers::default();
        let mut plain = HashSet::new();
        for _ in 0..5000 {
            state = crate::stats::distinct::mix(state);
            let number = state % 600;
            assert_eq!(numbers.insert(number), plain.insert(number), "{number}");
        }
        let runs: u64 = numbers.runs.iter().map(|(first, last)| last - first + 1).sum();
        assert_eq!(runs, plain.len() as u64);
        let ends = |numbers: &Numbers| numbers.runs.iter().map(|(&a, &b)| (a, b)).collect::<Vec<_>>();
        assert!(ends(&numbers).windows(2).all(|pair| pair[0].1 + 1 < pair[1].0), "runs are joined");
    }

    #[test]
    fn the_greatest_numbers() {
        let mut numbers = Numbers::default();
        assert!(numbers.insert(u64::MAX) && numbers.insert(u64::MAX - 1) && numbers.insert(0));
        assert!(!numbers.insert(u64::MAX) && !numbers.insert(u64::MAX - 1));
        assert_eq!(numbers.runs.len(), 2);
    }
}
