//! Records of imported games into a file, searched on all cores, in the order of the files.

use std::collections::HashSet;
use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};

use game_files::Outcome as Said;
use nnue_format::record::{Header, Totals, Writer};
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use xiangqi::{Move, Position};

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

/// Which lines have been seen, by a digest of 16 bytes each: two of a billion lines are taken for one another with a
/// chance of 10^-21.
#[derive(Debug, Default)]
pub struct Seen(HashSet<[u8; 16]>);

impl Seen {
    /// Is this line seen for the first time?
    pub fn is_new(&mut self, start: &Position, moves: &[Move]) -> bool {
        let mut hash = Sha256::new();
        hash.update(start.key().to_le_bytes());
        moves.iter().for_each(|mv| hash.update(mv.bits().to_le_bytes()));
        let digest: [u8; 32] = hash.finalize().into();
        let mut short = [0; 16];
        short.copy_from_slice(&digest[..16]);
        self.0.insert(short)
    }
}

/// Writes the records of all games into a file just begun; `None` if the run was stopped. Games are taken as they are
/// needed, so that no more than a batch is held. `progress` hears how many lines are done.
///
/// # Errors
/// When the system refuses.
pub fn write_records<P: Player>(
    games: &mut dyn Iterator<Item = Imported>,
    run: &RecordRun<'_>,
    (whole, file): (&WholeFile, File),
    new_player: impl Fn() -> Option<P> + Sync + Send,
    tally: &mut Tally,
    progress: &mut dyn FnMut(u64),
) -> Result<Option<(File, Totals)>, SinkError> {
    let failed = |source| SinkError::Write { path: whole.partial().to_owned(), source };
    let mut writer = Writer::create(file, run.header.clone(), &run.plan).map_err(failed)?;
    let (mut seen, mut done) = (Seen::default(), 0);
    while let Some(todo) = next_lines(games, run.variations, &mut seen, tally) {
        for batch in todo.chunks(BATCH) {
            progress(done);
            done += batch.len() as u64;
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
    }
    writer.finish().map(Some).map_err(failed)
}

/// The lines of the next games, each once: a batch, or those of one game with more; `None` behind the last game. A side
/// line's result is not its game's.
fn next_lines(
    games: &mut dyn Iterator<Item = Imported>,
    variations: bool,
    seen: &mut Seen,
    tally: &mut Tally,
) -> Option<Vec<Line>> {
    let mut found = Vec::new();
    let mut is_end = true;
    for imported in games {
        is_end = false;
        let tree = &imported.game.tree;
        for (i, moves) in lines(tree, variations).into_iter().enumerate() {
            let said = if i == 0 { tree.outcome } else { Said::Unknown };
            if moves.is_empty() {
                tally.leave_out(LeftOut::NoMoves);
            } else if seen.is_new(tree.start(), &moves) {
                found.push(Line { start: tree.start().clone(), moves, said });
            } else {
                tally.leave_out(LeftOut::Duplicate);
            }
        }
        if found.len() >= BATCH {
            break;
        }
    }
    (!is_end).then_some(found)
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
