//! Where pieces move and attack, as sets computed from the squares in use.
//!
//! Line pieces look up what they see on their rank (9 bits) and on their file (10 bits, gathered
//! out of the 90 by one multiplication); leapers look up what the four squares that may block them
//! leave open.

mod leaps;

pub(crate) use leaps::knights_and_legs;
pub use leaps::{bishop, knight, knight_attackers};

use crate::bitboard::Bitboard;
use crate::color::Color;
use crate::piece::{Piece, PieceKind};
use crate::square::Square;
use crate::zones::{has_crossed, zone};

/// What a line piece sees from one place of a line, as bits of that line.
#[derive(Clone, Copy)]
struct Seen {
    /// Empty places up to and including the first piece each way: what a rook attacks or moves to.
    first: u16,
    /// The second piece each way: what a cannon captures over its screen.
    second: u16,
}

const fn see(place: u32, occupied: u16, len: u32) -> Seen {
    let (mut first, mut second) = (0u16, 0u16);
    let mut direction = 0;
    while direction < 2 {
        let mut pieces = 0;
        let mut at = place;
        loop {
            if (direction == 0 && at + 1 == len) || (direction == 1 && at == 0) {
                break;
            }
            at = if direction == 0 { at + 1 } else { at - 1 };
            let bit = 1 << at;
            if pieces == 0 {
                first |= bit;
            }
            if occupied & bit != 0 {
                pieces += 1;
                if pieces == 2 {
                    second |= bit;
                    break;
                }
            }
        }
        direction += 1;
    }
    Seen { first, second }
}

const NOTHING: Seen = Seen { first: 0, second: 0 };

static RANK_SEEN: [[Seen; 512]; 9] = {
    let mut table = [[NOTHING; 512]; 9];
    let mut file = 0;
    while file < 9 {
        let mut occupied = 0;
        while occupied < 512 {
            table[file][occupied] = see(file as u32, occupied as u16, 9);
            occupied += 1;
        }
        file += 1;
    }
    table
};

static FILE_SEEN: [[Seen; 1024]; 10] = {
    let mut table = [[NOTHING; 1024]; 10];
    let mut rank = 0;
    while rank < 10 {
        let mut occupied = 0;
        while occupied < 1024 {
            table[rank][occupied] = see(rank as u32, occupied as u16, 10);
            occupied += 1;
        }
        rank += 1;
    }
    table
};

/// Ten bits of a file spread to ranks 0–9 of file a.
static SPREAD: [u128; 1024] = {
    let mut table = [0; 1024];
    let mut bits = 0;
    while bits < 1024 {
        let mut rank = 0;
        while rank < 10 {
            if bits >> rank & 1 != 0 {
                table[bits] |= 1 << (rank * 9);
            }
            rank += 1;
        }
        bits += 1;
    }
    table
};

/// A square's rank and file, taken out of the board as lines of their own.
struct Cross {
    /// The rank's first square.
    base: u32,
    file: u32,
    /// The rank's nine squares by file, and what is seen from the square along it.
    rank_bits: u16,
    on_rank: Seen,
    /// The file's ten squares by rank, and what is seen along it.
    file_bits: u16,
    on_file: Seen,
}

impl Cross {
    #[inline]
    fn at(square: Square, occupied: Bitboard) -> Cross {
        let (file, rank) = (square.file() as usize, square.rank() as usize);
        let (base, file_bits) = (rank as u32 * 9, file_bits(occupied, file as u32));
        let rank_bits = (occupied.bits() >> base) as usize & 511;
        Cross {
            base,
            file: file as u32,
            rank_bits: rank_bits as u16,
            on_rank: RANK_SEEN[file][rank_bits],
            file_bits: file_bits as u16,
            on_file: FILE_SEEN[rank][file_bits],
        }
    }

    /// The squares of the board that `pick` takes, on each line, of what is seen and what is in use.
    #[inline]
    fn squares(&self, pick: impl Fn(Seen, u16) -> u16) -> Bitboard {
        let rank = u128::from(pick(self.on_rank, self.rank_bits)) << self.base;
        let file = SPREAD[pick(self.on_file, self.file_bits) as usize & 1023] << (self.file & FILE_MASK);
        Bitboard::from_bits(rank | file)
    }
}

/// A file's number is below 16: a shift by it stays within a word.
const FILE_MASK: u32 = 15;

/// The ten squares of a file as bits 0–9 by rank.
#[inline]
fn file_bits(occupied: Bitboard, file: u32) -> usize {
    let column = occupied.bits() >> (file & FILE_MASK);
    // Ranks 0–7 are bits 0, 9, … 63 of the low word. Multiplying by a one in every byte adds all
    // bytes up in the top one, where the bit of rank r, standing at r within its byte, meets no other.
    const DIAGONAL: u64 = 0x8040_2010_0804_0201;
    const ONES: u64 = 0x0101_0101_0101_0101;
    let low = (column as u64 & DIAGONAL).wrapping_mul(ONES) >> 56;
    // Ranks 8 and 9 are bits 72 and 81.
    let high = (column >> 64) as u64;
    (low | (high & 1 << 8) | ((high >> 8) & 1 << 9)) as usize
}

/// The squares of a square's rank and file, itself included.
#[inline]
pub(crate) fn cross(square: Square) -> Bitboard {
    static CROSS: [Bitboard; Square::COUNT] = {
        let mut table = [Bitboard::EMPTY; Square::COUNT];
        let mut i = 0;
        while i < Square::COUNT {
            let square = Square::known(i as u8);
            table[i] = Bitboard::rank(square.rank()).or(Bitboard::file(square.file()));
            i += 1;
        }
        table
    };
    CROSS[square.index()]
}

/// What a line piece on `square` sees: first the squares a rook attacks (empty ones included),
/// then the pieces a cannon captures. Read the other way, where such pieces attack `square` from:
/// rooks (and a facing king) among the first, cannons among the second.
#[inline]
pub fn lines(square: Square, occupied: Bitboard) -> (Bitboard, Bitboard) {
    let cross = Cross::at(square, occupied);
    (cross.squares(|seen, _| seen.first), cross.squares(|seen, _| seen.second))
}

/// Squares a rook on `square` attacks: empty ones up to and including the first piece each way.
#[inline]
pub fn rook(square: Square, occupied: Bitboard) -> Bitboard {
    Cross::at(square, occupied).squares(|seen, _| seen.first)
}

/// Pieces a cannon on `square` can capture: the second one each way. The relation is symmetric:
/// these are also the places from which a cannon attacks `square`.
#[inline]
pub fn cannon_captures(square: Square, occupied: Bitboard) -> Bitboard {
    Cross::at(square, occupied).squares(|seen, _| seen.second)
}

/// Squares to which a cannon on `square` moves: empty ones up to the first piece, the second piece.
#[inline]
fn cannon_moves(square: Square, occupied: Bitboard) -> Bitboard {
    Cross::at(square, occupied).squares(|seen, line| seen.first & !line | seen.second)
}

const fn offset(square: Square, files: i32, ranks: i32) -> Bitboard {
    let (file, rank) = (square.file() as i32 + files, square.rank() as i32 + ranks);
    if file < 0 || rank < 0 {
        return Bitboard::EMPTY;
    }
    match Square::at(file as u8, rank as u8) {
        Some(square) => Bitboard::of(square),
        None => Bitboard::EMPTY,
    }
}

const ORTHOGONAL: [(i32, i32); 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];
const DIAGONAL: [(i32, i32); 4] = [(1, 1), (1, -1), (-1, 1), (-1, -1)];

const fn steps(color: Color, kind: PieceKind, square: Square) -> Bitboard {
    let mut set = Bitboard::EMPTY;
    let mut i = 0;
    match kind {
        PieceKind::King => {
            while i < 4 {
                set = set.or(offset(square, ORTHOGONAL[i].0, ORTHOGONAL[i].1));
                i += 1;
            }
        }
        PieceKind::Advisor => {
            while i < 4 {
                set = set.or(offset(square, DIAGONAL[i].0, DIAGONAL[i].1));
                i += 1;
            }
        }
        _ => {
            let forward = match color {
                Color::Red => 1,
                Color::Black => -1,
            };
            set = offset(square, 0, forward);
            if has_crossed(color, square) {
                set = set.or(offset(square, 1, 0)).or(offset(square, -1, 0));
            }
        }
    }
    set.and(zone(Piece::new(color, kind)))
}

/// Steps of kings, advisors and pawns: `[color][step kind][square]`.
type Steps = [[[Bitboard; 90]; 3]; 2];

const STEP_KINDS: [PieceKind; 3] = [PieceKind::King, PieceKind::Advisor, PieceKind::Pawn];

const fn step_tables() -> (Steps, Steps) {
    let mut from = [[[Bitboard::EMPTY; 90]; 3]; 2];
    let mut to = from;
    let mut c = 0;
    while c < 2 {
        let mut k = 0;
        while k < 3 {
            let mut i = 0;
            while i < 90 {
                let square = Square::known(i as u8);
                if zone(Piece::new(Color::ALL[c], STEP_KINDS[k])).has(square) {
                    let set = steps(Color::ALL[c], STEP_KINDS[k], square);
                    from[c][k][i] = set;
                    let mut t = 0;
                    while t < 90 {
                        if set.has(Square::known(t as u8)) {
                            to[c][k][t] = to[c][k][t].with(square);
                        }
                        t += 1;
                    }
                }
                i += 1;
            }
            k += 1;
        }
        c += 1;
    }
    (from, to)
}
static STEPS_FROM: Steps = step_tables().0;
static STEPS_TO: Steps = step_tables().1;

#[inline]
const fn step_kind(kind: PieceKind) -> usize {
    match kind {
        PieceKind::King => 0,
        PieceKind::Advisor => 1,
        _ => 2,
    }
}

/// Squares a king, advisor or pawn of `color` on `square` attacks.
#[inline]
pub fn step(color: Color, kind: PieceKind, square: Square) -> Bitboard {
    STEPS_FROM[color.index()][step_kind(kind)][square.index()]
}

/// Squares from which a king, advisor or pawn of `color` attacks `square`.
#[inline]
pub fn step_attackers(color: Color, kind: PieceKind, square: Square) -> Bitboard {
    STEPS_TO[color.index()][step_kind(kind)][square.index()]
}

/// Squares on which `piece`, standing on `square`, could capture. A cannon's are the second pieces
/// each way; a rook's and the leapers' include empty squares.
#[inline(always)]
pub fn attacks(piece: Piece, square: Square, occupied: Bitboard) -> Bitboard {
    match piece.kind() {
        PieceKind::Rook => rook(square, occupied),
        PieceKind::Cannon => cannon_captures(square, occupied),
        PieceKind::Knight => knight(square, occupied),
        PieceKind::Bishop => bishop(piece.color(), square, occupied),
        kind => step(piece.color(), kind, square),
    }
}

/// Squares to which `piece`, standing on `square`, moves by its own gait: quiet moves and captures,
/// squares under pieces of its own colour included.
#[inline(always)] // In loops over pieces a call costs a quarter of the work.
pub fn moves(piece: Piece, square: Square, occupied: Bitboard) -> Bitboard {
    match piece.kind() {
        PieceKind::Cannon => cannon_moves(square, occupied),
        _ => attacks(piece, square, occupied),
    }
}
