//! Game files: what is read is legal, told about, and the same after it has been written.

use game_files::pgn::{self as text, Notation};
use game_files::{FileError, GameTree, NodeId, ReadGame, dhtmlxq as web, xqf as studio};
use xiangqi::{Game, Position};

use crate::check_message;

/// The replacement character in GB18030: what undecodable bytes were read as.
const REPLACED: [u8; 4] = [0x84, 0x31, 0xa4, 0x37];

/// Bytes of an XQF file before its moves.
const XQF_HEADER: usize = 1024;

/// Any bytes as an XQF file. Its start has no counters, so board and side to move are compared.
pub fn xqf(data: &[u8]) {
    if let Some(games) = read(studio::read, data) {
        for game in &games {
            check_game(game);
            let written = studio::write(&game.tree);
            let again = read_back(studio::read(&written));
            // At the end of a text the replacement character is taken for a cut one.
            let uncut = |comment: &str| comment.trim_end_matches('\u{fffd}').to_owned();
            check_same(&game.tree, &again, Position::key, uncut);
            let replaced = written.windows(REPLACED.len()).any(|bytes| bytes == REPLACED);
            // Tags are cut to their fields, and blanks at the cut are lost when they are read.
            let same = studio::write(&again)[XQF_HEADER..] == written[XQF_HEADER..];
            assert!(replaced || same, "written twice, it is another file");
        }
    }
}

/// Any bytes as a page or text with DhtmlXQ tags.
pub fn dhtmlxq(data: &[u8]) {
    if let Some(games) = read(web::read, data) {
        for game in &games {
            check_game(game);
            let written = web::write(&game.tree);
            let again = read_back(web::read(written.as_bytes()));
            check_same(&game.tree, &again, Position::fen, str::to_owned);
            assert!(web::write(&again) == written, "written twice, it is another text");
        }
    }
}

/// Any bytes as PGN. A comment cannot hold its own end, and blanks at the ends of its lines are lost.
pub fn pgn(data: &[u8]) {
    let comment = |comment: &str| {
        let lines: Vec<String> = comment.lines().map(|line| line.trim().replace('}', "｝")).collect();
        lines.join("\n")
    };
    for game in read(text::read, data).iter().flatten() {
        check_game(game);
        for notation in [Notation::Chinese, Notation::Iccs, Notation::Wxf] {
            let written = text::write_game(&game.tree, notation);
            let again = read_back(text::read(written.as_bytes()));
            check_same(&game.tree, &again, Position::fen, comment);
            assert_eq!(text::write_game(&again, notation), written, "written twice, it is another text");
        }
    }
}

/// Any bytes as a file of whatever format they look like: libraries, lists and lines too.
pub fn games(data: &[u8]) {
    for game in game_files::read(data, None).map_err(|error| check_message(&error)).iter().flatten() {
        check_game(game);
    }
}

type Read = fn(&[u8]) -> Result<Vec<ReadGame>, FileError>;

fn read(reader: Read, data: &[u8]) -> Option<Vec<ReadGame>> {
    reader(data).map_err(|error| check_message(&error)).ok()
}

/// The one game of a file of ours, without a fault.
fn read_back(read: Result<Vec<ReadGame>, FileError>) -> GameTree {
    let mut games = read.unwrap_or_else(|error| panic!("our own file: {error}"));
    assert_eq!(games.len(), 1);
    let game = games.remove(0);
    assert!(game.faults.is_empty(), "our own file: {:?}", game.faults);
    game.tree
}

fn check_game(game: &ReadGame) {
    check_tree(&game.tree);
    for fault in &game.faults {
        check_message(fault);
        assert!(fault.game > 0 && fault.found.chars().count() <= 40, "{fault:?}");
    }
    assert!(game.faults.iter().filter(|fault| fault.variation == 0).count() <= 1);
    assert!(game.faults.len() <= ReadGame::MAX_FAULTS + 1);
    assert_eq!(game.tree.main_game().len(), game.tree.main_line().len());
}

/// Every move of every line is legal. Without recursion: lines are as deep as the file is long.
fn check_tree(tree: &GameTree) {
    let mut game = Game::new(tree.start().clone());
    let mut seen = 0;
    let mut left: Vec<(NodeId, usize)> = vec![(GameTree::ROOT, 0)];
    while let Some((node, index)) = left.pop() {
        let Some(&child) = tree.children(node).get(index) else {
            game.undo();
            continue;
        };
        let played = tree.mv(child).map(|mv| game.try_play(mv).is_ok());
        assert_eq!(played, Some(true), "node {child} of {:?}", tree.start());
        assert_eq!(tree.parent(child), node);
        seen += 1;
        left.push((node, index + 1));
        left.push((child, 0));
    }
    assert_eq!(seen, tree.len(), "every node hangs in the tree");
}

/// The same start, as `start` sees it, and the same nodes with the same moves and comments, as `comment` sees them,
/// in the same order.
fn check_same<T: PartialEq + std::fmt::Debug>(
    a: &GameTree,
    b: &GameTree,
    start: impl Fn(&Position) -> T,
    comment: impl Fn(&str) -> String,
) {
    assert_eq!(start(a.start()), start(b.start()));
    assert_eq!((a.len(), a.outcome), (b.len(), b.outcome));
    let mut left = vec![(GameTree::ROOT, GameTree::ROOT)];
    while let Some((x, y)) = left.pop() {
        assert_eq!(a.mv(x), b.mv(y), "nodes {x} and {y}");
        assert_eq!(comment(a.comment(x)), comment(b.comment(y)), "nodes {x} and {y}");
        assert_eq!(a.nags(x), b.nags(y), "nodes {x} and {y}");
        let (from, to) = (a.children(x), b.children(y));
        assert_eq!(from.len(), to.len(), "nodes {x} and {y}");
        left.extend(from.iter().copied().zip(to.iter().copied()));
    }
}
