//! A fair sample of fixed size that does not depend on the order in which things come.

use std::collections::BTreeMap;

use nnue_format::record::GameRecord;

use super::research::Target;
use crate::stats::distinct::mix;

/// The things whose hashes are the least.
#[derive(Clone, Debug)]
pub struct Sample<T> {
    size: usize,
    seed: u64,
    /// Hashes above this one are not among the least.
    limit: u64,
    kept: BTreeMap<u64, T>,
}

impl<T> Sample<T> {
    /// Empty; `size` things are kept at most. Another seed takes other things.
    pub const fn new(size: usize, seed: u64) -> Sample<T> {
        Sample { size, seed, limit: u64::MAX, kept: BTreeMap::new() }
    }

    /// Empty, for a part of the things that go into this sample.
    pub fn like(&self) -> Sample<T> {
        Sample { limit: self.limit, ..Sample::new(self.size, self.seed) }
    }

    /// Takes a thing, made where it is needed, if its key is among the least hashed.
    pub fn offer(&mut self, key: u64, thing: impl FnOnce() -> T) {
        let hash = mix(key ^ mix(self.seed));
        if self.size == 0 || hash > self.limit {
            return;
        }
        self.kept.insert(hash, thing());
        self.trim();
    }

    /// Takes the things of a part.
    pub fn merge(&mut self, part: Sample<T>) {
        self.kept.extend(part.kept);
        self.trim();
    }

    fn trim(&mut self) {
        while self.kept.len() > self.size {
            self.kept.pop_last();
        }
        if let Some((&last, _)) = self.kept.last_key_value().filter(|_| self.kept.len() == self.size) {
            self.limit = last;
        }
    }

    /// The things, in the order of their hashes.
    pub fn into_things(self) -> Vec<T> {
        self.kept.into_values().collect()
    }
}

impl Sample<Target> {
    /// Takes scored positions of a game.
    pub fn offer_each(&mut self, game: &GameRecord) {
        for scored in 0..game.plies.len() {
            self.offer(mix(game.number) ^ scored as u64, || Target::of(game, scored));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_order_have_no_influence() {
        let whole = |order: &mut dyn Iterator<Item = u64>, parts: usize, seed| {
            let mut sample = Sample::new(10, seed);
            let keys: Vec<u64> = order.collect();
            for part in keys.chunks(parts) {
                let mut found = sample.like();
                part.iter().for_each(|&key| found.offer(key, || key));
                sample.merge(found);
            }
            sample.into_things()
        };
        let found = whole(&mut (0..1000), 7, 1);
        assert_eq!(found.len(), 10);
        assert_eq!(found, whole(&mut (0..1000).rev(), 333, 1));
        assert_ne!(found, whole(&mut (0..1000), 7, 2));
        assert_eq!(whole(&mut (0..4), 1, 1).len(), 4);
    }
}
