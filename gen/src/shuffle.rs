//! Games in random order, in bounded memory.
//!
//! ```text
//! inputs → (random key, game) → bucket by the key's first bits, on disk → each bucket sorted by key → output
//! ```
//!
//! A game's key follows from the seed and its place among the inputs' games, and the output is all games by their keys: every
//! order is as likely, and the buckets (their number follows from the memory allowed) have no influence on it.

use std::path::Path;

use nnue_format::record::{GameRecord, Outcome, PlyFlags, PlyRecord, Reason, Start, Totals};
use rayon::prelude::*;
use xiangqi::judge::RuleSet;
use xiangqi::{Move, Score};

use crate::derived::{BlockPlace, DerivedError, DerivedWriter, Job, Part, TemporaryFolder, parts_for};
use crate::seed::game_rng;

/// What a game needs while its bucket is put in order, besides its plies: its head, its start, its place in the order.
const GAME_BYTES: u64 = 64;

/// A scored ply in a bucket: move, score, marks.
const PLY_BYTES: usize = 5;

/// Pushes all games of the inputs in random order. Temporary files lie beside `out`.
///
/// # Errors
/// As [`Job::pass`]; when `memory_mib` is too little.
pub fn shuffle(
    job: &mut Job<'_>,
    seed: u64,
    memory_mib: u64,
    out: &Path,
    writer: &mut DerivedWriter,
) -> Result<(), DerivedError> {
    let Totals { games, plies, .. } = job.sources.totals();
    // Buckets are not all of one size: a quarter is left for the greatest.
    let parts = parts_for((GAME_BYTES * games + PLY_BYTES as u64 * plies) * 4 / 3, memory_mib)?;
    let folder = TemporaryFolder::beside(out)?;
    let mut buckets = folder.files("bucket", parts)?;
    let rules = job.sources.rules();
    // The second is over the buckets.
    job.passes = 2;
    let encode = |place: &BlockPlace, games: Vec<GameRecord>| {
        let mut bytes = Vec::new();
        let mut places = Vec::with_capacity(games.len());
        for (game, number) in games.iter().zip(place.first_game..) {
            let (key, begin) = (game_rng(seed, number).below(u64::MAX), bytes.len());
            push_game(&mut bytes, key, game);
            places.push((key, begin..bytes.len()));
        }
        Ok((places, bytes))
    };
    job.pass(encode, |(places, bytes)| {
        places.into_iter().try_for_each(|(key, place)| {
            let bucket = ((u128::from(key) * parts as u128) >> 64) as usize;
            buckets.add(bucket, &bytes[place])
        })
    })?;
    let positions = job.sources.totals().positions;
    for bucket in buckets.finish()? {
        sorted(bucket, rules, job, writer)?;
        (job.progress)(positions + writer.written().positions, 2 * positions);
    }
    Ok(())
}

/// Pushes a bucket's games by their keys.
fn sorted(
    bucket: Part,
    rules: RuleSet,
    job: &Job<'_>,
    writer: &mut DerivedWriter,
) -> Result<(), DerivedError> {
    let bytes = bucket.take_all()?;
    let mut rest = Bytes(&bytes);
    let mut games = Vec::new();
    while !rest.0.is_empty() {
        let begin = rest.0;
        let (Some(key), Some(length)) = (rest.u64(), rest.u32()) else { return Err(torn()) };
        rest.take(length as usize).ok_or_else(torn)?;
        games.push((key, &begin[..begin.len() - rest.0.len()]));
    }
    // Stable: games of one key stay in the order of the inputs.
    games.par_sort_by_key(|&(key, _)| key);
    for (_, bytes) in games {
        if job.stop.load(std::sync::atomic::Ordering::Relaxed) {
            return Err(DerivedError::Stopped);
        }
        writer.push(read_game(bytes, rules).ok_or_else(torn)?)?;
    }
    Ok(())
}

fn torn() -> DerivedError {
    DerivedError::Temporary("a bucket of games")
}

/// Key (8 bytes), length of what follows (4), outcome and reason (1), length of a FEN (1) and the FEN, plies of the opening (2) and scored ones
/// (2), the opening's moves (2 each), the scored plies.
fn push_game(out: &mut Vec<u8>, key: u64, game: &GameRecord) {
    out.extend_from_slice(&key.to_le_bytes());
    let length_at = out.len();
    out.extend_from_slice(&[0; 4]);
    out.push(game.outcome.code() | game.reason.code() << 2);
    let fen = match &game.start {
        Start::Standard => "",
        Start::Fen(fen) => fen,
    };
    // The limits of the format: at most 128 bytes of FEN, at most 4096 plies.
    out.push(fen.len() as u8);
    out.extend_from_slice(fen.as_bytes());
    out.extend_from_slice(&(game.opening.len() as u16).to_le_bytes());
    out.extend_from_slice(&(game.plies.len() as u16).to_le_bytes());
    game.opening.iter().for_each(|mv| out.extend_from_slice(&mv.bits().to_le_bytes()));
    for PlyRecord { mv, score, flags } in &game.plies {
        out.extend_from_slice(&mv.bits().to_le_bytes());
        out.extend_from_slice(&(score.0 as i16).to_le_bytes());
        out.push(u8::from(flags.is_not_best()) | u8::from(flags.is_skipped()) << 1);
    }
    let length = (out.len() - length_at - 4) as u32;
    out[length_at..length_at + 4].copy_from_slice(&length.to_le_bytes());
}

/// The inverse of [`push_game`].
fn read_game(bytes: &[u8], rules: RuleSet) -> Option<GameRecord> {
    let mut bytes = Bytes(bytes);
    // Key and length: they were read before.
    bytes.take(12)?;
    let [code, fen_len] = bytes.array()?;
    let fen = std::str::from_utf8(bytes.take(usize::from(fen_len))?).ok()?;
    let start = if fen.is_empty() { Start::Standard } else { Start::Fen(fen.to_owned()) };
    let opening_plies = u16::from_le_bytes(bytes.array()?);
    let scored_plies = u16::from_le_bytes(bytes.array()?);
    let opening = (0..opening_plies).map(|_| bytes.mv()).collect::<Option<_>>()?;
    let ply = |_| {
        let mv = bytes.mv()?;
        let score = Score(i16::from_le_bytes(bytes.array()?).into());
        let [marks] = bytes.array()?;
        Some(PlyRecord { mv, score, flags: PlyFlags::from_bits(marks & 1 != 0, marks & 2 != 0) })
    };
    let plies = (0..scored_plies).map(ply).collect::<Option<_>>()?;
    let (outcome, reason) = (Outcome::from_code(code & 3).ok()?, Reason::from_code(code >> 2).ok()?);
    Some(GameRecord { number: 0, start, opening, plies, outcome, reason, rules })
}

/// Bytes still to be read.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn mv(&mut self) -> Option<Move> {
        self.array().map(u16::from_le_bytes).and_then(Move::from_bits)
    }
}

// Scores of the format fit into the 16 bits that they have here.
const _: () = assert!(Score::MATE <= i16::MAX as i32);
