//! Slots: numbers for "this piece on this square", counting only squares the piece can reach.
//!
//! ```text
//!   0  own A 5, B 7, N 90, R 90, C 90, P 55    each by square, a0 first, as the perspective sees it
//! 337  enemy A 5, B 7, N 90, R 90, C 90, P 55
//! 674  own king 6                              only in sets with kings (and mirroring)
//! 680  enemy king 9
//! 689
//! ```

use sha2::{Digest, Sha256};
use xiangqi::{Color, Piece, PieceKind, Square, zones};

/// No slot.
pub(super) const NONE: u16 = u16::MAX;

/// Slots of the non-king pieces of one colour: 5 + 7 + 90 + 90 + 90 + 55.
pub const PIECE_SLOTS: usize = 337;

/// Own king squares after mirroring: files d and e, ranks 0 to 2.
pub const OWN_KING_SLOTS: usize = 6;

/// Slots of every (perspective, mirror, piece, square).
pub struct SlotTable {
    /// `[perspective][mirror][piece][square]`; [`NONE`] where there is no slot.
    table: [[[[u16; 90]; Piece::COUNT]; 2]; 2],
    count: usize,
}

/// 674 slots: all pieces but the kings.
pub static WITHOUT_KINGS: SlotTable = SlotTable::new(false);

/// 689 slots: the kings too. The own king has a slot on files d and e only.
pub static WITH_KINGS: SlotTable = SlotTable::new(true);

impl SlotTable {
    const fn new(kings: bool) -> SlotTable {
        let mut table = [[[[NONE; 90]; Piece::COUNT]; 2]; 2];
        let mut i = 0;
        // One flat loop over perspective, mirror, piece and square: `for` is not const.
        while i < 2 * 2 * Piece::COUNT * 90 {
            let (side, mirror) = (i / (2 * Piece::COUNT * 90), i / (Piece::COUNT * 90) % 2);
            let (piece, square) = (i / 90 % Piece::COUNT, i % 90);
            table[side][mirror][piece][square] = slot(side, mirror == 1, piece, square, kings);
            i += 1;
        }
        let count = 2 * PIECE_SLOTS + if kings { OWN_KING_SLOTS + 9 } else { 0 };
        SlotTable { table, count }
    }

    /// How many slots there are.
    #[inline]
    pub const fn count(&self) -> usize {
        self.count
    }

    /// The slot of a piece on a square, as `perspective` sees it; `None` if it has none.
    #[inline]
    pub const fn get(&self, perspective: Color, mirror: bool, piece: Piece, square: Square) -> Option<usize> {
        let slot = self.table[perspective.index()][mirror as usize][piece.index()][square.index()];
        if slot == NONE { None } else { Some(slot as usize) }
    }

    /// The slots of all (piece, square) as `perspective` sees them; [`NONE`] where there is none.
    #[inline]
    pub(super) const fn board(&self, perspective: Color, mirror: bool) -> &[[u16; 90]; Piece::COUNT] {
        &self.table[perspective.index()][mirror as usize]
    }

    pub(crate) fn hash_into(&self, hash: &mut Sha256) {
        for slot in self.table.as_flattened().as_flattened().as_flattened() {
            hash.update(slot.to_le_bytes());
        }
    }
}

impl std::fmt::Debug for SlotTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SlotTable").field("count", &self.count).finish_non_exhaustive()
    }
}

/// Slot of a piece and square given by their indices.
const fn slot(side: usize, mirror: bool, piece: usize, square: usize, kings: bool) -> u16 {
    let (Some(piece), Some(square)) = (Piece::from_index(piece), Square::from_index(square)) else {
        return NONE;
    };
    if !zones::zone(piece).has(square) {
        return NONE;
    }
    let perspective = Color::ALL[side];
    let own = piece.color() as usize == side;
    // The piece and the square as the perspective sees them: own pieces are Red's.
    let seen_piece = Piece::new(if own { Color::Red } else { Color::Black }, piece.kind());
    let relative = square.relative_to(perspective);
    let seen = if mirror { relative.mirror_file() } else { relative };
    let within = zones::zone(seen_piece).count_below(seen) as usize;
    let slot = match piece.kind() {
        PieceKind::King if !kings => return NONE,
        PieceKind::King if !own => 2 * PIECE_SLOTS + OWN_KING_SLOTS + within,
        PieceKind::King => match king_bucket_mirrored(seen) {
            Some(bucket) => 2 * PIECE_SLOTS + bucket,
            None => return NONE,
        },
        kind => (if own { 0 } else { PIECE_SLOTS }) + kind_base(kind) + within,
    };
    slot as u16
}

/// Where the slots of a kind begin within its colour's 337.
const fn kind_base(kind: PieceKind) -> usize {
    let mut base = 0;
    let mut k = PieceKind::Advisor.index();
    while k < kind.index() {
        base += zones::zone(Piece::new(Color::Red, PieceKind::ALL[k])).count() as usize;
        k += 1;
    }
    base
}

/// `rank * 2 + (file - d)` of an own king on files d and e, ranks 0 to 2, as its side sees it
/// (after mirroring); `None` elsewhere.
pub const fn king_bucket_mirrored(seen: Square) -> Option<usize> {
    let (file, rank) = (seen.file(), seen.rank());
    if (file == 3 || file == 4) && rank <= 2 { Some((rank * 2 + file - 3) as usize) } else { None }
}

/// `rank * 3 + (file - d)` of an own king in its palace, as its side sees it; `None` elsewhere.
pub const fn king_bucket_plain(seen: Square) -> Option<usize> {
    let (file, rank) = (seen.file(), seen.rank());
    if file >= 3 && file <= 5 && rank <= 2 { Some((rank * 3 + file - 3) as usize) } else { None }
}

const _: () = assert!(kind_base(PieceKind::Pawn) + 55 == PIECE_SLOTS);
