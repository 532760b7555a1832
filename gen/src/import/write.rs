//! Records of imported games into a file, searched on all cores, in the order of the files.

use std::collections::HashSet;
use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};

use game_files::Outcome as Said;
use nnue_format::record::{Header, Totals, Writer};
use rayon::prelude::*;

use super::{Imported, LeftOut, Line, Made, Settings, Tally, WholeFile, lines, record};
use crate::player::Player;
use crate::sink::SinkError;

/// Lines in work at a time: enough for all cores, few enough to show progress.
const BATCH: usize = 64;

/// What the writing of records needs besides the games.
pub struct RecordRun<'a> {
    /// How lines become records.
    pub settings: Settings,
    /// The file's header.
    pub header: Header,
    /// The file's plan.
    pub plan: Vec<u8>,
    /// Record side lines too.
    pub variations: bool,
    /// Set when the run is to stop.
    pub stop: &'a AtomicBool,
}

/// Writes the records of all games into a file just begun; `None` if the run was stopped. `progress` hears how
/// many lines are done and how many there are.
///
/// # Errors
/// When the system refuses.
pub fn write_records<P: Player>(
    games: &[Imported],
    run: &RecordRun<'_>,
    (whole, file): (&WholeFile, File),
    new_player: impl Fn() -> Option<P> + Sync + Send,
    tally: &mut Tally,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Option<(File, Totals)>, SinkError> {
    let failed = |source| SinkError::Write { path: whole.partial().to_owned(), source };
    let mut writer = Writer::create(file, run.header.clone(), &run.plan).map_err(failed)?;
    let todo = distinct_lines(games, run.variations, tally);
    for (i, batch) in todo.chunks(BATCH).enumerate() {
        progress((i * BATCH) as u64, todo.len() as u64);
        let one = |player: &mut Option<P>, line: &Line| {
            let player = player.as_mut().map(|player| player as &mut dyn Player);
            record(line, &run.settings, player, run.stop)
        };
        let made: Vec<Result<Made, LeftOut>> = batch.par_iter().map_init(&new_player, one).collect();
        if run.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        for made in made {
            let Some(mut made) = tally.take(made) else { continue };
            made.record.number = tally.written;
            tally.written += 1;
            tally.positions += made.record.plies.len() as u64;
            writer.push(&made.record).map_err(failed)?;
        }
    }
    writer.finish().map(Some).map_err(failed)
}

/// Every line once. A side line's result is not its game's.
fn distinct_lines(games: &[Imported], variations: bool, tally: &mut Tally) -> Vec<Line> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for imported in games {
        let tree = &imported.game.tree;
        for (i, moves) in lines(tree, variations).into_iter().enumerate() {
            let said = if i == 0 { tree.outcome } else { Said::Unknown };
            if moves.is_empty() {
                tally.leave_out(LeftOut::NoMoves);
            } else if seen.insert((tree.start().key(), moves.clone())) {
                found.push(Line { start: tree.start().clone(), moves, said });
            } else {
                tally.leave_out(LeftOut::Duplicate);
            }
        }
    }
    found
}

impl Tally {
    /// Counts what was decided for a line; gives its record.
    fn take(&mut self, made: Result<Made, LeftOut>) -> Option<Made> {
        let made = made.map_err(|why| self.leave_out(why)).ok()?;
        self.cut_by_rules += u64::from(made.cut_plies > 0);
        self.contradicts_rules += u64::from(made.contradicts);
        self.nodes += made.nodes;
        Some(made)
    }
}
