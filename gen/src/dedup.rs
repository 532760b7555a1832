//! Every game, and every position, once, in bounded memory.
//!
//! ```text
//! 1st pass   inputs → (number that stands for a game or position, where it is) → part by the number's first bits, on disk
//!            each part read once, in order → where the second and later ones are → range by their place, on disk
//! 2nd pass   inputs, with each range in turn → output
//! ```
//!
//! What is first is decided by the order of the inputs alone; the parts (their number follows from the memory allowed) have no influence.
//! In memory are the numbers of one part, the places of one range, and one bit for each game.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::path::Path;

use nnue_format::record::{GameRecord, MAX_GAME_PLIES, PlyFlags};

use crate::derived::{
    BlockPlace, Counters, DerivedError, DerivedWriter, Job, Part, Parts, TemporaryFolder, game_id, parts_for,
    scored_positions,
};

/// What is to be there once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dedup {
    /// Leave out games with the start and the moves of an earlier one.
    pub games: bool,
    /// Mark positions that were there earlier in games that are not left out, and not marked there.
    pub positions: bool,
    /// Left-right mirrors are the same.
    pub mirror: bool,
    /// Memory for numbers and places, in MiB.
    pub memory_mib: u64,
}

/// What a number takes in the set of a part: 8 bytes and a byte of control, where the table is 7/8 full and is being copied into one of
/// twice its size.
const SET_BYTES: u64 = 31;

/// A number and a place.
const ENTRY_BYTES: usize = 16;

/// A place: the game's number among the inputs' games, and in the lowest bits the index of the scored ply.
const PLY_BITS: u32 = MAX_GAME_PLIES.ilog2();

/// Pushes the games of the inputs; gives what was left out and marked. Temporary files lie beside `out`.
///
/// # Errors
/// As [`Job::pass`]; when the memory is too little.
pub fn run(
    job: &mut Job<'_>,
    dedup: Dedup,
    out: &Path,
    writer: &mut DerivedWriter,
) -> Result<Counters, DerivedError> {
    job.passes = 2;
    let totals = job.sources.totals();
    let folder = TemporaryFolder::beside(out)?;
    let count = |wanted: bool, count: u64| {
        if wanted { parts_for(SET_BYTES * count, dedup.memory_mib) } else { Ok(0) }
    };
    let games = folder.files("games", count(dedup.games, totals.games)?)?;
    let positions = folder.files("positions", count(dedup.positions, totals.positions)?)?;
    let (games, positions, marked) = number(job, dedup, games, positions)?;

    let mut dropped = Bits::new(totals.games);
    for part in games {
        later(
            part,
            job,
            |_| true,
            |game| {
                dropped.set(game);
                Ok(())
            },
        )?;
    }
    let ranges = parts_for(8 * totals.positions, dedup.memory_mib)? as u64;
    let width = totals.games.div_ceil(ranges).max(1);
    let mut places = folder.files("places", if dedup.positions { ranges as usize } else { 0 })?;
    for part in positions {
        let kept = |place: u64| !dropped.get(place >> PLY_BITS);
        later(part, job, kept, |place| {
            places.add(((place >> PLY_BITS) / width) as usize, &place.to_le_bytes())
        })?;
    }
    let places = Places { ranges: places.finish()?.into_iter(), current: Vec::new().into_iter() };
    write(job, &dropped, places, marked, writer)
}

/// What the first pass makes of a block: numbers with places.
#[derive(Default)]
struct Numbered {
    games: Vec<(u64, u64)>,
    positions: Vec<(u64, u64)>,
    marked: u64,
}

/// The first pass: the numbers of games and positions into their parts, and how many positions are marked already.
fn number(
    job: &mut Job<'_>,
    dedup: Dedup,
    mut games: Parts,
    mut positions: Parts,
) -> Result<(Vec<Part>, Vec<Part>, u64), DerivedError> {
    let sources = job.sources;
    let map = |place: &BlockPlace, games: Vec<GameRecord>| {
        let mut found = Numbered::default();
        for (game, number) in games.iter().zip(place.first_game..) {
            numbers_of(game, number, dedup, &mut found).map_err(|source| DerivedError::Game {
                path: sources.files()[place.file].path.clone(),
                offset: place.offset,
                number: game.number,
                source,
            })?;
        }
        Ok(found)
    };
    let mut marked = 0;
    job.pass(map, |found| {
        marked += found.marked;
        add(&mut games, found.games)?;
        add(&mut positions, found.positions)
    })?;
    Ok((games.finish()?, positions.finish()?, marked))
}

fn numbers_of(
    game: &GameRecord,
    number: u64,
    dedup: Dedup,
    found: &mut Numbered,
) -> Result<(), nnue_format::record::GameError> {
    if dedup.games {
        found.games.push((game_id(game, dedup.mirror)?, number));
    }
    if dedup.positions {
        scored_positions(game, dedup.mirror, |index, _, key| {
            if game.plies[index].flags.is_skipped() {
                found.marked += 1;
            } else {
                found.positions.push((key, number << PLY_BITS | index as u64));
            }
        })?;
    }
    Ok(())
}

fn add(parts: &mut Parts, entries: Vec<(u64, u64)>) -> Result<(), DerivedError> {
    let count = parts.count() as u128;
    entries.into_iter().try_for_each(|(number, place)| {
        let part = ((u128::from(number) * count) >> 64) as usize;
        let mut bytes = [0; ENTRY_BYTES];
        bytes[..8].copy_from_slice(&number.to_le_bytes());
        bytes[8..].copy_from_slice(&place.to_le_bytes());
        parts.add(part, &bytes)
    })
}

/// Calls `again` for every place of a part whose number was there before; places that are not `kept` do not count.
fn later(
    part: Part,
    job: &Job<'_>,
    kept: impl Fn(u64) -> bool,
    mut again: impl FnMut(u64) -> Result<(), DerivedError>,
) -> Result<(), DerivedError> {
    let mut seen: HashSet<u64, BuildHasherDefault<AsItIs>> = HashSet::default();
    part.take_entries(|entry: [u8; ENTRY_BYTES]| {
        let (number, place) = entry.split_at(8);
        let [number, place] = [number, place].map(|bytes| bytes.try_into().map_or(0, u64::from_le_bytes));
        if kept(place) && !seen.insert(number) {
            again(place)?;
        }
        job.stop
            .load(std::sync::atomic::Ordering::Relaxed)
            .then_some(DerivedError::Stopped)
            .map_or(Ok(()), Err)
    })
}

/// The second pass.
fn write(
    job: &mut Job<'_>,
    dropped: &Bits,
    mut places: Places,
    already_marked: u64,
    writer: &mut DerivedWriter,
) -> Result<Counters, DerivedError> {
    let (mut games, mut positions, mut marked, mut kept) = (0, 0, 0, 0);
    let map = |place: &BlockPlace, games: Vec<GameRecord>| {
        Ok(games.into_iter().zip(place.first_game..).collect::<Vec<_>>())
    };
    job.pass(map, |block| {
        for (mut game, number) in block {
            let of_game = places.of_game(number)?;
            if dropped.get(number) {
                games += 1;
                positions += game.plies.len() as u64;
                continue;
            }
            for index in of_game {
                let ply = &mut game.plies[index];
                ply.flags = ply.flags.with(PlyFlags::SKIP);
                marked += 1;
            }
            kept += game.plies.iter().filter(|ply| !ply.flags.is_skipped()).count() as u64;
            writer.push(game)?;
        }
        Ok(())
    })?;
    Ok(Counters(vec![
        ("games_left_out", games),
        ("positions_of_games_left_out", positions),
        ("positions_marked_before", already_marked),
        ("positions_marked", marked),
        ("positions_for_training", kept),
    ]))
}

/// Places to be marked, range by range.
struct Places {
    ranges: std::vec::IntoIter<Part>,
    current: std::vec::IntoIter<u64>,
}

impl Places {
    /// The indices of the plies of this game that are to be marked. Games are asked for in order.
    fn of_game(&mut self, game: u64) -> Result<Vec<usize>, DerivedError> {
        let mut found = Vec::new();
        loop {
            match self.current.as_slice().first() {
                Some(place) if place >> PLY_BITS == game => {
                    found.push((place & ((1 << PLY_BITS) - 1)) as usize);
                    self.current.next();
                }
                // The places of games that a block lost since are passed over.
                Some(place) if place >> PLY_BITS < game => _ = self.current.next(),
                Some(_) => return Ok(found),
                None => match self.ranges.next() {
                    None => return Ok(found),
                    Some(part) => self.current = sorted(part)?.into_iter(),
                },
            }
        }
    }
}

fn sorted(part: Part) -> Result<Vec<u64>, DerivedError> {
    let mut places = Vec::with_capacity((part.length / 8) as usize);
    part.take_entries(|bytes: [u8; 8]| {
        places.push(u64::from_le_bytes(bytes));
        Ok(())
    })?;
    places.sort_unstable();
    Ok(places)
}

/// One bit for each game.
struct Bits(Vec<u64>);

impl Bits {
    fn new(count: u64) -> Bits {
        Bits(vec![0; count.div_ceil(64) as usize])
    }

    fn set(&mut self, index: u64) {
        self.0[(index / 64) as usize] |= 1 << (index % 64);
    }

    fn get(&self, index: u64) -> bool {
        self.0[(index / 64) as usize] >> (index % 64) & 1 != 0
    }
}

/// The numbers are random already: their last bits choose the place in the table (the first chose the part).
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // Only numbers come here; anything else is folded in.
        bytes.iter().for_each(|&byte| self.0 = self.0.rotate_left(8) ^ u64::from(byte));
    }

    fn write_u64(&mut self, number: u64) {
        // Tables take the control byte from the first bits, which are alike within a part.
        self.0 = number.rotate_left(32);
    }
}

// The last ply of the longest game has an index that fits.
const _: () = assert!(MAX_GAME_PLIES == 1 << PLY_BITS);
