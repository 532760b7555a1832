//! A lane: an endless stream of a part of a set's positions, in a fixed random order.
//!
//! In each pass through the data lane `l` of `n` has blocks `l, l + n, …` of the set's seeded order. Blocks are decoded into a
//! window until it holds its size in positions *after* the filters; it is shuffled and read to its end. The pass's last
//! window takes all that is left when that is less than a window, so none is tiny. While one window is read the next one is
//! filled, block by block in step with it.
//!
//! Lanes know nothing of each other: at the end of its pass a lane begins its next one, whatever the others do.

use super::decode::BlockDecoder;
use super::error::DataError;
use super::filter::FilterCounts;
use super::packed::Packed;
use super::plan::{LanePlace, Plan};
use super::samples::Samples;
use super::skip::RandomSkip;
use crate::chance::{Purpose, generator, hash, shuffle};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A lane's stream from some place on.
pub struct Lane {
    plan: Plan,
    place: LanePlace,
    decoder: BlockDecoder,
    pass: Pass,
    filling: Window,
    current: Window,
    counts: FilterCounts,
    stop: Arc<AtomicBool>,
}

/// A lane's way through its blocks in one pass.
struct Pass {
    number: u64,
    blocks: Vec<u32>,
    next: usize,
    /// Positions in the blocks to come, before the filters.
    left: u64,
    /// Positions of the blocks so far, after them.
    kept: u64,
    /// Windows ended.
    windows: u64,
}

#[derive(Default)]
struct Window {
    packed: Packed,
    /// The next position to give.
    next: usize,
    /// It holds all it will.
    ended: bool,
    /// The seed of its order.
    seed: u64,
}

impl Pass {
    fn new(plan: &Plan, place: &LanePlace, number: u64) -> Pass {
        let lanes = plan.sets[place.set].lanes;
        let blocks: Vec<u32> =
            plan.block_order(place.set, number).into_iter().skip(place.lane).step_by(lanes).collect();
        let left = blocks.iter().map(|&block| positions(plan, block)).sum();
        Pass { number, blocks, next: 0, left, kept: 0, windows: 0 }
    }

    fn next_block(&mut self, plan: &Plan) -> Option<u32> {
        let block = *self.blocks.get(self.next)?;
        self.next += 1;
        self.left -= positions(plan, block);
        Some(block)
    }

    fn is_over(&self) -> bool {
        self.next == self.blocks.len()
    }

    /// Must a window of `len` positions end here, if its size is `size`?
    fn ends_window(&self, len: u64, size: u64) -> bool {
        self.is_over() || (len >= size && self.left >= size)
    }
}

/// Scored positions of a block, before the filters.
fn positions(plan: &Plan, block: u32) -> u64 {
    u64::from(plan.source.blocks()[block as usize].positions)
}

impl Lane {
    /// The stream behind its first `given` positions. Windows that are passed over whole are counted, not made: by what is
    /// known of their blocks, else by decoding them without features.
    ///
    /// # Errors
    /// [`DataError`] of reading, and [`DataError::Empty`] when the filters leave nothing of the lane.
    pub fn new(plan: &Plan, place: LanePlace, given: u64, stop: Arc<AtomicBool>) -> Result<Lane, DataError> {
        let mut lane = Lane {
            decoder: BlockDecoder::new(plan, stop.clone()),
            pass: Pass::new(plan, &place, 0),
            plan: plan.clone(),
            place,
            filling: Window::default(),
            current: Window::default(),
            counts: FilterCounts::default(),
            stop,
        };
        lane.pass_over(given)?;
        Ok(lane)
    }

    fn window_size(&self) -> u64 {
        self.plan.sets[self.place.set].window as u64
    }

    fn pass_over(&mut self, given: u64) -> Result<(), DataError> {
        let mut left = given;
        while left > 0 {
            if self.pass.is_over() {
                self.next_pass()?;
            }
            let (next, to_come) = (self.pass.next, self.pass.left);
            let len = self.count_window()?;
            if left >= len {
                left -= len;
                self.pass.kept += len;
                self.pass.windows += 1;
                continue;
            }
            (self.pass.next, self.pass.left) = (next, to_come);
            self.advance()?;
            self.current.next = left as usize;
            return Ok(());
        }
        Ok(())
    }

    /// The length of the window that begins here, behind which the pass stands then.
    fn count_window(&mut self) -> Result<u64, DataError> {
        let (mut len, size) = (0, self.window_size());
        while let Some(block) = self.pass.next_block(&self.plan) {
            let passed = match self.plan.passed(block) {
                Some(passed) => passed,
                None => {
                    self.check_stop()?;
                    self.decoder.will_read(&self.pass.blocks[self.pass.next - 1..]);
                    let passed = self.decoder.count(block as usize, self.pass.number, &mut self.counts)?;
                    self.plan.note_passed(block, passed);
                    passed
                }
            };
            let (share, seed) = (self.plan.random_skip, self.plan.seed);
            let skip = RandomSkip::new(share, seed, block as usize, self.pass.number);
            len += skip.kept_of(u64::from(passed));
            if self.pass.ends_window(len, size) {
                break;
            }
        }
        Ok(len)
    }

    fn next_pass(&mut self) -> Result<(), DataError> {
        if self.pass.kept == 0 {
            let (files, counts) = (self.plan.source.files().len(), self.counts.to_string());
            return Err(DataError::Empty { files, counts });
        }
        self.counts = FilterCounts::default();
        self.pass = Pass::new(&self.plan, &self.place, self.pass.number + 1);
        Ok(())
    }

    fn check_stop(&self) -> Result<(), DataError> {
        if self.stop.load(Ordering::Relaxed) { Err(DataError::Stopped) } else { Ok(()) }
    }

    /// Decodes one block more into the window that is being filled.
    fn fill(&mut self) -> Result<(), DataError> {
        self.check_stop()?;
        if self.pass.is_over() {
            self.next_pass()?;
        }
        let (pass, size) = (self.pass.number, self.window_size());
        let before = self.filling.packed.len() as u64;
        self.decoder.will_read(&self.pass.blocks[self.pass.next..]);
        if let Some(block) = self.pass.next_block(&self.plan) {
            let out = &mut self.filling.packed;
            let passed = self.decoder.pack(block as usize, pass, out, &mut self.counts)?;
            self.plan.note_passed(block, passed);
        }
        let len = self.filling.packed.len() as u64;
        self.pass.kept += len - before;
        if self.pass.ends_window(len, size) {
            self.filling.ended = true;
            let lane = hash(self.plan.seed, Purpose::Window, self.place.set as u64, self.place.lane as u64);
            self.filling.seed = hash(lane, Purpose::Window, pass, self.pass.windows);
            self.pass.windows += 1;
        }
        Ok(())
    }

    /// Goes on to the next window, made to its end and shuffled.
    fn advance(&mut self) -> Result<(), DataError> {
        self.current.packed.clear();
        while self.current.packed.is_empty() {
            while !self.filling.ended {
                self.fill()?;
            }
            std::mem::swap(&mut self.current, &mut self.filling);
            self.filling.packed.clear();
            self.filling.ended = false;
        }
        self.current.next = 0;
        let mut order = generator(self.current.seed, Purpose::Window, 0, 0);
        shuffle(&mut order, self.current.packed.places_mut());
        Ok(())
    }

    /// Fills the next window as far as the current one is read.
    fn keep_pace(&mut self) -> Result<(), DataError> {
        let (read, len, size) = (self.current.next, self.current.packed.len(), self.window_size());
        while !self.filling.ended
            && (self.filling.packed.len() as u128) * (len as u128) < read as u128 * u128::from(size)
        {
            self.fill()?;
        }
        Ok(())
    }

    /// The next `count` positions, of which those numbered `keep` are made: ordered by stack, each stack's in the order of
    /// the stream.
    ///
    /// # Errors
    /// As [`Lane::new`]; nothing comes after one.
    pub fn take(&mut self, count: usize, keep: &Range<usize>) -> Result<Samples, DataError> {
        let (mut parts, mut done) = (Vec::new(), 0);
        while done < count {
            if self.current.next == self.current.packed.len() {
                self.advance()?;
            }
            let next = self.current.next;
            let here = (count - done).min(self.current.packed.len() - next);
            let from = keep.start.clamp(done, done + here);
            let to = keep.end.clamp(from, done + here);
            if from < to {
                let mut part = Samples::new();
                self.current.packed.gather(next + from - done..next + to - done, &mut part);
                parts.push(part);
            }
            self.current.next += here;
            done += here;
        }
        self.keep_pace()?;
        Ok(Samples::merged(parts))
    }
}
