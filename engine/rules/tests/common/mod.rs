//! Shared by the tests: a small seeded generator and a slow second implementation of the rules.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of this")]

pub mod slow;

/// SplitMix64: enough chance for tests, the same everywhere.
pub struct Chance(pub u64);

impl Chance {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// How much to test: `CHUHE_FULL=1` (set by `scripts/test.sh --full`) runs the whole amount, the
/// ordinary run a tenth of it.
pub fn amount(full: usize) -> usize {
    if std::env::var("CHUHE_FULL").is_ok_and(|v| v == "1") { full } else { full / 10 }
}
