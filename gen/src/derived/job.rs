//! What every verb over record files has at hand.

use std::sync::atomic::AtomicBool;

use nnue_format::record::GameRecord;

use super::{BlockPlace, DerivedError, Sources};

/// The inputs, and the ways out of the work.
pub struct Job<'a> {
    /// The inputs.
    pub sources: &'a Sources,
    /// Set when the run is to stop.
    pub stop: &'a AtomicBool,
    /// Hears how many positions are done and how many there are, over all passes.
    pub progress: &'a mut (dyn FnMut(u64, u64) + Send),
    /// How often the inputs are read.
    pub passes: u64,
    /// Passes that are over.
    pub passed: u64,
    /// Blocks left out because they do not decode though their checksums hold.
    pub lost: u64,
}

impl Job<'_> {
    /// One pass over all games in order: `map` makes something of a block's games on rayon's threads, `take` gets that in the order of the
    /// inputs. A block's games have the numbers from [`BlockPlace::first_game`] on.
    ///
    /// # Errors
    /// As [`Sources::map_blocks`].
    pub fn pass<T: Send>(
        &mut self,
        map: impl Fn(&BlockPlace, Vec<GameRecord>) -> Result<T, DerivedError> + Sync,
        mut take: impl FnMut(T) -> Result<(), DerivedError>,
    ) -> Result<(), DerivedError> {
        let positions = self.sources.totals().positions;
        let (all, mut done) = (positions * self.passes, positions * self.passed);
        let progress = &mut self.progress;
        self.lost = self.sources.map_blocks(self.stop, map, |place, made| {
            take(made)?;
            done += u64::from(place.positions);
            progress(done, all);
            Ok(())
        })?;
        self.passed += 1;
        Ok(())
    }

    /// One pass over all games, one by one.
    ///
    /// # Errors
    /// As [`Sources::map_blocks`].
    pub fn each_game(
        &mut self,
        mut take: impl FnMut(GameRecord) -> Result<(), DerivedError>,
    ) -> Result<(), DerivedError> {
        self.pass(|_, games| Ok(games), |games| games.into_iter().try_for_each(&mut take))
    }
}
