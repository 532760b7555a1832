//! Positions waiting in a window, each in one piece.
//!
//! A window is read in random order. Kept as columns a position would cost a cache miss in each of six arrays; as one
//! record of some 60 words it costs two lines, and the list that is shuffled needs no other look-up:
//!
//! ```text
//! record   length of row 0 | length of row 1 << 8, outcome | stack << 8, score, material (3 words), row 0, row 1
//! place    record's first word | stack << 56
//! ```

use super::samples::Samples;
use std::ops::Range;

/// Words before the features.
const HEAD: usize = 6;

/// Where the stack begins in a place.
const STACK_SHIFT: u32 = 56;

/// What a record holds besides its features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// The search's score, side to move, centipawns.
    pub score: i16,
    /// What the side to move got from the game, in half points.
    pub outcome: u8,
    /// The output stack.
    pub stack: u8,
    /// As [`Samples::material`].
    pub material: [i8; 6],
}

/// Positions as records, and the order they are read in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Packed {
    words: Vec<u16>,
    places: Vec<u64>,
}

/// A state of a [`Packed`] to return to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark {
    words: usize,
    places: usize,
}

impl Packed {
    /// No positions.
    pub fn new() -> Packed {
        Packed::default()
    }

    /// The number of positions.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// True when there is no position.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Drops all positions, keeping the memory.
    pub fn clear(&mut self) {
        self.words.clear();
        self.places.clear();
    }

    /// The present end, for [`Packed::truncate`].
    pub fn mark(&self) -> Mark {
        Mark { words: self.words.len(), places: self.places.len() }
    }

    /// Drops what came after `mark`. The places must be in the order they were appended in.
    pub fn truncate(&mut self, mark: Mark) {
        self.words.truncate(mark.words);
        self.places.truncate(mark.places);
    }

    /// The list to shuffle.
    pub fn places_mut(&mut self) -> &mut [u64] {
        &mut self.places
    }

    /// Appends a position. `rows` appends its features, the side to move's first, and gives the length of the first
    /// row; no row has more than 255.
    pub fn push(&mut self, label: Label, rows: impl FnOnce(&mut Vec<u16>) -> usize) {
        let begin = self.words.len();
        self.words.resize(begin + HEAD, 0);
        let first = rows(&mut self.words);
        let second = self.words.len() - begin - HEAD - first;
        let material = label.material.map(|count| u16::from(count as u8));
        self.words[begin..begin + HEAD].copy_from_slice(&[
            first as u16 | (second as u16) << 8,
            u16::from(label.outcome) | u16::from(label.stack) << 8,
            label.score as u16,
            material[0] | material[1] << 8,
            material[2] | material[3] << 8,
            material[4] | material[5] << 8,
        ]);
        self.places.push(begin as u64 | u64::from(label.stack) << STACK_SHIFT);
    }

    /// The features of the position appended last.
    pub fn last_features_mut(&mut self) -> &mut [u16] {
        let place = self.places.last().map_or(self.words.len(), |&place| begin_of(place) + HEAD);
        self.words.get_mut(place..).unwrap_or_default()
    }

    /// Appends the positions at `chosen` places to `out`, ordered by stack; those of one stack keep their order.
    pub fn gather(&self, chosen: Range<usize>, out: &mut Samples) {
        let chosen = &self.places[chosen];
        // A counting sort: the stack is in the place, so no record is looked at twice.
        let mut ends = [0usize; 257];
        for place in chosen {
            ends[(place >> STACK_SHIFT) as usize + 1] += 1;
        }
        for stack in 1..ends.len() {
            ends[stack] += ends[stack - 1];
        }
        let mut order = vec![0; chosen.len()];
        for &place in chosen {
            let next = &mut ends[(place >> STACK_SHIFT) as usize];
            order[*next] = begin_of(place);
            *next += 1;
        }
        out.reserve(order.len());
        order.into_iter().for_each(|begin| self.unpack(begin, out));
    }

    /// All positions in the order of the places, appended to `out`.
    pub fn append_to(&self, out: &mut Samples) {
        out.reserve(self.len());
        self.places.iter().for_each(|&place| self.unpack(begin_of(place), out));
    }

    fn unpack(&self, begin: usize, out: &mut Samples) {
        let &[lengths, bytes, score, m0, m1, m2, ref rest @ ..] = &self.words[begin..] else { return };
        let [first, second] = lengths.to_le_bytes().map(usize::from);
        let [outcome, stack] = bytes.to_le_bytes();
        let base = out.indices.len() as u32;
        out.indices.extend_from_slice(&rest[..first + second]);
        out.offsets.extend([base + first as u32, base + (first + second) as u32]);
        out.scores.push(score as i16);
        out.outcomes.push(outcome);
        out.stacks.push(stack);
        let [[a, b], [c, d], [e, f]] = [m0, m1, m2].map(u16::to_le_bytes);
        out.material.push([a, b, c, d, e, f].map(|byte| byte as i8));
    }
}

fn begin_of(place: u64) -> usize {
    (place & ((1 << STACK_SHIFT) - 1)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(i: u16) -> (Label, Vec<u16>, Vec<u16>) {
        let label = Label {
            score: 7 * i as i16 - 300,
            outcome: (i % 3) as u8,
            stack: (i * 5 % 16) as u8,
            material: [i as i8, -(i as i8), 1, -1, 127, -128],
        };
        ((label), (0..i % 33).collect(), (100..100 + i % 7).collect())
    }

    fn samples(numbers: impl Iterator<Item = u16>) -> Samples {
        let mut samples = Samples::new();
        for (label, first, second) in numbers.map(position) {
            for row in [first, second] {
                samples.indices.extend(row);
                samples.offsets.push(samples.indices.len() as u32);
            }
            samples.scores.push(label.score);
            samples.outcomes.push(label.outcome);
            samples.stacks.push(label.stack);
            samples.material.push(label.material);
        }
        samples
    }

    #[test]
    fn what_is_packed_comes_out_again() {
        let mut packed = Packed::new();
        let push = |packed: &mut Packed, i: u16| {
            let (label, first, second) = position(i);
            packed.push(label, |out| {
                out.extend(&first);
                out.extend(&second);
                first.len()
            });
        };
        (0..100).for_each(|i| push(&mut packed, i));
        let mut all = Samples::new();
        packed.append_to(&mut all);
        assert_eq!(all, samples(0..100));
        let mark = packed.mark();
        (100..120).for_each(|i| push(&mut packed, i));
        packed.truncate(mark);
        assert_eq!(packed.len(), 100);
        // Chosen ones by stack, each stack in the order of the places.
        packed.places_mut().reverse();
        let mut chosen = Samples::new();
        packed.gather(10..60, &mut chosen);
        let mut expected: Vec<u16> = (40..90).rev().collect();
        expected.sort_by_key(|&i| position(i).0.stack);
        assert_eq!(chosen, samples(expected.into_iter()));
    }
}
