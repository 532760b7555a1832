//! The transposition table: shared by all threads of a search, lock-free and without unsafe code.
//!
//! ```text
//! cluster (64 bytes, one cache line) = 4 entries
//! entry   = check (key ^ data), data
//! data    = move 16 | score 16 | eval 16 | depth 8 | generation 5, pv 1, bound 2
//! ```
//! Both words are written without a lock; a reader that sees halves of two writes finds that
//! `check ^ data` is not its key and treats the entry as absent.

use std::sync::Weak;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU64, Ordering::Relaxed};

use nnue_infer::memory;
use xiangqi::judge::NATURAL_LIMIT_PLIES;
use xiangqi::{Move, Position, Score};

use super::natural_limit::NaturalLimit;

const ENTRIES: usize = 4;
const CLUSTER_BYTES: usize = 64;
const GENERATIONS: u8 = 32;
/// Depths are stored with this added, so that quiescence (down to −1) fits.
const DEPTH_OFFSET: i32 = 8;
/// An entry's age counts as so many plies less when a place is needed.
const AGE_WEIGHT: i32 = 8;
/// The depth of an entry that holds an evaluation only: the first to make place.
pub(crate) const NO_DEPTH: i32 = -2;
/// "No evaluation known" (in check).
pub(crate) const NO_EVAL: i32 = i16::MIN as i32;

/// What a stored score says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Bound {
    /// Only the move and the evaluation are known.
    None = 0,
    /// The score is at most this.
    Upper = 1,
    /// The score is at least this.
    Lower = 2,
    /// The score is this.
    Exact = 3,
}

impl Bound {
    const fn from_bits(bits: u64) -> Bound {
        match bits & 3 {
            0 => Bound::None,
            1 => Bound::Upper,
            2 => Bound::Lower,
            _ => Bound::Exact,
        }
    }

    /// Does a score with this bound decide a search that asks whether it reaches `beta`?
    #[inline]
    pub const fn decides(self, score: i32, beta: i32) -> bool {
        let needed = if score >= beta { Bound::Lower } else { Bound::Upper };
        self as u8 & needed as u8 != 0
    }
}

/// What the table knows of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The best move found; it may be of another position in case of a collision.
    pub mv: Option<Move>,
    /// The score, already counted from the current ply.
    pub score: i32,
    /// The static evaluation, or `i16::MIN` where there is none (in check).
    pub eval: i32,
    /// The depth it was searched to.
    pub depth: i32,
    /// What `score` says.
    pub bound: Bound,
    /// Was it a node of a principal variation?
    pub pv: bool,
}

#[derive(Default)]
#[repr(align(64))]
struct Cluster([AtomicU64; 2 * ENTRIES]);

/// The table.
pub struct Table {
    clusters: Box<[Cluster]>,
    generation: AtomicU8,
    /// The natural limit by which keys are made, in plies.
    natural_limit: AtomicU16,
}

/// A score at `ply` as it is stored: mates count from the node instead of from the root. Wins by rule depend
/// on the path and are not stored at all.
pub(crate) const fn to_table(score: i32, ply: i32) -> i32 {
    if score >= Score::MATE_FLOOR {
        score + ply
    } else if score <= -Score::MATE_FLOOR {
        score - ply
    } else {
        score
    }
}

/// The inverse of [`to_table`].
pub(crate) const fn from_table(score: i32, ply: i32) -> i32 {
    if score >= Score::MATE_FLOOR {
        score - ply
    } else if score <= -Score::MATE_FLOOR {
        score + ply
    } else {
        score
    }
}

impl Table {
    /// A table of `mib` mebibytes (at least one).
    pub fn new(mib: usize) -> Table {
        let count = mib.max(1).saturating_mul(1 << 20) / CLUSTER_BYTES;
        let clusters = memory::filled_with(Cluster::default, count);
        let natural_limit = AtomicU16::new(NATURAL_LIMIT_PLIES);
        Table { clusters, generation: AtomicU8::new(0), natural_limit }
    }

    /// From now on keys are made by this natural limit (in plies); for those who look in from outside.
    pub fn set_natural_limit(&self, plies: u16) {
        self.natural_limit.store(plies, Relaxed);
    }

    /// Size in mebibytes.
    pub fn mib(&self) -> usize {
        (self.clusters.len() * CLUSTER_BYTES) >> 20
    }

    /// Forgets everything.
    pub fn clear(&self) {
        memory::in_parts(&self.clusters, |part| {
            // A cluster at a time: its eight stores are unrolled.
            for cluster in part {
                cluster.0.iter().for_each(|word| word.store(0, Relaxed));
            }
        });
        self.generation.store(0, Relaxed);
    }

    /// A new search begins: what is in the table grows older.
    pub fn next_generation(&self) {
        self.generation.store((self.generation() + 1) % GENERATIONS, Relaxed);
    }

    #[inline]
    fn generation(&self) -> u8 {
        self.generation.load(Relaxed)
    }

    #[inline]
    fn cluster(&self, key: u64) -> &Cluster {
        let index = (u128::from(key) * self.clusters.len() as u128) >> 64;
        &self.clusters[index as usize]
    }

    /// The position with this key will be looked up soon.
    #[inline]
    pub(crate) fn prefetch(&self, key: u64) {
        memory::prefetch(self.cluster(key));
    }

    /// What is known of the position with this key.
    #[inline]
    pub fn probe(&self, key: u64, ply: i32) -> Option<Entry> {
        let cluster = self.cluster(key);
        for slot in cluster.0.chunks_exact(2) {
            let data = slot[1].load(Relaxed);
            if slot[0].load(Relaxed) ^ data == key && data != 0 {
                return Some(unpack(data, ply));
            }
        }
        None
    }

    /// Stores what a search of this position found. An entry of the same position loses its
    /// place only to one that says as much; a missing move is filled in from it.
    #[inline]
    pub fn store(&self, key: u64, ply: i32, entry: &Entry) {
        let cluster = self.cluster(key);
        let (mut victim, mut worst) = (0, i32::MAX);
        let mut mv = entry.mv;
        for (i, slot) in cluster.0.chunks_exact(2).enumerate() {
            let data = slot[1].load(Relaxed);
            if data != 0 && slot[0].load(Relaxed) ^ data == key {
                let old = unpack(data, ply);
                if mv.is_none() {
                    mv = old.mv;
                }
                let fresh = generation_of(data) == self.generation();
                if entry.bound != Bound::Exact && fresh && entry.depth + 3 < old.depth {
                    return;
                }
                victim = i;
                break;
            }
            let worth = if data == 0 {
                i32::MIN
            } else {
                let age = (GENERATIONS + self.generation() - generation_of(data)) % GENERATIONS;
                depth_of(data) - AGE_WEIGHT * i32::from(age)
            };
            if worth < worst {
                (victim, worst) = (i, worth);
            }
        }
        let data = pack(&Entry { mv, ..*entry }, ply, self.generation());
        cluster.0[2 * victim].store(key ^ data, Relaxed);
        cluster.0[2 * victim + 1].store(data, Relaxed);
    }

    /// How full the table is with entries of this search, in thousandths, by a sample.
    pub fn permille_full(&self) -> usize {
        let sample = self.clusters.len().min(250);
        let generation = self.generation();
        let used = self.clusters[..sample]
            .iter()
            .flat_map(|cluster| cluster.0.chunks_exact(2))
            .map(|slot| slot[1].load(Relaxed))
            .filter(|&data| data != 0 && generation_of(data) == generation)
            .count();
        used * 1000 / (sample * ENTRIES).max(1)
    }
}

/// A look into a searcher's table from outside, during a search too. It does not keep the table alive.
#[derive(Clone, Debug, Default)]
pub struct TableView(Weak<Table>);

impl TableView {
    pub(crate) fn new(table: Weak<Table>) -> TableView {
        TableView(table)
    }

    /// What is known of this position, its score as seen from it; `None` also where the table is gone. A move of
    /// another position (a collision) is left out.
    pub fn probe(&self, pos: &Position) -> Option<Entry> {
        let table = self.0.upgrade()?;
        let entry = table.probe(NaturalLimit::of(table.natural_limit.load(Relaxed)).key(pos), 0)?;
        Some(Entry { mv: entry.mv.filter(|mv| pos.why_illegal(*mv).is_none()), ..entry })
    }
}

fn pack(entry: &Entry, ply: i32, generation: u8) -> u64 {
    let half = |value: i32| u64::from(value as i16 as u16);
    let mv = entry.mv.map_or(0, |mv| u64::from(mv.bits()));
    let depth = (entry.depth + DEPTH_OFFSET).clamp(1, 255) as u64;
    let tail = u64::from(generation) << 3 | u64::from(entry.pv) << 2 | entry.bound as u64;
    mv | half(to_table(entry.score, ply)) << 16 | half(entry.eval) << 32 | depth << 48 | tail << 56
}

fn unpack(data: u64, ply: i32) -> Entry {
    let half = |shift: u32| i32::from((data >> shift) as u16 as i16);
    Entry {
        mv: match data as u16 {
            0 => None,
            bits => Move::from_bits(bits),
        },
        score: from_table(half(16), ply),
        eval: half(32),
        depth: depth_of(data),
        bound: Bound::from_bits(data >> 56),
        pv: data >> 58 & 1 != 0,
    }
}

fn depth_of(data: u64) -> i32 {
    (data >> 48 & 255) as i32 - DEPTH_OFFSET
}

fn generation_of(data: u64) -> u8 {
    (data >> 59) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(score: i32, depth: i32) -> Entry {
        let mv = "h2e2".parse().ok();
        Entry { mv, score, eval: 12, depth, bound: Bound::Exact, pv: true }
    }

    #[test]
    fn what_is_stored_is_found() {
        let table = Table::new(1);
        for key in 1..200u64 {
            let key = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let stored = entry((key % 4000) as i32 - 2000, (key % 60) as i32 - 1);
            table.store(key, 5, &stored);
            assert_eq!(table.probe(key, 5), Some(stored));
            assert_eq!(table.probe(!key, 5), None);
        }
    }

    #[test]
    fn mates_count_from_the_node() {
        let table = Table::new(1);
        let cases = [
            // stored at ply 4 as mate 6 plies from the root, so 2 from the node; read at ply 10
            (Score::MATE - 6, 4, 10, Score::MATE - 12),
            (-Score::MATE + 6, 4, 10, -Score::MATE + 12),
            (Score::MATE - 6, 4, 0, Score::MATE - 2),
            (250, 4, 10, 250),
            (Score::EVAL_LIMIT, 3, 9, Score::EVAL_LIMIT),
        ];
        for (i, &(score, stored_at, read_at, expected)) in cases.iter().enumerate() {
            let key = 77 + i as u64;
            table.store(key, stored_at, &entry(score, 8));
            assert_eq!(table.probe(key, read_at).map(|e| e.score), Some(expected), "case {i}");
        }
    }

    #[test]
    fn old_entries_make_place_first() {
        let table = Table::new(1);
        // Keys with the same high bits share a cluster.
        for key in 0..4 {
            table.store(key + 1, 0, &entry(1, 20));
        }
        for _ in 0..3 {
            table.next_generation();
        }
        for key in 4..8 {
            table.store(key + 1, 0, &entry(2, 3));
        }
        for key in 4..8 {
            assert!(table.probe(key + 1, 0).is_some(), "new entry {key} lost to an old one");
        }
    }

    #[test]
    fn a_missing_move_is_kept_from_the_older_entry() {
        let table = Table::new(1);
        table.store(9, 0, &entry(1, 4));
        table.store(9, 0, &Entry { mv: None, ..entry(3, 6) });
        assert_eq!(table.probe(9, 0).and_then(|e| e.mv), "h2e2".parse().ok());
    }
}
