//! Shared by the tests: a small seeded generator and a slow second implementation of the rules.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of this")]

pub mod slow;
pub mod slow_judge;

use xiangqi::zones::zone;
use xiangqi::{Color, Piece, PieceKind, Position, Setup, Square};

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

/// A legal position out of nowhere, with pieces where none of a game would put them: pawns mostly
/// stand in tandem, on one or two files.
pub fn random_position(chance: &mut Chance) -> Position {
    loop {
        let mut setup = Setup::empty();
        if chance.below(2) == 0 {
            setup.side_to_move = Color::Black;
        }
        for color in Color::ALL {
            let files = [chance.below(9), chance.below(9)];
            for kind in PieceKind::ALL {
                let least = usize::from(kind == PieceKind::King);
                let most = kind.max_count() as usize;
                for _ in 0..least + chance.below(most + 1 - least) {
                    let squares: Vec<Square> = zone(Piece::new(color, kind)).collect();
                    let tandem = kind == PieceKind::Pawn && chance.below(5) > 0;
                    let fits = |s: &&Square| !tandem || files.contains(&usize::from(s.file()));
                    let squares: Vec<&Square> = squares.iter().filter(fits).collect();
                    let slot = &mut setup.board[squares[chance.below(squares.len())].index()];
                    if slot.is_none() {
                        *slot = Some(Piece::new(color, kind));
                    }
                }
            }
        }
        if let Ok(position) = Position::try_from_setup(&setup) {
            return position;
        }
    }
}
