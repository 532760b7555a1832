//! Blocks to positions: decompression, replay, filters, features.

use super::blocks::BlockReader;
use super::error::DataError;
use super::filter::FilterCounts;
use super::packed::Packed;
use super::plan::Plan;
use super::skip::RandomSkip;
use super::source::Source;
use super::split::Side;
use super::walk::{Memory, Rules, Walk};
use nnue_format::record::{RawBlock, ReadError};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use xiangqi::{Move, Position};

/// Which games of a block are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Those trained on.
    Training,
    /// Those of the share kept for validation.
    Validation,
    /// All of them.
    Everything,
}

impl Part {
    fn wants(self, side: Side) -> bool {
        match self {
            Part::Training => side == Side::Training,
            Part::Validation => side == Side::Validation,
            Part::Everything => true,
        }
    }
}

/// Reads single blocks and turns them into positions.
pub struct BlockDecoder {
    source: Arc<Source>,
    rules: Rules,
    skip_damage: bool,
    random_skip: f64,
    reader: BlockReader,
    memory: Memory,
}

impl BlockDecoder {
    /// A decoder for the blocks of a plan. When `stop` is set it gives up waiting for remote files.
    pub fn new(plan: &Plan, stop: Arc<AtomicBool>) -> BlockDecoder {
        let rules = Rules {
            split: plan.split.clone(),
            filter: plan.filter.clone(),
            encoder: plan.encoder.clone(),
            seed: plan.seed,
            mirror: plan.mirror,
        };
        BlockDecoder {
            source: plan.source.clone(),
            rules,
            skip_damage: plan.skip_damage,
            random_skip: plan.random_skip,
            reader: BlockReader::new(plan.source.clone(), stop),
            memory: Memory::default(),
        }
    }

    /// Appends the training positions of block number `block` as they are in pass `pass`, in the order of the file. Returns
    /// how many there are before the random skip.
    ///
    /// # Errors
    /// [`DataError::Read`] with the file, unless damage is skipped.
    pub fn pack(
        &mut self,
        block: usize,
        pass: u64,
        out: &mut Packed,
        counts: &mut FilterCounts,
    ) -> Result<u32, DataError> {
        self.walk(block, pass, Some(out), counts)
    }

    /// As [`BlockDecoder::pack`], but only counts: no features.
    ///
    /// # Errors
    /// As [`BlockDecoder::pack`].
    pub fn count(&mut self, block: usize, pass: u64, counts: &mut FilterCounts) -> Result<u32, DataError> {
        self.walk(block, pass, None, counts)
    }

    fn walk(
        &mut self,
        block: usize,
        pass: u64,
        out: Option<&mut Packed>,
        counts: &mut FilterCounts,
    ) -> Result<u32, DataError> {
        let raw = self.raw(block);
        let skip = RandomSkip::new(self.random_skip, self.rules.seed, block, pass);
        let mut walk = Walk::new(&self.rules, &mut self.memory, out, pass, skip);
        let result = raw.and_then(|raw| raw.walk(|game, position, ply| walk.visit(game, position, ply)));
        let (found, passed) = walk.finish(result.is_ok());
        counts.add(&found);
        self.accept(block, result, counts)?;
        Ok(passed)
    }

    /// Appends the positions of a block's games that are of `part`, without random skip and mirrors. `seen` is called for
    /// each with its position.
    ///
    /// # Errors
    /// As [`BlockDecoder::pack`].
    pub fn sample(
        &mut self,
        block: usize,
        part: Part,
        out: &mut Packed,
        counts: &mut FilterCounts,
        seen: impl FnMut(&Position),
    ) -> Result<(), DataError> {
        let result = self.raw(block).and_then(|raw| self.sample_raw(&raw, part, out, counts, seen));
        self.accept(block, result, counts)
    }

    fn sample_raw(
        &self,
        raw: &RawBlock,
        part: Part,
        out: &mut Packed,
        counts: &mut FilterCounts,
        mut seen: impl FnMut(&Position),
    ) -> Result<(), ReadError> {
        let Rules { split, filter, encoder, .. } = &self.rules;
        for (index, game) in (0..).zip(raw.games()?) {
            let (offset, number) = (raw.offset, game.number);
            let named = |source| ReadError::Game { offset, index, number, source };
            let moves: Vec<Move> = game.moves().collect();
            let side = split.side(&game.start, &moves).map_err(named)?;
            if !part.wants(side) {
                counts.other_split += moves.len() as u64;
                continue;
            }
            let head = game.head();
            let mut keys = Vec::new();
            let mut walk = game.positions().map_err(named)?;
            while let Some(next) = walk.next() {
                let (position, ply) = next.map_err(named)?;
                if filter.passes(&head, position, &ply, &keys, counts)
                    && let Some((score, _)) = ply.scored
                {
                    counts.kept += 1;
                    let outcome = head.outcome.half_points(position.side_to_move());
                    encoder.pack(out, position, score.0, outcome);
                    seen(position);
                }
                keys.push(position.key());
            }
        }
        Ok(())
    }

    /// The numbers of all games of a block, see [`nnue_format::record::game_id`].
    ///
    /// # Errors
    /// As [`BlockDecoder::pack`].
    pub fn game_ids(&mut self, block: usize, out: &mut impl Extend<u64>) -> Result<(), DataError> {
        let result = self.raw(block).and_then(|raw| {
            for (index, game) in (0..).zip(raw.games()?) {
                let moves: Vec<Move> = game.moves().collect();
                let id = nnue_format::record::game_id(&game.start, &moves, true);
                let named =
                    |source| ReadError::Game { offset: raw.offset, index, number: game.number, source };
                out.extend([id.map_err(named)?]);
            }
            Ok(())
        });
        self.accept(block, result, &mut FilterCounts::default())
    }

    /// Damage as an error with its file, or left out and counted.
    fn accept(
        &self,
        block: usize,
        result: Result<(), ReadError>,
        counts: &mut FilterCounts,
    ) -> Result<(), DataError> {
        match result {
            Ok(()) => Ok(()),
            Err(error) if self.skip_damage && !matches!(error, ReadError::Io { .. }) => {
                counts.damaged_blocks += 1;
                Ok(())
            }
            Err(source) => Err(DataError::Read { file: self.source.file_of(block).path.clone(), source }),
        }
    }

    /// Tells which blocks will be asked for next, in this order, so that remote ones are on their way.
    pub fn will_read(&mut self, blocks: &[u32]) {
        self.reader.will_read(blocks);
    }

    fn raw(&mut self, block: usize) -> Result<RawBlock, ReadError> {
        self.reader.read(block as u32)
    }
}
