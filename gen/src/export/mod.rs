//! Record files into formats that others read: `chuhe-gen export`.
//!
//! ```text
//! files → Reader → blocks (a few at a time, on all cores) → text → FILE.partial → FILE, or stdout
//! ```
//!
//! Memory: a block in work on each core with its text, about 8 MB a core for files of `chuhe-gen` and never above 200 MB.

mod output;
mod settings;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use nnue_format::record::{GameHead, Ply, RawBlock, ReadError, Reader};
use rayon::prelude::*;
use xiangqi::Position;

use crate::exchange::{OutSample, csv, jsonl, plain};

pub use output::Output;
pub use settings::{Settings, Target};

/// Damaged places that are told one by one; the rest is counted.
const DAMAGE_KEPT: usize = 100;

/// Why an export stopped.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A record file is damaged, or none.
    #[error("{path}: {source}{advice}", advice = advice(.source))]
    Record {
        /// The file.
        path: PathBuf,
        /// What was found, and where.
        source: ReadError,
    },
    /// The output refuses.
    #[error("cannot write: {0}")]
    Write(io::Error),
    /// Ctrl-C.
    #[error("interrupted: nothing is published, and nothing is left behind; the same command begins anew")]
    Interrupted,
}

fn advice(error: &ReadError) -> &'static str {
    if can_be_skipped(error) { "; --skip-damaged leaves out what is damaged" } else { "" }
}

/// Is there a rest of the file that can be used?
const fn can_be_skipped(error: &ReadError) -> bool {
    !matches!(error, ReadError::Magic { .. } | ReadError::Version { .. } | ReadError::Io { .. })
}

/// What was written and what was left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Games written (whole games) or looked through.
    pub games: u64,
    /// Positions written; of whole games those with scores.
    pub positions: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Plies left out, by reason.
    pub left_out: BTreeMap<&'static str, u64>,
    /// Damaged places: file, byte, what; the first hundred.
    pub damage: Vec<(PathBuf, u64, String)>,
    /// Damaged places in all.
    pub damaged: u64,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.games += other.games;
        self.positions += other.positions;
        for (why, count) in other.left_out {
            *self.left_out.entry(why).or_default() += count;
        }
    }
}

/// Exports files in their order. `progress` hears how many scored positions are read.
///
/// # Errors
/// Damage that is not to be skipped, an output that refuses, or an interruption.
pub fn export(
    files: &[PathBuf],
    settings: &Settings,
    out: &mut impl Write,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(u64),
) -> Result<Tally, ExportError> {
    let mut tally = Tally::default();
    // Written with the first block: what is no record file leaves nothing on stdout.
    let mut begin = Some(settings.begin());
    let mut seen = 0;
    for path in files {
        let refused = |source| ExportError::Record { path: path.clone(), source };
        let mut reader = Reader::open(path).map_err(refused)?;
        while let Some((batch, last)) = next_batch(&mut reader) {
            seen += batch.iter().flatten().map(|block| u64::from(block.head.positions)).sum::<u64>();
            let texts: Vec<_> = batch
                .into_par_iter()
                .map(|block| block.and_then(|block| block_text(&block, settings)))
                .collect();
            for text in texts {
                match text {
                    Ok((text, counts)) => {
                        tally.add(counts);
                        put(out, &begin.take().unwrap_or_default(), &mut tally)?;
                        put(out, &text, &mut tally)?;
                    }
                    Err(error) if settings.skip_damaged && can_be_skipped(&error) => {
                        tally.note_damage(path, &error);
                    }
                    Err(error) => return Err(refused(error)),
                }
            }
            progress(seen);
            if stop.load(Ordering::Relaxed) {
                return Err(ExportError::Interrupted);
            }
            if last {
                break;
            }
        }
    }
    put(out, &begin.take().unwrap_or_default(), &mut tally)?;
    out.flush().map_err(ExportError::Write)?;
    Ok(tally)
}

impl Tally {
    fn note_damage(&mut self, path: &Path, error: &ReadError) {
        self.damaged += 1;
        if self.damage.len() < DAMAGE_KEPT {
            self.damage.push((path.to_owned(), error.offset(), error.to_string()));
        }
    }
}

/// Some blocks, one for each core; true with the last of them.
fn next_batch(reader: &mut Reader<File>) -> Option<(Vec<Result<RawBlock, ReadError>>, bool)> {
    let most = rayon::current_num_threads().max(1);
    let batch: Vec<_> = std::iter::from_fn(|| reader.next_block()).take(most).collect();
    let last = batch.len() < most;
    (!batch.is_empty()).then_some((batch, last))
}

fn put(out: &mut impl Write, bytes: &[u8], tally: &mut Tally) -> Result<(), ExportError> {
    tally.bytes += bytes.len() as u64;
    out.write_all(bytes).map_err(ExportError::Write)
}

/// A block as text, and what became of its positions.
fn block_text(block: &RawBlock, settings: &Settings) -> Result<(Vec<u8>, Tally), ReadError> {
    let mut tally = Tally { games: u64::from(block.head.games), ..Tally::default() };
    if settings.target == Target::Jsonl {
        let mut text = Vec::new();
        for game in block.games()? {
            tally.positions += game.plies.len() as u64;
            text.extend_from_slice(jsonl::line_of(&game).as_bytes());
            text.push(b'\n');
        }
        return Ok((text, tally));
    }
    let mut encoder = Encoder::new(settings);
    block.walk(|head, position, ply| encoder.visit(head, position, ply, &mut tally))?;
    // Memory does not refuse to be written.
    let text = encoder.finish().map_err(|source| ReadError::Io { offset: block.offset, source })?;
    Ok((text, tally))
}

/// Positions into text.
struct Encoder<'a> {
    settings: &'a Settings,
    text: Vec<u8>,
    csv: csv::Writer,
    failed: Option<io::Error>,
}

impl Encoder<'_> {
    fn new(settings: &Settings) -> Encoder<'_> {
        Encoder { settings, text: Vec::new(), csv: csv::Writer::default(), failed: None }
    }

    fn visit(&mut self, head: &GameHead, position: &Position, ply: &Ply, tally: &mut Tally) {
        if let Err(why) = self.settings.keeps(head, position, ply) {
            *tally.left_out.entry(why).or_default() += 1;
            return;
        }
        let Some((score, _)) = ply.scored else { return };
        let side = position.side_to_move();
        let result = i32::from(head.outcome.half_points(side)) - 1;
        let sample = OutSample {
            position,
            mv: ply.mv,
            score: xiangqi::Score(self.settings.scores.turned(score.0, side)),
            ply: ply.number,
            result: self.settings.results.turned(result, side),
        };
        tally.positions += 1;
        let first = self.settings.first_rank;
        let written = match self.settings.target {
            Target::Plain => plain::write(&mut self.text, &sample, first),
            Target::Csv => self.csv.push(&sample, first),
            Target::Fen | Target::Jsonl => writeln!(self.text, "{}", position.fen()),
        };
        self.failed = self.failed.take().or(written.err());
    }

    fn finish(self) -> io::Result<Vec<u8>> {
        match (self.failed, self.settings.target) {
            (Some(error), _) => Err(error),
            (None, Target::Csv) => self.csv.finish(),
            (None, _) => Ok(self.text),
        }
    }
}
