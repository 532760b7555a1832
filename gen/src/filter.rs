//! Which positions of records are marked as not for training, and which games are left out.

use nnue_format::record::{GameError, GameRecord, LeftOut, Outcome, Ply, PlyFlags, PositionFilter, Reason};

use crate::cli::derived::MILLION;
use crate::derived::{BlockPlace, Counters, DerivedError, DerivedWriter, Job};
use crate::seed::game_rng;

/// Conditions on positions and games.
#[derive(Clone, Debug)]
pub struct Filter {
    /// Conditions that the trainer has as well.
    pub conditions: PositionFilter,
    /// Remove the marks that are there first.
    pub drop_marks: bool,
    /// Mark positions that were on the board before in the same game.
    pub repetitions: bool,
    /// Keep so many millionths of the positions left.
    pub keep: Option<u32>,
    /// The seed of that.
    pub seed: u64,
    /// Leave out games with these outcomes.
    pub drop_outcomes: Vec<Outcome>,
    /// Leave out games that ended for these reasons.
    pub drop_reasons: Vec<Reason>,
    /// Leave out games of fewer plies.
    pub min_plies: usize,
    /// Leave out games of more plies.
    pub max_plies: usize,
    /// Leave out games without a position for training.
    pub drop_empty: bool,
}

macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What became of games and positions; each is counted once, under the first condition that took it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        pub struct Counts { $($(#[$doc])* pub $name: u64,)* }

        impl Counts {
            fn add(&mut self, other: &Counts) {
                $(self.$name += other.$name;)*
            }

            /// With their names.
            pub fn named(&self) -> Counters {
                Counters(vec![$((stringify!($name), self.$name),)*])
            }
        }
    };
}

counts! {
    /// Games left out for their outcome.
    games_dropped_by_outcome,
    /// For the reason of their end.
    games_dropped_by_reason,
    /// For too few plies.
    games_too_short,
    /// For too many.
    games_too_long,
    /// Because no position for training is left.
    games_without_positions,
    /// Marks of the inputs that were removed, in games that are kept.
    marks_removed,
    /// Positions that were marked before.
    marked_before,
    /// Early plies.
    early,
    /// Mates and wins by the rules.
    mates,
    /// Great scores.
    scores,
    /// Moves that are not the best.
    not_best,
    /// Captures.
    captures,
    /// Checks.
    in_check,
    /// Repetitions.
    repetitions,
    /// By chance.
    by_chance,
    /// Positions left for training.
    positions_for_training,
}

/// Pushes the games of the inputs that are kept, with their positions marked.
///
/// # Errors
/// As [`Job::pass`].
pub fn run(job: &mut Job<'_>, filter: &Filter, writer: &mut DerivedWriter) -> Result<Counters, DerivedError> {
    let sources = job.sources;
    let map = |place: &BlockPlace, games: Vec<GameRecord>| {
        let mut counts = Counts::default();
        let mut kept = Vec::with_capacity(games.len());
        for (mut game, number) in games.into_iter().zip(place.first_game..) {
            let keeps =
                filter.apply(number, &mut game, &mut counts).map_err(|source| DerivedError::Game {
                    path: sources.files()[place.file].path.clone(),
                    offset: place.offset,
                    number: game.number,
                    source,
                })?;
            if keeps {
                kept.push(game);
            }
        }
        Ok((kept, counts))
    };
    let mut all = Counts::default();
    job.pass(map, |(games, counts)| {
        all.add(&counts);
        games.into_iter().try_for_each(|game| writer.push(game))
    })?;
    Ok(all.named())
}

impl Filter {
    /// Marks the positions of a game and says whether it is kept. `number` decides with the seed what is kept by chance.
    ///
    /// # Errors
    /// When the start is no position. The game's moves must be possible, as those of decoded games are.
    pub fn apply(&self, number: u64, game: &mut GameRecord, counts: &mut Counts) -> Result<bool, GameError> {
        if let Some(counter) = self.dropped(game, counts) {
            *counter += 1;
            return Ok(false);
        }
        let mut of_game = Counts::default();
        self.mark(number, game, &mut of_game)?;
        if self.drop_empty && of_game.positions_for_training == 0 {
            counts.games_without_positions += 1;
            return Ok(false);
        }
        counts.add(&of_game);
        Ok(true)
    }

    fn dropped<'a>(&self, game: &GameRecord, counts: &'a mut Counts) -> Option<&'a mut u64> {
        if self.drop_outcomes.contains(&game.outcome) {
            Some(&mut counts.games_dropped_by_outcome)
        } else if self.drop_reasons.contains(&game.reason) {
            Some(&mut counts.games_dropped_by_reason)
        } else if game.len() < self.min_plies {
            Some(&mut counts.games_too_short)
        } else if game.len() > self.max_plies {
            Some(&mut counts.games_too_long)
        } else {
            None
        }
    }

    fn mark(&self, number: u64, game: &mut GameRecord, counts: &mut Counts) -> Result<(), GameError> {
        let mut rng = game_rng(self.seed, number);
        let mut position = game.start.position()?;
        let mut keys = Vec::with_capacity(game.len());
        for &mv in &game.opening {
            keys.push(position.key());
            position.make(mv);
        }
        let opening = game.opening.len();
        for (index, ply) in game.plies.iter_mut().enumerate() {
            if self.drop_marks && ply.flags.is_skipped() {
                ply.flags = ply.flags.without(PlyFlags::SKIP);
                counts.marks_removed += 1;
            }
            let scored = (ply.score, ply.flags);
            let here = Ply { number: opening + index, mv: ply.mv, scored: Some(scored) };
            // Drawn for every position, so that a condition more does not choose others.
            let chance = self.keep.is_some_and(|share| rng.below(MILLION.into()) >= u64::from(share));
            let repeated = || self.repetitions && keys.contains(&position.key());
            let counter = match self.conditions.left_out(&position, &here, scored) {
                Some(LeftOut::Marked) => Some(&mut counts.marked_before),
                Some(LeftOut::Early) => Some(&mut counts.early),
                Some(LeftOut::Mate) => Some(&mut counts.mates),
                Some(LeftOut::Score) => Some(&mut counts.scores),
                Some(LeftOut::NotBest) => Some(&mut counts.not_best),
                Some(LeftOut::Capture) => Some(&mut counts.captures),
                Some(LeftOut::InCheck) => Some(&mut counts.in_check),
                None if repeated() => Some(&mut counts.repetitions),
                None if chance => Some(&mut counts.by_chance),
                None => None,
            };
            match counter {
                Some(counter) => {
                    *counter += 1;
                    ply.flags = ply.flags.with(PlyFlags::SKIP);
                }
                None => counts.positions_for_training += 1,
            }
            keys.push(position.key());
            position.make(ply.mv);
        }
        Ok(())
    }
}
