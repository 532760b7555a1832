//! The law of record files on seeds that chance has changed, for where there is no cargo-fuzz: some thousand, and
//! with `CHUHE_FULL` a million.

use fuzz_laws::{record, seeds};

/// xorshift64*.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n.max(1)
    }
}

/// Numbers at the edges of what fields hold.
const EDGES: [u32; 8] = [0, 1, 0x7f, 0x80, 0xff, 0x7fff_ffff, 0x8000_0000, u32::MAX];

/// Changes some bytes: flips, numbers, pieces taken out, doubled, cut off, or taken from another seed.
fn mutate(bytes: &mut Vec<u8>, other: &[u8], chance: &mut Chance) {
    for _ in 0..=chance.below(4) {
        let (at, length) = (chance.below(bytes.len()), 1 + chance.below(32));
        let end = (at + length).min(bytes.len());
        match chance.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << chance.below(8),
            1 if at < bytes.len() => bytes[at] = chance.below(256) as u8,
            2 if end - at >= 4 => {
                let number = EDGES[chance.below(EDGES.len())];
                bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
            }
            3 => drop(bytes.drain(at..end)),
            4 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            5 => bytes.truncate(at),
            _ => {
                let from = chance.below(other.len());
                let piece = other[from..(from + length).min(other.len())].to_vec();
                bytes.splice(at..end, piece);
            }
        }
    }
}

#[test]
fn changed_records_keep_the_law() {
    let full = std::env::var_os("CHUHE_FULL").is_some();
    let rounds = if full { 1_000_000 } else { 4_000 };
    let seeds = seeds().expect("the vectors are there").into_iter();
    let seeds: Vec<Vec<u8>> = seeds.filter(|seed| seed.0 == "record").map(|seed| seed.1).collect();
    let mut chance = Chance(if full { 2 } else { 1 });
    for _ in 0..rounds {
        let [one, other] = [0; 2].map(|_| &seeds[chance.below(seeds.len())]);
        let mut bytes = one.clone();
        mutate(&mut bytes, other, &mut chance);
        record(&bytes);
    }
}
