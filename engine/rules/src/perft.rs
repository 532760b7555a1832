//! Perft: counting the leaves of the move tree, the standard test of move generation.

use crate::mv::Move;
use crate::position::Position;

/// The number of leaves `depth` plies below; 1 at depth 0. The last ply is counted, not played.
pub fn perft(position: &mut Position, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => position.legal_count(),
        _ => {
            let mut nodes = 0;
            for &mv in position.legal_moves().iter() {
                let undo = position.make(mv);
                nodes += perft(position, depth - 1);
                position.unmake(&undo);
            }
            nodes
        }
    }
}

/// The leaves below each legal move; empty at depth 0.
pub fn divide(position: &mut Position, depth: u32) -> Vec<(Move, u64)> {
    if depth == 0 {
        return Vec::new();
    }
    let moves = position.legal_moves();
    moves
        .iter()
        .map(|&mv| {
            let undo = position.make(mv);
            let nodes = perft(position, depth - 1);
            position.unmake(&undo);
            (mv, nodes)
        })
        .collect()
}
