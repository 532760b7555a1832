//! Where games go: `FILE.partial` block by block, then `FILE` by rename. Nothing whole is ever lost.
//!
//! ```text
//! FILE.partial          blocks of games in the order of their numbers; locked by the process that writes
//! FILE.journal.partial  games that are in no whole block yet, each as it was finished
//! FILE                  complete, with its footer
//! ```
//!
//! The journal is a record file too, of blocks of one game. After each block of `FILE.partial` it is written
//! anew with the games still waiting. A killed run is continued from both: blocks up to the first damage, then
//! the journal's games, then new ones. Which games share a block depends on their order alone, so the
//! finished file has the same bytes however often the run was interrupted.

mod error;
mod files;
mod known;
mod ordered;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use nnue_format::record::{GameRecord, Header, Totals};

use crate::plan::{Count, Plan};
use crate::play::{Finished, Played};
use crate::workers::Known;
use known::{SelfPlay, opening_key};

pub use error::SinkError;
pub use files::{Paths, sync_folder_of};
pub(crate) use files::{add, open_locked};
pub(crate) use ordered::{Found, Ordered, Run};

/// So many numbers in a row that gave no game (repeated or one-sided openings): there are no more openings to be had.
const MAX_UNUSED: u64 = 1000;

/// What an output file turned out to be.
#[derive(Debug)]
pub enum Opened {
    /// Finished before, by the same plan.
    Complete(Totals),
    /// New, or to be continued.
    Run(Box<Sink>),
}

/// Takes games in any order and writes them in the order of their numbers.
#[derive(Debug)]
pub struct Sink {
    file: Box<Ordered>,
    count: Count,
    /// Games that wait for earlier ones.
    waiting: BTreeMap<u64, Option<Box<Played>>>,
    /// The number that is written next.
    next: u64,
    /// Numbers are below this.
    numbers: u64,
    /// Keys of the positions where the games written begin.
    known: Arc<Known>,
    unused: u64,
    unused_in_a_row: u64,
    /// Nodes of the games taken.
    nodes: u64,
    /// What an interrupted run left.
    found: Totals,
}

impl Sink {
    /// Opens the output of a plan: refuses what is not its own, continues what is unfinished.
    pub fn open(out: &Path, header: &Header, plan: &Plan) -> Result<Opened, SinkError> {
        let mut run = SelfPlay::new(header, plan);
        let (file, next, journalled) = match Ordered::open(out, header, plan.to_bytes()?, &mut run, false)? {
            Found::Complete(totals) => return Ok(Opened::Complete(totals)),
            Found::Open(file, next, journalled) => (file, next, journalled),
        };
        let mut sink = Sink {
            count: plan.count,
            waiting: BTreeMap::new(),
            next,
            numbers: plan.numbers(),
            known: Arc::new(run.known),
            unused: next - file.written().games,
            unused_in_a_row: 0,
            nodes: 0,
            found: Totals::default(),
            file,
        };
        for (number, record) in journalled {
            let opening_key = opening_key(&record)?;
            sink.waiting.insert(number, Some(Box::new(Played { record, opening_key, nodes: 0 })));
        }
        sink.drain()?;
        sink.found = sink.written();
        Ok(Opened::Run(Box::new(sink)))
    }

    /// Takes what became of a number.
    pub fn accept(&mut self, number: u64, finished: Finished) -> Result<(), SinkError> {
        if number < self.next || self.waiting.contains_key(&number) || self.is_complete() {
            return Ok(());
        }
        let played = match finished {
            Finished::Stopped => return Ok(()),
            Finished::Repeated | Finished::OneSided => None,
            Finished::Game(played) => {
                self.nodes += played.nodes;
                self.file.keep(&played.record)?;
                Some(played)
            }
        };
        self.waiting.insert(number, played);
        self.drain()
    }

    /// Writes the waiting games whose turn it is.
    fn drain(&mut self) -> Result<(), SinkError> {
        while !self.is_complete() {
            let Some(played) = self.waiting.remove(&self.next) else { break };
            self.next += 1;
            match played.filter(|played| self.known.insert(played.opening_key)) {
                Some(played) => {
                    self.unused_in_a_row = 0;
                    self.write(played.record)?;
                }
                None => {
                    self.unused += 1;
                    self.unused_in_a_row += 1;
                    if self.unused_in_a_row >= MAX_UNUSED && self.count != Count::WholeBook {
                        let (games, path) = (self.written().games, self.paths().partial.clone());
                        return Err(SinkError::NoMoreOpenings { games, path });
                    }
                }
            }
        }
        if self.next < self.numbers || self.is_complete() {
            return Ok(());
        }
        self.suspend()?;
        let Totals { games, positions, .. } = self.written();
        let (openings, unused, path) = (self.numbers, self.unused, self.paths().partial.clone());
        Err(SinkError::BookUsedUp { openings, games, positions, unused, path })
    }

    fn write(&mut self, mut game: GameRecord) -> Result<(), SinkError> {
        if let Count::Positions(wanted) = self.count {
            let wanted = wanted - self.written().positions;
            let surplus = game.plies.len().saturating_sub(usize::try_from(wanted).unwrap_or(usize::MAX));
            game.opening.extend(game.plies.drain(..surplus).map(|ply| ply.mv));
        }
        self.file.write(&game, self.waiting.values().flatten().map(|played| &played.record))
    }

    /// Is everything there that the plan asks for?
    pub const fn is_complete(&self) -> bool {
        match self.count {
            Count::Games(wanted) => self.written().games >= wanted,
            Count::Positions(wanted) => self.written().positions >= wanted,
            Count::WholeBook => self.next >= self.numbers,
        }
    }

    /// Syncs what is there, for a run that stops before it is complete.
    pub fn suspend(&mut self) -> Result<(), SinkError> {
        self.file.suspend()
    }

    /// Ends the file, calls `before_publishing` with the totals, and puts the file in its place.
    pub fn publish<E: From<SinkError>>(
        self,
        before_publishing: impl FnOnce(Totals, &Paths) -> Result<(), E>,
    ) -> Result<Totals, E> {
        self.file.publish(before_publishing)
    }

    /// The number written next.
    pub const fn next_number(&self) -> u64 {
        self.next
    }

    /// Numbers from here up are not needed, as far as is known.
    pub fn limit(&self) -> u64 {
        let limit = match self.count {
            Count::Games(wanted) => wanted.saturating_add(self.unused),
            Count::Positions(wanted) => self.enough_positions(wanted - self.written().positions),
            Count::WholeBook => self.numbers,
        };
        limit.min(self.numbers)
    }

    /// The number behind the waiting games that have so many positions; the greatest where they have not.
    fn enough_positions(&self, mut missing: u64) -> u64 {
        for (number, played) in &self.waiting {
            let positions = played.as_ref().map_or(0, |played| played.record.plies.len() as u64);
            if positions >= missing {
                return number + 1;
            }
            missing -= positions;
        }
        u64::MAX
    }

    /// What is written, blocks unfinished included.
    pub const fn written(&self) -> Totals {
        self.file.written()
    }

    /// What an interrupted run had left.
    pub const fn found(&self) -> Totals {
        self.found
    }

    /// How many numbers were left unused because their opening repeats another game's or is one-sided.
    pub const fn unused(&self) -> u64 {
        self.unused
    }

    /// Nodes searched for the games taken since the sink was opened.
    pub const fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Numbers whose games wait for earlier ones.
    pub fn waiting(&self) -> HashSet<u64> {
        self.waiting.keys().copied().collect()
    }

    /// Keys of the positions where the games written begin.
    pub const fn known(&self) -> &Arc<Known> {
        &self.known
    }

    /// The files.
    pub const fn paths(&self) -> &Paths {
        self.file.paths()
    }
}
