//! Writing a block that other programs and the players of web pages read.

use xiangqi::{Move, Position, Square};

use crate::start::squares_of;
use crate::tree::{GameTree, NodeId, Outcome};

use super::block::MAIN;
use super::fields::TAGS;
use super::scan::escape;

/// The place of a piece that is not on the board.
const CAPTURED: &str = "99";

/// A game as a `[DhtmlXQ]` block.
///
/// Moves, variations and comments come back as they were by [`read`](super::read), and tags, save those that
/// have no text. A start other than the usual one is written as `binit`, as every program reads it, and
/// as `fen`, which has the side to move and the counters.
pub fn write(game: &GameTree) -> String {
    let mut text = String::from("[DhtmlXQ]\n[DhtmlXQ_ver]www_dpxq_com[/DhtmlXQ_ver]\n");
    // The version is the writer's.
    for (tag, value) in game.tags.iter().filter(|(tag, _)| !tag.eq_ignore_ascii_case("ver")) {
        let known = TAGS.iter().find(|(_, known)| known.eq_ignore_ascii_case(tag));
        field(&mut text, known.map_or(tag.as_str(), |&(name, _)| name), &escape(value));
    }
    field(&mut text, "result", result(game.outcome));
    field(&mut text, "binit", &board(game.start()));
    if game.start() != &Position::start() {
        field(&mut text, "fen", &game.start().fen());
    }
    write_lines(game, &mut text);
    text.push_str("[/DhtmlXQ]\n");
    text
}

fn field(text: &mut String, name: &str, value: &str) {
    text.push_str(&format!("[DhtmlXQ_{name}]{value}[/DhtmlXQ_{name}]\n"));
}

const fn result(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Unknown => "未知",
        Outcome::RedWins => "红胜",
        Outcome::BlackWins => "黑胜",
        Outcome::Draw => "和局",
    }
}

fn board(start: &Position) -> String {
    squares_of(start).iter().map(|square| square.map_or_else(|| CAPTURED.to_owned(), digits)).collect()
}

fn digits(square: Square) -> String {
    format!("{}{}", square.file(), 9 - square.rank())
}

fn move_digits(mv: Move) -> String {
    digits(mv.from()) + &digits(mv.to())
}

/// A line to write: its first node, the number of the line it branches off, its first ply.
struct Branch {
    first: NodeId,
    parent: usize,
    ply: usize,
}

fn write_lines(game: &GameTree, text: &mut String) {
    let mut comments = String::new();
    comment(&mut comments, MAIN, 0, game.comment(GameTree::ROOT));
    let mut branches = Vec::new();
    let main = line(game, (GameTree::ROOT, MAIN, 0), &mut branches, &mut comments);
    field(text, "movelist", &main);
    // Lines get their numbers in the order in which they are found; each may add others.
    let mut number = MAIN;
    while let Some(&Branch { first, parent, ply }) = branches.get(number) {
        number += 1;
        let moves = line(game, (first, number, ply), &mut branches, &mut comments);
        field(text, &format!("move_{parent}_{ply}_{number}"), &moves);
    }
    text.push_str(&comments);
}

/// The moves from a node on, with what branches off behind it.
fn line(
    game: &GameTree,
    (first, number, first_ply): (NodeId, usize, usize),
    branches: &mut Vec<Branch>,
    comments: &mut String,
) -> String {
    let (mut moves, mut node, mut ply) = (String::new(), Some(first), first_ply);
    while let Some(at) = node {
        if let Some(mv) = game.mv(at) {
            moves.push_str(&move_digits(mv));
            comment(comments, number, ply, game.comment(at));
        }
        ply += 1;
        let children = game.children(at);
        node = children.first().copied();
        branches.extend(children.iter().skip(1).map(|&first| Branch { first, parent: number, ply }));
    }
    moves
}

fn comment(comments: &mut String, number: usize, ply: usize, text: &str) {
    if text.is_empty() {
        return;
    }
    let name = if number == MAIN { format!("comment{ply}") } else { format!("comment{number}_{ply}") };
    field(comments, &name, &escape(text));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_board_is_written_as_on_the_site() {
        let usual = "8979695949392919097717866646260600102030405060708012720323436383";
        assert_eq!(board(&Position::start()), usual);
    }
}
