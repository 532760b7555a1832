//! Static exchange evaluation: does a capture pay when both sides go on capturing on its square?
//!
//! In xiangqi a piece that leaves may open a line for a rook, take a cannon's screen away or give
//! it one, free a knight's leg or a bishop's eye; so the attackers are found anew after each
//! capture. A piece that alone stands between the two kings may not leave their file, and a king does not
//! capture what is protected.

use xiangqi::{Bitboard, Color, Move, PieceKind, Position, Square};

use crate::eval::hce::exchange_value;

/// Attackers are used up in this order.
const CHEAPEST_FIRST: [PieceKind; 7] = [
    PieceKind::Pawn,
    PieceKind::Bishop,
    PieceKind::Advisor,
    PieceKind::Knight,
    PieceKind::Cannon,
    PieceKind::Rook,
    PieceKind::King,
];

/// The squares strictly between the two kings if they stand on one file.
fn king_lane(pos: &Position) -> Bitboard {
    let (red, black) = (pos.king(Color::Red), pos.king(Color::Black));
    if red.file() != black.file() {
        return Bitboard::EMPTY;
    }
    let inner = ((1u128 << black.index()) - 1) & !((2u128 << red.index()) - 1);
    Bitboard::from_bits(inner) & Bitboard::file(red.file())
}

/// Attackers of `square` that may capture there, as far as the kings' file is concerned.
fn attackers(pos: &Position, square: Square, by: Color, occupied: Bitboard, lane: Bitboard) -> Bitboard {
    let set = pos.attackers_to(square, by, occupied);
    if lane.is_empty() || lane.has(square) {
        return set;
    }
    let blockers = lane & occupied;
    if blockers.more_than_one() { set } else { set.without(blockers) }
}

/// The cheapest of `set`, a set of pieces of `by`.
fn cheapest(pos: &Position, by: Color, set: Bitboard) -> Option<(Square, PieceKind)> {
    CHEAPEST_FIRST.iter().find_map(|&kind| Some(((set & pos.pieces(by, kind)).first()?, kind)))
}

/// Does the move win at least `threshold` in exchanges on its target square? Quiet moves are asked what
/// they risk.
pub fn see_at_least(pos: &Position, mv: Move, threshold: i32) -> bool {
    let (from, to) = (mv.from(), mv.to());
    let Some(mover) = pos.piece_on(from) else { return threshold <= 0 };
    let gain = pos.piece_on(to).map_or(0, |captured| exchange_value(captured, to));
    // By how much the side that has just captured is past what it needs, before it is captured back …
    let mut swap = gain - threshold;
    if swap < 0 {
        return false;
    }
    // … and what the other side would be ahead by after capturing back for nothing.
    swap = exchange_value(mover, to) - swap;
    if swap <= 0 {
        return true;
    }
    let lane = king_lane(pos);
    let mut occupied = pos.occupied().without(Bitboard::of(from)).with(to);
    let mut side = mover.color();
    let mut holds = true;
    loop {
        side = !side;
        let Some((square, kind)) = cheapest(pos, side, attackers(pos, to, side, occupied, lane)) else {
            return holds;
        };
        occupied = occupied.without(Bitboard::of(square));
        if kind == PieceKind::King {
            // It may capture only what nothing protects any more.
            return holds != attackers(pos, to, !side, occupied, lane).is_empty();
        }
        holds = !holds;
        swap = capture_value(kind, to, side) - swap;
        if swap < i32::from(holds) {
            return holds;
        }
    }
}

fn capture_value(kind: PieceKind, square: Square, color: Color) -> i32 {
    exchange_value(xiangqi::Piece::new(color, kind), square)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::hce::EXCHANGE_VALUE;

    /// The exchange played out: the side to capture takes with its cheapest piece or stops.
    fn slow(pos: &Position, to: Square, by: Color, occupied: Bitboard, standing: i32) -> i32 {
        let lane = king_lane(pos);
        let Some((from, kind)) = cheapest(pos, by, attackers(pos, to, by, occupied, lane)) else {
            return 0;
        };
        let after = occupied.without(Bitboard::of(from));
        if kind == PieceKind::King && !attackers(pos, to, !by, after, lane).is_empty() {
            return 0;
        }
        (standing - slow(pos, to, !by, after, capture_value(kind, to, by))).max(0)
    }

    fn slow_move(pos: &Position, mv: Move) -> i32 {
        let (from, to) = (mv.from(), mv.to());
        let mover = pos.piece_on(from).expect("a piece moves");
        let gain = pos.piece_on(to).map_or(0, |piece| exchange_value(piece, to));
        let occupied = pos.occupied().without(Bitboard::of(from)).with(to);
        gain - slow(pos, to, !mover.color(), occupied, exchange_value(mover, to))
    }

    fn check_all_moves(pos: &Position) {
        for &mv in pos.legal_moves().iter() {
            let exact = slow_move(pos, mv);
            assert!(see_at_least(pos, mv, exact), "{mv} in {} is worth {exact}", pos.fen());
            assert!(!see_at_least(pos, mv, exact + 1), "{mv} in {} is worth {exact}", pos.fen());
        }
    }

    #[test]
    fn equals_the_slow_exchange_along_random_games() {
        use rand_core::Rng;
        let mut rng = <rand_xoshiro::Xoshiro256PlusPlus as rand_core::SeedableRng>::seed_from_u64(5);
        for _ in 0..30 {
            let mut pos = Position::start();
            for _ in 0..80 {
                let moves = pos.legal_moves();
                if moves.is_empty() {
                    break;
                }
                check_all_moves(&pos);
                pos.make(moves[rng.next_u64() as usize % moves.len()]);
            }
        }
    }

    fn value(fen: &str, mv: &str) -> i32 {
        let pos = Position::from_fen(fen).expect("a good FEN");
        slow_move(&pos, mv.parse().expect("a move"))
    }

    #[test]
    fn known_exchanges() {
        let [rook, cannon, pawn] = [EXCHANGE_VALUE[4], EXCHANGE_VALUE[5], EXCHANGE_VALUE[6]];
        let cases = [
            // A rook takes a pawn that a rook behind protects.
            ("3ak4/4r4/9/4p4/9/9/4R4/9/9/3K5 w", "e3e6", pawn - rook),
            // The same pawn without the protector.
            ("3ak4/9/9/4p4/9/9/4R4/9/9/3K5 w", "e3e6", pawn),
            // A cannon needs its screen: it takes the pawn over e4, and the knight on c5 takes back.
            ("3ak4/9/9/4p4/2n6/4P4/4C4/9/9/3K5 w", "e3e6", pawn - cannon),
            // The black advisor alone between the kings may not leave their file to take back.
            ("4k4/4a4/5P3/9/9/9/5R3/9/9/4K4 w", "f7f8", 0),
        ];
        for (fen, mv, expected) in cases {
            assert_eq!(value(fen, mv), expected, "{mv} in {fen}");
        }
    }
}
