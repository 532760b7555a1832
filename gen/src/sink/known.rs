//! What a run of self-play knows of an unfinished file before it goes on: that it is of its plan, and where its games begin.

use std::fs::File;
use std::path::Path;

use nnue_format::record::{GameRecord, Header, Reader, Totals, WriteError};

use super::error::SinkError;
use super::ordered::Run;
use crate::plan::Plan;
use crate::workers::Known;

/// A run of self-play.
pub(super) struct SelfPlay<'a> {
    header: &'a Header,
    plan: &'a Plan,
    /// Keys of the positions where the games of an unfinished file begin.
    pub(super) known: Known,
}

impl<'a> SelfPlay<'a> {
    /// The run of a plan.
    pub(super) fn new(header: &'a Header, plan: &'a Plan) -> SelfPlay<'a> {
        SelfPlay { header, plan, known: Known::default() }
    }
}

impl Run for SelfPlay<'_> {
    fn check(&self, path: &Path, header: &Header, plan: &[u8]) -> Result<(), SinkError> {
        if plan.is_empty() {
            let why = "its header or plan is damaged".to_owned();
            return Err(SinkError::NotARecord { path: path.to_owned(), why });
        }
        let other = |differences: String| Err(SinkError::OtherPlan { path: path.to_owned(), differences });
        let found = match Plan::from_bytes(plan) {
            Ok(found) => found,
            Err(error) => return other(error.to_string()),
        };
        if found != *self.plan {
            return other(self.plan.differences(&found).join("; "));
        }
        if header.run_id != self.header.run_id {
            return other("another run id".to_owned());
        }
        Ok(())
    }

    fn next(&mut self, path: &Path, file: &File, end: u64, _: Totals) -> Result<u64, SinkError> {
        let error = |source| SinkError::Write { path: path.to_owned(), source: WriteError::Continue(source) };
        let mut next = 0;
        let mut reader = Reader::new(file).map_err(error)?;
        while reader.offset() < end {
            let Some(block) = reader.next_block() else { break };
            for game in block.and_then(|block| block.games()).map_err(error)? {
                self.known.insert(opening_key(&game)?);
                next = game.number + 1;
            }
        }
        Ok(next)
    }
}

/// The key of the position after the opening.
pub(super) fn opening_key(game: &GameRecord) -> Result<u64, SinkError> {
    let error = |source| SinkError::Game { number: game.number, source };
    let mut position = game.start.position().map_err(error)?;
    let mut walk = game.positions().map_err(error)?;
    for _ in 0..game.opening.len() {
        if let Some(step) = walk.next() {
            let (_, ply) = step.map_err(error)?;
            position.make(ply.mv);
        }
    }
    Ok(position.key())
}
