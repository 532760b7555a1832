//! Where rescored games go: as in self-play (`crate::sink`), in the order of the input. The games are numbered anew, from 0.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use nnue_format::record::{GameRecord, Header, Totals};

use crate::sink::{Found, Ordered, Paths, Run, SinkError, add};

/// What an output file turned out to be.
pub enum Opened {
    /// Finished before, by the same plan.
    Complete(Totals),
    /// New, or to be continued.
    Run(Box<Output>),
}

/// The file being written.
pub struct Output {
    file: Box<Ordered>,
    /// Games that wait for earlier ones.
    waiting: BTreeMap<u64, GameRecord>,
    found: Totals,
}

/// A run whose id is a digest of its plan.
struct Rescoring<'a>(&'a Header);

impl Run for Rescoring<'_> {
    fn check(&self, path: &Path, header: &Header, _: &[u8]) -> Result<(), SinkError> {
        if header.run_id == self.0.run_id {
            return Ok(());
        }
        let differences = "other inputs, another engine or net, or another limit".to_owned();
        Err(SinkError::OtherPlan { path: path.to_owned(), differences })
    }
}

impl Output {
    /// Opens the output of a plan: refuses what is not its own, or replaces it with `force`; continues what is unfinished.
    ///
    /// # Errors
    /// [`SinkError`].
    pub fn open(out: &Path, header: &Header, plan: Vec<u8>, force: bool) -> Result<Opened, SinkError> {
        match Ordered::open(out, header, plan, &mut Rescoring(header), force)? {
            Found::Complete(totals) => Ok(Opened::Complete(totals)),
            Found::Open(file, _, waiting) => {
                let mut output = Output { file, waiting, found: Totals::default() };
                output.drain()?;
                output.found = output.file.written();
                output.waiting.values().for_each(|game| add(&mut output.found, game));
                Ok(Opened::Run(Box::new(output)))
            }
        }
    }

    /// Takes a game that has its number in the output.
    ///
    /// # Errors
    /// [`SinkError`].
    pub fn accept(&mut self, game: GameRecord) -> Result<(), SinkError> {
        self.file.keep(&game)?;
        self.waiting.insert(game.number, game);
        self.drain()
    }

    fn drain(&mut self) -> Result<(), SinkError> {
        while let Some(game) = self.waiting.remove(&self.next()) {
            self.file.write(&game, self.waiting.values())?;
        }
        Ok(())
    }

    /// Syncs what is there, for a run that stops before it is complete.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn suspend(&mut self) -> Result<(), SinkError> {
        self.file.suspend()
    }

    /// Ends the file, calls `before_publishing`, and puts the file in its place.
    ///
    /// # Errors
    /// When the system or `before_publishing` refuses.
    pub fn publish<E: From<SinkError>>(
        self,
        before_publishing: impl FnOnce(Totals, &Paths) -> Result<(), E>,
    ) -> Result<Totals, E> {
        self.file.publish(before_publishing)
    }

    /// The number written next: all before it are in the file.
    pub const fn next(&self) -> u64 {
        self.file.written().games
    }

    /// Numbers beyond [`Output::next`] whose games are there.
    pub fn have(&self) -> BTreeSet<u64> {
        self.waiting.keys().copied().collect()
    }

    /// What an interrupted run had left.
    pub const fn found(&self) -> Totals {
        self.found
    }

    /// The files.
    pub const fn paths(&self) -> &Paths {
        self.file.paths()
    }
}
