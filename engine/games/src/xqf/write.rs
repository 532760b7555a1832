//! Writing: always version 10, the one that its author published and every program reads.

use xiangqi::Color;

use crate::gb18030;
use crate::start::squares_of;
use crate::tree::{GameTree, NodeId};

use super::header::{BOARD, FIELDS, KIND, LAST_PLAIN_VERSION, LEN, RESULT, SIDE};
use super::records::{FROM_OFFSET, PLAIN_ALTERNATIVE, PLAIN_FOLLOWED, TO_OFFSET};

/// The place of a piece that is not on the board.
const CAPTURED: u8 = 0xff;
/// The kind of a file that begins with the start position.
const WHOLE_GAME: u8 = 0;
/// The kind of any other: some programs look at the board only then.
const ENDGAME: u8 = 3;

/// A game as an XQF file of version 10.
///
/// Moves, variations and comments come back as they were by [`read`](super::read) (line ends in comments
/// become `\n`). Tags are kept that XQF has fields for, cut to 63 or 15 bytes of GB18030; of the start
/// position its board and side to move, not its counters.
pub fn write(game: &GameTree) -> Vec<u8> {
    let mut bytes = header(game);
    record(game, GameTree::ROOT, false, &mut bytes);
    // What is left to write: the child of a node with this index, and the alternatives behind it.
    let mut left: Vec<(NodeId, usize)> = vec![(GameTree::ROOT, 0)];
    while let Some((parent, index)) = left.pop() {
        let children = game.children(parent);
        let Some(&node) = children.get(index) else { continue };
        record(game, node, index + 1 < children.len(), &mut bytes);
        left.push((parent, index + 1));
        left.push((node, 0));
    }
    bytes
}

fn header(game: &GameTree) -> Vec<u8> {
    let mut head = vec![0; LEN];
    head[..3].copy_from_slice(&[b'X', b'Q', LAST_PLAIN_VERSION]);
    for (i, square) in squares_of(game.start()).into_iter().enumerate() {
        head[BOARD + i] = square.map_or(CAPTURED, place);
    }
    head[SIDE] = u8::from(game.start().side_to_move() == Color::Black);
    head[RESULT] = game.outcome.code();
    let whole = game.start().key() == xiangqi::Position::start().key();
    head[KIND] = if whole { WHOLE_GAME } else { ENDGAME };
    for (tag, at, most) in FIELDS {
        let text = gb18030::encode_cut(game.tag(tag).unwrap_or_default(), most);
        head[at] = text.len() as u8;
        head[at + 1..at + 1 + text.len()].copy_from_slice(&text);
    }
    head
}

fn record(game: &GameTree, node: NodeId, alternative: bool, bytes: &mut Vec<u8>) {
    let followed = !game.children(node).is_empty();
    let flags = if followed { PLAIN_FOLLOWED } else { 0 } | if alternative { PLAIN_ALTERNATIVE } else { 0 };
    match game.mv(node) {
        Some(mv) => {
            bytes.extend([place(mv.from()) + FROM_OFFSET, place(mv.to()) + TO_OFFSET, flags, 0]);
        }
        None => bytes.extend([FROM_OFFSET, TO_OFFSET, flags, 0xff]),
    }
    let comment = gb18030::encode(&game.comment(node).replace('\n', "\r\n"));
    bytes.extend((comment.len() as u32).to_le_bytes());
    bytes.extend(comment);
}

fn place(square: xiangqi::Square) -> u8 {
    10 * square.file() + square.rank()
}
