//! Static exchange evaluation: does a capture pay when both sides go on capturing on its square?
//!
//! In xiangqi a piece that leaves may open a line for a rook, take a cannon's screen away or give
//! it one, free a knight's leg or a bishop's eye; so the attackers are found anew after each
//! capture. Only legal captures count: none by a pinned piece, by one that leaves the kings facing or its own king in
//! check, nor by a king of what is protected.

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

/// The cheapest piece of `by` that may legally capture on `square`.
fn capturer(pos: &Position, square: Square, by: Color, occupied: Bitboard) -> Option<(Square, PieceKind)> {
    let candidates = pos.attackers_to(square, by, occupied);
    if candidates.is_empty() {
        return None;
    }
    for kind in CHEAPEST_FIRST {
        for from in candidates & pos.pieces(by, kind) {
            let after = occupied.without(Bitboard::of(from));
            let king = if kind == PieceKind::King { square } else { pos.king(by) };
            // What stands on the square is captured and attacks nothing any more.
            let left = after.without(Bitboard::of(square));
            if !pos.is_king_attacked(king, !by, after, left) {
                return Some((from, kind));
            }
        }
    }
    None
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
    let mut occupied = pos.occupied().without(Bitboard::of(from)).with(to);
    let mut side = mover.color();
    let mut holds = true;
    loop {
        side = !side;
        let Some((square, kind)) = capturer(pos, to, side, occupied) else {
            return holds;
        };
        occupied = occupied.without(Bitboard::of(square));
        if kind == PieceKind::King {
            // Nothing protects the square, or it could not have captured.
            return !holds;
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

    /// The exchange played out on the board with legal moves: the side to capture takes with its cheapest piece or
    /// stops.
    fn slow(pos: &Position, to: Square) -> i32 {
        let standing = pos.piece_on(to).map_or(0, |piece| exchange_value(piece, to));
        let price = |mv: Move| pos.piece_on(mv.from()).map(|piece| order(piece.kind()));
        let captures = pos.legal_moves();
        let Some(&mv) =
            captures.iter().filter(|mv| mv.to() == to).min_by_key(|mv| (price(**mv), mv.from().index()))
        else {
            return 0;
        };
        let mut after = pos.clone();
        after.make(mv);
        (standing - slow(&after, to)).max(0)
    }

    fn order(kind: PieceKind) -> usize {
        CHEAPEST_FIRST.iter().position(|&other| other == kind).unwrap_or(0)
    }

    fn slow_move(pos: &Position, mv: Move) -> i32 {
        let gain = pos.piece_on(mv.to()).map_or(0, |piece| exchange_value(piece, mv.to()));
        let mut after = pos.clone();
        after.make(mv);
        gain - slow(&after, mv.to())
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
            // A rook checks beside the king, which would face the other king if it took it, and an advisor that takes
            // it leaves a screen to the cannon …
            ("2bak3C/4a4/4b4/8p/p5p2/2P6/4r3P/9/4AR3/3A1K3 w", "f1f9", 0),
            // … and which takes where a pawn stands between them.
            ("2b1k3C/5R3/4b4/8p/p5p2/2P2p3/4r3P/9/4A4/3A1K3 w", "f8f9", -rook),
        ];
        for (fen, mv, expected) in cases {
            assert_eq!(value(fen, mv), expected, "{mv} in {fen}");
        }
    }
}
