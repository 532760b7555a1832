//! A batch as the device wants it: rows in order of their bucket, everything in one copy.
//!
//! ```text
//! bytes on their way     targets f32 [n] │ stacks i32 [n] │ place i32 [2 n] │ indices i16 [2 n, 32]
//! ```
//!
//! Row `2 i` is the side to move of position `i`, row `2 i + 1` the other side; row `r` lies in place `place[r]`. The
//! indices of a place are those of features, -1 after the last. All features of a row are of one bucket of
//! the feature set, so that the rows of a bucket are one matrix product with the bucket's weights.

use super::DeviceError;
use super::stream::Staging;
use crate::data::Samples;
use crate::loss::Loss;
use nnue_format::features::FeatureSet;
use rayon::prelude::*;
use std::ops::Range;
use tch::{Device, Kind, Tensor};

/// Places for features in a row.
pub const ACTIVE: usize = FeatureSet::MAX_ACTIVE;

/// Rows that a task packs at a time.
const TASK: usize = 1024;
/// Buffers that wait for their copy, one after the other.
const BUFFERS: usize = 3;
/// Bytes of a position: target, stack, two places, two rows of indices.
const POSITION: usize = 4 + 4 + 2 * 4 + 2 * 2 * ACTIVE;

/// Positions on the device.
pub struct Packed {
    /// How many.
    pub positions: usize,
    /// Rows of each bucket; their places follow each other.
    pub rows_of: Vec<usize>,
    /// f32 `[positions]`.
    pub targets: Tensor,
    /// i32 `[positions]`.
    pub stacks: Tensor,
    /// i32 `[rows]`.
    pub place: Tensor,
    /// i16 `[rows, ACTIVE]`.
    pub indices: Tensor,
}

impl Packed {
    /// Two for each position.
    pub fn rows(&self) -> usize {
        2 * self.positions
    }
}

/// Packs batches and sends them to the device, ahead of the computation.
pub struct Packer {
    device: Device,
    slots: usize,
    buckets: usize,
    stacks: usize,
    buffers: Vec<Staging>,
    next: usize,
    bucket_of: Vec<u8>,
    place: Vec<u32>,
    order: Vec<u32>,
}

impl Packer {
    /// A packer for nets of `set` with so many stacks.
    ///
    /// # Errors
    /// [`DeviceError::TooLarge`] for a set that is too large for 16-bit indices with a sign.
    pub fn new(set: FeatureSet, stacks: usize, device: Device) -> Result<Packer, DeviceError> {
        if set.inputs() > i16::MAX as usize || set.buckets() > usize::from(u8::MAX) {
            return Err(DeviceError::TooLarge(format!("the {} inputs of {set}", set.inputs())));
        }
        Ok(Packer {
            device,
            slots: set.slot_count(),
            buckets: set.buckets(),
            stacks,
            buffers: Vec::new(),
            next: 0,
            bucket_of: Vec::new(),
            place: Vec::new(),
            order: Vec::new(),
        })
    }

    /// Sends positions `range` to the device. Targets are those of `loss`, zero without.
    ///
    /// # Errors
    /// [`DeviceError::Row`] for a row that is none of the feature set.
    pub fn pack(
        &mut self,
        samples: &Samples,
        range: Range<usize>,
        loss: Option<&Loss>,
    ) -> Result<Packed, DeviceError> {
        let positions = range.len();
        let rows_of = self.sort(samples, &range)?;
        let (device, len) = (self.device, positions * POSITION);
        self.next = (self.next + 1) % BUFFERS;
        while self.buffers.len() <= self.next {
            self.buffers.push(Staging::new(len, device)?);
        }
        let staging = &mut self.buffers[self.next];
        if staging.len() != len {
            *staging = Staging::new(len, device)?;
        }
        let bytes = staging.bytes()?;
        let (targets, rest) = bytes.split_at_mut(4 * positions);
        let (stacks, rest) = rest.split_at_mut(4 * positions);
        let (place, indices) = rest.split_at_mut(8 * positions);
        if let Some(loss) = loss {
            let pairs = samples.scores[range.clone()].par_iter().zip(&samples.outcomes[range.clone()]);
            targets.par_chunks_exact_mut(4).zip(pairs).with_min_len(TASK).for_each(
                |(to, (&score, &outcome))| {
                    to.copy_from_slice(&(loss.target(score, outcome) as f32).to_le_bytes());
                },
            );
        } else {
            targets.fill(0);
        }
        for (to, &stack) in stacks.chunks_exact_mut(4).zip(&samples.stacks[range.clone()]) {
            to.copy_from_slice(&i32::from(stack).to_le_bytes());
        }
        for (to, from) in place.chunks_exact_mut(4).zip(&self.place) {
            to.copy_from_slice(&from.to_le_bytes());
        }
        let first = 2 * range.start;
        indices.par_chunks_exact_mut(2 * ACTIVE).zip(&self.order).with_min_len(TASK).for_each(
            |(to, &row)| {
                let features = samples.row(first + row as usize);
                let padded = features.iter().map(|&f| f as i16).chain(std::iter::repeat(-1));
                for (to, feature) in to.chunks_exact_mut(2).zip(padded) {
                    to.copy_from_slice(&feature.to_le_bytes());
                }
            },
        );
        let copy = staging.upload()?;
        let part = |start: usize, len: usize, kind| {
            copy.f_narrow(0, (start * positions) as i64, (len * positions) as i64)?.f_view_dtype(kind)
        };
        Ok(Packed {
            positions,
            rows_of,
            targets: part(0, 4, Kind::Float)?,
            stacks: part(4, 4, Kind::Int)?,
            place: part(8, 8, Kind::Int)?,
            indices: part(16, 4 * ACTIVE, Kind::Int16)?.f_view([2 * positions as i64, ACTIVE as i64])?,
        })
    }

    /// Checks the rows and sorts them by bucket, stably; gives the number of rows of each.
    fn sort(&mut self, samples: &Samples, range: &Range<usize>) -> Result<Vec<usize>, DeviceError> {
        let (first, rows) = (2 * range.start, 2 * range.len());
        let (slots, buckets) = (self.slots, self.buckets);
        if let Some(&stack) = samples.stacks[range.clone()].iter().find(|&&s| usize::from(s) >= self.stacks) {
            return Err(DeviceError::Row(format!("stack {stack} of {}", self.stacks)));
        }
        self.bucket_of.resize(rows, 0);
        let check = |(row, bucket): (usize, &mut u8)| {
            let features = samples.row(first + row);
            let found = features.first().map_or(0, |&f| usize::from(f) / slots);
            let fits = |&f: &u16| usize::from(f) / slots == found;
            if found >= buckets || features.len() > ACTIVE || !features.iter().all(fits) {
                return Err(DeviceError::Row(format!(
                    "row {row} has {} features, first {:?}; expected at most {ACTIVE} of one bucket of {buckets}",
                    features.len(),
                    &features[..features.len().min(4)]
                )));
            }
            *bucket = found as u8;
            Ok(())
        };
        self.bucket_of.par_iter_mut().enumerate().with_min_len(TASK).try_for_each(|(r, b)| check((r, b)))?;
        let mut rows_of = vec![0; buckets];
        for &bucket in &self.bucket_of {
            rows_of[usize::from(bucket)] += 1;
        }
        let mut next: Vec<u32> = rows_of
            .iter()
            .scan(0, |start, &rows| {
                *start += rows as u32;
                Some(*start - rows as u32)
            })
            .collect();
        self.place.resize(rows, 0);
        self.order.resize(rows, 0);
        for (row, &bucket) in self.bucket_of.iter().enumerate() {
            let place = &mut next[usize::from(bucket)];
            self.place[row] = *place;
            self.order[*place as usize] = row as u32;
            *place += 1;
        }
        Ok(rows_of)
    }
}
