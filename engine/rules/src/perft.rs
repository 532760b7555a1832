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

/// Whoever may end a count is asked before each subtree of this depth (some milliseconds) or more.
const UNASKED_DEPTH: u32 = 4;

/// The leaves below each legal move, told move by move; none at depth 0. `stop` is asked from time to time whether to
/// end: then the moves told are whole, and the answer is false.
pub fn divide_until(
    position: &mut Position,
    depth: u32,
    stop: &dyn Fn() -> bool,
    tell: &mut dyn FnMut(Move, u64),
) -> bool {
    if depth == 0 {
        return true;
    }
    for &mv in position.legal_moves().iter() {
        let undo = position.make(mv);
        let nodes = perft_until(position, depth - 1, stop);
        position.unmake(&undo);
        match nodes {
            Some(nodes) => tell(mv, nodes),
            None => return false,
        }
    }
    true
}

fn perft_until(position: &mut Position, depth: u32, stop: &dyn Fn() -> bool) -> Option<u64> {
    if stop() {
        return None;
    }
    if depth <= UNASKED_DEPTH {
        return Some(perft(position, depth));
    }
    let mut nodes = 0;
    for &mv in position.legal_moves().iter() {
        let undo = position.make(mv);
        let below = perft_until(position, depth - 1, stop);
        position.unmake(&undo);
        nodes += below?;
    }
    Some(nodes)
}

/// The leaves below each legal move; empty at depth 0.
pub fn divide(position: &mut Position, depth: u32) -> Vec<(Move, u64)> {
    let mut moves = Vec::new();
    divide_until(position, depth, &|| false, &mut |mv, nodes| moves.push((mv, nodes)));
    moves
}
